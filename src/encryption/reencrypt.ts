/**
 * Writes anew what the first provider would write in another way now. It may be stopped at any moment and begun again:
 * what is done shows in the values themselves. Other writers may be at work; what they write meanwhile is theirs.
 */
import type { ReportProgress } from '../base/progress.ts'
import { damageOf } from '../storage/damaged-value.ts'
import { type Entry, prefixSpan, type Storage, type Write } from '../storage/storage.ts'
import { unmarkEncrypted } from './encrypted-marker.ts'
import { EncryptionError } from './provider.ts'

export interface Reencryption {
  readonly entries: number
  readonly rewritten: number
  /** Encrypted now. */
  readonly encrypted: number
  /** One line each: what could not be read, and stays as it is. */
  readonly unreadable: readonly string[]
}

/** Of `Encryption`. */
export interface Sealing {
  seal(key: string, value: Uint8Array): Uint8Array
  openAsking(key: string, stored: Uint8Array): Promise<{ readonly value: Uint8Array; readonly isStale: boolean }>
}

const everything = prefixSpan('/')
const pageLength = 200
const maxWrites = 50
const maxBytes = 512 * 1024
/** Lines that are told. */
const maxUnreadable = 1000

/** `storage`: below encryption. `total`: entries, where that is known. */
export async function reencrypt(
  storage: Storage,
  encryption: Sealing,
  report: ReportProgress,
  total?: number,
): Promise<Reencryption> {
  const run = new Run(storage, encryption)
  for (let { start } = everything; ; ) {
    const page = await storage.range({ start, end: everything.end }, { limit: pageLength })
    for (const entry of page.entries) await run.take(entry)
    await run.flush()
    const note = `${run.rewritten} written anew`
    report({
      doing: 'reencrypting',
      done: run.entries,
      unit: 'entries',
      note,
      ...(total === undefined ? {} : { total }),
    })
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) break
    start = `${last.key}\0`
  }
  const { entries, rewritten, encrypted, unreadable } = run
  if (encrypted === 0 && unreadable.length === 0) await unmarkEncrypted(storage)
  return { entries, rewritten, encrypted, unreadable }
}

class Run {
  readonly #storage: Storage
  readonly #encryption: Sealing
  #writes: Write[] = []
  #bytes = 0
  readonly unreadable: string[] = []
  entries = 0
  rewritten = 0
  encrypted = 0

  constructor(storage: Storage, encryption: Sealing) {
    this.#storage = storage
    this.#encryption = encryption
  }

  async take(entry: Entry): Promise<void> {
    this.entries++
    const write = await this.#writeOf(entry)
    if (write === undefined) return
    const bytes = write.value?.byteLength ?? 0
    if (this.#writes.length === maxWrites || this.#bytes + bytes > maxBytes) await this.flush()
    this.#writes.push(write)
    this.#bytes += bytes
  }

  async flush(): Promise<void> {
    const writes = this.#writes
    this.#writes = []
    this.#bytes = 0
    if (writes.length === 0) return
    const commit = await this.#storage.commit({ guards: [], writes }).done
    if (commit.ok) this.rewritten += writes.length
    // One of them was written meanwhile: each for itself.
    else for (const write of writes) await this.#rewrite(write)
  }

  /** Until it is written, gone, or as it should be. */
  async #rewrite(first: Write): Promise<void> {
    for (let write: Write | undefined = first; write !== undefined; ) {
      const commit = await this.#storage.commit({ guards: [], writes: [write] }).done
      if (commit.ok) {
        this.rewritten++
        return
      }
      const current = commit.current.get(first.key)
      if (current === undefined) return
      write = await this.#writeOf(current)
    }
  }

  /** undefined: nothing to do. */
  async #writeOf({ key, revision, value: stored }: Entry): Promise<Write | undefined> {
    const damage = damageOf(stored)
    if (damage !== undefined) return this.#note(damage)
    try {
      const { value, isStale } = await this.#encryption.openAsking(key, stored)
      const isSealed = value !== stored
      if (!isStale) {
        if (isSealed) this.encrypted++
        return undefined
      }
      const sealed = this.#encryption.seal(key, value)
      if (sealed !== value) this.encrypted++
      return { key, value: sealed, expect: revision }
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error
      return this.#note(`${key} at revision ${revision}: ${error.message}`)
    }
  }

  #note(line: string): undefined {
    if (this.unreadable.length < maxUnreadable) this.unreadable.push(line)
  }
}
