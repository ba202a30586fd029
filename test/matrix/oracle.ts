/**
 * What a request is to be answered, from the documents alone: Kubernetes on RBAC, request verbs, impersonation and API
 * concepts; our specification and decisions. It shares no code with the server, and is plain: rules are scanned.
 */
import type { PolicyRule, Subject } from '../../src/kube/rbac.ts'
import { held, type User } from './identities.ts'
import type { AnyQuestion, Asked, Attributes, Facts, Question, Refused, ServedType, Verdict } from './question.ts'

const unknownResource: Verdict = refused(404, 'the server could not find the requested resource')
const notAllowed: Verdict = refused(405)
const reads = ['get', 'list', 'watch']
const isKnown = (user: User): boolean => user.groups.includes('system:authenticated')

export function judge(facts: Facts, user: User, as: User | undefined, q: AnyQuestion): Verdict {
  const asked = 'document' in q ? { verb: q.method.toLowerCase(), path: q.document } : attributesOf(q)
  const refusal = as && refusedImpersonation(facts, user, as, asked)
  if (refusal) return refusal
  const who = as ? servedAs(as) : user
  if ('document' in q || 'path' in asked) return refusalOf(facts, who, asked) ?? { is: 'allowed' }
  const type = facts.findType(q.group, q.version, asked.resource)
  // A path that fits no scope is no route; callers without credentials do not learn that.
  if (type && isKnown(who) && !hasRoute(type, q)) return unknownResource
  const forbidden = isCreator(facts, who, asked) ? undefined : refusalOf(facts, who, asked)
  const onlyOwn = facts.listsOwnNamespaces && isKnown(who) && isOnNamespace(asked, 'list', 'watch')
  if (forbidden && !onlyOwn) return isFreeName(facts, who, asked) ? notFound(asked) : forbidden
  const unserved = refusedAfterwards(facts, q, asked, type)
  if (!unserved && isOnNamespace(asked, 'list', 'watch')) return listOfNamespaces(facts, who, asked, !!forbidden)
  return unserved ?? answer(facts, who, q, asked, type as ServedType)
}

/** Verb from method and path. A namespace is authorized as if it were in itself. */
function attributesOf({ method, watch, legacy, group, under, parts, pinned = '' }: Question): Attributes {
  const [resource = '', name = '', subresource = ''] = parts
  const methods: Record<string, string> = { GET: 'get', HEAD: 'get', POST: 'create', PUT: 'update', PATCH: 'patch' }
  let verb = method === 'DELETE' ? 'delete' : (methods[method] ?? '')
  if (name === '' && verb === 'get') verb = watch ? 'watch' : 'list'
  if (name === '' && verb === 'delete') verb = 'deletecollection'
  if (legacy === 'watch') verb = 'watch'
  const isNamespace = group === '' && resource === 'namespaces' && under === undefined
  if (resource === 'namespaces' && subresource === 'finalize' && verb === 'create') verb = 'update'
  const narrowed = ['list', 'watch', 'deletecollection'].includes(verb) ? pinned : ''
  const namespace = isNamespace ? name : (under ?? '')
  return { verb, group, resource, subresource, namespace, name: name || narrowed }
}

function hasRoute({ namespaced }: ServedType, { under, parts }: Question): boolean {
  const fits = namespaced ? under || parts.length === 1 : under === undefined
  return parts.length <= 3 && !!fits
}

/** Rules of cluster-wide bindings and of those in a namespace; and which roles are missing. */
function rulesOf({ policy }: Facts, user: User, namespace: string): { rules: PolicyRule[]; missing: string[] } {
  const rules: PolicyRule[] = []
  const missing: string[] = []
  const here = policy.bindings.filter((b) => b.metadata.namespace === namespace)
  for (const { metadata, roleRef, subjects } of [...policy.clusterBindings, ...here]) {
    const home = metadata.namespace ?? ''
    if (!subjects?.some((subject) => isSubject(subject, user, home))) continue
    const { kind, name } = roleRef
    const local = policy.roles.filter((r) => r.metadata.namespace === home)
    const roles = kind === 'ClusterRole' ? policy.clusterRoles : local
    const role = roles.find((r) => r.metadata.name === name)
    if (!role) missing.push(`${kind.toLowerCase()}.rbac.authorization.k8s.io "${name}" not found`)
    // Paths are no content of a namespace.
    rules.push(...(role?.rules ?? []).filter((rule) => home === '' || !rule.nonResourceURLs?.length))
  }
  return { rules, missing }
}

