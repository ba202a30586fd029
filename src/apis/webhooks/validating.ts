/**
 * Validating webhooks: all at once, on the object as it would be stored. Of several refusals the client hears the first
 * in the order of the configurations.
 * @see k8s.io/apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go v0.36
 */
import type { AdmissionPlugin } from '../../admission/admission.ts'
import { type Asked, ask, type CallDeps, isSelected } from './call-hook.ts'
import type { HookIndex, HookInvocation } from './hook-index.ts'
import { recordVerdict } from './mutating.ts'
import { refusalOf } from './review.ts'
import { shownTo } from './shown-object.ts'

export interface ValidatingDeps extends CallDeps {
  readonly index: HookIndex
}

export function validatingWebhooks(deps: ValidatingDeps): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (operation, type, subresource) => deps.index.matching(operation, type, subresource).length > 0,
    onHandlesChange: (listener) => deps.index.onChange(listener),
    async validate(a) {
      const asked: HookInvocation[] = []
      for (const invocation of deps.index.matching(a.operation, a.type, a.subresource)) {
        if (await isSelected(deps, invocation, a)) asked.push(invocation)
      }
      const answers = await Promise.allSettled(
        asked.map(async (invocation): Promise<Asked> => {
          const shown = await shownTo(invocation, a, deps.convert)
          return ask(deps, 'validating', invocation, a, shown)
        }),
      )
      const refusals: unknown[] = []
      for (const [i, answer] of answers.entries()) {
        const { hook, position } = asked[i] as HookInvocation
        const { name } = hook.webhook
        if (answer.status === 'rejected') {
          refusals.push(answer.reason)
          continue
        }
        const { verdict, failedOpen } = answer.value
        if (failedOpen) a.annotate(`failed-open.validating.webhook.admission.k8s.io/round_0_index_${position}`, name)
        if (verdict === undefined) continue
        recordVerdict(a, name, verdict)
        if (!verdict.allowed) refusals.push(refusalOf(name, verdict.result))
      }
      if (refusals.length > 0) throw refusals[0]
    },
  }
}
