/**
 * The objects a binding evaluates its policy with: one, those that a selector finds, or none at all.
 * @see CollectParams in k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go v0.36
 */
import type { Slice } from '../../base/turns.ts'
import { apiVersionOf, parseApiVersion } from '../../kube/gvk.ts'
import { labelMatcher } from '../../kube/label-matcher.ts'
import { labelSelectorOf } from '../../kube/label-selector.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Lister } from '../../registry/registry.ts'
import type { ParamKind, ParamRef } from './types.ts'

/** The policy or the binding asks for something that can't be. failurePolicy says what that means. */
export class ConfigurationFault extends Error {
  override readonly name = 'ConfigurationFault'
}

/** @throws ConfigurationFault */
export function paramTypeOf({ apiVersion = '', kind = '' }: ParamKind, types: ResourceTypes): ResourceType {
  const gv = parseApiVersion(apiVersion)
  const type = gv && types.findKind({ ...gv, kind })
  if (!type) {
    throw new ConfigurationFault(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`)
  }
  return type
}

/**
 * `namespace` is that of the request. A member that is undefined: evaluate without parameters.
 * @throws ConfigurationFault
 */
export async function collectParams(
  type: ResourceType,
  ref: ParamRef | undefined,
  namespace: string,
  lister: Lister,
  slice: Slice,
): Promise<readonly (KubeObject | undefined)[]> {
  if (ref === undefined) return [undefined]
  if (!type.namespaced && ref.namespace) {
    throw new ConfigurationFault('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const within = type.namespaced ? ref.namespace || namespace : ''
  if (type.namespaced && within === '') {
    throw new ConfigurationFault(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    )
  }
  const named = ref.name ? lister.find(type, within, ref.name) : undefined
  const found = ref.name ? (named ? [named.object] : []) : await selectParams(type, ref, within, lister, slice)
  const params = found.map((object) => withTypeMeta(object, type))
  if (params.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationFault('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return params
}

/** In slices: they are parsed, and there may be as many as the type has. */
async function selectParams(
  type: ResourceType,
  ref: ParamRef,
  namespace: string,
  lister: Lister,
  slice: Slice,
): Promise<readonly KubeObject[]> {
  const selects = labelMatcher(labelSelectorOf(ref.selector ?? {}))
  const found: KubeObject[] = []
  for (const stored of lister.list(type, namespace)) {
    const { object } = stored
    if (selects(object.metadata.labels)) found.push(object)
    const pause = slice.pause()
    if (pause) await pause
  }
  return found
}

const withTypeMeta = (object: KubeObject, type: ResourceType): KubeObject => ({
  ...object,
  apiVersion: apiVersionOf(type),
  kind: type.kind,
})
