/**
 * Tells people what happened, as Event objects. The same event again becomes a count on the first. Failing to record is
 * never a reason to fail the work itself, so nothing here throws.
 */

import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerContext, FeatureContext } from '../../feature/feature.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'

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
const maxMessageLength = 1024
/** Events that `recordSoon` may have waiting, and how many of them are written at once. */
const maxWaiting = 20_000
const writers = 2

export class EventRecorder {
  readonly #deps: EventRecorderDeps
  readonly #counts = new Map<string, { name: string; count: number }>()

  readonly #waiting: EventRecord[] = []
  #writing = 0

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps
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
    this.#waiting.push(event)
    if (this.#writing < writers) void this.#writeWaiting()
  }

  async #writeWaiting(): Promise<void> {
    this.#writing++
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) await this.record(event)
    this.#writing--
  }

  async record(event: EventRecord): Promise<void> {
    const { client, log } = this.#deps
    const key = JSON.stringify([event.object.metadata.uid, event.namespace, event.reason, event.message])
    const known = this.#counts.get(key)
    try {
      if (known) {
        known.count++
        const patch = { count: known.count, lastTimestamp: this.#now() }
        await client.patch(eventResource, { namespace: event.namespace, name: known.name }, patch)
        return
      }
    } catch (error) {
      // It has expired or gone with its namespace: say it anew.
      this.#counts.delete(key)
      log.debug({ error, reason: event.reason }, 'an event could not be counted up')
    }
    try {
      const created = await client.create(eventResource, this.#eventOf(event))
      if (this.#counts.size >= remembered) this.#counts.clear()
      this.#counts.set(key, { name: created.metadata.name ?? '', count: 1 })
    } catch (error) {
      log.debug({ error, reason: event.reason }, 'an event could not be recorded')
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
