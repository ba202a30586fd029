/** Server-side apply and the tracking of plain writes, with what each endpoint can't set left to nobody. */
import type { Clock } from '../base/clock.ts'
import type { Apply } from '../http/verbs/patch.ts'
import { applyConfiguration } from '../kube/apply/apply-configuration.ts'
import { resetFieldsOf } from '../kube/apply/reset-fields.ts'
import { trackUpdate } from '../kube/apply/track-update.ts'
import { apiVersionOf, parseApiVersion } from '../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject } from '../kube/types.ts'
import type { RegistryDeps } from '../registry/parts.ts'

type Served = Pick<ResourceTypes, 'find'>

/** Is this version of the resource still served? Entries of versions that are not are dropped. */
const servedIn =
  (types: Served, { resource }: ResourceType) =>
  (apiVersion: string): boolean => {
    const gv = parseApiVersion(apiVersion)
    return gv !== undefined && types.find({ ...gv, resource }) !== undefined
  }

export function trackWrites(types: Served): RegistryDeps['trackUpdate'] {
  return ({ type, live, next, manager, subresource, now }): KubeObject =>
    trackUpdate({
      live,
      next,
      schema: type.schema,
      manager,
      apiVersion: apiVersionOf(type),
      subresource,
      now,
      resetFields: resetFieldsOf(type, subresource),
      served: servedIn(types, type),
    })
}

export function applyWith(clock: Clock, types: Served): Apply {
  return ({ live, config, type, subresource, manager, force }) =>
    applyConfiguration({
      live,
      config,
      kind: type.kind,
      schema: type.schema,
      manager,
      force,
      apiVersion: apiVersionOf(type),
      subresource,
      now: formatTime(clock.now()),
      resetFields: resetFieldsOf(type, subresource),
      served: servedIn(types, type),
    })
}
