/**
 * Brings definitions to life and to rest.
 *
 *   new          → finalizer → names decided → Established (served by `serve.ts`)
 *   being deleted → Terminating=True → instances deleted → none left → finalizer off → others' finalizers off → gone
 *
 * The finalizer comes before anything is served, so no instance outlives its definition. Nothing polls: the removal of
 * the last instance brings the definition back here.
 */

import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerSpec } from '../../controller/controller.ts'
import { keysOf } from '../../controller/source.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import { approvalCondition } from './approval.ts'
import { decideNames } from './naming.ts'
import type { CustomResources } from './serve.ts'
import {
  type CustomResourceDefinition,
  cleanupFinalizer,
  type DefinitionCondition,
  type DefinitionStatus,
  definitionResource,
  isEstablished,
  isTerminating,
  isTrue,
  withConditions,
} from './types.ts'

export const definitionControllerName = 'customresourcedefinition-controller'

/** Instances by storage name, which is the name of their definition. */
export interface Instances {
  count(storageName: string): number
  /** Namespaces that hold some; [''] for those of a cluster-scoped kind. */
  namespaces(storageName: string): readonly string[]
  /** Calls back whenever one is removed. */
  onRemoved(listener: (storageName: string) => void): () => void
}

export interface DefinitionControllerDeps {
  readonly client: Client
  readonly clock: Clock
  readonly definitions: Pick<CustomResources, 'find' | 'inGroup' | 'subscribe' | 'overlapsBuiltIn'>
  readonly instances: Instances
}

export function definitionController(deps: DefinitionControllerDeps): ControllerSpec {
  const { definitions, instances } = deps
  const lifecycle = new Lifecycle(deps)
  return {
    name: definitionControllerName,
    // Names are decided one definition after the other.
    workers: 1,
    sources: [
      keysOf((enqueue) =>
        definitions.subscribe((name, group) => {
          enqueue({ namespace: '', name })
          // Names may have become free.
          for (const other of definitions.inGroup(group)) {
            if (!isTrue(other, 'NamesAccepted')) enqueue({ namespace: '', name: other.metadata.name ?? '' })
          }
        }),
      ),
      keysOf((enqueue) =>
        instances.onRemoved((name) => {
          const definition = definitions.find(name)
          if (definition !== undefined && isTerminating(definition)) enqueue({ namespace: '', name })
        }),
      ),
    ],
    reconciler: {
      async reconcile({ name }, signal) {
        const definition = definitions.find(name)
        if (definition === undefined) return undefined
        try {
          if (isTerminating(definition)) await lifecycle.end(definition, signal)
          else await lifecycle.begin(definition, signal)
        } catch (error) {
          // Another writer was faster; its change brings the definition here again.
          if (!isConflict(error) && !isNotFound(error)) throw error
        }
        return undefined
      },
    },
  }
}

class Lifecycle {
  readonly #deps: DefinitionControllerDeps

  constructor(deps: DefinitionControllerDeps) {
    this.#deps = deps
  }

  async begin(found: CustomResourceDefinition, signal: AbortSignal): Promise<void> {
    const { client, definitions } = this.#deps
    let definition = found
    const { name, finalizers = [] } = definition.metadata
    if (!finalizers.includes(cleanupFinalizer)) {
      const metadata = { ...definition.metadata, finalizers: [...finalizers, cleanupFinalizer] }
      const options = { fieldManager: definitionControllerName, signal }
      definition = (await client.update(
        definitionResource,
        { ...definition, metadata },
        options,
      )) as CustomResourceDefinition
    }
    const others = [...definitions.inGroup(definition.spec.group)].filter((d) => d.metadata.name !== name)
    const { acceptedNames, conditions } = decideNames(definition, others)
    const approval = approvalCondition(definition)
    await this.#setStatus(definition, { acceptedNames }, approval ? [...conditions, approval] : conditions, signal)
  }

