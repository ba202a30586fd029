/** Mirror pods: pods that a folder or a URL describes, shown in the namespace of a cluster id. */
import type { Clock } from '../../base/clock.ts'
import type { Feature } from '../../feature/feature.ts'
import { recorderOf } from '../events/recorder.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { ManifestFolder } from './manifest-folder.ts'
import type { ManifestSource } from './manifest-source.ts'
import { ManifestUrl } from './manifest-url.ts'
import { mirrorPodController, mirrorPodControllerName } from './reconcile.ts'

/** Where pods are described. */
export interface ManifestConfig {
  readonly clusterId: string
  /** A folder, or one file. */
  readonly path?: string
  readonly url?: string
  /** How often they are looked at; absent = every second, the URL every five. */
  readonly pollMs?: number
}

/** @param manifests absent = no mirror pods, and the rights of their controller all the same */
export const mirrorPods = (manifests: ManifestConfig | undefined): Feature => ({
  name: 'mirrorpods',
  controllerRules: {
    // Shows pods found in files and at a URL, in a namespace that it makes if need be, and does not wait for.
    [mirrorPodControllerName]: [
      may([...read, 'create', 'delete', 'patch', 'update'], '', 'pods'),
      may('patch update', '', 'pods/status'),
      may([...read, 'create', 'initialize'], '', 'namespaces'),
      events,
    ],
  },
  open(context) {
    const { clock, log } = context
    if (manifests === undefined) return {}
    return {
      controllers: (run) => [
        mirrorPodController({
          client: run.client(mirrorPodControllerName),
          clock,
          log,
          events: recorderOf(context, run, mirrorPodControllerName),
          clusterId: manifests.clusterId,
          sources: sourcesOf(manifests, clock),
          onError: run.onError(mirrorPodControllerName),
        }),
      ],
    }
  },
})

function sourcesOf({ path, url, pollMs }: ManifestConfig, clock: Clock): ManifestSource[] {
  const polling = { clock, ...(pollMs === undefined ? {} : { pollMs }) }
  return [
    ...(path === undefined ? [] : [new ManifestFolder({ path, ...polling })]),
    ...(url === undefined ? [] : [new ManifestUrl({ url, ...polling })]),
  ]
}
