/** Shapes of admissionregistration.k8s.io/v1 as they stand in the store: validated and with their defaults. */
import type { WebhookAddress } from '../../client/webhook-client.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { LabelSelectorObject } from '../../kube/label-selector.ts'
import type { KubeObject } from '../../kube/types.ts'

export type WebhookPhase = 'mutating' | 'validating'

export const configurationResources: Readonly<Record<WebhookPhase, GroupVersionResource>> = {
  mutating: { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'mutatingwebhookconfigurations' },
  validating: { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' },
}

export interface RuleWithOperations {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
}

export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

export interface Webhook {
  readonly name: string
  readonly clientConfig: WebhookAddress
  readonly rules?: readonly RuleWithOperations[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly matchPolicy?: 'Exact' | 'Equivalent'
  readonly namespaceSelector?: LabelSelectorObject
  readonly objectSelector?: LabelSelectorObject
  readonly matchConditions?: readonly MatchCondition[]
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
  /** Of mutating webhooks. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

export interface WebhookConfiguration extends KubeObject {
  webhooks?: readonly Webhook[]
}