function isSubject({ kind, name, namespace }: Subject, { username, groups }: User, home: string): boolean {
  if (kind === 'User') return name === username
  if (kind === 'Group') return groups.includes(name)
  return kind === 'ServiceAccount' && username === `system:serviceaccount:${namespace || home}:${name}`
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list?.some((item) => item === value || item === '*') ?? false

function matches(rule: PolicyRule, asked: Asked): boolean {
  if (!has(rule.verbs, asked.verb)) return false
  if ('path' in asked) {
    const covers = (url: string): boolean => url.endsWith('*') && asked.path.startsWith(url.slice(0, -1))
    return (rule.nonResourceURLs ?? []).some((url) => url === asked.path || covers(url))
  }
  const { group, resource, subresource: part, name } = asked
  const wanted = part === '' ? [resource] : [`${resource}/${part}`, `*/${part}`]
  const { resourceNames: names = [] } = rule
  const isListed = wanted.some((one) => has(rule.resources, one))
  return isListed && has(rule.apiGroups, group) && (names.length === 0 || names.includes(name))
}

const isOnNamespace = (a: Attributes, ...verbs: string[]): boolean =>
  a.group === '' && a.resource === 'namespaces' && a.subresource === '' && verbs.includes(a.verb)

/** The refusal, unless RBAC allows it. */
function refusalOf(facts: Facts, user: User, asked: Asked): Refused | undefined {
  // Reads of namespaces that pin a name count rights inside that namespace (DECISION 13).
  const scope = 'path' in asked ? '' : asked.namespace || (isOnNamespace(asked, ...reads) ? asked.name : '')
  const { rules, missing } = rulesOf(facts, user, scope)
  if (user.groups.includes('system:masters') || rules.some((rule) => matches(rule, asked))) return undefined
  const why = missing.length > 0 ? `: RBAC: ${missing.join()}` : ''
  const cannot = `User "${user.username}" cannot ${asked.verb}`
  if ('path' in asked) return refused(403, `forbidden: ${cannot} path "${asked.path}"${why}`, {})
  const { group, resource, subresource, namespace, name } = asked
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const subject = `${resource}${group && `.${group}`}${name && ` "${name}"`}`
  const message = `${subject} is forbidden: ${cannot} resource "${what}" in API group "${group}" ${where}${why}`
  return refused(403, message, { ...(name && { name }), ...(group && { group }), kind: resource })
}

function refused(code: number, message?: string, details?: object): Refused {
  return { is: 'refused', code, ...(message === undefined ? {} : { message }), ...(details ? { details } : {}) }
}

const accountName = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The constrained way (`impersonate:<mode>` on whom, `impersonate-on:<mode>:<verb>` on what) or the classic one. */
function refusedImpersonation(facts: Facts, user: User, as: User, asked: Asked): Refused | undefined {
  const [, home, account] = accountName.exec(as.username) ?? []
  const may = (verb: string, group: string, resource: string, name: string, namespace = ''): Refused | undefined =>
    refusalOf(facts, user, { verb, group, resource, subresource: '', namespace, name })
  const identity = (verb: string, group: string): Refused | undefined =>
    (account ? may(verb, group, 'serviceaccounts', account, home) : may(verb, group, 'users', as.username)) ??
    as.groups.map((name) => may(verb, group, 'groups', name)).find((refusal) => refusal !== undefined)
  const classic = identity('impersonate', '')
  const mode = account ? 'serviceaccount' : 'user-info'
  const whom = identity(`impersonate:${mode}`, 'authentication.k8s.io')
  const what = refusalOf(facts, user, { ...asked, verb: `impersonate-on:${mode}:${asked.verb}` })
  if (!classic || (!whom && !what)) return undefined
  // With one half of the constrained way in hand, the refusal names the other.
  return whom && what ? classic : (what ?? whom)
}

function servedAs({ username, groups }: User): User {
  const [, home] = accountName.exec(username) ?? []
  const given = home && groups.length === 0 ? ['system:serviceaccounts', `system:serviceaccounts:${home}`] : groups
  return { username, groups: [...given, 'system:authenticated'] }
}

/** What the policy allows, and the server does not serve. */
function refusedAfterwards(facts: Facts, q: Question, a: Attributes, type?: ServedType): Verdict | undefined {
  if (q.method === 'HEAD') return notAllowed
  if (!type) return facts.hasGroup(q.group) ? unknownResource : refused(404)
  if (!hasRoute(type, q)) return unknownResource
  if (q.legacy && q.method !== 'GET') return notAllowed
  const isMain = a.subresource === ''
  const declared = isMain ? type.verbs : type.subresources.get(a.subresource)
  if (!declared) return unknownResource
  const isEverywhere = type.namespaced && !q.under
  const isNamed = q.parts.length > 1
  // Reviews are answered and not kept: there is nothing of them in all namespaces.
  if (isEverywhere && isMain && !type.verbs.includes('get')) return unknownResource
  if (!declared.includes(a.verb) || (isMain && isNamed && a.verb === 'create')) return notAllowed
  if (!isNamed && ['update', 'patch'].includes(a.verb)) return type.custom ? refused(400) : notAllowed
  if (!isEverywhere || !['create', 'deletecollection'].includes(a.verb)) return undefined
  return type.custom ? unknownResource : notAllowed
}

function answer(facts: Facts, user: User, q: Question, a: Attributes, type: ServedType): Verdict {
  if (!reads.includes(a.verb)) {
    const initialize = { ...initializing, namespace: a.namespace, name: a.namespace }
    // Reviews are no content, and where a selector selects nothing, nothing is written.
    const isContent = type.verbs.includes('get') && facts.initializing.has(a.namespace) && type.namespaced
    const isSome = facts.namesOf(type, a.namespace).includes(a.name || held(a.namespace))
    const isWrite = isContent && (isSome || a.verb !== 'deletecollection')
    return { is: 'allowed', waits: isWrite && refusalOf(facts, user, initialize) !== undefined }
  }
  // Parts of the object show it; a log, a proxy or a shell is something else.
  if (a.subresource !== '' && !['status', 'scale'].includes(a.subresource)) return { is: 'allowed' }
  const names = facts.namesOf(type, q.under ?? '').filter((name) => a.name === '' || a.name === name)
  return a.verb === 'get' && names.length === 0 ? notFound(a) : { is: 'allowed', shows: names }
}

const notFound = ({ resource, group, name }: Attributes): Verdict =>
  refused(404, `${resource}${group && `.${group}`} "${name}" not found`)

/** Creators see and may delete what they created while it initializes (DECISION 56). */
const isCreator = (facts: Facts, user: User, a: Attributes): boolean =>
  isKnown(user) && isOnNamespace(a, ...reads, 'delete') && facts.initializing.get(a.name) === user.username

/** A GET tells those who may create namespaces that a name is free, as a create does (DECISION 56). */
function isFreeName(facts: Facts, user: User, a: Attributes): boolean {
  if (!isOnNamespace(a, 'get') || facts.namespaces.includes(a.name)) return false
  return refusalOf(facts, user, { ...a, verb: 'create', namespace: '', name: '' }) === undefined
}

const initializing = { verb: 'initialize', group: '', resource: 'namespaces', subresource: '', namespace: '', name: '' }

/** Those that initialize are hidden but from their creators and from initializers (DECISION 21). */
function listOfNamespaces(facts: Facts, user: User, a: Attributes, onlyOwn: boolean): Verdict {
  const may = (asked: Attributes): boolean => refusalOf(facts, user, asked) === undefined
  const isShown = (name: string): boolean => {
    const creator = facts.initializing.get(name)
    if (creator !== undefined && creator !== user.username && !may(initializing)) return false
    const get = { ...a, verb: 'get', name, namespace: name }
    return (a.name === '' || a.name === name) && (!onlyOwn || may(get) || isCreator(facts, user, get))
  }
  return { is: 'allowed', shows: facts.namespaces.filter(isShown) }
}
