/**
 * Epochs of quotas in the store: `/registry/borough/quotaepoch/<namespace>`, read like objects from the watch cache.
 */
import type { DecidedWrite, DecisionView } from '../../admission/admission.ts'
import type { Timer } from '../../base/clock.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import { recordType } from '../../feature/record-type.ts'
import { objectKey } from '../../kube/object-key.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { QuotaEpochs, SeenEpoch } from './epoch.ts'

const storageName = 'borough'
const folder = 'quotaepoch'
/** A recount takes milliseconds: who has not settled after so long is not coming back. */
const takeoverMs = 5000

interface Epoch extends KubeObject {
  readonly recounting?: boolean
}

type EpochParts = Pick<FeatureContext, 'records' | 'stored' | 'clock' | 'log'>

interface Waiting {
  readonly promise: Promise<void>
  readonly free: () => void
  readonly timer: Timer
}

export class StoredEpochs implements QuotaEpochs {
  readonly #parts: EpochParts
  readonly #type: ResourceType<Epoch>
  readonly #waiting = new Map<string, Waiting>()

  constructor(parts: EpochParts, like: ResourceType) {
    this.#parts = parts
    this.#type = recordType(like, storageName)
    parts.stored.followOne(storageName, (next, old) => this.#free((next ?? old)?.name ?? ''))
  }

  see(view: DecisionView, namespace: string): SeenEpoch {
    const seen = view.see(this.#type, folder, namespace)
    const { object } = seen
    return {
      guard: { key: seen.key, expect: seen.expect },
      recounting: object?.recounting === true,
      exists: object !== undefined,
    }
  }

  async take(namespace: string, seen: SeenEpoch): Promise<(() => Promise<void>) | undefined> {
    const revision = await this.#commit(seen.guard, epoch(namespace, true))
    return revision === undefined ? undefined : () => this.#settleAt(namespace, revision)
  }

  released(namespace: string): Promise<void> {
    const known = this.#waiting.get(namespace)
    if (known) return known.promise
    let resolve: () => void = () => {}
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    const free = (): void => {
      this.#waiting.delete(namespace)
      resolve()
    }
    const timer = this.#parts.clock.after(takeoverMs, () => void this.#overrule(namespace).finally(free))
    this.#waiting.set(namespace, { promise, free, timer })
    return promise
  }

  settled(namespace: string, { guard }: SeenEpoch): DecidedWrite {
    const object = epoch(namespace, false)
    // The quota itself can't be seen before it is durable, so neither may this.
    return { ...guard, value: encodeStored(object), hidden: true }
  }

  removed({ guard }: SeenEpoch): DecidedWrite {
    return { ...guard, value: undefined }
  }

  /** Ends an unfinished recount of another process: that commit fails then, and is counted again. */
  async #overrule(namespace: string): Promise<void> {
    const found = this.#parts.stored.find(storageName, folder, namespace)
    if (found?.as(this.#type).object.recounting === true) await this.#settleAt(namespace, found.revision)
  }

  /** Never rejects: what could not be settled is overruled later. */
  async #settleAt(namespace: string, revision: number): Promise<void> {
    try {
      await this.#commit({ key: objectKey(storageName, folder, namespace), expect: revision }, epoch(namespace, false))
    } catch (error) {
      this.#parts.log.warn({ error, namespace }, 'a recount of quotas could not be ended')
    }
  }

  /** undefined = not as expected; either way the cache shows what is there now. */
  async #commit(guard: SeenEpoch['guard'], object: KubeObject): Promise<number | undefined> {
    const { records, stored } = this.#parts
    const commit = await records.commit({ guards: [], writes: [{ ...guard, value: encodeStored(object) }] }).done
    if (commit.ok) await stored.applied(commit.revision)
    else await stored.refresh()
    return commit.ok ? commit.revision : undefined
  }

  #free(namespace: string): void {
    const waiting = this.#waiting.get(namespace)
    waiting?.timer.cancel()
    waiting?.free()
  }
}

const epoch = (namespace: string, recounting: boolean): Epoch => ({
  metadata: { name: namespace },
  ...(recounting ? { recounting } : {}),
})
