/**
 * No author grants through a template what they do not hold: the objects of a template are made by a controller that
 * may do almost anything, so its author is asked, when the template is written, for what the controller will do in
 * their name, in every namespace.
 *
 * A change of an existing template asks its author for everything that the template gives, whatever part of it
 * changes: a wider selector gives the same objects to more namespaces, an annotation taken off gives them to more
 * creators.
 *
 * What a token stands for is not known yet, so inside a rule it counts as `*`.
 */
import type { Authorizer } from '../../authz/authz.ts'
import { append } from '../../base/append.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { nameOf } from '../../kube/metadata.ts'
import { type PolicyRule, type Role, rbacGroup } from '../../kube/rbac.ts'
import type { JsonObject } from '../../kube/types.ts'
import { mastersGroup, type UserInfo } from '../../kube/user.ts'
import { escalationRefusal } from '../rbac/escalation.ts'
import { cloneResource } from './clones.ts'
import { generationBefore, heldGeneration } from './held-version.ts'
import { findBeyond } from './match.ts'
import { mayDo } from './may-do.ts'
import { setsMetadata } from './namespace-metadata.ts'
import { identityOf, titleOf } from './render.ts'
import { revisionName, revisionNamespace } from './revisions.ts'
import { objectsOf } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import {
  applyAnnotation,
  type CloneSource,
  type NamespaceTemplate,
  requirePermissionAnnotation,
  templateFinalizer,
} from './types.ts'

export interface TemplateKind {
  readonly resource: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export interface AuthorRightsDeps {
  readonly authorizer: Authorizer
  /** What serves a kind; undefined if nothing does (yet). */
  findKind(apiVersion: string, kind: string): TemplateKind | undefined
  findClusterRole(name: string): Role | undefined
}

export interface Lack {
  /** Where in the template it stands. */
  readonly field: string
  readonly message: string
}

const writes = ['create', 'patch', 'delete'] as const
const everything: readonly PolicyRule[] = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]

/** Annotations that bound to which namespaces a template is applied, each with the one value that does. */
const bounds: readonly (readonly [key: string, bounding: string])[] = [
  [requirePermissionAnnotation, 'true'],
  [applyAnnotation, 'disable'],
]

/**
 * Whether a change of a template may let it give more, or give to more namespaces. Any change of its spec may; a
 * change of an annotation that bounds it may not only where the new value is the bounding one. Other metadata, and the
 * status, say nothing of what is given.
 */
export function mayWiden(next: NamespaceTemplate, old: NamespaceTemplate): boolean {
  return !jsonEqual(next.spec ?? {}, old.spec ?? {}) || isOpened(next, old)
}

/** As far as it goes by annotations. */
function isOpened(next: NamespaceTemplate, old: NamespaceTemplate): boolean {
  if (findBeyond(old) !== undefined && findBeyond(next) === undefined) return true
  return bounds.some(([key, bounding]) => {
    const value = next.metadata.annotations?.[key]
    return value !== old.metadata.annotations?.[key] && value !== bounding
  })
}

/**
 * What the author lacks to give what is in force beside the newest version, where a change opens that to others:
 * annotations hold for both. `held`: what is in force before the change, if it is not `old`.
 */
export function lackingForHeld(
  deps: AuthorRightsDeps,
  user: UserInfo,
  { next, old, held }: Record<'next' | 'old', NamespaceTemplate> & { readonly held: NamespaceTemplate | undefined },
): readonly Lack[] {
  if (!isOpened(next, old)) return []
  // Before the status says anything of `old`, that may be found to be stopped.
  const before = generationBefore(old)
  if (before !== held?.metadata.generation && !user.groups.includes(mastersGroup)) {
    const message =
      before !== undefined && before === heldGeneration(old)
        ? `generation ${before} is in force, and what it gives is not known: ControllerRevision ` +
          `${revisionNamespace}/${revisionName(nameOf(old.metadata), before)} is not there`
        : `generation ${before} may be in force still, and what it gives is not known; try again in a moment`
    return [{ field: 'status.heldGeneration', message }]
  }
  const inForce = held ?? old
  return lackingRights(deps, user, inForce, undefined).map(({ field, message }) => ({
    field,
    message: `${message}, for generation ${inForce.metadata.generation}, which is in force until this change is`,
  }))
}

/**
 * What the author lacks to take our finalizer off, which leaves all that the template made with nothing that keeps it.
 * Who writes its status is its controller, and takes it off in its time.
 */
