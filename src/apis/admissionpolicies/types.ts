/** Shapes of admissionregistration.k8s.io/v1 as they stand in the store: validated and with their defaults. */
import type { PolicyAnnotation, PolicyValidation, PolicyVariable } from '../../kube/cel/policy-expressions.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { LabelSelectorObject } from '../../kube/label-selector.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { MatchCondition, RuleWithOperations } from '../webhooks/types.ts'

const of = (resource: string): GroupVersionResource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource,
})
export const policyResource: GroupVersionResource = of('validatingadmissionpolicies')
export const bindingResource: GroupVersionResource = of('validatingadmissionpolicybindings')

export interface NamedRule extends RuleWithOperations {
  readonly resourceNames?: readonly string[]
}

export interface MatchResources {
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: LabelSelectorObject
  readonly objectSelector?: LabelSelectorObject
  readonly resourceRules?: readonly NamedRule[]
  readonly excludeResourceRules?: readonly NamedRule[]
}

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

export interface AdmissionPolicy extends KubeObject {
  spec?: {
    readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string }
    readonly matchConstraints?: MatchResources
    readonly matchConditions?: readonly MatchCondition[]
    readonly variables?: readonly PolicyVariable[]
    readonly validations?: readonly PolicyValidation[]
    readonly auditAnnotations?: readonly PolicyAnnotation[]
    readonly failurePolicy?: 'Fail' | 'Ignore'
  }
  status?: {
    readonly observedGeneration?: number
    readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] }
  }
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: LabelSelectorObject
  readonly parameterNotFoundAction?: 'Allow' | 'Deny'
}

export interface PolicyBinding extends KubeObject {
  spec?: {
    readonly policyName?: string
    readonly paramRef?: ParamRef
    readonly matchResources?: MatchResources
    readonly validationActions?: readonly ('Deny' | 'Warn' | 'Audit')[]
  }
}
