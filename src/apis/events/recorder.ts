/**
 * Tells people what happened, as Event objects. The same event again becomes a count on the first, which is written now
 * and then: work that fails again and again would write more than it does. Failing to record is never a reason to fail
 * the work itself, so nothing here throws.
 */

import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerContext, FeatureContext } from '../../feature/feature.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'
import { EventBudget } from './event-budget.ts'

const eventResource = { group: '', version: 'v1', resource: 'events' } as const

export interface EventRecord {
  /** What it is about. */
  readonly object: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>
  /** Where the Event lives; for cluster-scoped objects usually `default`. */
  readonly namespace: string
  readonly type: 'Normal' | 'Warning'
  /** UpperCamelCase, for machines. */
  readonly reason: string
  readonly message: string
  /**
   * Where one object is told of many others: of which. Each has a budget for itself, so that one tenant's Events do not
   * keep those of the others from being written.
   */
  readonly because?: string
}

export interface EventRecorderDeps {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly component: string
}

/** Events remembered in order to count repetitions. */
const remembered = 4096
/** Between two writes of one count. */
const countEveryMs = 10_000
const maxMessageLength = 1024
/** Writes that may wait behind the work they tell of, and how many of them are done at once. */
const maxWaiting = 20_000
const writers = 2

interface Counted {
  readonly name: string
  readonly namespace: string
  /** Whose budget it takes from. */
  readonly about: string
  count: number
  writtenMs: number
  /** Its count is written when it may be. */
  isDue: boolean
}

export class EventRecorder {
  readonly #deps: EventRecorderDeps
  readonly #counts = new Map<string, Counted>()
  readonly #waiting: (() => Promise<unknown>)[] = []
  readonly #budget: EventBudget
  #writing = 0

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps
    this.#budget = new EventBudget(deps.clock)
  }

  /** Behind the work it tells of: a wave of ten thousand must not wait for ten thousand Events. */
  recordSoon(event: EventRecord): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#deps.log.warn(
        { reason: event.reason, object: event.object.metadata.name },
        'too many events at once: one is left out',
      )
      return
    }
    this.#writeSoon(() => this.record(event))
  }

  #writeSoon(write: () => Promise<unknown>): void {
    this.#waiting.push(write)
    if (this.#writing < writers) void this.#writeWaiting()
  }

  async #writeWaiting(): Promise<void> {
    this.#writing++
    for (let write = this.#waiting.shift(); write !== undefined; write = this.#waiting.shift()) await write()
    this.#writing--
  }

  async record(event: EventRecord): Promise<void> {
    const { client, clock, log } = this.#deps
    const { object, namespace, reason, message } = event
    const key = JSON.stringify([object.metadata.uid, namespace, reason, message])
    const known = this.#counts.get(key)
    if (known !== undefined) {
      known.count++
      if (this.#isPutOff(key, known) || (await this.#writeCount(key, known))) return
    }
    const about = JSON.stringify([object.metadata.uid ?? object.metadata.name, namespace, event.because])
    if (this.#budget.take(about) > 0) {
      log.debug({ reason, object: object.metadata.name }, 'too many events about one object: one is left out')
      return
    }
    try {
      const created = await client.create(eventResource, this.#eventOf(event))
      if (this.#counts.size >= remembered) this.#counts.clear()
      const { name = '' } = created.metadata
      this.#counts.set(key, { name, namespace, about, count: 1, writtenMs: clock.monotonic(), isDue: false })
    } catch (error) {
      log.debug({ error, reason }, 'an event could not be recorded')
    }
  }

  #isPutOff(key: string, known: Counted): boolean {
    const leftMs = known.writtenMs + countEveryMs - this.#deps.clock.monotonic()
    if (known.isDue || leftMs <= 0) return known.isDue
    this.#countIn(leftMs, key, known)
    return true
  }

  #countIn(ms: number, key: string, known: Counted): void {
    known.isDue = true
    this.#deps.clock.after(ms, () => this.#writeSoon(() => this.#writeCount(key, known)))
  }

  /** False: it has expired or gone with its namespace, and is to be said anew. */
  async #writeCount(key: string, known: Counted): Promise<boolean> {
    const { client, clock, log } = this.#deps
    const { name, namespace, about, count } = known
    const waitMs = this.#budget.take(about)
    if (waitMs > 0) {
      this.#countIn(waitMs, key, known)
      return true
    }
    known.isDue = false
    known.writtenMs = clock.monotonic()
    try {
      await client.patch(eventResource, { namespace, name }, { count, lastTimestamp: this.#now() })
      return true
    } catch (error) {
      if (this.#counts.get(key) === known) this.#counts.delete(key)
      log.debug({ error, event: name }, 'an event could not be counted up')
      return false
    }
  }

  #now(): string {
    return formatTime(this.#deps.clock.now())
  }

  #eventOf({ object, namespace, type, reason, message }: EventRecord): KubeObject {
    const now = this.#now()
    const { name = '', uid, resourceVersion } = object.metadata
    return {
      metadata: { name: `${name}.${this.#deps.ids.uid().replaceAll('-', '').slice(0, 16)}`, namespace },
      involvedObject: {
        ...(object.apiVersion === undefined ? {} : { apiVersion: object.apiVersion }),
        ...(object.kind === undefined ? {} : { kind: object.kind }),
        name,
        ...(object.metadata.namespace ? { namespace: object.metadata.namespace } : {}),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      type,
      reason,
      message: message.length > maxMessageLength ? `${message.slice(0, maxMessageLength - 3)}...` : message,
      source: { component: this.#deps.component },
      reportingComponent: this.#deps.component,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
    }
  }
}

/** Of a controller, under its account. */
export const recorderOf = (
  { clock, ids, log }: Pick<FeatureContext, 'clock' | 'ids' | 'log'>,
  { client }: ControllerContext,
  account: string,
): EventRecorder => new EventRecorder({ client: client(account), clock, ids, log, component: account })
