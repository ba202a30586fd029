/** How often values were encrypted and decrypted, told apart as upstream's metric of that does. */
import { isEncrypted } from '../storage/encrypted-mark.ts'

export interface TransformationCount {
  readonly resource: string
  readonly type: 'from_storage' | 'to_storage'
  /** Of the value: `k8s:enc:aesgcm:v1:`, or `identity`. */
  readonly prefix: string
  readonly status: 'OK' | 'Unknown'
  readonly times: number
}

/** More resources than that are told as one: custom ones are made by clients. */
const maxCounts = 2000

const identity = 'identity'
/** `k8s:enc:`, the provider, its version; of kms the name too. */
const shape = /^k8s:enc:(?:kms:v2:[^:]*:|[a-z]+:v\d:)/
const longestPrefix = 256

export class TransformationCounts {
  readonly #counts = new Map<string, { count: Omit<TransformationCount, 'times'>; times: number }>()

  /** `stored`: as it lies in the store; undefined where it could not be made. */
  add(resource: string, type: TransformationCount['type'], stored: Uint8Array | undefined, succeeded: boolean): void {
    const prefix = stored === undefined ? '' : prefixOf(stored)
    const status = succeeded ? 'OK' : 'Unknown'
    const id = `${resource} ${type} ${prefix} ${status}`
    const known = this.#counts.get(id)
    if (known !== undefined) known.times++
    else if (this.#counts.size < maxCounts)
      this.#counts.set(id, { count: { resource, type, prefix, status }, times: 1 })
  }

  all(): readonly TransformationCount[] {
    return [...this.#counts.values()].map(({ count, times }) => ({ ...count, times }))
  }
}

function prefixOf(stored: Uint8Array): string {
  if (!isEncrypted(stored)) return identity
  const head = Buffer.from(stored.buffer, stored.byteOffset, Math.min(stored.byteLength, longestPrefix))
  return shape.exec(head.toString('latin1'))?.[0] ?? 'unknown'
}
