/**
 * The API group of what lies under a storage name: for code that meets keys without the catalogue. Custom resources
 * carry their group in the storage name; of built-in ones it is told here, and `test/contract/stored-group.test.ts`
 * compares that with the catalogue.
 */

const builtIn: Readonly<Record<string, string>> = {
  'admissionregistration.k8s.io':
    'mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations ' +
    'validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations',
  'apiextensions.k8s.io': 'customresourcedefinitions',
  'apiregistration.k8s.io': 'apiservices',
  apps: 'controllerrevisions daemonsets deployments replicasets statefulsets',
  autoscaling: 'horizontalpodautoscalers',
  batch: 'cronjobs jobs',
  'certificates.k8s.io': 'certificatesigningrequests',
  'coordination.k8s.io': 'leases',
  'discovery.k8s.io': 'endpointslices',
  'flowcontrol.apiserver.k8s.io': 'flowschemas prioritylevelconfigurations',
  'networking.k8s.io': 'ingressclasses ingresses ipaddresses networkpolicies servicecidrs',
  'node.k8s.io': 'runtimeclasses',
  policy: 'poddisruptionbudgets',
  'rbac.authorization.k8s.io': 'clusterrolebindings clusterroles rolebindings roles',
  'resource.k8s.io': 'deviceclasses resourceclaims resourceclaimtemplates resourceslices',
  'scheduling.k8s.io': 'priorityclasses',
  'storage.k8s.io': 'csidrivers csinodes csistoragecapacities storageclasses volumeattachments volumeattributesclasses',
}

export interface StoredResource {
  readonly group: string
  readonly resource: string
}

/** What of no group above is of the core group, Events too. */
export function storedResource(storageName: string): StoredResource {
  const dot = storageName.indexOf('.')
  if (dot >= 0) return { resource: storageName.slice(0, dot), group: storageName.slice(dot + 1) }
  for (const [group, resources] of Object.entries(builtIn)) {
    if (resources.split(' ').includes(storageName)) return { group, resource: storageName }
  }
  return { group: '', resource: storageName }
}
