/**
 * What may not be in a FlowSchema or a PriorityLevelConfiguration, beyond their schema and their metadata. Objects have
 * their defaults.
 * @see k8s.io/kubernetes/pkg/apis/flowschemas/validation/validation.go v1.36
 */
import { isDeepStrictEqual } from 'node:util'
import { append } from '../base/append.ts'
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../kube/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../kube/names.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from './bootstrap-objects.ts'
import { maxHashBits, requiredEntropyBits } from './dealer.ts'
import {
  type ExemptSpec,
  exemptName,
  type FlowControlCondition,
  type FlowSchemaObject,
  type LimitedSpec,
  type NonResourceRuleSpec,
  type PolicyRulesSpec,
  type PriorityLevelObject,
  type PriorityLevelSpec,
  type QueuingSpec,
  type ResourceRuleSpec,
  type SubjectSpec,
  wildcard,
} from './types.ts'

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const maxPrecedence = 10_000
const maxQueues = 10_000_000

export function validateFlowSchema(object: FlowSchemaObject): FieldError[] {
  const { spec = {}, status, metadata } = object
  const name = metadata.name ?? ''
  const { matchingPrecedence = 0, distinguisherMethod, priorityLevelConfiguration, rules = [] } = spec
  const errors: FieldError[] = []
  const precedence = (detail: string): FieldError => fieldInvalid('spec.matchingPrecedence', matchingPrecedence, detail)
  if (matchingPrecedence <= 0) errors.push(precedence('must be a positive value'))
  if (matchingPrecedence > maxPrecedence) errors.push(precedence(`must not be greater than ${maxPrecedence}`))
  if (matchingPrecedence === 1 && name !== exemptName) {
    errors.push(precedence("only the schema named 'exempt' may have matchingPrecedence 1"))
  }
  if (distinguisherMethod !== undefined && !['ByNamespace', 'ByUser'].includes(distinguisherMethod.type ?? '')) {
    const { type = '' } = distinguisherMethod
    // Upstream shows its internal struct here, whose fields have no names in JSON.
    errors.push(fieldNotSupported('spec.distinguisherMethod.type', { Type: type }, ['ByNamespace', 'ByUser']))
  }
  const reference = 'spec.priorityLevelConfiguration.name'
  const level = priorityLevelConfiguration?.name ?? ''
  if (level === '') errors.push(fieldRequired(reference, 'must reference a priority level'))
  else append(errors, each(reference, level, isDns1123Subdomain(level)))
  for (const [i, rule] of rules.entries()) append(errors, validateRules(rule, `spec.rules[${i}]`))
  const mandatory = mandatoryFlowSchemas.find((schema) => schema.metadata.name === name)
  if (mandatory !== undefined && !sameSpec(spec, mandatory.spec)) errors.push(fixedValue(name, spec))
  return [...errors, ...validateConditions(status?.conditions)]
}

function validateRules(rule: PolicyRulesSpec, at: string): FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule
  const errors: FieldError[] = []
  for (const [i, subject] of subjects.entries()) append(errors, validateSubject(subject, `${at}.subjects[${i}]`))
  if (subjects.length === 0) errors.push(fieldRequired(`${at}.subjects`, 'subjects must contain at least one value'))
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(fieldRequired(at, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
  }
  for (const [i, r] of resourceRules.entries()) append(errors, validateResourceRule(r, `${at}.resourceRules[${i}]`))
  for (const [i, r] of nonResourceRules.entries()) append(errors, validateUrls(r, `${at}.nonResourceRules[${i}]`))
  return errors
}

/** Kind → the one field that it may have. */
const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const
const fieldOfKind: Readonly<Record<string, 'serviceAccount' | 'user' | 'group'>> = subjectFields

function validateSubject(subject: SubjectSpec, at: string): FieldError[] {
  const { kind } = subject
  const own = fieldOfKind[kind]
  if (own === undefined) return [fieldNotSupported(`${at}.kind`, kind, ['Group', 'ServiceAccount', 'User'])]
  const errors: FieldError[] = []
  if (subject[own] === undefined) {
    errors.push(fieldRequired(`${at}.${own}`, `${own} is required when subject kind is '${kind}'`))
  } else {
    const { name = '' } = subject[own]
    if (name === '') errors.push(fieldRequired(`${at}.${own}.name`))
    if (own === 'serviceAccount') append(errors, validateAccount(subject, `${at}.serviceAccount`))
  }
  for (const [otherKind, field] of Object.entries(subjectFields)) {
    if (field === own || subject[field] === undefined) continue
    errors.push(fieldForbidden(`${at}.${field}`, `${field} is forbidden when subject kind is not '${otherKind}'`))
  }
  return errors
}

