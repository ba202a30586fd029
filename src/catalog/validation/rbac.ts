/** Roles and bindings (SEMANTICS 9.5). @see pkg/apis/rbac/validation/validation.go of Kubernetes 1.36 */
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { isPathSegment } from '../../kube/names.ts'
import { rbacGroup } from '../../kube/rbac.ts'
import type { KubeObject } from '../../kube/types.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn, textsIn } from './report.ts'

function checkRules(report: Report, rules: readonly Part[], namespaced: boolean): void {
  rules.forEach((rule, i) => {
    const at = `rules[${i}]`
    if (textsIn(rule, 'verbs').length === 0) report.required(`${at}.verbs`, 'verbs must contain at least one value')
    const urls = textsIn(rule, 'nonResourceURLs')
    const resources = textsIn(rule, 'resources')
    if (urls.length > 0) {
      if (namespaced) {
        report.invalid(`${at}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs')
      }
      if (textsIn(rule, 'apiGroups').length > 0 || resources.length > 0 || textsIn(rule, 'resourceNames').length > 0) {
        report.invalid(
          `${at}.nonResourceURLs`,
          urls,
          'rules cannot apply to both regular resources and non-resource URLs',
        )
      }
      return
    }
    if (textsIn(rule, 'apiGroups').length === 0) {
      report.required(`${at}.apiGroups`, 'resource rules must supply at least one api group')
    }
    if (resources.length === 0) report.required(`${at}.resources`, 'resource rules must supply at least one resource')
  })
}

export function checkRole(report: Report, next: KubeObject): void {
  checkRules(report, partsIn(next, 'rules'), true)
}

export function checkClusterRole(report: Report, next: KubeObject): void {
  checkRules(report, partsIn(next, 'rules'), false)
  const aggregation = findPart(next, 'aggregationRule')
  if (!aggregation) return
  const selectors = partsIn(aggregation, 'clusterRoleSelectors')
  const at = 'aggregationRule.clusterRoleSelectors'
  if (selectors.length === 0)
    report.required(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil')
  selectors.forEach((selector, i) => report.add(validateLabelSelector(selector, `${at}[${i}]`)))
}

const subjectKinds = ['ServiceAccount', 'User', 'Group']

function checkSubject(report: Report, at: string, subject: Part, namespaced: boolean): void {
  const name = textIn(subject, 'name')
  const group = textIn(subject, 'apiGroup')
  if (name === '') report.required(`${at}.name`)
  switch (textIn(subject, 'kind')) {
    case 'ServiceAccount':
      if (name !== '') report.subdomain(`${at}.name`, name)
      if (group !== '') report.notSupported(`${at}.apiGroup`, group, [''])
      if (!namespaced && textIn(subject, 'namespace') === '') report.required(`${at}.namespace`)
      break
    case 'User':
    case 'Group':
      if (group !== rbacGroup) report.notSupported(`${at}.apiGroup`, group, [rbacGroup])
      break
    default:
      report.notSupported(`${at}.kind`, textIn(subject, 'kind'), subjectKinds)
  }
}

export function checkBinding(report: Report, next: KubeObject, old: KubeObject | undefined, namespaced: boolean): void {
  const ref = partIn(next, 'roleRef')
  const group = textIn(ref, 'apiGroup')
  if (group !== rbacGroup) report.notSupported('roleRef.apiGroup', group, [rbacGroup])
  report.oneOf('roleRef.kind', textIn(ref, 'kind'), namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'])
  const name = textIn(ref, 'name')
  if (name === '') report.required('roleRef.name')
  else report.each('roleRef.name', name, isPathSegment(name))
  partsIn(next, 'subjects').forEach((s, i) => checkSubject(report, `subjects[${i}]`, s, namespaced))
  if (old && !sameValue(ref, old.roleRef)) report.invalid('roleRef', ref, 'cannot change roleRef')
}
