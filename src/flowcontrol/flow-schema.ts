/**
 * A FlowSchema as a question that is asked of requests. Parsed once into frozen data with sets in place of lists; a
 * request's subject is matched once per user, its rules once per kind of request (see classifier.ts).
 * @see k8s.io/apiserver/pkg/util/flowcontrol/rule.go v0.36
 */
import type { UserInfo } from '../kube/user.ts'
import type { RequestAttributes } from './flow-control.ts'
import type {
  DistinguisherMethod,
  FlowSchemaObject,
  NonResourceRuleSpec,
  PolicyRulesSpec,
  ResourceRuleSpec,
  SubjectSpec,
} from './types.ts'
import { wildcard } from './types.ts'

/** Undefined: every value matches. */
type Members = ReadonlySet<string> | undefined

interface ResourceRule {
  readonly verbs: Members
  readonly groups: Members
  /** `pods`, `pods/status` */
  readonly resources: Members
  readonly clusterScope: boolean
  readonly namespaces: Members
}

interface NonResourceRule {
  readonly verbs: Members
  readonly matchesPath: (path: string) => boolean
}

export interface PolicyRule {
  readonly matchesUser: (user: UserInfo) => boolean
  readonly resourceRules: readonly ResourceRule[]
  readonly nonResourceRules: readonly NonResourceRule[]
}

export interface FlowSchema {
  readonly name: string
  /** '' for a mandatory schema that is not stored. */
  readonly uid: string
  readonly priorityLevelName: string
  readonly matchingPrecedence: number
  readonly distinguisher: DistinguisherMethod | undefined
  readonly rules: readonly PolicyRule[]
}

export function parseFlowSchema(object: FlowSchemaObject): FlowSchema {
  const spec = object.spec ?? {}
  const method = spec.distinguisherMethod?.type
  return Object.freeze({
    name: object.metadata.name ?? '',
    uid: object.metadata.uid ?? '',
    priorityLevelName: spec.priorityLevelConfiguration?.name ?? '',
    matchingPrecedence: spec.matchingPrecedence ?? 0,
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : undefined,
    rules: Object.freeze((spec.rules ?? []).map(parseRule)),
  })
}

/** In the order in which they are tried: lower precedence first, then by name. */
export function bySchemaPrecedence(a: FlowSchema, b: FlowSchema): number {
  if (a.matchingPrecedence !== b.matchingPrecedence) return a.matchingPrecedence - b.matchingPrecedence
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

function parseRule(rule: PolicyRulesSpec): PolicyRule {
  const subjects = (rule.subjects ?? []).map(parseSubject)
  return Object.freeze({
    matchesUser: (user: UserInfo) => subjects.some((matches) => matches(user)),
    resourceRules: Object.freeze((rule.resourceRules ?? []).map(parseResourceRule)),
    nonResourceRules: Object.freeze((rule.nonResourceRules ?? []).map(parseNonResourceRule)),
  })
}

function parseSubject({ kind, user, group, serviceAccount }: SubjectSpec): (user: UserInfo) => boolean {
  if (kind === 'User' && user) {
    const { name } = user
    return name === wildcard ? () => true : ({ username }) => username === name
  }
  if (kind === 'Group' && group) {
    const { name = '' } = group
    return name === wildcard ? () => true : ({ groups }) => groups.includes(name)
  }
  if (kind === 'ServiceAccount' && serviceAccount) {
    const { namespace = '', name = '' } = serviceAccount
    const prefix = `system:serviceaccount:${namespace}:`
    return name === wildcard
      ? ({ username }) => username.startsWith(prefix)
      : ({ username }) => username === `${prefix}${name}`
  }
  return () => false
}

const parseResourceRule = (rule: ResourceRuleSpec): ResourceRule =>
  Object.freeze({
    verbs: members(rule.verbs),
    groups: members(rule.apiGroups),
    resources: members(rule.resources),
    clusterScope: rule.clusterScope === true,
    namespaces: members(rule.namespaces),
  })

function parseNonResourceRule(rule: NonResourceRuleSpec): NonResourceRule {
  const urls = rule.nonResourceURLs ?? []
  const every = urls.includes(wildcard)
  const exact = new Set(urls)
  // A URL covers what is below it, with a star at its end or without one.
  const prefixes = urls.map((url) => url.replace(/\*$/, '').replace(/\/?$/, '/'))
  return Object.freeze({
    verbs: members(rule.verbs),
    matchesPath: (path: string) => every || exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)),
  })
}

/** A star stands for every value only where it stands alone; validation refuses it beside others. */
function members(list: readonly string[] | undefined): Members {
  return list?.length === 1 && list[0] === wildcard ? undefined : new Set(list)
}

const has = (set: Members, value: string): boolean => set === undefined || set.has(value)

/** Of a rule whose subject has matched. */
export function matchesRequest(rule: PolicyRule, request: RequestAttributes): boolean {
  return request.isResource
    ? rule.resourceRules.some((r) => matchesResource(r, request))
    : rule.nonResourceRules.some((r) => has(r.verbs, request.verb) && r.matchesPath(request.path))
}

function matchesResource(rule: ResourceRule, request: RequestAttributes): boolean {
  const { verb, group, resource, subresource, namespace } = request
  return (
    has(rule.verbs, verb) &&
    has(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`) &&
    has(rule.groups, group) &&
    (namespace === '' ? rule.clusterScope : has(rule.namespaces, namespace))
  )
}