function validateAccount({ serviceAccount }: SubjectSpec, at: string): FieldError[] {
  const { name = '', namespace = '' } = serviceAccount ?? {}
  return [
    ...(name === '' || name === wildcard ? [] : each(`${at}.name`, name, isDns1123Subdomain(name))),
    ...(namespace === ''
      ? [fieldRequired(`${at}.namespace`, 'must specify namespace for service account')]
      : each(`${at}.namespace`, namespace, isDns1123Label(namespace))),
  ]
}

function validateVerbs(list: readonly string[], at: string): FieldError[] {
  if (list.length === 0) return [fieldRequired(at, 'verbs must contain at least one value')]
  if (list.includes(wildcard)) return aloneInList(list, at, 'verbs')
  return list.every((verb) => verbs.includes(verb)) ? [] : [fieldNotSupported(at, list, verbs)]
}

const aloneInList = (list: readonly string[], at: string, noun: string): FieldError[] =>
  list.length > 1 && list.includes(wildcard)
    ? [fieldInvalid(at, list, `if '*' is present, must not specify other ${noun}`)]
    : []

function validateResourceRule(rule: ResourceRuleSpec, at: string): FieldError[] {
  const { apiGroups = [], resources = [], namespaces = [], clusterScope = false } = rule
  const errors = validateVerbs(rule.verbs ?? [], `${at}.verbs`)
  if (apiGroups.length === 0) {
    errors.push(fieldRequired(`${at}.apiGroups`, 'resource rules must supply at least one api group'))
  } else append(errors, aloneInList(apiGroups, `${at}.apiGroups`, 'api groups'))
  if (resources.length === 0) {
    errors.push(fieldRequired(`${at}.resources`, 'resource rules must supply at least one resource'))
  } else append(errors, aloneInList(resources, `${at}.resources`, 'resources'))
  if (namespaces.length === 0 && !clusterScope) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace'
    errors.push(fieldRequired(`${at}.namespaces`, detail))
  } else if (namespaces.includes(wildcard)) append(errors, aloneInList(namespaces, `${at}.namespaces`, 'namespaces'))
  else {
    for (const [i, namespace] of namespaces.entries()) {
      const complaints = isDns1123Label(namespace).map(
        (text) => `each member of this list must be '*' or a DNS-1123 label; ${text}`,
      )
      append(errors, each(`${at}.namespaces[${i}]`, namespace, complaints))
    }
  }
  return errors
}

function validateUrls({ verbs: ruleVerbs = [], nonResourceURLs = [] }: NonResourceRuleSpec, at: string): FieldError[] {
  const errors = validateVerbs(ruleVerbs, `${at}.verbs`)
  const field = `${at}.nonResourceURLs`
  if (nonResourceURLs.length === 0) {
    errors.push(fieldRequired(field, 'nonResourceURLs must contain at least one value'))
  } else if (nonResourceURLs.includes(wildcard)) {
    append(errors, aloneInList(nonResourceURLs, field, 'non-resource URLs'))
  } else {
    for (const [i, url] of nonResourceURLs.entries()) {
      const complaint = urlComplaint(url)
      if (complaint !== undefined) errors.push(fieldInvalid(`${field}[${i}]`, url, complaint))
    }
  }
  return errors
}

