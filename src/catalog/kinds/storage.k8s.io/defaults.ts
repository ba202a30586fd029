/**
 * Groups about the platform itself: storage, discovery, resource, authentication, apiextensions, apiregistration.
 * @see defaults.go in pkg/apis/{storage,discovery,resource,authentication}/v1 of Kubernetes 1.36, and those of
 *   apiextensions-apiserver and kube-aggregator
 */
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, findStruct, isUnset } from '../default-rules.ts'

const deviceRequest: DefaultRule = (request) => {
  if (isUnset(request.allocationMode)) request.allocationMode = 'ExactCount'
  if (request.allocationMode === 'ExactCount' && isUnset(request.count)) request.count = 1
}

const device: DefaultRule = (value) => {
  for (const mapping of Object.values(findStruct(value, 'nodeAllocatableResourceMappings') ?? {})) {
    if (typeof mapping === 'object' && mapping !== null)
      fillAbsent({ allocationMultiplier: '1' })(mapping as Record<string, unknown>)
  }
}

const lifecycleModes: DefaultRule = (spec) => {
  if (!Array.isArray(spec.volumeLifecycleModes) || spec.volumeLifecycleModes.length === 0) {
    spec.volumeLifecycleModes = ['Persistent']
  }
}

const crdNames: DefaultRule = (names) => {
  if (typeof names.kind !== 'string' || names.kind === '') return
  fillUnset({ singular: names.kind.toLowerCase(), listKind: `${names.kind}List` })(names)
}

const port443 = [fillAbsent({ port: 443 })]

export const platformGroupDefaults: DefaultRules = {
  'io.k8s.api.storage.v1.StorageClass': [fillAbsent({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })],
  'io.k8s.api.storage.v1.CSIDriverSpec': [
    fillAbsent({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    }),
    lifecycleModes,
  ],
  'io.k8s.api.discovery.v1.EndpointPort': [fillAbsent({ name: '', protocol: 'TCP' })],
  'io.k8s.api.resource.v1.ExactDeviceRequest': [deviceRequest],
  'io.k8s.api.resource.v1.DeviceSubRequest': [deviceRequest],
  'io.k8s.api.resource.v1.Device': [device],
  'io.k8s.api.authentication.v1.TokenRequestSpec': [fillAbsent({ expirationSeconds: 3600 })],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec': [
    fillAbsent({ conversion: { strategy: 'None' } }),
  ],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames': [crdNames],
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference': port443,
  'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference': port443,
}
