/**
 * What is special about roles and bindings: path-segment names, rules and subjects that make sense, a roleRef that
 * never changes.
 * @see k8s.io/kubernetes/pkg/apis/rbac/validation/validation.go v1.36
 */
import { type FieldError, fieldInvalid, fieldNotSupported, fieldRequired } from '../../../kube/field-error.ts'
import { jsonEqual } from '../../../kube/json-value.ts'
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isDns1123Subdomain, isPathSegment, nameIsPathSegment } from '../../../kube/names.ts'
import {
  type Binding,
  type ClusterRole,
  type PolicyRule,
  type Role,
  type RoleRef,
  rbacGroup,
  type Subject,
} from '../../../kube/rbac.ts'
import type { Strategy } from '../../strategy.ts'

const shared: Strategy = { validateName: nameIsPathSegment, createOnUpdate: true, tracksGeneration: false }

export const roleStrategy: Strategy = {
  ...shared,
  validate: (next) => rulesErrors((next as Role).rules ?? [], true),
}

export const clusterRoleStrategy: Strategy = {
  ...shared,
  validate: (next) => [...rulesErrors((next as Role).rules ?? [], false), ...aggregationErrors(next as ClusterRole)],
}

export const roleBindingStrategy: Strategy = {
  ...shared,
  validate: (next, old) => bindingErrors(next as Binding, old as Binding | undefined, true),
}

export const clusterRoleBindingStrategy: Strategy = {
  ...shared,
  validate: (next, old) => bindingErrors(next as Binding, old as Binding | undefined, false),
}

const rulesErrors = (rules: readonly PolicyRule[], namespaced: boolean): FieldError[] =>
  rules.flatMap((rule, i) => ruleErrors(rule, `rules[${i}]`, namespaced))

function ruleErrors(rule: PolicyRule, path: string, namespaced: boolean): FieldError[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const errors: FieldError[] = []
  if (verbs.length === 0) errors.push(fieldRequired(`${path}.verbs`, 'verbs must contain at least one value'))
  if (nonResourceURLs.length > 0) {
    const urls = `${path}.nonResourceURLs`
    if (namespaced)
      errors.push(fieldInvalid(urls, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'))
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      const why = 'rules cannot apply to both regular resources and non-resource URLs'
      errors.push(fieldInvalid(urls, nonResourceURLs, why))
    }
    return errors
  }
  if (apiGroups.length === 0) {
    errors.push(fieldRequired(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  }
  if (resources.length === 0) {
    errors.push(fieldRequired(`${path}.resources`, 'resource rules must supply at least one resource'))
  }
  return errors
}

function aggregationErrors({ aggregationRule }: ClusterRole): FieldError[] {
  if (aggregationRule === undefined) return []
  const path = 'aggregationRule.clusterRoleSelectors'
  const selectors = aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) {
    return [fieldRequired(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  }
  return selectors.flatMap((selector, i) => validateLabelSelector(selector, `${path}[${i}]`))
}

function bindingErrors(next: Binding, old: Binding | undefined, namespaced: boolean): FieldError[] {
  const errors = [
    ...roleRefErrors(next.roleRef, namespaced),
    ...(next.subjects ?? []).flatMap((subject, i) => subjectErrors(subject, `subjects[${i}]`, namespaced)),
  ]
  if (old !== undefined && !jsonEqual(old.roleRef, next.roleRef)) {
    errors.push(fieldInvalid('roleRef', shownRoleRef(next.roleRef), 'cannot change roleRef'))
  }
  return errors
}

/** Upstream prints its own form of a reference. */
const shownRoleRef = ({ apiGroup, kind, name }: RoleRef): object => ({ APIGroup: apiGroup, Kind: kind, Name: name })

function roleRefErrors({ apiGroup = '', kind = '', name }: RoleRef, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (apiGroup !== rbacGroup) errors.push(fieldNotSupported('roleRef.apiGroup', apiGroup, [rbacGroup]))
  if (!kinds.includes(kind)) errors.push(fieldNotSupported('roleRef.kind', kind, kinds))
  if (!name) errors.push(fieldRequired('roleRef.name'))
  else for (const why of isPathSegment(name)) errors.push(fieldInvalid('roleRef.name', name, why))
  return errors
}

function subjectErrors(subject: Subject, path: string, namespaced: boolean): FieldError[] {
  const { kind, name, namespace, apiGroup = '' } = subject
  const errors: FieldError[] = name ? [] : [fieldRequired(`${path}.name`)]
  switch (kind) {
    case 'ServiceAccount':
      for (const why of name ? isDns1123Subdomain(name) : []) errors.push(fieldInvalid(`${path}.name`, name, why))
      if (apiGroup !== '') errors.push(fieldNotSupported(`${path}.apiGroup`, apiGroup, ['']))
      if (!namespaced && !namespace) errors.push(fieldRequired(`${path}.namespace`))
      break
    case 'User':
    case 'Group':
      if (apiGroup !== rbacGroup) errors.push(fieldNotSupported(`${path}.apiGroup`, apiGroup, [rbacGroup]))
      break
    default:
      errors.push(fieldNotSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}
