/**
 * How much is recorded of which request: an audit.k8s.io/v1 Policy, read once. The first rule that matches decides; a
 * request that no rule matches is not recorded.
 * @see k8s.io/apiserver/pkg/audit/policy/checker.go, k8s.io/apiserver/pkg/apis/audit/validation v0.36
 */
import { hasSeveralDocuments, severalDocuments } from '../kube/configuration-text.ts'
import { parseYaml } from '../kube/yaml-body.ts'
import {
  type AuditDecision,
  type AuditLevel,
  type AuditPolicy,
  type AuditStage,
  type AuditSubject,
  auditLevels,
  auditStages,
} from './audit.ts'

/** The message is one line for the operator; it names the place in the file. */
export class AuditPolicyError extends Error {
  override readonly name = 'AuditPolicyError'
}

interface GroupResources {
  readonly group: string
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
}

interface Rule {
  readonly decision: AuditDecision
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly GroupResources[]
  readonly namespaces: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/**
 * Without a policy of the operator's: who did what to what and what came of it, once per request, without bodies.
 * Probes and documents that every client fetches are left out.
 */
export const defaultAuditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, head]
  nonResourceURLs: [/healthz*, /livez*, /readyz*, /version, /openapi/*, /api, /api/*, /apis, /apis/*]
- level: Metadata
`

/** @throws AuditPolicyError */
export function parseAuditPolicy(text: string): AuditPolicy {
  let document: unknown
  try {
    document = parseYaml(text).value
  } catch (error) {
    throw new AuditPolicyError(`not YAML: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
  if (hasSeveralDocuments(text)) throw new AuditPolicyError(severalDocuments)
  const policy = fieldsOf(document, '', ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'])
  if (policy['apiVersion'] !== 'audit.k8s.io/v1' || policy['kind'] !== 'Policy') {
    throw new AuditPolicyError('expected apiVersion audit.k8s.io/v1, kind Policy')
  }
  const omitStages = stagesOf(policy['omitStages'], 'omitStages')
  const omitManagedFields = flagOf(policy['omitManagedFields'], 'omitManagedFields') ?? false
  const given = listOf(policy['rules'], 'rules')
  if (given.length === 0) throw new AuditPolicyError('rules: at least one is needed')
  const rules = given.map((rule, i) => ruleOf(rule, `rules[${i}]`, omitStages, omitManagedFields))
  const unmatched: AuditDecision = { level: 'None', omitStages: new Set(omitStages), omitManagedFields }
  return { decide: (subject) => rules.find((rule) => matches(rule, subject))?.decision ?? unmatched }
}

function matches(rule: Rule, s: AuditSubject): boolean {
  if (rule.users.length > 0 && !rule.users.includes(s.user.username)) return false
  if (rule.userGroups.length > 0 && !rule.userGroups.some((group) => s.user.groups.includes(group))) return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(s.verb)) return false
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return s.isResource && matchesResource(rule, s)
  if (rule.nonResourceURLs.length > 0) return !s.isResource && rule.nonResourceURLs.some((u) => matchesPath(u, s.path))
  return true
}

function matchesResource({ namespaces, resources }: Rule, s: AuditSubject): boolean {
  if (namespaces.length > 0 && !namespaces.includes(s.namespace)) return false
  if (resources.length === 0) return true
  const whole = s.subresource === '' ? s.resource : `${s.resource}/${s.subresource}`
  return resources.some(
    (r) =>
      r.group === s.group &&
      (r.resources.length === 0 ||
        ((r.resourceNames.length === 0 || r.resourceNames.includes(s.name)) &&
          r.resources.some(
            (resource) =>
              resource === '*' ||
              resource === whole ||
              resource === `${s.resource}/*` ||
              (s.subresource !== '' && resource === `*/${s.subresource}`),
          ))),
  )
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path

function ruleOf(value: unknown, at: string, omitted: readonly AuditStage[], omitManagedFields: boolean): Rule {
  const rule = fieldsOf(value, at, [
    ...['level', 'users', 'userGroups', 'verbs', 'resources', 'namespaces', 'nonResourceURLs'],
    ...['omitStages', 'omitManagedFields'],
  ])
  const level = rule['level'] as AuditLevel
  if (!auditLevels.includes(level)) throw new AuditPolicyError(`${at}.level: must be one of ${auditLevels.join(', ')}`)
  const resources = listOf(rule['resources'], `${at}.resources`).map((r, i) => resourcesOf(r, `${at}.resources[${i}]`))
  const namespaces = textsOf(rule['namespaces'], `${at}.namespaces`)
  const nonResourceURLs = textsOf(rule['nonResourceURLs'], `${at}.nonResourceURLs`)
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    throw new AuditPolicyError(`${at}: nonResourceURLs can't stand with resources or namespaces`)
  }
  for (const url of nonResourceURLs) {
    if (url !== '*' && (!url.startsWith('/') || url.slice(0, -1).includes('*'))) {
      throw new AuditPolicyError(`${at}.nonResourceURLs: ${JSON.stringify(url)} must begin with / and have * only last`)
    }
  }
  return {
    decision: {
      level,
      omitStages: new Set([...omitted, ...stagesOf(rule['omitStages'], `${at}.omitStages`)]),
      omitManagedFields: flagOf(rule['omitManagedFields'], `${at}.omitManagedFields`) ?? omitManagedFields,
    },
    users: textsOf(rule['users'], `${at}.users`),
    userGroups: textsOf(rule['userGroups'], `${at}.userGroups`),
    verbs: textsOf(rule['verbs'], `${at}.verbs`),
    resources,
    namespaces,
    nonResourceURLs,
  }
}

function resourcesOf(value: unknown, at: string): GroupResources {
  const fields = fieldsOf(value, at, ['group', 'resources', 'resourceNames'])
  const group = fields['group'] ?? ''
  if (typeof group !== 'string' || group.includes('/')) {
    throw new AuditPolicyError(`${at}.group: must be the name of a group, without a version`)
  }
  const resources = textsOf(fields['resources'], `${at}.resources`)
  const resourceNames = textsOf(fields['resourceNames'], `${at}.resourceNames`)
  if (resourceNames.length > 0 && resources.length === 0) {
    throw new AuditPolicyError(`${at}.resourceNames: needs resources`)
  }
  return { group, resources, resourceNames }
}

/** An unknown field would be a rule without effect. */
function fieldsOf(value: unknown, at: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  const place = at === '' ? '' : `${at}: `
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AuditPolicyError(`${place}expected an object`)
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw new AuditPolicyError(`${place}unknown field ${JSON.stringify(key)}`)
  }
  return value as Readonly<Record<string, unknown>>
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new AuditPolicyError(`${at}: expected a list`)
  return value
}

function textsOf(value: unknown, at: string): readonly string[] {
  return listOf(value, at).map((item) => {
    if (typeof item !== 'string') throw new AuditPolicyError(`${at}: expected a list of strings`)
    return item
  })
}

function stagesOf(value: unknown, at: string): readonly AuditStage[] {
  return textsOf(value, at).map((text) => {
    const stage = auditStages.find((s) => s === text)
    if (stage === undefined) throw new AuditPolicyError(`${at}: must be of ${auditStages.join(', ')}`)
    return stage
  })
}

function flagOf(value: unknown, at: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw new AuditPolicyError(`${at}: expected true or false`)
  return value
}
