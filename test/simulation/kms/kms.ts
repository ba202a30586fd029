/**
 * A key management service and its plugins, one beside each server: slow, unreachable, unwell, with keys that are
 * rotated, and with old ones that it forgets and remembers again. What a key does to a secret follows from its name.
 */
import { createHash } from 'node:crypto'
import { decodeEnvelope, openEnvelope } from '../../../src/encryption/kms-envelope.ts'
import { encryptedMark, isEncrypted } from '../../../src/storage/encrypted-mark.ts'
import type { Random } from '../../fuzz/random.ts'

export const pluginName = 'simulated'
const prefix = `${encryptedMark}kms:v2:${pluginName}:`

/** How a call ends that is not answered as it should be. */
export interface Refusal {
  /** gRPC's; undefined: no answer comes. */
  readonly code: number | undefined
  readonly text: string
}

export class SimulatedKms {
  readonly random: Random
  #key = 1
  /** Of every call, at most. */
  slowMs = 3
  health: 'ok' | 'unwell' = 'ok'
  /** By what a machine's name begins with; empty: all. */
  readonly refusals: Map<string, Refusal> = new Map()
  /** Keys that it has no more. */
  readonly forgotten: Set<string> = new Set()
  /** Something could not be decrypted for a while, though it was asked. */
  hasForgotten = false

  constructor(random: Random) {
    this.random = random
  }

  get keyId(): string {
    return `key-${this.#key}`
  }

  rotate(): void {
    this.#key++
  }

  /** All keys but the present one. */
  forget(): void {
    this.hasForgotten = true
    for (let key = 1; key < this.#key; key++) this.forgotten.add(`key-${key}`)
  }

  refusalOf(machine: string): Refusal | undefined {
    for (const [name, refusal] of this.refusals) if (machine.startsWith(name)) return refusal
    return undefined
  }

  heal(): void {
    this.slowMs = 3
    this.health = 'ok'
    this.refusals.clear()
    this.forgotten.clear()
  }
}

/** Encrypts, and decrypts what it encrypted. */
export function turned(bytes: Uint8Array, keyId: string): Buffer {
  const pad = createHash('sha256').update(`the key ${keyId}`).digest()
  return Buffer.from(bytes.map((byte, i) => byte ^ (pad[i % pad.length] as number)))
}

/** What was written, by who has all keys. */
export function openStored(key: string, stored: Uint8Array): Uint8Array {
  if (!isEncrypted(stored)) return stored
  const envelope = decodeEnvelope(stored.subarray(Buffer.byteLength(prefix)))
  return openEnvelope(envelope, turned(envelope.source.ciphertext, envelope.source.keyId), key)
}

/** Of one server. */
export const configurationOf = (machine: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['*.*'],
        providers: [{ kms: { apiVersion: 'v2', name: pluginName, endpoint: `unix:///${machine}`, timeout: '3s' } }],
      },
    ],
  })
