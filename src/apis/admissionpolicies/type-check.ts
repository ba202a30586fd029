/**
 * Do the expressions of a policy fit the types that its rules name? The answer changes nothing about the policy: its
 * expressions see objects without types. Only rules without wildcards can be checked.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go v0.36
 */
import { compileExpression } from '../../cel/admission-expressions.ts'
import { declareSchema } from '../../cel/declared-type.ts'
import { policyEnvironment } from '../../cel/policy-expressions.ts'
import { apiVersionOf, parseApiVersion } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { AdmissionPolicy, ExpressionWarning, NamedRule } from './types.ts'

const maxTypes = 10

export function typeWarnings({ spec = {} }: AdmissionPolicy, types: ResourceTypes): ExpressionWarning[] {
  const { paramKind, variables = [], validations = [] } = spec
  const paramType = paramKind && findKind(paramKind, types)
  const paramsType = paramType && declared(paramType)
  const environments = typesOf(spec.matchConstraints?.resourceRules ?? [], types).flatMap((type) => {
    const objectType = declared(type)
    if (!objectType) return []
    const has = { params: paramKind !== undefined, objectType, ...(paramsType ? { paramsType } : {}) }
    return [{ type, environment: policyEnvironment(variables, has) }]
  })
  const check = (fieldRef: string, expression: string): ExpressionWarning[] => {
    const found = environments.flatMap(({ type, environment }) => {
      const { problem } = compileExpression(expression, environment.variables, [])
      return problem === undefined ? [] : [`${apiVersionOf(type)}, Kind=${type.kind}: ${problem}\n`]
    })
    return found.length === 0 ? [] : [{ fieldRef, warning: found.join('\n') }]
  }
  return validations.flatMap(({ expression, messageExpression }, i) => [
    ...check(`spec.validations[${i}].expression`, expression),
    ...(messageExpression ? check(`spec.validations[${i}].messageExpression`, messageExpression) : []),
  ])
}

const declared = (type: ResourceType) => declareSchema(type.schema, { isRoot: false, name: type.kind })

function findKind(
  { apiVersion = '', kind = '' }: { readonly apiVersion?: string; readonly kind?: string },
  types: ResourceTypes,
): ResourceType | undefined {
  const gv = parseApiVersion(apiVersion)
  return gv && types.findKind({ ...gv, kind })
}

/** In the order of group, version and kind. */
function typesOf(rules: readonly NamedRule[], types: ResourceTypes): ResourceType[] {
  const found = new Set<ResourceType>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((text) => text.includes('*'))) continue
    for (const group of apiGroups) {
      for (const version of apiVersions) {
        for (const resource of resources) {
          const type = /[*/]/.test(resource) ? undefined : types.find({ group, version, resource })
          if (type && found.size < maxTypes) found.add(type)
        }
      }
    }
  }
  const key = (t: ResourceType): string => `${t.group}\u0000${t.version}\u0000${t.kind}`
  return [...found].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
