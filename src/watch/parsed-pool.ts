/**
 * Keeps the most recently parsed objects, first in, first out, within a budget of stored bytes. Parsed objects take
 * several times the room of their bytes; keeping them all would multiply the memory of a large installation, keeping
 * none would parse the hot ones again and again.
 *
 * What this process is storing need not be parsed at all: it is announced, and a reader of the bytes is given the
 * object.
 */
import type { ResourceType } from '../kube/resource-type.ts'
import { headBytes } from '../kube/stored-labels.ts'
import type { KubeObject } from '../kube/types.ts'

interface Announced {
  readonly type: ResourceType
  readonly object: KubeObject
}

export interface Parsed {
  /** How much was parsed. */
  readonly sizeBytes: number
  forget(): void
}

export class ParsedPool {
  /** For one who copies the beginning of a record to look at it, and has looked at it before another does. */
  readonly head: Buffer = Buffer.allocUnsafeSlow(headBytes)
  readonly #budgetBytes: number
  #items: Parsed[] = []
  #head = 0
  #sizeBytes = 0
  /** By the very array that is being stored. Not a `Map`, for the reason that `LinkedList` gives. */
  readonly #announced = new WeakMap<Uint8Array, Announced>()

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  /** How much was parsed of what is kept, in stored bytes. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** `bytes` are those of `object`, which is not changed any more. Until `recall`. */
  announce(bytes: Uint8Array, type: ResourceType, object: KubeObject): void {
    this.#announced.set(bytes, { type, object })
  }

  recall(bytes: Uint8Array): void {
    this.#announced.delete(bytes)
  }

  /** Of whatever type. */
  written(bytes: Uint8Array): KubeObject | undefined {
    return this.#announced.get(bytes)?.object
  }

  announced(bytes: Uint8Array, type: ResourceType): KubeObject | undefined {
    const found = this.#announced.get(bytes)
    return found?.type === type ? found.object : undefined
  }

  keep(parsed: Parsed): void {
    this.#items.push(parsed)
    this.#sizeBytes += parsed.sizeBytes
    while (this.#sizeBytes > this.#budgetBytes && this.#items.length - this.#head > 1) {
      const oldest = this.#items[this.#head++] as Parsed
      this.#sizeBytes -= oldest.sizeBytes
      oldest.forget()
    }
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
  }
}
