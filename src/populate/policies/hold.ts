/** Namespaces whose templates are still to be applied: other clients may not write in them yet. */
import { caretakerGroups, caretakerPrefix } from '../../apis/templates/caretakers.ts'
import { pendingLabel } from '../../apis/templates/types.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { mayNamespace, type Variable } from './expressions.ts'
import { policyNames, policyWithBinding, ruleOf } from './policy.ts'

/** Clients that keep every namespace of a cluster, and are no tenants. */
export const isCaretaker: Variable = {
  name: 'isCaretaker',
  expression:
    `request.userInfo.username.startsWith('${caretakerPrefix}') || ` +
    `request.userInfo.groups.exists(g, g in [${caretakerGroups.map((group) => `'${group}'`).join(', ')}])`,
}

/** `other`: a term that leaves out the system's namespaces. */
export const heldNamespaces = (other: JsonObject): JsonObject => ({
  matchExpressions: [{ key: pendingLabel, operator: 'Exists' }, other],
})
export const holdRules: JsonObject[] = [{ ...ruleOf('*', '*', ['CREATE', 'UPDATE'], '*/*'), scope: 'Namespaced' }]
/** About whom the webhook need not be asked, where the API server can tell: they go on while no replica answers. */
export const holdConditions: JsonObject[] = [{ name: 'not-isCaretaker', expression: `!(${isCaretaker.expression})` }]

export function holdPolicy(other: JsonObject): KubeObject[] {
  return policyWithBinding('ValidatingAdmissionPolicy', policyNames.hold, {
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: heldNamespaces(other),
      resourceRules: holdRules,
    },
    variables: [isCaretaker],
    validations: [
      {
        // Reviews are asked by way of a create and store nothing.
        expression:
          "variables.isCaretaker || request.resource.group == 'authorization.k8s.io' || " +
          mayNamespace('initialize', 'request.namespace'),
        messageExpression:
          `'namespace "' + request.namespace + ` + `'" waits for its templates to be applied; try again in a moment'`,
        reason: 'Forbidden',
      },
    ],
  })
}
