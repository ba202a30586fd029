/**
 * Which message carries which kind.
 */
import { apiVersionOf, type GroupVersionKind } from '../../kube/gvk.ts'

/** API group → the package of its Go types, without version. */
const packageByGroup: Readonly<Record<string, string>> = {
  '': 'core',
  'admission.k8s.io': 'admission',
  'admissionregistration.k8s.io': 'admissionregistration',
  'apidiscovery.k8s.io': 'apidiscovery',
  'apiextensions.k8s.io': 'apiextensions',
  'apiregistration.k8s.io': 'apiregistration',
  apps: 'apps',
  'authentication.k8s.io': 'authentication',
  'authorization.k8s.io': 'authorization',
  autoscaling: 'autoscaling',
  batch: 'batch',
  'certificates.k8s.io': 'certificates',
  'coordination.k8s.io': 'coordination',
  'discovery.k8s.io': 'discovery',
  'events.k8s.io': 'events',
  'flowcontrol.apiserver.k8s.io': 'flowcontrol',
  'networking.k8s.io': 'networking',
  'node.k8s.io': 'node',
  policy: 'policy',
  'rbac.authorization.k8s.io': 'rbac',
  'resource.k8s.io': 'resource',
  'scheduling.k8s.io': 'scheduling',
  'storage.k8s.io': 'storage',
}

/** Kinds of meta/v1 that every group version knows under its own name. */
const kindsOfEveryGroup: ReadonlySet<string> = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'Status',
  'WatchEvent',
])

/** Kinds of meta/v1 served as `v1`, the unversioned documents of discovery among them. */
const unversionedKinds: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'List',
])

/** What any object can be reduced to, in each version of meta.k8s.io. */
const partialKinds: ReadonlySet<string> = new Set(['PartialObjectMetadata', 'PartialObjectMetadataList'])

/** The package that may hold the message of a kind: `core.v1`. Undefined for groups without protobuf. */
export function packageOf(gvk: GroupVersionKind): string | undefined {
  if (kindsOfEveryGroup.has(gvk.kind)) return 'meta.v1'
  if (apiVersionOf(gvk) === 'v1' && unversionedKinds.has(gvk.kind)) return 'meta.v1'
  if (gvk.group === 'meta.k8s.io') return partialKinds.has(gvk.kind) ? 'meta.v1' : undefined
  if (!Object.hasOwn(packageByGroup, gvk.group)) return undefined
  return `${packageByGroup[gvk.group]}.${gvk.version}`
}
