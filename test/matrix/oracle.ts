/**
 * What a request is to be answered, from the documents alone: Kubernetes' pages on RBAC, on authorization ("Determine the
 * request verb"), on impersonation and on API concepts; section 3 of our specification and the decisions on namespaces.
 * It shares no code with the server, knows no path as text, and is plain on purpose: rules are scanned, nothing is indexed.
 */
import type { PolicyRule, Subject } from '../../src/kube/rbac.ts'
import { held, type User } from './identities.ts'
import type { DocumentQuestion, Facts, Policy, Question, Refused, ServedType, Verdict } from './question.ts'

interface Attributes {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}
type Asked = Attributes | { readonly verb: string; readonly path: string }

const unknownResource: Verdict = refused(404, 'the server could not find the requested resource')
const notAllowed: Verdict = refused(405)
const isKnown = (user: User): boolean => user.groups.includes('system:authenticated')

export function judge(facts: Facts, user: User, as: User | undefined, q: Question | DocumentQuestion): Verdict {
  const asked = 'document' in q ? { verb: q.method.toLowerCase(), path: q.document } : attributesOf(q)
  const refusal = as && refusedImpersonation(facts.policy, user, as, asked)
  if (refusal) return refusal
  const who = as ? servedAs(as) : user
  if ('document' in q || 'path' in asked) return refusalOf(facts.policy, who, asked) ?? { is: 'allowed' }
  const type = facts.findType(q.group, q.version, asked.resource)
  // A path that fits no scope is no route; callers without credentials do not learn that.
  if (type && isKnown(who) && !hasRoute(type, q)) return unknownResource
  const forbidden = refusalOf(facts.policy, who, asked)
  const onlyOwn = facts.listsOwnNamespaces && isKnown(who) && isListOfNamespaces(asked)
  if (forbidden && !onlyOwn) return forbidden
  const unserved = refusedAfterwards(facts, q, asked, type)
  if (unserved) return unserved
  if (isListOfNamespaces(asked)) return listOfNamespaces(facts, who, asked, forbidden !== undefined)
  return answer(facts, who, q, asked, type as ServedType)
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

function hasRoute(type: ServedType, { under, parts }: Question): boolean {
  if (parts.length > 3) return false
  if (!type.namespaced) return under === undefined
  return under ? true : parts.length === 1
}

/** Rules of cluster-wide bindings and of those in a namespace; and which roles are missing. */
function rulesOf(policy: Policy, user: User, namespace: string): { rules: PolicyRule[]; missing: string[] } {
  const rules: PolicyRule[] = []
  const missing: string[] = []
  const here = policy.bindings.filter((b) => b.metadata.namespace === namespace)
  for (const { metadata, roleRef, subjects } of [...policy.clusterBindings, ...here]) {
    const home = metadata.namespace ?? ''
    if (!subjects?.some((subject) => isSubject(subject, user, home))) continue
    const { kind, name } = roleRef
    const role =
      kind === 'ClusterRole'
        ? policy.clusterRoles.find((r) => r.metadata.name === name)
        : policy.roles.find((r) => r.metadata.namespace === home && r.metadata.name === name)
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
  const isNamed = part === '' ? has(rule.resources, resource) : has(rule.resources, `${resource}/${part}`)
  const { resourceNames: names = [] } = rule
  const isListed = isNamed || (part !== '' && has(rule.resources, `*/${part}`))
  return isListed && has(rule.apiGroups, group) && (names.length === 0 || names.includes(name))
}

const isNamespaceRead = (a: Attributes): boolean =>
  a.group === '' && a.resource === 'namespaces' && ['get', 'list', 'watch'].includes(a.verb)
const isListOfNamespaces = (a: Attributes): boolean => isNamespaceRead(a) && a.verb !== 'get' && a.subresource === ''

/** The refusal, unless RBAC allows it. */
function refusalOf(policy: Policy, user: User, asked: Asked): Refused | undefined {
  // Reads of namespaces that pin a name count rights inside that namespace (DECISION 13).
  const scope = 'path' in asked ? '' : asked.namespace || (isNamespaceRead(asked) ? asked.name : '')
  const { rules, missing } = rulesOf(policy, user, scope)
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
function refusedImpersonation(policy: Policy, user: User, as: User, asked: Asked): Refused | undefined {
  const [, home, account] = accountName.exec(as.username) ?? []
  const may = (verb: string, group: string, resource: string, name: string, namespace = ''): Refused | undefined =>
    refusalOf(policy, user, { verb, group, resource, subresource: '', namespace, name })
  const identity = (verb: string, group: string): Refused | undefined =>
    (account ? may(verb, group, 'serviceaccounts', account, home) : may(verb, group, 'users', as.username)) ??
    as.groups.map((name) => may(verb, group, 'groups', name)).find((refusal) => refusal !== undefined)
  const classic = identity('impersonate', '')
  const mode = account ? 'serviceaccount' : 'user-info'
  const whom = identity(`impersonate:${mode}`, 'authentication.k8s.io')
  const what = refusalOf(policy, user, { ...asked, verb: `impersonate-on:${mode}:${asked.verb}` })
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
  const declared = a.subresource === '' ? type.verbs : type.subresources.get(a.subresource)
  if (!declared) return unknownResource
  const isEverywhere = type.namespaced && !q.under
  const isNamed = q.parts.length > 1
  const isMain = a.subresource === ''
  // Reviews are answered and not kept: there is nothing of them in all namespaces.
  if (isEverywhere && isMain && !type.verbs.includes('get')) return unknownResource
  if (!declared.includes(a.verb) || (isMain && isNamed && a.verb === 'create')) return notAllowed
  if (!isNamed && ['update', 'patch'].includes(a.verb)) return type.custom ? refused(400) : notAllowed
  if (!isEverywhere || !['create', 'deletecollection'].includes(a.verb)) return undefined
  return type.custom ? unknownResource : notAllowed
}

function answer(facts: Facts, user: User, q: Question, a: Attributes, type: ServedType): Verdict {
  if (!['get', 'list', 'watch'].includes(a.verb)) {
    const initialize = { ...initializing, namespace: a.namespace, name: a.namespace }
    // Reviews are no content, and where a selector selects nothing, nothing is written.
    const isContent = type.verbs.includes('get') && facts.initializing.has(a.namespace) && type.namespaced
    const isNone =
      a.verb === 'deletecollection' && !facts.namesOf(type, a.namespace).includes(a.name || held(a.namespace))
    return { is: 'allowed', waits: isContent && !isNone && refusalOf(facts.policy, user, initialize) !== undefined }
  }
  // Parts of the object show it; a log, a proxy or a shell is something else.
  if (a.subresource !== '' && !['status', 'scale'].includes(a.subresource)) return { is: 'allowed' }
  const names = facts.namesOf(type, q.under ?? '').filter((name) => a.name === '' || a.name === name)
  if (a.verb !== 'get' || names.length > 0) return { is: 'allowed', shows: names }
  return refused(404, `${a.resource}${a.group && `.${a.group}`} "${a.name}" not found`)
}

const initializing = { verb: 'initialize', group: '', resource: 'namespaces', subresource: '', namespace: '', name: '' }

/** Those that initialize are hidden but from their creators and from initializers (DECISION 21). */
function listOfNamespaces(facts: Facts, user: User, a: Attributes, onlyOwn: boolean): Verdict {
  const may = (asked: Attributes): boolean => refusalOf(facts.policy, user, asked) === undefined
  const isShown = (name: string): boolean => {
    const creator = facts.initializing.get(name)
    if (creator !== undefined && creator !== user.username && !may(initializing)) return false
    return (a.name === '' || a.name === name) && (!onlyOwn || may({ ...a, verb: 'get', name, namespace: name }))
  }
  return { is: 'allowed', shows: facts.namespaces.filter(isShown) }
}