  async end(found: CustomResourceDefinition, signal: AbortSignal): Promise<void> {
    const { client, instances, definitions } = this.#deps
    const name = found.metadata.name ?? ''
    if (!found.metadata.finalizers?.includes(cleanupFinalizer)) return
    const finalizers = found.metadata.finalizers.filter((f) => f !== cleanupFinalizer)
    let definition = found
    if (definitions.overlapsBuiltIn(definition)) {
      definition = await this.#progress(definition, 'False', 'OverlappingBuiltInResource', overlapping, signal)
    } else if (!isEstablished(definition)) {
      definition = await this.#progress(definition, 'False', 'NeverEstablished', neverEstablished, signal)
    } else {
      if (instances.count(name) > 0) {
        // What failed is not in progress again before it goes: each change of its status brings a definition here, so
        // one that says both in turn would be tried as fast as it fails.
        if (!hasFailed(definition)) {
          definition = await this.#progress(definition, 'True', 'InstanceDeletionInProgress', inProgress, signal)
        }
        const isIssued = await this.#deleteInstances(definition, signal)
        if (isIssued) {
          definition = await this.#progress(definition, 'True', 'InstanceDeletionInProgress', inProgress, signal)
        }
        // What still holds them will let go of them one day, and then we are called.
        if (instances.count(name) > 0) return
      }
      // As long as another finalizer holds it, instances are refused, and the condition says so.
      const stays = finalizers.length > 0 ? 'True' : 'False'
      definition = await this.#progress(definition, stays, 'InstanceDeletionCompleted', completed, signal)
    }
    const { finalizers: _, ...metadata } = definition.metadata
    const released = { ...definition, metadata: finalizers.length > 0 ? { ...metadata, finalizers } : metadata }
    await client.update(definitionResource, released, { fieldManager: definitionControllerName, signal })
  }

  /** False where there is no way to delete them, which its status says then. @throws Error as the deletion does */
  async #deleteInstances(definition: CustomResourceDefinition, signal: AbortSignal): Promise<boolean> {
    const { client, instances } = this.#deps
    const { group, names, versions } = definition.spec
    const version = versions.find((v) => v.served && v.storage) ?? versions.find((v) => v.served)
    if (version === undefined) {
      await this.#progress(definition, 'True', deletionFailed, 'no version is served', signal)
      return false
    }
    const resource = { group, version: version.name, resource: names.plural }
    try {
      for (const namespace of instances.namespaces(definition.metadata.name ?? '')) {
        await client.deleteCollection(
          resource,
          { ...(namespace === '' ? {} : { namespace }), metadataOnly: true },
          { isAnswerUnread: true, signal },
        )
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      // Other words (the id of a request) are no other failure.
      if (!hasFailed(definition)) {
        await this.#progress(definition, 'True', deletionFailed, `could not issue all deletes: ${why}`, signal)
      }
      throw error
    }
    return true
  }

  /** How far the deletion is. */
  #progress(
    definition: CustomResourceDefinition,
    status: 'True' | 'False',
    reason: string,
    message: string,
    signal: AbortSignal,
  ): Promise<CustomResourceDefinition> {
    return this.#setStatus(definition, {}, [{ type: 'Terminating', status, reason, message }], signal)
  }

  async #setStatus(
    definition: CustomResourceDefinition,
    change: DefinitionStatus,
    fresh: readonly DefinitionCondition[],
    signal: AbortSignal,
  ): Promise<CustomResourceDefinition> {
    const old = definition.status?.conditions ?? []
    const conditions = withConditions(old, fresh, formatTime(this.#deps.clock.now()))
    const status = { ...definition.status, ...change, conditions }
    if (jsonEqual(status, definition.status)) return definition
    const options = { fieldManager: definitionControllerName, subresource: 'status', signal }
    const updated = await this.#deps.client.update(definitionResource, { ...definition, status }, options)
    return updated as CustomResourceDefinition
  }
}

const deletionFailed = 'InstanceDeletionFailed'

const hasFailed = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'Terminating' && reason === deletionFailed) === true

const inProgress = 'CustomResource deletion is in progress'
const completed = 'removed all instances'
const neverEstablished = 'resource was never established'
const overlapping = 'instances overlap with built-in resources in storage'
