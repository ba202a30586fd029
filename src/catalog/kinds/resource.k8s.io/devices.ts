/**
 * Dynamic resource allocation: claims, classes and slices of devices.
 * @see pkg/apis/resource/v1/defaults.go, pkg/registry/resource of Kubernetes 1.36
 */
import { type DefaultRule, fillAbsent, findStruct, isUnset } from '../default-rules.ts'
import { allMetadata, type BuiltInKind } from '../kind.ts'
import { selectableFields } from '../selectable-fields.ts'

const defaultRequest: DefaultRule = (request) => {
  if (isUnset(request.allocationMode)) request.allocationMode = 'ExactCount'
  if (request.allocationMode === 'ExactCount' && isUnset(request.count)) request.count = 1
}

const defaultDevice: DefaultRule = (value) => {
  for (const mapping of Object.values(findStruct(value, 'nodeAllocatableResourceMappings') ?? {})) {
    if (typeof mapping === 'object' && mapping !== null)
      fillAbsent({ allocationMultiplier: '1' })(mapping as Record<string, unknown>)
  }
}

export const resourceClaim: BuiltInKind = {
  strategy: { keptMetadata: { status: allMetadata } },
  defaults: {
    'io.k8s.api.resource.v1.ExactDeviceRequest': [defaultRequest],
    'io.k8s.api.resource.v1.DeviceSubRequest': [defaultRequest],
  },
}

export const deviceClass: BuiltInKind = { strategy: { tracksGeneration: true } }

export const resourceSlice: BuiltInKind = {
  strategy: { tracksGeneration: true, selectableFields: selectableFields('spec.nodeName', 'spec.driver') },
  defaults: { 'io.k8s.api.resource.v1.Device': [defaultDevice] },
}
