/**
 * Small words for talking about storage in tests, and a watch that remembers what it was given.
 */
import type { Change, ChangeBatch, Entry, Expect, Revision, Span, Storage, Write } from '../../src/storage/storage.ts'

export function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}

export function text(value: Uint8Array | undefined): string | undefined {
  return value && new TextDecoder().decode(value)
}

export function put(key: string, value: string, expect: Expect = 'absent'): Write {
  return { key, value: bytes(value), expect }
}

export function remove(key: string, expect: Expect): Write {
  return { key, value: undefined, expect }
}

export async function readAll(storage: Storage, span: Span): Promise<readonly Entry[]> {
  return (await storage.range(span)).entries
}

export function delivered(batch: ChangeBatch): readonly Change[] {
  return batch.type === 'changes' ? batch.changes : []
}

/** The state `entries` after `changes`. Throws if a change does not fit what was there. */
export function applyChanges(entries: readonly Entry[], changes: readonly Change[]): Entry[] {
  const state = new Map(entries.map((entry) => [entry.key, entry]))
  for (const { key, revision, value, previous } of changes) {
    const before = state.get(key)
    if (before?.revision !== previous?.revision) {
      throw new Error(`${key}: changed from ${previous?.revision} but was ${before?.revision}`)
    }
    if (value === undefined) state.delete(key)
    else state.set(key, { key, value, revision })
  }
  return [...state.values()].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
}

/** Reads a watch on demand, keeps every batch, and checks what holds for all watches: revisions only ascend. */
export class WatchReader {
  readonly batches: ChangeBatch[] = []
  readonly #controller = new AbortController()
  readonly #iterator: AsyncIterator<ChangeBatch>
  #changes: Change[] = []
  #progress: Revision = 0

  constructor(storage: Storage, span: Span, after: Revision) {
    this.#iterator = storage.watch(span, after, this.#controller.signal)[Symbol.asyncIterator]()
  }

  get changes(): readonly Change[] {
    return this.#changes
  }

  /** All changes so far, once progress has reached `revision`. */
  async until(revision: Revision): Promise<readonly Change[]> {
    while (this.#progress < revision) {
      const next = await this.#iterator.next()
      if (next.done) throw new Error(`the watch ended before revision ${revision}`)
      this.#take(next.value)
    }
    return this.#changes
  }

  abort(): void {
    this.#controller.abort()
  }

  async stop(): Promise<void> {
    this.#controller.abort()
    await this.#iterator.return?.()
  }

  /** Reads to the end: undefined for a clean one, else the error. */
  async end(): Promise<unknown> {
    try {
      for (;;) {
        const next = await this.#iterator.next()
        if (next.done) return undefined
        this.#take(next.value)
      }
    } catch (error) {
      return error
    }
  }

  #take(batch: ChangeBatch): void {
    this.batches.push(batch)
    if (batch.type === 'progress') {
      this.#progress = batch.revision
      return
    }
    if (batch.changes.length === 0) throw new Error('a batch of changes was empty')
    for (const change of batch.changes) {
      const last = this.#changes.at(-1)
      if (last && change.revision <= last.revision) {
        throw new Error(`revision ${change.revision} came after ${last.revision}`)
      }
      if (change.revision <= this.#progress) {
        throw new Error(`revision ${change.revision} came after progress ${this.#progress}`)
      }
      this.#changes.push(change)
    }
  }
}
