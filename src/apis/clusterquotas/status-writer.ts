/**
 * Stores what quotas show. What is enforced is in the counters; the status follows them: within a second for watchers,
 * and before an answer to a client that reads the quota (`settled`), so that a read shows all that was acknowledged.
 */
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
  /** uid → how often its figures have changed since the status was compared with them. */
  readonly #behind = new Map<string, number>()

  constructor(deps: StatusWriterDeps) {
    this.#deps = deps
    deps.figures.onChange((uid) => this.#behind.set(uid, (this.#behind.get(uid) ?? 0) + 1))
  }

  /** Until the status of the quota ('' = of all) shows what this process knows now. */
  async settled(name: string): Promise<void> {
    const { quotas, log } = this.#deps
    const one = quotas.find(name)
    const all = name === '' ? [...quotas.all()] : one === undefined ? [] : [one]
    for (const { uid, name: behind } of all) {
      if (!this.#behind.has(uid)) continue
      try {
        await this.write(behind)
      } catch (error) {
        // The reader is shown what was stored before.
        log.warn({ error, quota: behind }, 'the status of a ClusterResourceQuota could not be stored')
      }
    }
  }

  /** `observed`: the spec that is counted everywhere from now on; nothing is written where it is not the spec now. */
  async write(name: string, observed?: ParsedQuota): Promise<void> {
    const { quotas, figures, type, writeRecords } = this.#deps
    await writeRecords((view) => {
      const quota = quotas.find(name)
      const seen = view.see(type, '', name)
      const { object } = seen
      if (quota === undefined || object?.metadata.uid !== quota.uid) return undefined
      if (observed !== undefined && observed !== quota) return undefined
      const changes = this.#behind.get(quota.uid)
      const status = figuresShown(object, quota, figures.of(quota.uid), observed?.generation)
      if (this.#behind.get(quota.uid) === changes) this.#behind.delete(quota.uid)
      if (jsonEqual(status, object.status ?? {})) return undefined
      const next: ClusterResourceQuota = { ...object, status }
      return { writes: [{ key: seen.key, expect: seen.expect, value: encodeStored(next), object: next, type }] }
    })
  }
}
