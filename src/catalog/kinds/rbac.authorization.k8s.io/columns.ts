/**
 * Tables of role bindings, certificate requests, webhooks, admission policies and API services.
 * @see k8s.io/kubernetes/pkg/printers/internalversion/printers.go v1.36, k8s.io/kube-aggregator
 */
import { humanDuration } from '../../../kube/duration.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, printSelectorObject, wide } from '../cell-text.ts'
import { conditionAt, fieldAt, listAt, numberAt, objectAt, textAt } from '../field-access.ts'

function subjectsOf(binding: KubeObject, kind: string): string {
  return listAt(binding, 'subjects')
    .filter((s) => textAt(s, 'kind') === kind)
    .map((s) => (kind === 'ServiceAccount' ? `${textAt(s, 'namespace')}/${textAt(s, 'name')}` : textAt(s, 'name')))
    .join(', ')
}

/** RoleBindings and ClusterRoleBindings. */
export const roleBindings: TableColumns = {
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

function requestCondition(request: KubeObject): string {
  const has = (type: string): boolean => conditionAt(request, type) !== undefined
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${textAt(request, 'status', 'certificate') ? ',Issued' : ''}`
}

export const certificateSigningRequests: TableColumns = {
  definitions: [
    nameColumn,
    ageColumn,
    column('SignerName', 'string', 'Who is asked to sign.'),
    column('Requestor', 'string', 'Who asks.'),
    column('RequestedDuration', 'string', 'How long it should be valid.'),
    column('Condition', 'string', 'What has been decided.'),
  ],
  cells(o, now) {
    const seconds = fieldAt(o, 'spec', 'expirationSeconds')
    return [
      nameOf(o),
      ageOf(o, now),
      textAt(o, 'spec', 'signerName') || '<none>',
      textAt(o, 'spec', 'username'),
      seconds === undefined ? '<none>' : humanDuration(numberAt(o, 'spec', 'expirationSeconds') * 1000),
      requestCondition(o),
    ]
  },
}

/** Validating and mutating webhook configurations. */
export const webhookConfigurations: TableColumns = {
  definitions: [nameColumn, column('Webhooks', 'integer', 'How many webhooks it registers.'), ageColumn],
  cells: (o, now) => [nameOf(o), listAt(o, 'webhooks').length, ageOf(o, now)],
}

function paramKind(policy: KubeObject): string {
  const kind = objectAt(policy, 'spec', 'paramKind')
  return kind ? `${textAt(kind, 'apiVersion')}/${textAt(kind, 'kind')}` : '<unset>'
}

const policyTable = (rules: 'validations' | 'mutations', columnName: string): TableColumns => ({
  definitions: [
    nameColumn,
    column(columnName, 'integer', 'How many rules it has.'),
    column('ParamKind', 'string', 'The kind of its parameters.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), listAt(o, 'spec', rules).length, paramKind(o), ageOf(o, now)],
})

export const validatingAdmissionPolicies: TableColumns = policyTable('validations', 'Validations')
export const mutatingAdmissionPolicies: TableColumns = policyTable('mutations', 'Mutations')

function paramRef(binding: KubeObject): string {
  const ref = objectAt(binding, 'spec', 'paramRef')
  const name = textAt(ref, 'name')
  if (name) return `${textAt(ref, 'namespace') || '*'}/${name}`
  const selector = objectAt(ref, 'selector')
  return selector ? (printSelectorObject(selector) ?? '<error>') : '<unset>'
}

/** Bindings of validating and mutating admission policies. */
export const admissionPolicyBindings: TableColumns = {
  definitions: [
    nameColumn,
    column('PolicyName', 'string', 'The policy it puts into force.'),
    column('ParamRef', 'string', 'The parameters it gives the policy.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), textAt(o, 'spec', 'policyName'), paramRef(o), ageOf(o, now)],
}

function availability(service: KubeObject): string {
  const available = conditionAt(service, 'Available')
  if (available === undefined) return 'Unknown'
  const status = textAt(available, 'status')
  return status === 'True' ? status : `${status} (${textAt(available, 'reason')})`
}

export const apiServices: TableColumns = {
  definitions: [
    nameColumn,
    column('Service', 'string', 'Who answers for the group and version.'),
    column('Available', 'string', 'Whether it answers.'),
    ageColumn,
  ],
  cells(o, now) {
    const service = objectAt(o, 'spec', 'service')
    const where = service ? `${textAt(service, 'namespace')}/${textAt(service, 'name')}` : 'Local'
    return [nameOf(o), where, availability(o), ageOf(o, now)]
  },
}
