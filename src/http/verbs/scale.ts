/**
 * get, update and patch of `scale`: the object in the URL is read and written through its Scale. Only the number of
 * replicas can change; the workload's own finalizers, labels and owners are not within reach here.
 * @see k8s.io/kubernetes/pkg/registry/apps/deployment/storage/storage.go (ScaleREST) v1.36
 */
import type { Eventual } from '../../base/eventual.ts'
import { cloneJson } from '../../kube/clone-json.ts'
import { fieldInvalid } from '../../kube/field-error.ts'
import { printGoValue } from '../../kube/go-quote.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { ResourceType, ScalePaths } from '../../kube/resource-type.ts'
import { type Scale, scaleOf, withReplicas } from '../../kube/scale.ts'
import { badRequest, conflict, invalid } from '../../kube/status-error.ts'
import type { KubeObject, Unvalidated } from '../../kube/types.ts'
import type { Apply } from '../../registry/field-ownership.ts'
import type { Preconditions, StoredObject, Transform } from '../../registry/registry.ts'
import type { ApiRequest, ApiResponse } from '../api.ts'
import type { HandlerVerb } from '../dispatch.ts'
import { negotiate } from '../negotiate.ts'
import type { Target } from '../resolution.ts'
import type { Renderer } from '../respond.ts'
import { checkWriteOptions } from './options.ts'
import { applyMediaType, patchTransform, readPatch } from './patch.ts'
import { writeScope } from './target.ts'
import { checkAddress } from './update.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export interface ScaleDeps extends VerbDeps {
  readonly apply: Apply
  /** `Scale` of autoscaling/v1: what bodies and answers are. */
  readonly scaleType: ResourceType
}

export function scaleVerbs(deps: ScaleDeps): Partial<Record<HandlerVerb, VerbHandler>> {
  const { registry, decoder, scaleType } = deps
  return {
    async get(request, { info }, { type, namespace, name }) {
      return answer(deps, request, info.query, await registry.get(type, namespace, name))
    },

    async update(request, context, target) {
      const { query } = context.info
      checkWriteOptions('UpdateOptions', query)
      const scale = await decoder.decodeObject(request, context, scaleType)
      checkAddress(scale, scaleTarget(target, scaleType))
      const { stored } = await registry.update(
        writeScope(request, context, target),
        through(target, () => scale),
        { preconditions: preconditionsOf(scale) },
      )
      return answer(deps, request, query, stored)
    },

    async patch(request, context, target) {
      const { query } = context.info
      const patch = await readPatch(deps, request, context, target)
      const scope = writeScope(request, context, target)
      if (patch.mediaType === applyMediaType) {
        const { replicas, uid } = appliedScale(patch.parsed.value, scaleType)
        const { type, name, namespace } = target
        const { stored } = await registry.update(
          scope,
          async (live) => {
            checkUid(target, uid, live)
            const metadata = { name, ...(type.namespaced ? { namespace } : {}) }
            const identity = { kind: type.kind, apiVersion: apiVersionOf(type), metadata }
            const config = replicas === undefined ? identity : withReplicas(identity, replicas, pathsOf(type))
            const force = query.get('force') === 'true'
            const manager = scope.fieldManager
            return cloneJson(await deps.apply({ live, config, type, subresource: 'scale', manager, force }))
          },
          { ownsManagedFields: true },
        )
        return answer(deps, request, query, stored)
      }
      const patched = patchTransform(deps, patch, context, scaleTarget(target, scaleType))
      const { stored } = await registry.update(
        scope,
        through(target, (scale) => patched(scale)),
      )
      return answer(deps, request, query, stored)
    },
  }
}

/** Where a custom resource has its numbers; undefined for built-in kinds. */
const pathsOf = ({ subresources }: ResourceType): ScalePaths | undefined => subresources.get('scale')?.scale

const scaleTarget = (target: Target, scaleType: ResourceType): Target => ({
  ...target,
  type: { ...scaleType, namespaced: target.type.namespaced },
})

/** Changes the workload by changing its Scale. */
function through(target: Target, change: (scale: Scale) => Eventual<KubeObject | Unvalidated>): Transform {
  const { type, name } = target
  return async (workload) => {
    const paths = pathsOf(type)
    const before = scaleOf(workload, paths)
    const after = await change(before)
    checkUid(target, after.metadata.uid, workload)
    const next = cloneJson(withReplicas(workload, checkedReplicas(after, name, paths), paths))
    const { resourceVersion } = after.metadata
    // Absent means: whatever is there.
    return resourceVersion ? { ...next, metadata: { ...next.metadata, resourceVersion } } : next
  }
}

function preconditionsOf({ metadata: { uid } }: Unvalidated): Preconditions {
  return uid ? { uid } : {}
}

/** @throws StatusError Conflict about another workload of the name than the one that is meant */
function checkUid({ type, name }: Target, uid: string | undefined, { metadata }: Pick<KubeObject, 'metadata'>): void {
  if (!uid || uid === metadata.uid) return
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`
  throw conflict({ group: type.group, resource: `${type.resource}/scale` }, name, why)
}

/** Undefined is not said; negative numbers of a custom resource are refused at the field that they would go to. */
function checkedReplicas(scale: KubeObject | Unvalidated, name: string, paths?: ScalePaths): number | undefined {
  const spec = scale['spec']
  const replicas = isJsonObject(spec) && typeof spec['replicas'] === 'number' ? spec['replicas'] : undefined
  if (replicas === undefined || replicas >= 0 || paths !== undefined) return replicas
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
    fieldInvalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
  ])
}

/** @throws StatusError BadRequest for anything that is not a Scale */
function appliedScale(config: unknown, scaleType: ResourceType): { replicas?: number | undefined; uid?: string } {
  if (!isJsonObject(config)) throw badRequest('error decoding YAML: an apply patch must be an object')
  const { kind, apiVersion, metadata, spec } = config
  if (kind !== scaleType.kind || apiVersion !== apiVersionOf(scaleType)) {
    throw badRequest(`invalid object type: ${printGoValue(apiVersion)}, Kind=${printGoValue(kind)}`)
  }
  const meant = isJsonObject(metadata) && typeof metadata['uid'] === 'string' ? { uid: metadata['uid'] } : {}
  if (!isJsonObject(spec) || spec['replicas'] === undefined) return meant
  return { ...meant, replicas: checkedReplicas(config as unknown as KubeObject, '') }
}

function answer(
  { renderer, scaleType }: { readonly renderer: Renderer; readonly scaleType: ResourceType },
  request: ApiRequest,
  query: URLSearchParams,
  workload: StoredObject,
): ApiResponse {
  const n = negotiate(request.headers, query, () => renderer.offer(scaleType, ['table', 'partial']))
  return renderer.made(scaleType, scaleOf(workload.object, pathsOf(workload.type)), n, query)
}