function urlComplaint(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const stars = url.split('*').length - 1
  return stars > 1 || (stars === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}

export function validatePriorityLevel(object: PriorityLevelObject): FieldError[] {
  const { spec = {}, status, metadata } = object
  const name = metadata.name ?? ''
  const errors: FieldError[] = []
  if ((name === exemptName) !== (spec.type === 'Exempt')) {
    errors.push(fieldInvalid('spec.type', spec.type ?? '', "type must be 'Exempt' if and only if name is 'exempt'"))
  }
  append(errors, validateUnion(spec))
  const mandatory = mandatoryPriorityLevels.find((level) => level.metadata.name === name)
  if (name === exemptName) {
    if (!sameSpec({ ...spec, exempt: mandatory?.spec?.exempt }, mandatory?.spec)) {
      const detail = `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`
      errors.push(fieldInvalid('spec', spec, detail))
    }
  } else if (mandatory !== undefined && !sameSpec(spec, mandatory.spec)) errors.push(fixedValue(name, spec))
  return [...errors, ...validateConditions(status?.conditions)]
}

function validateUnion({ type = '', limited, exempt }: PriorityLevelSpec): FieldError[] {
  const errors: FieldError[] = []
  if (type === 'Exempt') {
    if (limited !== undefined) errors.push(fieldForbidden('spec.limited', 'must be nil if the type is not Limited'))
    if (exempt !== undefined) append(errors, validateExempt(exempt))
  } else if (type === 'Limited') {
    if (exempt !== undefined) errors.push(fieldForbidden('spec.exempt', 'must be nil if the type is Limited'))
    if (limited === undefined) errors.push(fieldRequired('spec.limited', 'must not be empty when type is Limited'))
    else append(errors, validateLimited(limited))
  } else errors.push(fieldNotSupported('spec.type', type, ['Exempt', 'Limited']))
  return errors
}

const notNegative = 'must be a non-negative integer'
const isPercent = (value: number): boolean => value >= 0 && value <= 100
const percentDetail = 'must be between 0 and 100, inclusive'

function validateExempt({ nominalConcurrencyShares: shares = 0, lendablePercent = 0 }: ExemptSpec): FieldError[] {
  const at = 'spec.exempt'
  return [
    ...(shares < 0 ? [fieldInvalid(`${at}.nominalConcurrencyShares`, shares, notNegative)] : []),
    ...(isPercent(lendablePercent) ? [] : [fieldInvalid(`${at}.lendablePercent`, lendablePercent, percentDetail)]),
  ]
}

function validateLimited(limited: LimitedSpec): FieldError[] {
  const { nominalConcurrencyShares: shares = 0, lendablePercent = 0, borrowingLimitPercent = 0 } = limited
  const at = 'spec.limited'
  const errors: FieldError[] = []
  if (shares < 0) errors.push(fieldInvalid(`${at}.nominalConcurrencyShares`, shares, notNegative))
  append(errors, validateLimitResponse(limited.limitResponse ?? {}))
  if (!isPercent(lendablePercent)) errors.push(fieldInvalid(`${at}.lendablePercent`, lendablePercent, percentDetail))
  if (borrowingLimitPercent < 0) {
    const detail = 'if specified, must be a non-negative integer'
    errors.push(fieldInvalid(`${at}.borrowingLimitPercent`, borrowingLimitPercent, detail))
  }
  return errors
}

function validateLimitResponse({ type = '', queuing }: NonNullable<LimitedSpec['limitResponse']>): FieldError[] {
  const at = 'spec.limited.limitResponse'
  if (type === 'Reject') {
    const detail = 'must be nil if limited.limitResponse.type is not Limited'
    return queuing === undefined ? [] : [fieldForbidden(`${at}.queuing`, detail)]
  }
  if (type !== 'Queue') return [fieldNotSupported(`${at}.type`, type, ['Queue', 'Reject'])]
  if (queuing !== undefined) return validateQueuing(queuing, `${at}.queuing`)
  return [fieldRequired(`${at}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')]
}

function validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingSpec, at: string): FieldError[] {
  const errors: FieldError[] = []
  const positive = 'must be positive'
  if (queueLengthLimit <= 0) errors.push(fieldInvalid(`${at}.queueLengthLimit`, queueLengthLimit, positive))
  if (queues <= 0) errors.push(fieldInvalid(`${at}.queues`, queues, positive))
  else if (queues > maxQueues) {
    errors.push(fieldInvalid(`${at}.queues`, queues, `must not be greater than ${maxQueues}`))
  }
  const hand = (detail: string): FieldError => fieldInvalid(`${at}.handSize`, handSize, detail)
  if (handSize <= 0) errors.push(hand(positive))
  else if (handSize > queues) errors.push(hand(`should not be greater than queues (${queues})`))
  else if (requiredEntropyBits(queues, handSize) > maxHashBits) {
    const bits = `required entropy bits of deckSize ${queues} and handSize ${handSize}`
    errors.push(hand(`${bits} should not be greater than ${maxHashBits}`))
  }
  return errors
}

/** Of either kind; also all there is to say of an update of a status. */
export function validateConditions(conditions: readonly FlowControlCondition[] = []): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { type = '' }] of conditions.entries()) {
    const field = `status.conditions[${i}].type`
    if (seen.has(type)) errors.push(fieldDuplicate(field, type))
    seen.add(type)
    if (type === '') errors.push(fieldRequired(field, 'must not be empty'))
  }
  return errors
}

const each = (field: string, value: string, complaints: readonly string[]): FieldError[] =>
  complaints.map((complaint) => fieldInvalid(field, value, complaint))

const fixedValue = (name: string, spec: unknown): FieldError =>
  fieldInvalid('spec', spec, `spec of '${name}' must equal the fixed value`)

/** As Go's Semantic.DeepEqual sees it: what is absent is as what is empty, false or zero. */
const sameSpec = (a: unknown, b: unknown): boolean => isDeepStrictEqual(withoutZeroes(a), withoutZeroes(b))

function withoutZeroes(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutZeroes)
  if (typeof value !== 'object' || value === null) return value === false || value === '' ? undefined : value
  const entries = Object.entries(value)
    .map(([key, inner]) => [key, withoutZeroes(inner)])
    .filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries)
}
