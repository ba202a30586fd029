/**
 * What creators of namespaces are told of a name, where others are refused.
 *
 * `kubectl apply` gets an object before it creates it. It goes on after 404, and not after the 403 that upstream
 * answers to a user without the right to get namespaces. A create tells whether a name is taken, so to a user who may
 * create, 404 for a free one tells nothing new. A name that is taken stays 403.
 *
 * `kubectl apply --server-side` creates by a patch, for which upstream asks for both verbs, and so do we: the refusal
 * says it, the same whether the name is free or taken.
 */
import { notFound } from '../kube/status-error.ts'
import { bodyMediaType } from './negotiate.ts'
import type { AuthorizeOptions } from './stages/authorize.ts'
import { applyMediaType } from './verbs/patch.ts'

const namespaceResource = { group: '', version: 'v1', resource: 'namespaces' } as const

export interface FreeNameDeps {
  /** As of the request, or later: a refusal has caught up with the store. */
  namespaceExists(name: string): boolean
  readonly refuse: AuthorizeOptions['refuse']
}

const applyTakesPatch =
  'server-side apply takes "patch" besides "create"; ' +
  'kubectl create, and apply without --server-side, create with "create" alone'

type InsteadOfRefusal = NonNullable<AuthorizeOptions['insteadOfRefusal']>

export function answerToCreators({ namespaceExists, refuse }: FreeNameDeps): InsteadOfRefusal {
  return async (attributes, request, context, may) => {
    if (attributes.path !== undefined) return undefined
    const { user, verb, group, resource, subresource = '', name } = attributes
    if (group !== namespaceResource.group || resource !== namespaceResource.resource) return undefined
    if (subresource !== '' || name === '') return undefined
    const asksForFree = verb === 'get' && !namespaceExists(name)
    const applies = verb === 'patch' && bodyMediaType(request.headers) === applyMediaType
    if (!asksForFree && !applies) return undefined
    const create = { ...namespaceResource, user, verb: 'create', subresource: '', namespace: '', name: '' }
    if (!(await may(create)).allowed) return undefined
    if (asksForFree && !namespaceExists(name)) return notFound(namespaceResource, name)
    return applies ? refuse(attributes, { allowed: false, reason: applyTakesPatch }, context) : undefined
  }
}
