/**
 * Which format level values on a shared store are written in (`src/storage/format-level.ts`): the least of those that
 * the servers announce. Each keeps a Lease of its own in `kube-system` that says what it reads:
 *
 *   announce (Lease, arrival) ──▶ every so often: renew, look at all Leases ──▶ raise the record, write in that level
 *
 * A server of a version that announces nothing is noticed where it runs the controllers; while it does, nothing is
 * raised. A server that limits itself (`--etcd-format-level`) holds all of them back.
 */
import { createHash } from 'node:crypto'
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { controllersLease, holderOf, leases, specOf } from '../controller/lease.ts'
import { findStatusError, isNotFound } from '../kube/status-error.ts'
import { formatMicroTime } from '../kube/time.ts'
import type { KubeObject } from '../kube/types.ts'
import { serverUser, type UserInfo } from '../kube/user.ts'
import { announceArrival, arrivalsAt, checkLevel, newestLevel, raiseLevel } from '../storage/format-level.ts'
import { isStorageError, type Storage } from '../storage/storage.ts'
import type { StorageChoice } from '../storage/storage-choice.ts'

const namespace = 'kube-system'
const roleLabel = 'borough.dev/role'
const role = 'format-level'
const levelAnnotation = 'borough.dev/format-level'
/** A Lease outlives so many renewals that do not come. */
const renewalsMissed = 6
/** What is left of servers that are gone for so many durations of a Lease is removed. */
const durationsKept = 60

export interface FormatLevelsOptions {
  readonly storage: Storage
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  /** As in the Lease of the controllers. */
  readonly identity: string
  /** The newest level that this server writes. */
  readonly most: number
  readonly renewEveryMs: number
}

export class FormatLevels implements AsyncDisposable {
  readonly #options: FormatLevelsOptions
  readonly #name: string
  readonly #durationMs: number
  readonly #stop = new AbortController()
  #level: number | undefined
  #problem: string | undefined
  #isAnnounced = false
  /** When each Lease was first seen as it is. */
  readonly #seen = new Map<string, { readonly renewTime: string | undefined; readonly atMs: number }>()
  #running: Promise<void> = Promise.resolve()

  constructor(options: FormatLevelsOptions) {
    this.#options = options
    this.#name = `borough-${createHash('sha256').update(options.identity).digest('hex').slice(0, 16)}`
    this.#durationMs = options.renewEveryMs * renewalsMissed
  }

  /** Why nothing can be agreed; values are written as before. Undefined: nothing is wrong. One line. */
  get problem(): string | undefined {
    return this.#problem
  }

  /**
   * Resolves when this server is announced; from then on the level follows those that are there. On a store that has
   * no room it is announced as soon as there is some: until then nothing is written, in any form.
   */
  async start(): Promise<this> {
    const { clock, renewEveryMs } = this.#options
    try {
      await this.#agree()
    } catch (error) {
      if (!isStorageError(error, 'full') && findStatusError(error)?.code !== 507) throw error
      this.#fail(error)
    }
    this.#running = (async () => {
      for (;;) {
        await sleep(clock, renewEveryMs, this.#stop.signal)
        if (this.#stop.signal.aborted) return
        try {
          await this.#agree()
          this.#problem = undefined
        } catch (error) {
          this.#fail(error)
        }
      }
    })()
    return this
  }

