/**
 * Reads everything that is stored, little by little, while it is served: values that no client asks for are read too,
 * so that damage is found while a backup still has what was written.
 *
 *   every day: range ──▶ rest ──▶ range ──▶ … ──▶ the end
 *
 * A pass has at most a fiftieth of the time and 4 MiB a second, so it takes a second for a small store and hours for a
 * large one. Where it has come to is kept in the store: a restart, or another replica, goes on from there. The engine
 * checks what it reads; this asks for it, and keeps what was found until the value is sound again or gone.
 */

import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import { damageOf } from './damaged-value.ts'
import { isStorageError, prefixSpan, type Revision, type ScrubReport, type Storage } from './storage.ts'

export interface ScrubberOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  /** From the end of a pass to the beginning of the next one. */
  readonly everyMs: number
  /** Of several processes that serve the store one reads. Default: this one. */
  readonly isTurn?: () => boolean
}

/** Never encrypted: it says nothing, and is written by servers without keys too. */
export const scrubKey = '/borough/scrub'
/** Until the start is over, and between two looks whether there is something to do. */
const lookMs = 60_000
const saveMs = 60_000
const valuesPerStep = 16
const share = 0.02
const bytesPerMs: number = (4 * 1024 * 1024) / 1000
const leastRestMs = 10
const maxFindings = 1000
const maxRecorded = 100
const { start: firstKey, end } = prefixSpan('/')

interface ScrubRecord {
  /** Where a pass that is under way goes on. */
  readonly position?: string | undefined
  readonly completedMs?: number | undefined
  /** Keys whose values were damaged. */
  readonly damaged?: readonly string[]
}

export class Scrubber implements AsyncDisposable {
  readonly #options: ScrubberOptions
  readonly #stop = new AbortController()
  /** By key. */
  readonly #findings = new Map<string, string>()
  /** Why a pass could not go on. */
  #obstacle: string | undefined
  #record: ScrubRecord = {}
  /** Of the record in the store. */
  #recorded: Revision | undefined
  #readAt: Revision | undefined
  #values = 0
  #bytes = 0
  #passes = 0
  #running: Promise<void> = Promise.resolve()

  constructor(options: ScrubberOptions) {
    this.#options = options
  }

  start(): this {
    this.#running = this.#run()
    return this
  }

  report(): ScrubReport {
    const obstacle = this.#obstacle === undefined ? [] : [this.#obstacle]
    return {
      values: this.#values,
      bytes: this.#bytes,
      passes: this.#passes,
      completedMs: this.#record.completedMs,
      findings: [...this.#findings.values(), ...obstacle],
    }
  }

  /** Waits for the step that is under way, and keeps the position. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, log, isTurn = () => true } = this.#options
    for (;;) {
      await sleep(clock, lookMs, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      if (!isTurn()) continue
      try {
        await this.#look()
      } catch (error) {
        if (isStorageError(error, 'closed')) return
        log.warn({ error }, 'stored values could not be checked; it is tried again')
      }
    }
  }

  async #look(): Promise<void> {
    const { clock, storage, everyMs } = this.#options
    const { entry } = await storage.get(scrubKey)
    this.#recorded = entry?.revision
    this.#record = entry === undefined ? {} : parse(entry.value)
    await this.#lookAgain()
    const { position, completedMs } = this.#record
    // A clock that was set back must not end it for years.
    const sinceMs = completedMs === undefined ? everyMs : Math.abs(clock.now() - completedMs)
    if (position !== undefined || sinceMs >= everyMs) await this.#pass(position ?? firstKey)
  }

  async #pass(from: string): Promise<void> {
    const { clock, isTurn = () => true } = this.#options
    let position = from
    let savedAt = clock.monotonic()
    while (!this.#stop.signal.aborted && isTurn()) {
      const began = clock.monotonic()
      const step = await this.#step(position)
      if (step.next === undefined) {
        this.#passes++
        return this.#save(undefined, clock.now())
      }
      position = step.next
      if (clock.monotonic() - savedAt >= saveMs) {
        await this.#save(position)
        savedAt = clock.monotonic()
      }
      const tookMs = clock.monotonic() - began
      await sleep(clock, Math.max(leastRestMs, tookMs * (1 / share - 1), step.bytes / bytesPerMs), this.#stop.signal)
    }
    await this.#save(position)
  }

  async #step(start: string): Promise<{ readonly bytes: number; readonly next: string | undefined }> {
    const { storage } = this.#options
    let page: Awaited<ReturnType<Storage['range']>>
    try {
      page = await storage.range({ start, end }, { limit: valuesPerStep, ...(await this.#revision()) })
    } catch (error) {
      this.#readAt = undefined
      if (isStorageError(error, 'compacted')) return { bytes: 0, next: start }
      if (!isStorageError(error, 'closed')) this.#obstacle = `from ${start} on: ${(error as Error).message}`
      throw error
    }
    this.#obstacle = undefined
    let bytes = 0
    for (const { key, value } of page.entries) {
      bytes += value.byteLength
      this.#note(key, damageOf(value))
    }
    this.#values += page.entries.length
    this.#bytes += bytes
    const last = page.entries.at(-1)
    return { bytes, next: page.more && last !== undefined ? `${last.key}\0` : undefined }
  }

  /** On a shared store a read of now would have each watch told of it: what was now a moment ago will do. */
  async #revision(): Promise<{ readonly at?: Revision }> {
    const { storage } = this.#options
    if (storage.ownRevision !== undefined) return {}
    this.#readAt ??= await storage.currentRevision()
    return { at: this.#readAt }
  }

  #note(key: string, damage: string | undefined): void {
    if (damage === undefined) this.#findings.delete(key)
    else if (this.#findings.get(key) !== damage && this.#findings.size < maxFindings) {
      this.#findings.set(key, damage)
      this.#options.log.error({ key }, `${damage}; see 'borough storage repair'`)
    }
  }

  /** At what was found before, by other processes too: it may have been repaired, or removed. */
  async #lookAgain(): Promise<void> {
    for (const key of new Set([...this.#findings.keys(), ...(this.#record.damaged ?? [])])) {
      const { entry } = await this.#options.storage.get(key)
      this.#note(key, entry && damageOf(entry.value))
    }
  }

  /** Another replica that was faster is as good; so is none, on a store that can't be written. */
  async #save(position: string | undefined, completedMs = this.#record.completedMs): Promise<void> {
    const { storage, log } = this.#options
    const record = { position, completedMs, damaged: [...this.#findings.keys()].slice(0, maxRecorded) }
    this.#record = record
    this.#readAt = undefined
    const value = Buffer.from(JSON.stringify(record))
    try {
      const writes = [{ key: scrubKey, value, expect: this.#recorded ?? ('absent' as const) }]
      const saved = await storage.commit({ guards: [], writes }).done
      this.#recorded = saved.ok ? saved.revision : saved.current.get(scrubKey)?.revision
    } catch (error) {
      log.debug({ error }, 'how far stored values have been checked could not be kept')
    }
  }
}

/** One that can't be read counts as none. */
function parse(value: Uint8Array): ScrubRecord {
  try {
    const { position, completedMs, damaged } = parseJsonText(Buffer.from(value).toString('utf8')) as Record<
      string,
      unknown
    >
    return {
      damaged: Array.isArray(damaged) ? damaged.filter((key) => typeof key === 'string') : [],
      ...(typeof position === 'string' && position >= firstKey && position < end ? { position } : {}),
      ...(typeof completedMs === 'number' ? { completedMs } : {}),
    }
  } catch {
    return {}
  }
}
