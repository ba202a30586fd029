/**
 * `protect` as an admission policy in the API server itself, so that it holds while no process of ours runs. Protected
 * objects carry a label with the name of their template; the policy refuses to other clients to put it on, change it or
 * take it off.
 */
import { keptByStatus, protectedByLabel, templateResource } from '../../apis/templates/types.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Variable } from './expressions.ts'
import { isCaretaker } from './hold.ts'
import { policyNames, policyWithBinding } from './policy.ts'

export const protectionSelector: JsonObject = { matchExpressions: [{ key: protectedByLabel, operator: 'Exists' }] }
export const protectionRules: JsonObject[] = [
  {
    apiGroups: ['*'],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: ['*'],
    scope: 'Namespaced',
  },
]
/** Metadata is written by way of the status too: an owner there, and the garbage collector deletes the object. */
export const protectedStatusRules: JsonObject[] = [
  { apiGroups: ['*'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['*/status'], scope: 'Namespaced' },
]

const isLabelled = (object: string): string =>
  `${object} != null && has(${object}.metadata.labels) && '${protectedByLabel}' in ${object}.metadata.labels`
const templateOf = (object: string): string => `${object}.metadata.labels['${protectedByLabel}']`

const isSame = (field: string): string =>
  `has(object.${field}) == has(oldObject.${field}) && (!has(object.${field}) || object.${field} == oldObject.${field})`

const all = (terms: readonly string[]): string => terms.map((term) => `(${term})`).join(' && ')

/** Clients that hold an object with a finalizer take it off when the object is being deleted. */
const isGoing: Variable = {
  name: 'isGoing',
  expression: all([
    "request.operation == 'UPDATE' && has(oldObject.metadata.deletionTimestamp)",
    ...['labels', 'annotations', 'ownerReferences'].map((field) => isSame(`metadata.${field}`)),
    "object.all(k, k == 'metadata' || (k in oldObject && object[k] == oldObject[k]))",
    'oldObject.all(k, k in object)',
  ]),
}
const isStatusAlone: Variable = {
  name: 'isStatusAlone',
  expression: all([
    "request.operation == 'UPDATE' && has(request.subResource) && request.subResource == 'status'",
    ...keptByStatus.map((field) => isSame(`metadata.${field}`)),
  ]),
}
const template = `${isLabelled('oldObject')} ? ${templateOf('oldObject')} : ${templateOf('object')}`

const mayBypass = (name: string): string => {
  const { group, resource } = templateResource
  return `authorizer.group('${group}').resource('${resource}').name(${name}).check('bypass').allowed()`
}

/**
 * About whom the webhook need not be asked, where the API server can tell: no one else is kept from a protected object,
 * and so from the end of its namespace, while no replica answers.
 */
export const protectionConditions: JsonObject[] = [
  ...[isCaretaker, isGoing, isStatusAlone],
  { name: 'mayBypass', expression: mayBypass(template) },
].map(({ name, expression }) => ({ name: `not-${name}`, expression: `!(${expression})` }))

export function protectionPolicy(): KubeObject[] {
  return policyWithBinding('ValidatingAdmissionPolicy', policyNames.protection, {
    matchConstraints: {
      matchPolicy: 'Equivalent',
      objectSelector: protectionSelector,
      resourceRules: [...protectionRules, ...protectedStatusRules],
    },
    variables: [
      { name: 'template', expression: template },
      isCaretaker,
      // The request of a deletion of a collection has no name.
      { name: 'name', expression: '(oldObject != null ? oldObject : object).metadata.name' },
      isGoing,
      isStatusAlone,
    ],
    validations: [
      {
        expression:
          'variables.isCaretaker || variables.isGoing || variables.isStatusAlone || ' + mayBypass('variables.template'),
        messageExpression:
          `'user "' + request.userInfo.username + '" cannot ' + request.operation.lowerAscii() + ' ' + ` +
          `request.kind.kind + ' ' + variables.name + ' in namespace "' + request.namespace + '": template "' + ` +
          `variables.template + '" protects it; holders of the verb "bypass" on ${templateResource.resource} "' + ` +
          `variables.template + '" may'`,
        reason: 'Forbidden',
      },
    ],
  })
}
