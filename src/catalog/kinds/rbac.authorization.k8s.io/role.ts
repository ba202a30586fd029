/**
 * Roles and cluster roles: names are path segments, rules must make sense.
 * @see pkg/apis/rbac/validation/validation.go of Kubernetes 1.36
 */
import { type FieldError, fieldInvalid, fieldRequired } from '../../../kube/field-error.ts'
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { nameIsPathSegment } from '../../../kube/names.ts'
import type { ClusterRole, PolicyRule, Role } from '../../../kube/rbac.ts'
import type { Strategy } from '../../strategy.ts'
import type { BuiltInKind } from '../kind.ts'

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
  return selectors.flatMap((selector, i) => {
    const at = `${path}[${i}]`
    const errors = validateLabelSelector(selector, at)
    // Go makes a selector of it as well, and shows what came of that.
    return errors.length === 0 ? [] : [...errors, fieldInvalid(at, null, 'invalid label selector.')]
  })
}

export const rbacFacts: Strategy = { validateName: nameIsPathSegment, createOnUpdate: true, tracksGeneration: false }

export const role: BuiltInKind = {
  strategy: { ...rbacFacts, validate: (next) => rulesErrors((next as Role).rules ?? [], true) },
}

export const clusterRole: BuiltInKind = {
  strategy: {
    ...rbacFacts,
    validate: (next) => [...rulesErrors((next as Role).rules ?? [], false), ...aggregationErrors(next as ClusterRole)],
  },
}
