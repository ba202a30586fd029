/** DELETE of one object and of a collection. */
import { checkDeleteOptions, type DeleteOptionsBody } from '../../kube/delete-options.ts'
import type { Status } from '../../kube/types.ts'
import type { DeleteOptions } from '../../registry/registry.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import type { BodyDecoder } from '../decode-body.ts'
import { negotiate } from '../negotiate.ts'
import { requestSlice } from '../request-slice.ts'
import type { Target } from '../resolution.ts'
import { integer, listQuery, writeScope } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export interface DeleteDeps extends VerbDeps {
  /** Types that answer a DELETE with the object, not with a Status. */
  readonly returnsDeleted: (target: Target) => boolean
}

export function deleteVerb({ registry, decoder, renderer, returnsDeleted }: DeleteDeps): VerbHandler {
  return async (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(target.type, ['table', 'partial']))
    const options = await deleteOptions(request, context, decoder, target)
    const scope = writeScope(request, context, target, options.raw)
    const { stored, removed, uid } = await registry.delete(scope, options.parsed)
    if (removed && !returnsDeleted(target)) {
      return renderer.value(successStatus(target, uid, stored.name), { group: '', version: 'v1', kind: 'Status' }, n)
    }
    const accepted = !removed && options.parsed.orphanDependents === false
    return renderer.object(stored, n, query, accepted ? 202 : 200)
  }
}

export function deleteCollectionVerb({ registry, decoder, renderer, visibility, turns }: DeleteDeps): VerbHandler {
  return async (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(target.type, ['table', 'partialList']))
    const options = await deleteOptions(request, context, decoder, target)
    const scope = writeScope(request, context, target, options.raw)
    const selection = listQuery(query, target.namespace, visibility(target, context))
    const slice = requestSlice(turns, request, context)
    const page = await registry.deleteCollection(scope, { ...selection, slice }, options.parsed)
    return renderer.list(target.type, page, n, query, slice)
  }
}

function successStatus({ type }: Target, uid: string | undefined, name: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(type.group === '' ? {} : { group: type.group }),
      kind: type.resource,
      ...(uid === undefined ? {} : { uid }),
    },
  }
}

interface ParsedDelete {
  readonly raw: Readonly<Record<string, unknown>>
  readonly parsed: DeleteOptions
}

/** From the body, or from the query where there is none. @throws StatusError */
async function deleteOptions(
  request: ApiRequest,
  context: RequestContext,
  decoder: BodyDecoder,
  target: Target,
): Promise<ParsedDelete> {
  const body = (await decoder.decodeDeleteOptions(request, context, target.type)) ?? fromQuery(context.info.query)
  checkDeleteOptions(body)
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = body
  return {
    raw: body as Readonly<Record<string, unknown>>,
    parsed: {
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(orphanDependents === undefined ? {} : { orphanDependents }),
      ...(preconditions === undefined ? {} : { preconditions }),
    },
  }
}

function fromQuery(query: URLSearchParams): DeleteOptionsBody {
  const grace = integer(query, 'gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = query.get('orphanDependents')
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' || orphan === '1' }),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
  }
}
