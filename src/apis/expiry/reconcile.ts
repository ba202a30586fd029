/**
 * `namespace-expiry-controller`: warns of the end of a namespace, and deletes it when it has come.
 *
 *   the end is near ───▶ condition Expiring=True, an Event in the namespace
 *   it was put off ────▶ Expiring=False
 *   it has come ───────▶ protected? the clock is not trusted? refused? the condition says so, and it stays
 *                  └───▶ deleted, if it has still expired then: the write that puts off the end wins
 *
 * What it decides it reads from the object each time; a call too many changes nothing.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerSpec } from '../../controller/controller.ts'
import { findStatusError, isConflict, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { mergeConditions } from '../namespaces/conditions.ts'
import { inItself } from '../namespaces/event-subject.ts'
import { FailureNews } from '../namespaces/failure-news.ts'
import {
  deletionProtectionAnnotation,
  type Namespace,
  type NamespaceCondition,
  namespaceResource,
} from '../namespaces/types.ts'
import { endText, expiresAtMs } from './end.ts'
import type { ExpiryClock } from './expiry-clock.ts'
import { type ExpirySchedule, type NamespaceFeed, warnedAtMs } from './expiry-schedule.ts'
import { expiresAtAnnotation, expiringCondition, expiryControllerName } from './types.ts'

export interface ExpiryControllerDeps {
  readonly client: Client
  readonly clock: Clock
  readonly expiryClock: ExpiryClock
  readonly events: EventRecorder
  readonly feed: NamespaceFeed
  readonly schedule: ExpirySchedule
  /** The server looks once more at what goes (`NamespaceLifecycle`). Elsewhere a version says what was looked at. */
  readonly isJudgedByServer: boolean
  /** Told of each namespace that was deleted because its time had come. */
  readonly expired?: () => void
}

/** Deletions in a row that another write was faster than: who writes a namespace all the time keeps it by that. */
const mostLate = 5

/** Of a hundred a second, as many as wait for one flush. */
const workers = 16

export function expiryController(deps: ExpiryControllerDeps): ControllerSpec {
  const late = new Map<string, number>()
  const news = new FailureNews(deps.clock)
  return {
    name: expiryControllerName,
    workers,
    sources: [deps.schedule],
    reconciler: {
      async reconcile({ name }, signal) {
        const namespace = deps.feed.find(name)
        if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) {
          late.delete(name)
          news.forget(name)
        } else await new Expiry(deps, namespace, { late, news }, signal).settle()
        return undefined
      },
    },
  }
}

/** From one look to the next. */
interface Kept {
  /** By the name of a namespace. */
  readonly late: Map<string, number>
  readonly news: FailureNews
}

type Said = Pick<NamespaceCondition, 'status' | 'reason' | 'message'>

/** One look at one namespace. */
class Expiry {
  readonly #deps: ExpiryControllerDeps
  readonly #namespace: Namespace
  readonly #late: Map<string, number>
  readonly #news: FailureNews
  readonly #signal: AbortSignal
  readonly #name: string
  readonly #dueMs: number

  constructor(deps: ExpiryControllerDeps, namespace: Namespace, { late, news }: Kept, signal: AbortSignal) {
    this.#deps = deps
    this.#namespace = namespace
    this.#late = late
    this.#news = news
    this.#signal = signal
    this.#name = namespace.metadata.name ?? ''
    this.#dueMs = expiresAtMs(namespace)
  }

  async settle(): Promise<void> {
    const nowMs = this.#deps.clock.now()
    if (nowMs >= this.#dueMs) return this.#end()
    this.#late.delete(this.#name)
    if (nowMs >= warnedAtMs(this.#namespace, this.#dueMs)) return this.#warn()
    if (this.#said === undefined || this.#said.status === 'False') return
    const message = Number.isFinite(this.#dueMs) ? `It expires ${this.#at}` : 'It does not expire any more'
    await this.#say({ status: 'False', reason: 'Extended', message })
  }

  get #said(): NamespaceCondition | undefined {
    return this.#namespace.status?.conditions?.find((c) => c.type === expiringCondition)
  }

  get #at(): string {
    return endText(this.#namespace)
  }

  async #warn(): Promise<void> {
    const message =
      `The namespace expires ${this.#at} and is deleted then; to put that off: kubectl annotate --overwrite ` +
      `namespace ${this.#name} ${expiresAtAnnotation}=<time>`
    if (!(await this.#say({ status: 'True', reason: 'ExpiresSoon', message }))) return
    const { events } = this.#deps
    const [object, namespace] = [inItself(this.#namespace), this.#name]
    events.recordSoon({ object, namespace, type: 'Warning', reason: 'NamespaceExpiring', message })
  }

  async #end(): Promise<void> {
    if (this.#namespace.metadata.annotations?.[deletionProtectionAnnotation] === 'true') {
      const message = `It would have expired ${this.#at}: annotation ${deletionProtectionAnnotation} keeps it`
      await this.#say({ status: 'Unknown', reason: 'Protected', message })
      return
    }
    const fault = this.#deps.expiryClock.fault()
    if (fault !== undefined) {
      const message = `It would have expired ${this.#at}: nothing expires while ${fault}`
      await this.#say({ status: 'Unknown', reason: 'ClockNotTrusted', message })
      this.#deps.schedule.suspend(this.#name)
      return
    }
    await this.#delete()
  }

  async #delete(): Promise<void> {
    const { client, events, isJudgedByServer } = this.#deps
    const { uid = '', resourceVersion = '' } = this.#namespace.metadata
    const late = this.#late.get(this.#name) ?? 0
    const preconditions = isJudgedByServer || late >= mostLate ? { uid } : { uid, resourceVersion }
    try {
      await client.delete(namespaceResource, { name: this.#name }, { preconditions, signal: this.#signal })
    } catch (error) {
      // The change that came between brings it back.
      if (isConflict(error)) this.#late.set(this.#name, late + 1)
      if (isNotFound(error) || isConflict(error)) return
      const refusal = findStatusError(error)?.message
      if (refusal !== undefined) {
        const message = `It expired ${this.#at}, and its deletion was refused: ${refusal}`
        await this.#sayRefused({ status: 'True', reason: 'DeletionRefused', message })
      }
      throw error
    }
    this.#deps.expired?.()
    const message = `namespace ${this.#name} expired ${this.#at} and is being deleted`
    const { metadata } = this.#namespace
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata }
    // In itself nothing can be created any more.
    events.recordSoon({ object, namespace: 'default', type: 'Normal', reason: 'NamespaceExpired', message })
  }

  async #sayRefused(said: Said): Promise<void> {
    const before = this.#namespace.status?.conditions ?? []
    if (this.#news.isNews(this.#name, before, [{ type: expiringCondition, ...said }])) await this.#say(said)
  }

  /** True if it was not said before. */
  async #say(said: Said): Promise<boolean> {
    const { client, clock } = this.#deps
    const { status } = this.#namespace
    const fresh = [{ type: expiringCondition, ...said }]
    const conditions = mergeConditions(status?.conditions ?? [], fresh, formatTime(clock.now()))
    if (conditions === undefined) return false
    const next = { ...this.#namespace, status: { ...status, conditions } }
    try {
      await client.update(namespaceResource, next, { subresource: 'status', signal: this.#signal })
      return true
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return false
      throw error
    }
  }
}
