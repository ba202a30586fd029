/**
 * Stores what quotas show. What is enforced is in the counters; the status follows them: within a second for watchers,
 * and before an answer to a client that reads the quota (`settled`), so that a read shows all that was acknowledged.
 */
import { isPending } from '../../base/eventual.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { Figures } from './figures.ts'
import type { QuotaIndex } from './quota-index.ts'
import type { ParsedQuota } from './selection.ts'
import { figuresShown } from './status.ts'
import type { ClusterResourceQuota } from './types.ts'

export interface StatusWriterDeps extends Pick<FeatureContext, 'writeRecords' | 'log'> {
  readonly quotas: QuotaIndex
  readonly figures: Figures
  readonly type: ResourceType<ClusterResourceQuota>
}

export class StatusWriter {
  readonly #deps: StatusWriterDeps
  /** uids of those whose figures have changed since the status was compared with them. */
  readonly #behind = new Set<string>()
  /** uid → writes under way. */
  readonly #writing = new Map<string, Set<Promise<void>>>()
  /** uid → the write that begins when those are done. */
  readonly #next = new Map<string, Promise<void>>()

  constructor(deps: StatusWriterDeps) {
    this.#deps = deps
    deps.figures.onChange((uid) => this.#changed(uid))
  }

  /** Until the status of the quota ('' = of all) shows what this process knows now. */
  async settled(name: string): Promise<void> {
    const { quotas, figures, log } = this.#deps
    const one = quotas.find(name)
    const all = name === '' ? [...quotas.all()] : one === undefined ? [] : [one]
    for (const { uid, name: behind } of all) {
      try {
        const surveying = figures.surveyed()
        // A reader who comes before a change is not to wait for its write.
        if (isPending(surveying)) await surveying
        await this.#catchUp(uid, behind)
      } catch (error) {
        // The reader is shown what was stored before.
        log.warn({ error, quota: behind }, 'the status of a ClusterResourceQuota could not be stored')
      }
    }
  }

  /** Readers share a write: those under way, if they were decided on all that is known, else the next. */
  async #catchUp(uid: string, name: string): Promise<void> {
    const writing = [...(this.#writing.get(uid) ?? [])]
    if (!this.#behind.has(uid)) {
      await Promise.all(writing)
      return
    }
    let next = this.#next.get(uid)
    if (next === undefined) {
      next = Promise.allSettled(writing).then(() => {
        this.#next.delete(uid)
        return this.write(name)
      })
      this.#next.set(uid, next)
    }
    await next
  }

  /** `observed`: the spec that is counted everywhere from now on; nothing is written where it is not the spec now. */
  write(name: string, observed?: ParsedQuota): Promise<void> {
    const uid = this.#deps.quotas.find(name)?.uid ?? ''
    const writing = this.#writing.get(uid) ?? new Set()
    this.#writing.set(uid, writing)
    const done = this.#store(name, observed).finally(() => {
      writing.delete(done)
      if (writing.size === 0) this.#writing.delete(uid)
    })
    writing.add(done)
    return done
  }

  async #store(name: string, observed: ParsedQuota | undefined): Promise<void> {
    const { quotas, figures } = this.#deps
    await figures.surveyed()
    do {
      const quota = quotas.find(name)
      if (quota !== undefined) await figures.rank(quota)
    } while (!(await this.#storeRanked(name, observed)))
  }

  /** False if what is to be listed had to be ranked anew when it was decided. */
  async #storeRanked(name: string, observed: ParsedQuota | undefined): Promise<boolean> {
    const { quotas, figures, type, writeRecords } = this.#deps
    let compared: string | undefined
    let isRanked = true
    const decide: Parameters<typeof writeRecords>[0] = (view) => {
      isRanked = true
      const quota = quotas.find(name)
      const seen = view.see(type, '', name)
      const { object } = seen
      if (quota === undefined || object?.metadata.uid !== quota.uid) return undefined
      if (observed !== undefined && observed !== quota) return undefined
      const known = figures.of(quota.uid)
      const largest = known.largest(quota.hard)
      isRanked = largest !== undefined
      if (largest === undefined) return undefined
      const { shares, total } = known
      const status = figuresShown(object, quota.per, { shares, total, largest }, observed?.generation)
      this.#behind.delete(quota.uid)
      compared = quota.uid
      if (jsonEqual(status, object.status ?? {})) return undefined
      const next: ClusterResourceQuota = { ...object, status }
      return { writes: [{ key: seen.key, expect: seen.expect, value: encodeStored(next), object: next, type }] }
    }
    try {
      await writeRecords(decide)
      return isRanked
    } catch (error) {
      if (compared !== undefined) this.#changed(compared)
      throw error
    }
  }

  #changed(uid: string): void {
    this.#behind.add(uid)
  }
}
