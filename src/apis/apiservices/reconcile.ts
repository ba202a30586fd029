/**
 * Keeps one `Local` APIService for each group version served, and none for what is no longer served. An object of the
 * same name that another client made (without our label, or with a service behind it) is left as it is.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerSpec, ObjectKey } from '../../controller/controller.ts'
import { keysOf } from '../../controller/source.ts'
import { Watches } from '../../controller/watches.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { isAlreadyExists, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'
import {
  apiServicesResource,
  availableStatus,
  isAvailable,
  localApiService,
  managedLabel,
  type ServedGroupVersion,
  servedGroupVersions,
} from './types.ts'

export const apiServiceControllerName = 'apiservice-registration-controller'

export interface ApiServiceControllerDeps {
  readonly client: Client
  readonly clock: Clock
  readonly types: ResourceTypes
  /** The higher, the earlier in discovery. */
  readonly groupPriority: (group: string) => number
  /** Failures of the watch, which it recovers from. */
  readonly onError: (error: unknown) => void
}

export function apiServiceController(deps: ApiServiceControllerDeps): ControllerSpec {
  const { client, clock, types, groupPriority, onError } = deps
  const keyOf = (name: string): ObjectKey => ({ namespace: '', name })
  const watches = new Watches({ client, clock, onError })
  const informer = watches.on({ resource: apiServicesResource }, (next, old) =>
    keyOf((next ?? old)?.metadata.name ?? ''),
  )
  let served = servedGroupVersions(types, groupPriority)
  const lookAtAll = (): void => {
    const before = served
    served = servedGroupVersions(types, groupPriority)
    watches.enqueue([...new Set([...before.keys(), ...served.keys()])].map(keyOf))
  }
  watches.onSynced(lookAtAll)

  const restore = async (want: ServedGroupVersion, found: KubeObject, signal: AbortSignal): Promise<void> => {
    const options = { fieldManager: apiServiceControllerName, signal }
    const desired = localApiService(want)
    let current: KubeObject = { ...found, apiVersion: desired.apiVersion ?? '', kind: desired.kind ?? '' }
    if (!jsonEqual(current['spec'], desired['spec'])) {
      current = await client.update(apiServicesResource, { ...current, spec: desired['spec'] }, options)
    }
    if (isAvailable(current)) return
    const status = availableStatus(formatTime(clock.now()))
    await client.update(apiServicesResource, { ...current, status }, { ...options, subresource: 'status' })
  }

  return {
    name: apiServiceControllerName,
    workers: 1,
    sources: [watches, keysOf(() => types.onChange(lookAtAll))],
    reconciler: {
      async reconcile({ name }, signal) {
        const want = served.get(name)
        const found = informer.find('', name)
        if (found !== undefined && !isOurs(found)) return undefined
        try {
          if (want !== undefined) {
            const options = { fieldManager: apiServiceControllerName, signal }
            const current = found ?? (await client.create(apiServicesResource, localApiService(want), options))
            await restore(want, current, signal)
          } else if (found !== undefined) {
            const { uid } = found.metadata
            await client.delete(apiServicesResource, { name }, { ...(uid ? { preconditions: { uid } } : {}), signal })
          }
        } catch (error) {
          // Another writer was faster; its event arrives by the watch and brings the key back.
          if (!isNotFound(error) && !isAlreadyExists(error)) throw error
        }
        return undefined
      },
    },
  }
}

const isOurs = (object: KubeObject): boolean =>
  object.metadata.labels?.[managedLabel] !== undefined &&
  (object['spec'] as { service?: unknown } | undefined)?.service === undefined
