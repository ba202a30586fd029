/**
 * FlowSchema and PriorityLevelConfiguration as they are stored, with the defaults of the catalogue applied.
 * @see k8s.io/api/flowcontrol/v1/types.go v0.36
 */
import type { GroupVersionResource } from '../kube/gvk.ts'
import type { KubeObject } from '../kube/types.ts'

export const flowControlGroup = 'flowcontrol.apiserver.k8s.io'
export const flowControlVersion = 'v1'

export const flowSchemasResource: GroupVersionResource = {
  group: flowControlGroup,
  version: flowControlVersion,
  resource: 'flowschemas',
}
export const priorityLevelConfigurationsResource: GroupVersionResource = {
  group: flowControlGroup,
  version: flowControlVersion,
  resource: 'prioritylevelconfigurations',
}

/** 'true': the server keeps the spec of a bootstrap object at its default; 'false': the operator owns the spec. */
export const autoUpdateSpecAnnotation = 'apf.kubernetes.io/autoupdate-spec'

export const exemptName = 'exempt'
export const catchAllName = 'catch-all'

/** In a list of verbs, groups, resources, namespaces, URLs or names: every value. */
export const wildcard = '*'

export type DistinguisherMethod = 'ByUser' | 'ByNamespace'

export interface SubjectSpec {
  readonly kind: string
  readonly user?: { readonly name?: string }
  readonly group?: { readonly name?: string }
  readonly serviceAccount?: { readonly namespace?: string; readonly name?: string }
}

export interface ResourceRuleSpec {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  /** Whether requests without a namespace match. */
  readonly clusterScope?: boolean
  readonly namespaces?: readonly string[]
}

export interface NonResourceRuleSpec {
  readonly verbs?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export interface PolicyRulesSpec {
  readonly subjects?: readonly SubjectSpec[]
  readonly resourceRules?: readonly ResourceRuleSpec[]
  readonly nonResourceRules?: readonly NonResourceRuleSpec[]
}

export interface FlowSchemaSpec {
  readonly priorityLevelConfiguration?: { readonly name?: string }
  readonly matchingPrecedence?: number
  readonly distinguisherMethod?: { readonly type?: string }
  readonly rules?: readonly PolicyRulesSpec[]
}

export interface FlowControlCondition {
  readonly type?: string
  readonly status?: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

export interface FlowSchemaObject extends KubeObject {
  readonly spec?: FlowSchemaSpec
  readonly status?: { readonly conditions?: readonly FlowControlCondition[] }
}

export interface QueuingSpec {
  readonly queues?: number
  readonly handSize?: number
  readonly queueLengthLimit?: number
}

export interface LimitedSpec {
  readonly nominalConcurrencyShares?: number
  readonly lendablePercent?: number
  readonly borrowingLimitPercent?: number
  readonly limitResponse?: { readonly type?: string; readonly queuing?: QueuingSpec }
}

export interface ExemptSpec {
  readonly nominalConcurrencyShares?: number
  readonly lendablePercent?: number
}

export interface PriorityLevelSpec {
  readonly type?: string
  readonly limited?: LimitedSpec
  readonly exempt?: ExemptSpec
}

export interface PriorityLevelObject extends KubeObject {
  readonly spec?: PriorityLevelSpec
  readonly status?: { readonly conditions?: readonly FlowControlCondition[] }
}
