/**
 * Where our keys lie in etcd: `prefix` + key, so that `etcdctl get --prefix /registry/namespaces/` reads as expected.
 *
 * Beside the users' keys it has two of the engine's own, under `/borough/etcd/`. They are never shown to users and
 * no other program may write there.
 */
import type { Span } from '../storage.ts'
import { StorageError } from '../storage.ts'

const internalRoot = '/borough/etcd/'
const firstKey: Buffer = Buffer.from([0])

/** A half-open range of raw keys; `end` of one zero byte means 'to the last key of all'. */
export interface RawRange {
  readonly key: Uint8Array
  readonly rangeEnd: Uint8Array
}

export class KeySpace {
  /** How many keys of the engine's own can lie in a range. */
  static readonly internalKeys = 2

  /** Everything of ours. */
  readonly all: RawRange
  /** Written to make an event: what was to be seen before it has been seen when it is. */
  readonly barrier: Buffer
  /** Names the positions of the deletes of its commit; see `delete-note.ts`. */
  readonly note: Buffer
  readonly #prefix: string

  /**
   * `prefix` is empty, or begins with a slash and does not end with one.
   * @throws StorageError code=invalid
   */
  constructor(prefix: string) {
    if (prefix !== '' && !/^(?:\/[^/]+)+$/.test(prefix)) {
      throw new StorageError('invalid', `an etcd prefix begins with / and does not end with it: '${prefix}'`)
    }
    this.#prefix = prefix
    this.all =
      prefix === ''
        ? { key: firstKey, rangeEnd: firstKey }
        : { key: Buffer.from(`${prefix}/`), rangeEnd: Buffer.from(`${prefix}0`) }
    this.barrier = Buffer.from(`${prefix}${internalRoot}barrier`)
    this.note = Buffer.from(`${prefix}${internalRoot}deletes`)
  }

  /** @throws StorageError code=invalid for a key that this engine can't hold. */
  check(key: string): void {
    if (key.startsWith(internalRoot))
      throw new StorageError('invalid', `keys under ${internalRoot} belong to the etcd engine`)
    if (this.#prefix !== '' && !key.startsWith('/')) {
      throw new StorageError('invalid', `below the prefix ${this.#prefix} keys begin with a slash: '${key}'`)
    }
  }

  toRaw(key: string): Buffer {
    return Buffer.from(this.#prefix + key)
  }

  fromRaw(raw: Buffer): string {
    return raw.toString('utf8').slice(this.#prefix.length)
  }

  isInternal(key: string): boolean {
    return key.startsWith(internalRoot)
  }

  /** undefined: no key of ours can lie in the span. */
  toRange(span: Span): RawRange | undefined {
    let { start, end } = span
    if (this.#prefix !== '') {
      // All keys begin with a slash; what lies outside of that must not reach into our neighbours.
      if (start < '/') start = '/'
      if (end > '0') end = '0'
    }
    const key = start === '' && this.#prefix === '' ? firstKey : this.toRaw(start)
    const rangeEnd = this.toRaw(end)
    return Buffer.compare(key, rangeEnd) < 0 ? { key, rangeEnd } : undefined
  }
}
