/**
 * Writes the conditions of FlowSchemas: whether the priority level that a schema names is there. What they should say
 * comes with each new configuration (`ConditionUpdates`); the leader applies it.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ObjectKey, Reconciler, Source } from '../../controller/controller.ts'
import { keysOf } from '../../controller/source.ts'
import { type FlowSchemaStatusUpdate, flowSchemasResource } from '../../flowcontrol/flowcontrol.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { isNotFound } from '../../kube/status-error.ts'

const conditionManager = 'api-priority-and-fairness-config-consumer-v1'

/** As upstream: servers that disagree must not write without end. */
const writesPerMinute = 6
const minuteMs = 60_000

/** The conditions that differ from what the FlowSchemas say, as of the last configuration. */
export class ConditionUpdates {
  #byName: ReadonlyMap<string, FlowSchemaStatusUpdate> = new Map()
  readonly #followers = new Set<(key: ObjectKey) => void>()

  /** Of all FlowSchemas. */
  replace(updates: readonly FlowSchemaStatusUpdate[]): void {
    this.#byName = new Map(updates.map((update) => [update.name, update]))
    for (const follower of this.#followers) this.#tell(follower)
  }

  find(name: string): FlowSchemaStatusUpdate | undefined {
    return this.#byName.get(name)
  }

  /** Names what there is to write, now and whenever it changes. */
  get source(): Source {
    return keysOf((enqueue) => {
      this.#followers.add(enqueue)
      this.#tell(enqueue)
      return () => this.#followers.delete(enqueue)
    })
  }

  #tell(follower: (key: ObjectKey) => void): void {
    for (const name of this.#byName.keys()) follower({ namespace: '', name })
  }
}

export function conditionReconciler(client: Client, updates: ConditionUpdates, clock: Clock): Reconciler {
  /** Monotonic times of the writes of the last minute, by FlowSchema. */
  const written = new Map<string, readonly number[]>()
  return {
    async reconcile({ name }, signal) {
      const update = updates.find(name)
      if (update === undefined) {
        written.delete(name)
        return undefined
      }
      const now = clock.monotonic()
      const recent = (written.get(name) ?? []).filter((at) => now - at < minuteMs)
      const oldest = recent.at(-writesPerMinute)
      if (oldest !== undefined) return { requeueAfterMs: oldest + minuteMs - now }
      written.set(name, [...recent, now])
      const status = {
        apiVersion: apiVersionOf(flowSchemasResource),
        kind: 'FlowSchema',
        metadata: { name },
        status: { conditions: [update.condition] },
      }
      const options = { fieldManager: conditionManager, force: true, subresource: 'status', signal }
      try {
        await client.apply(flowSchemasResource, status, options)
      } catch (error) {
        // It was deleted meanwhile.
        if (!isNotFound(error)) throw error
      }
      return undefined
    },
  }
}
