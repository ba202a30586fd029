/** A webhook of a configuration, made ready to be asked: selectors parsed, conditions compiled. */
import { compileMatchConditions, type MatchConditions } from '../../cel/admission-expressions.ts'
import { type LabelSelector, labelSelectorOf } from '../../kube/label-selector.ts'
import type { Webhook, WebhookConfiguration } from './types.ts'

export interface Hook {
  readonly configuration: string
  /** Place in its configuration. */
  readonly index: number
  readonly webhook: Webhook
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly conditions: MatchConditions | undefined
}

/** @throws Error if the configuration makes no sense: it did not come through validation */
export function hooksOf(configuration: WebhookConfiguration): Hook[] {
  return (configuration.webhooks ?? []).map((webhook, index) => ({
    configuration: configuration.metadata.name ?? '',
    index,
    webhook,
    namespaceSelector: labelSelectorOf(webhook.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(webhook.objectSelector ?? {}),
    conditions: webhook.matchConditions?.length ? compileMatchConditions(webhook.matchConditions) : undefined,
  }))
}
