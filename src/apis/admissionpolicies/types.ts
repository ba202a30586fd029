/** Shapes of admissionregistration.k8s.io/v1 as they stand in the store: validated and with their defaults. */
import type { PolicyMutation } from '../../cel/mutation-expressions.ts'
import type { PolicyAnnotation, PolicyValidation, PolicyVariable } from '../../cel/policy-expressions.ts'
import type { LabelSelectorObject } from '../../kube/label-selector.ts'
import { type Resource, resourceOf } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { MatchCondition, RuleWithOperations } from '../webhooks/types.ts'

const of = <T extends KubeObject>(resource: string): Resource<T> =>
  resourceOf('admissionregistration.k8s.io', 'v1', resource)
export const policyResource: Resource<AdmissionPolicy> = of('validatingadmissionpolicies')
export const bindingResource: Resource<PolicyBinding> = of('validatingadmissionpolicybindings')
export const mutatingPolicyResource: Resource<MutatingPolicy> = of('mutatingadmissionpolicies')
export const mutatingBindingResource: Resource<PolicyBinding> = of('mutatingadmissionpolicybindings')

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

export interface ParamKind {
  readonly apiVersion?: string
  readonly kind?: string
}

/** Validating or mutating. */
export interface Policy extends KubeObject {
  spec?: {
    readonly paramKind?: ParamKind
    readonly matchConstraints?: MatchResources
    readonly matchConditions?: readonly MatchCondition[]
    readonly variables?: readonly PolicyVariable[]
    readonly failurePolicy?: 'Fail' | 'Ignore'
  }
}

export interface AdmissionPolicy extends Policy {
  spec?: NonNullable<Policy['spec']> & {
    readonly validations?: readonly PolicyValidation[]
    readonly auditAnnotations?: readonly PolicyAnnotation[]
  }
  status?: {
    readonly observedGeneration?: number
    readonly typeChecking?: { readonly expressionWarnings?: readonly ExpressionWarning[] }
  }
}

export interface MutatingPolicy extends Policy {
  spec?: NonNullable<Policy['spec']> & {
    readonly mutations?: readonly PolicyMutationObject[]
    readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  }
}

/** One of the two expressions, as `patchType` says. */
export interface PolicyMutationObject {
  readonly patchType: PolicyMutation['patchType']
  readonly applyConfiguration?: { readonly expression?: string }
  readonly jsonPatch?: { readonly expression?: string }
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
    /** Of validating policies. */
    readonly validationActions?: readonly ('Deny' | 'Warn' | 'Audit')[]
  }
}
