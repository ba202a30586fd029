/**
 * Role bindings and cluster role bindings: subjects that make sense, a roleRef that never changes.
 * @see pkg/apis/rbac/validation/validation.go, pkg/apis/rbac/v1/defaults.go of Kubernetes 1.36
 */
import { type FieldError, fieldInvalid, fieldNotSupported, fieldRequired } from '../../../kube/field-error.ts'
import { jsonEqual } from '../../../kube/json-value.ts'
import { isDns1123Subdomain, isPathSegment } from '../../../kube/names.ts'
import { type Binding, type RoleRef, rbacGroup, type Subject } from '../../../kube/rbac.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, wide } from '../cell-text.ts'
import { type DefaultRule, fillUnset, isUnset, structIn } from '../default-rules.ts'
import { listAt, textAt } from '../field-access.ts'
import type { BuiltInKind } from '../kind.ts'
import { rbacFacts } from './role.ts'

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
  const { kind = '', name, namespace, apiGroup = '' }: Partial<Subject> = subject
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

const subject: DefaultRule = (value) => {
  if (isUnset(value.apiGroup) && (value.kind === 'User' || value.kind === 'Group')) value.apiGroup = rbacGroup
}

const roleRef = fillUnset({ apiGroup: rbacGroup })

function subjectsOf(binding: KubeObject, kind: string): string {
  return listAt(binding, 'subjects')
    .filter((s) => textAt(s, 'kind') === kind)
    .map((s) => (kind === 'ServiceAccount' ? `${textAt(s, 'namespace')}/${textAt(s, 'name')}` : textAt(s, 'name')))
    .join(', ')
}

/** RoleBindings and ClusterRoleBindings. */
const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Role', 'string', 'The role it gives.'),
    ageColumn,
    wide('Users', 'string', 'The users who get it.'),
    wide('Groups', 'string', 'The groups who get it.'),
    wide('ServiceAccounts', 'string', 'The service accounts who get it.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    `${textAt(o, 'roleRef', 'kind')}/${textAt(o, 'roleRef', 'name')}`,
    ageOf(o, now),
    subjectsOf(o, 'User'),
    subjectsOf(o, 'Group'),
    subjectsOf(o, 'ServiceAccount'),
  ],
}

export const roleBinding: BuiltInKind = {
  strategy: {
    ...rbacFacts,
    validate: (next, old) => bindingErrors(next as Binding, old as Binding | undefined, true),
  },
  defaults: {
    'io.k8s.api.rbac.v1.Subject': [subject],
    'io.k8s.api.rbac.v1.RoleBinding': [(binding) => roleRef(structIn(binding, 'roleRef'))],
  },
  columns,
}

export const clusterRoleBinding: BuiltInKind = {
  strategy: {
    ...rbacFacts,
    validate: (next, old) => bindingErrors(next as Binding, old as Binding | undefined, false),
  },
  defaults: { 'io.k8s.api.rbac.v1.ClusterRoleBinding': [(binding) => roleRef(structIn(binding, 'roleRef'))] },
  columns,
}