  async #agree(): Promise<void> {
    const { storage } = this.#options
    await this.#renew()
    if (!this.#isAnnounced) {
      await announceArrival(storage)
      await checkLevel(storage, 'the store')
      this.#isAnnounced = true
    }
    await this.#look()
  }

  #fail(error: unknown): void {
    const { message } = error as Error
    if (message === this.#problem) return
    this.#problem = message
    this.#options.log.warn({ error }, 'the format level of the store could not be agreed on; it is tried again')
  }

  /** Others need not wait until the Lease lapses. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
    const { client, log } = this.#options
    try {
      await client.delete(leases, { namespace, name: this.#name })
    } catch (error) {
      if (!isNotFound(error)) log.debug({ error }, 'the Lease of the format level could not be removed')
    }
  }

  async #renew(): Promise<void> {
    const { client, clock, identity, most } = this.#options
    const metadata = {
      namespace,
      name: this.#name,
      labels: { [roleLabel]: role },
      annotations: { [levelAnnotation]: String(most) },
    }
    const time = formatMicroTime(clock.now())
    const leaseDurationSeconds = Math.ceil(this.#durationMs / 1000)
    const spec = { holderIdentity: identity, leaseDurationSeconds, renewTime: time }
    try {
      const { resourceVersion = '' } = (await client.get(leases, { namespace, name: this.#name })).metadata
      await client.update(leases, { metadata: { ...metadata, resourceVersion }, spec })
    } catch (error) {
      if (!isNotFound(error)) throw error
      await client.create(leases, { metadata, spec })
    }
  }

  async #look(): Promise<void> {
    const { storage, most, log } = this.#options
    const arrivals = await arrivalsAt(storage)
    const level = Math.min(most, await this.#common())
    if (level > 0 && !(await raiseLevel(storage, level, arrivals))) return
    if (level === this.#level) return
    this.#level = level
    storage.writeLevel?.(level)
    log.info({ level, newest: newestLevel }, 'values are written in this format level')
  }

  /** The least that a server announces. */
  async #common(): Promise<number> {
    const { client, log } = this.#options
    const { items } = await client.list(leases, { namespace, labelSelector: `${roleLabel}=${role}` })
    const live: KubeObject[] = []
    for (const item of items) {
      const silentMs = this.#silentMs(item)
      if (silentMs > this.#durationMs * durationsKept) await this.#remove(item)
      else if (silentMs <= 2 * this.#durationMs) live.push(item)
    }
    const leader = await this.#leader()
    if (leader !== '' && !live.some((item) => holderOf(item) === leader)) {
      log.debug({ leader }, 'the server that runs the controllers announces no format level')
      return 0
    }
    return live.map(levelOf).reduce((least, level) => Math.min(least, level), newestLevel)
  }

  async #leader(): Promise<string> {
    try {
      const lease = await this.#options.client.get(leases, controllersLease)
      return this.#silentMs(lease) <= 2 * this.#durationMs ? holderOf(lease) : ''
    } catch (error) {
      if (isNotFound(error)) return ''
      throw error
    }
  }

  /** For how long it has not been renewed, by the clock that is never set: that of its holder may be hours off. */
  #silentMs(lease: KubeObject): number {
    const now = this.#options.clock.monotonic()
    const { name = '' } = lease.metadata
    const { renewTime } = specOf(lease) ?? {}
    const seen = this.#seen.get(name)
    if (seen !== undefined && seen.renewTime === renewTime) return now - seen.atMs
    this.#seen.set(name, { renewTime, atMs: now })
    return 0
  }

  async #remove({ metadata: { name = '' } }: KubeObject): Promise<void> {
    this.#seen.delete(name)
    await this.#options.client.delete(leases, { namespace, name }).catch((error: unknown) => {
      if (findStatusError(error) === undefined) throw error
    })
  }
}

function levelOf({ metadata }: KubeObject): number {
  const level = Number(metadata.annotations?.[levelAnnotation])
  return Number.isSafeInteger(level) && level >= 0 ? level : 0
}

/** Of a server's configuration. */
export interface FormatSettings extends Pick<FormatLevelsOptions, 'clock' | 'log'> {
  readonly storage: StorageChoice
  readonly leaseTiming: { readonly leaseDurationMs: number }
}

export interface FormatParts extends Pick<FormatLevelsOptions, 'storage'> {
  client(user: UserInfo, agent: string): Client
}

/** Where other versions may serve the same store; null where none can, or where nothing is to be agreed. */
export async function agreeOnFormat(
  { storage: choice, leaseTiming, clock, log }: FormatSettings,
  identity: () => Promise<string>,
  { storage, client }: FormatParts,
): Promise<FormatLevels | null> {
  if (choice.engine !== 'etcd' || choice.checksums === true) return null
  return new FormatLevels({
    storage,
    client: client(serverUser, 'borough/format-level'),
    clock,
    log,
    renewEveryMs: leaseTiming.leaseDurationMs / 2,
    most: choice.formatLevel ?? newestLevel,
    identity: await identity(),
  }).start()
}