export function lackingToLetGo(
  deps: AuthorRightsDeps,
  user: UserInfo,
  next: NamespaceTemplate,
  old: NamespaceTemplate,
): readonly Lack[] {
  const isKept = ({ metadata }: NamespaceTemplate): boolean => metadata.finalizers?.includes(templateFinalizer) === true
  if (!isKept(old) || isKept(next)) return []
  if (mayDo(deps.authorizer, user, 'update', nameOf(old.metadata), 'status')) return []
  const why = `taking ${templateFinalizer} off leaves what the template made with nothing that keeps it`
  return lackingRights(deps, user, old, undefined).map(({ field, message }) => ({
    field: 'metadata.finalizers',
    message: `${why}: ${field} ${message}`,
  }))
}

/**
 * What the author lacks to make the objects of the template everywhere themselves, and to take those away that the
 * change of an existing one removes; empty = nothing.
 */
export function lackingRights(
  deps: AuthorRightsDeps,
  user: UserInfo,
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
): readonly Lack[] {
  if (user.groups.includes(mastersGroup)) return []
  const objects = objectsOf(template)
  const sources = objects.map(({ source }) => source)
  const given = objects.flatMap(({ field, source, cloneFrom }) => {
    const lacks = [
      ...missingWrites(deps, user, source),
      ...(cloneFrom === undefined ? [] : missingRead(deps, user, cloneFrom)),
      ...escalations(deps, user, source, sources),
    ]
    return lacks.map((message) => ({ field, message }))
  })
  const held = new Set(sources.map(identityOf))
  const removed = old === undefined ? [] : objectsOf(old).filter(({ source }) => !held.has(identityOf(source)))
  const taken = removed.flatMap(({ field, source }) =>
    missingWrites(deps, user, source).map((message) => ({
      field: listOf(field),
      message: `taking ${titleOf(source)} away ${message}`,
    })),
  )
  append(taken, missingForMetadata(deps, user, template, old))
  return [...given, ...taken, ...missingDelete(deps, user, template, old)]
}

/** Whose template says when namespaces end deletes them, and whose change takes that out lifts their limits. */
function missingDelete(
  { authorizer }: AuthorRightsDeps,
  user: UserInfo,
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
): Lack[] {
  if (!saysEnds(template) && (old === undefined || !saysEnds(old))) return []
  const asked = { verb: 'delete', group: '', version: 'v1', resource: 'namespaces', subresource: '', namespace: '' }
  if (authorizer.authorize({ user, ...asked, name: '' }).allowed) return []
  return [{ field: 'spec.expiry', message: 'needs "delete" on namespaces' }]
}

const saysEnds = ({ spec }: NamespaceTemplate): boolean =>
  spec?.expiry?.default !== undefined || spec?.expiry?.max !== undefined

/** Labels of namespaces say what may be done in them: an author who gives or takes them must be able to do it. */
function missingForMetadata(
  { authorizer }: AuthorRightsDeps,
  user: UserInfo,
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
): Lack[] {
  if (!setsMetadata(template) && (old === undefined || !setsMetadata(old))) return []
  const asked = { user, verb: 'update', group: '', version: 'v1', resource: 'namespaces', subresource: '' }
  if (authorizer.authorize({ ...asked, namespace: '', name: '' }).allowed) return []
  return [{ field: 'spec.namespaceMetadata', message: 'needs "update" on namespaces' }]
}

/** `spec.templates`, of one that is in it no more. */
const listOf = (field: string): string => field.slice(0, field.indexOf('['))

function missingWrites({ authorizer, findKind }: AuthorRightsDeps, user: UserInfo, object: JsonObject): string[] {
  const apiVersion = String(object['apiVersion'])
  const gv = parseApiVersion(apiVersion)
  if (gv === undefined) return []
  const kind = String(object['kind'])
  // A kind that may be served one day: only who may write all of its group may prepare objects of it.
  const resource = findKind(apiVersion, kind)?.resource ?? '*'
  const given = (object['metadata'] as JsonObject | undefined)?.['name']
  const name = typeof given === 'string' && !hasToken(given) ? given : ''
  const missing = writes.filter(
    (verb) =>
      !authorizer.authorize({ user, verb, ...gv, resource, subresource: '', namespace: '', name: nameFor(verb, name) })
        .allowed,
  )
  if (missing.length === 0) return []
  const what = resource === '*' ? `all resources of group ${JSON.stringify(gv.group)}` : resource
  return [`needs ${missing.map((verb) => JSON.stringify(verb)).join(', ')} on ${what} in all namespaces`]
}

