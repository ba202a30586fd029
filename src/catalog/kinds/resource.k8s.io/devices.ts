/**
 * Dynamic resource allocation: claims, classes and slices of devices.
 * @see pkg/apis/resource/v1/defaults.go, pkg/registry/resource of Kubernetes 1.36
 */
import { validateAnnotations, validateLabels } from '../../../kube/metadata.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { isExtended } from '../core/resource-requirements.ts'
import { type DefaultRule, fillAbsent, findStruct, isUnset } from '../default-rules.ts'
import { allMetadata, type BuiltInKind, validateWholeWith } from '../kind.ts'
import { fieldIsImmutable, partIn, partsIn, type Report, sameValue } from '../report.ts'
import { selectableFields } from '../selectable-fields.ts'
import { checkConfiguration, checkDeviceClaim, checkList, checkSelectors } from './device-claims.ts'

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

function checkClaim(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  if (!old) checkDeviceClaim(report, 'spec.devices', partIn(partIn(next, 'spec'), 'devices'))
  else if (!sameValue(next.spec, old.spec)) report.invalid('spec', next.spec ?? null, fieldIsImmutable)
}

function checkClaimTemplate(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  if (old) {
    if (!sameValue(spec, old.spec)) report.invalid('spec', spec, fieldIsImmutable)
    return
  }
  const { labels, annotations } = partIn(spec, 'metadata') as Partial<Record<string, Readonly<Record<string, string>>>>
  report.add(validateAnnotations(annotations, 'spec.metadata.annotations'))
  report.add(validateLabels(labels, 'spec.metadata.labels'))
  checkDeviceClaim(report, 'spec.spec.devices', partIn(partIn(spec, 'spec'), 'devices'))
}

function checkDeviceClass(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  checkSelectors(report, 'spec.selectors', spec)
  checkList(report, 'spec.config', partsIn(spec, 'config'), 32, (field, config) =>
    checkConfiguration(report, field, config),
  )
  const { extendedResourceName: extended } = spec
  if (typeof extended === 'string' && !isExtended(extended)) {
    report.invalid('spec.extendedResourceName', extended, 'must be a valid extended resource name')
  }
}

export const resourceClaim: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkClaim), keptMetadata: { status: allMetadata } },
  defaults: {
    'io.k8s.api.resource.v1.ExactDeviceRequest': [defaultRequest],
    'io.k8s.api.resource.v1.DeviceSubRequest': [defaultRequest],
  },
}

export const resourceClaimTemplate: BuiltInKind = { strategy: { validate: validateWholeWith(checkClaimTemplate) } }

export const deviceClass: BuiltInKind = {
  strategy: { validate: validateWholeWith(checkDeviceClass), tracksGeneration: true },
}

export const resourceSlice: BuiltInKind = {
  strategy: { tracksGeneration: true, selectableFields: selectableFields('spec.nodeName', 'spec.driver') },
  defaults: { 'io.k8s.api.resource.v1.Device': [defaultDevice] },
}
