/**
 * The innermost stage: from what the URL says to the verb that does it. The URL grammar is data, not routes; what is
 * served follows `ResourceTypes`, so a CRD is there the moment it is added.
 */
import { parseGoDuration } from '../kube/duration.ts'
import { quote } from '../kube/go-quote.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { badRequest, methodNotAllowed, resourceNotFound, StatusError } from '../kube/status-error.ts'
import type { ApiResponse, Handler, RequestContext } from './api.ts'
import type { RequestInfo } from './request-info.ts'
import type { Target } from './resolution.ts'
import { warn } from './verbs/target.ts'
import type { VerbHandler } from './verbs/verb.ts'

export type HandlerVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

export interface DispatchDeps {
  readonly verbs: Readonly<Record<HandlerVerb, VerbHandler>>
  /**
   * Sub-resources that are not a part of the stored object: `serviceaccounts/token`. Key: `resource.group/sub`; with a
   * star for the resource: of whatever type declares it.
   */
  readonly special: ReadonlyMap<string, Partial<Record<HandlerVerb, VerbHandler>>>
  /** Kinds that answer and are not kept: reviews. Key: `resource.group`. */
  readonly answered: ReadonlyMap<string, VerbHandler>
  /** Everything outside /api/v1/… and /apis/g/v/…; undefined = not known. */
  readonly documents: (path: string) => Handler | undefined
  /** For the answer to an unknown path. */
  readonly knownPaths: () => readonly string[]
  /** Called before a request for a resource that is not served is answered; it may throw another refusal. */
  readonly onUnknown?: (info: RequestInfo) => void
}

export function dispatcher(deps: DispatchDeps): Handler {
  return (request, context) => {
    const { info } = context
    if (info.query.size > 0) checkTimeout(info)
    if (!info.isResource) {
      const document = deps.documents(info.path)
      return document ? document(request, context) : unknownPath(deps)
    }
    // Upstream's router knows no HEAD, though authorization takes it for a get.
    if (request.method === 'HEAD') throw methodNotAllowed()
    const target = context.resolution
    if (typeof target !== 'object') return unknownResource(deps, context)
    if (info.legacy && request.method !== 'GET') throw methodNotAllowed()
    const { type } = target
    if (type.deprecationWarning !== undefined) warn(context, type.deprecationWarning)
    return handlerOf(deps, target)(request, context, target)
  }
}

/**
 * Watches go by `timeoutSeconds` and may say here what they like.
 * @throws StatusError BadRequest
 */
function checkTimeout({ query, verb }: RequestInfo): void {
  const timeout = verb === 'watch' ? null : query.get('timeout')
  if (!timeout || parseGoDuration(timeout) !== undefined) return
  throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${quote(timeout)}`)
}

/** @throws StatusError NotFound, or what `onUnknown` throws */
function unknownResource(deps: DispatchDeps, { info, resolution }: RequestContext): ApiResponse {
  if (resolution === undefined) throw new Error('a request came to dispatch without what its path was resolved to')
  deps.onUnknown?.(info)
  if (resolution === 'no such group') return pageNotFound()
  throw resourceNotFound()
}

const groupKey = (type: ResourceType): string => (type.group === '' ? type.resource : `${type.resource}.${type.group}`)

function handlerOf(deps: DispatchDeps, target: Target): VerbHandler {
  const { type, subresource, name, namespace } = target
  const verb = target.verb as HandlerVerb
  if (subresource !== '') {
    const declared = type.subresources.get(subresource)
    if (declared === undefined) throw resourceNotFound()
    if (!(declared.verbs as readonly string[]).includes(verb)) throw unsupported(verb, type)
    const special = deps.special.get(`${groupKey(type)}/${subresource}`) ?? deps.special.get(`*/${subresource}`)
    if (special !== undefined) {
      const handler = special[verb]
      if (handler === undefined) throw new Error(`${groupKey(type)}/${subresource} has no handler for ${verb}`)
      return handler
    }
    // What the verbs would do, they would do to the parent: `DELETE services/x/proxy` is not about the Service.
    // (`pods/log` is declared to be a Pod, and is none.) So what is no part of the object has a handler of its own.
    const isPart = declared.kind.kind === type.kind && declared.verbs.includes('update')
    if (!isPart) throw new Error(`${groupKey(type)}/${subresource} has no handler`)
    return deps.verbs[verb]
  }
  const answered = type.stored ? undefined : deps.answered.get(groupKey(type))
  if (answered !== undefined) {
    // Nothing lists them, so nothing is at the place of all namespaces.
    if (type.namespaced && namespace === '') throw resourceNotFound()
    if (verb !== 'create' || name !== '') throw methodNotAllowed()
    return answered
  }
  if (!(type.verbs as readonly string[]).includes(verb)) throw unsupported(verb, type)
  const named = verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete'
  if (type.custom && named && name === '') throw badRequest('name must be provided')
  if (named !== (name !== '') && !(verb === 'watch' && name !== '')) throw methodNotAllowed()
  if ((verb === 'create' || verb === 'deletecollection') && type.namespaced && namespace === '') {
    throw type.custom ? resourceNotFound() : methodNotAllowed()
  }
  if (!type.stored && verb === 'create') throw new Error(`${groupKey(type)} is not stored, and nobody answers it`)
  return deps.verbs[verb]
}

function unsupported(verb: string, type: ResourceType): StatusError {
  if (!type.custom) return methodNotAllowed()
  return new StatusError(`${verb} is not supported on resources of kind "${groupKey(type)}"`, {
    reason: 'MethodNotAllowed',
    details: { group: type.group, kind: type.resource },
  })
}

const textEncoder = new TextEncoder()

/** What Go's mux says of a group that is not served. */
export function pageNotFound(): ApiResponse {
  return {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: textEncoder.encode('404 page not found\n'),
  }
}

function unknownPath(deps: DispatchDeps): ApiResponse {
  return {
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: textEncoder.encode(JSON.stringify({ paths: deps.knownPaths() })),
  }
}