/** What a template copies its author could otherwise read through it. */
function missingRead({ authorizer }: AuthorRightsDeps, user: UserInfo, from: CloneSource): string[] {
  const { group, version = 'v1', resource } = cloneResource(from)
  const { namespace, name } = from
  const asked = { user, verb: 'get', group, version, resource, subresource: '', namespace, name }
  if (authorizer.authorize(asked).allowed) return []
  return [`needs "get" on ${resource} ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`]
}

/** A plain create has no name yet, so rules by name can't cover it. */
const nameFor = (verb: (typeof writes)[number], name: string): string => (verb === 'create' ? '' : name)

function escalations(
  deps: AuthorRightsDeps,
  user: UserInfo,
  object: JsonObject,
  siblings: readonly JsonObject[],
): string[] {
  if (!isOfRbac(object)) return []
  if (isRole(object)) return grantsTooMuch(deps, user, object)
  return object['kind'] === 'RoleBinding' ? bindsTooMuch(deps, user, object, siblings) : []
}

const isOfRbac = (object: JsonObject): boolean => parseApiVersion(String(object['apiVersion']))?.group === rbacGroup
/** Others may have a kind of that name. */
const isRole = (object: JsonObject): boolean => isOfRbac(object) && object['kind'] === 'Role'

function grantsTooMuch({ authorizer }: AuthorRightsDeps, user: UserInfo, role: JsonObject): string[] {
  if (may(authorizer, user, 'escalate', 'roles', '')) return []
  const refusal = escalationRefusal(authorizer, user, '', rulesOf(role['rules']))
  return refusal === undefined ? [] : [refusal]
}

function bindsTooMuch(
  { authorizer, findClusterRole }: AuthorRightsDeps,
  user: UserInfo,
  binding: JsonObject,
  siblings: readonly JsonObject[],
): string[] {
  const ref = (binding['roleRef'] ?? {}) as JsonObject
  const name = typeof ref['name'] === 'string' ? ref['name'] : ''
  // A token may come to stand for "ClusterRole".
  const isCluster = ref['kind'] !== 'Role'
  if (may(authorizer, user, 'bind', isCluster ? 'clusterroles' : 'roles', hasToken(name) ? '' : name)) return []
  if (!isCluster) {
    // Its rules are looked at where it stands, and population binds no other Role of that name.
    if (siblings.some((o) => isRole(o) && (o['metadata'] as JsonObject | undefined)?.['name'] === name)) return []
    return [
      `needs "bind" on roles: Role ${JSON.stringify(name)} is not in this template, so nobody knows what it grants`,
    ]
  }
  const role = hasToken(name) ? undefined : findClusterRole(name)
  if (role === undefined && !hasToken(name)) {
    return [
      `needs "bind" on clusterroles: ClusterRole ${JSON.stringify(name)} does not exist, so nobody knows ` +
        'what it grants',
    ]
  }
  const refusal = escalationRefusal(authorizer, user, '', role?.rules ?? everything)
  return refusal === undefined ? [] : [refusal]
}

const may = (authorizer: Authorizer, user: UserInfo, verb: string, resource: string, name: string): boolean =>
  authorizer.authorize({ user, verb, group: rbacGroup, version: 'v1', resource, subresource: '', namespace: '', name })
    .allowed

const ruleLists = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const

/** What is no proper list counts as everything: the template's schema does not know the kinds inside it. */
function rulesOf(rules: unknown): PolicyRule[] {
  if (rules === undefined || rules === null) return []
  if (!Array.isArray(rules)) return [...everything]
  return rules.map((rule: unknown) => {
    const given = (typeof rule === 'object' && rule !== null ? rule : {}) as JsonObject
    const lists: Partial<Record<(typeof ruleLists)[number], string[]>> = {}
    for (const key of ruleLists) {
      const list = given[key]
      if (list === undefined || list === null) continue
      const texts = Array.isArray(list) && list.every((v) => typeof v === 'string') ? list : ['*']
      const any = texts.some(hasToken)
      // "Every name" is said by saying no names.
      if (key === 'resourceNames' && (any || texts.includes('*'))) continue
      lists[key] = any ? ['*'] : texts
    }
    return { verbs: [], ...lists }
  })
}
