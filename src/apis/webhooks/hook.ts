/** A webhook of a configuration, made ready to be asked: selectors parsed, conditions compiled. */
import { type LabelSelector, labelSelectorOf } from '../../kube/label-selector.ts'
import type { MatchCondition, Webhook, WebhookConfiguration } from './types.ts'

/** What conditions are asked about: the review that would be sent. */
export interface ConditionMatcher {
  /** False = the webhook is not asked. @throws Error if they can't be evaluated */
  matches(request: Readonly<Record<string, unknown>>): boolean
}

export type CompileConditions = (conditions: readonly MatchCondition[]) => ConditionMatcher

export interface Hook {
  readonly configuration: string
  /** Place in its configuration. */
  readonly index: number
  readonly webhook: Webhook
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
  readonly conditions: ConditionMatcher | undefined
}

const noCompiler: CompileConditions = () => ({
  matches() {
    throw new Error('match conditions are not evaluated by this server')
  },
})

/** @throws Error if the configuration makes no sense: it did not come through validation */
export function hooksOf(configuration: WebhookConfiguration, compile: CompileConditions = noCompiler): Hook[] {
  return (configuration.webhooks ?? []).map((webhook, index) => ({
    configuration: configuration.metadata.name ?? '',
    index,
    webhook,
    namespaceSelector: labelSelectorOf(webhook.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(webhook.objectSelector ?? {}),
    conditions: webhook.matchConditions?.length ? compile(webhook.matchConditions) : undefined,
  }))
}
