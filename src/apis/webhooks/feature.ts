/** Admission webhooks: what their configurations say, asked in admission. */
import { afterPause } from '../../base/eventual.ts'
import type { Slice } from '../../base/turns.ts'
import type { Feature, FeatureContext } from '../../feature/feature.ts'
import { convertObject } from '../../kube/convert-object.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { decodeObject } from '../../kube/schema/decode-object.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import { permissionAsker } from '../reviews/ask-permission.ts'
import type { ObservedCall } from './call-hook.ts'
import { HookIndex } from './hook-index.ts'
import { webhookCalled, webhookMetrics } from './metrics.ts'
import { mutatingWebhooks } from './mutating.ts'
import { configurationResources, type WebhookPhase } from './types.ts'
import { validatingWebhooks } from './validating.ts'
import type { WebhookKubeconfig } from './webhook-kubeconfig.ts'

/** By phase: who the server is to webhooks. */
export type WebhookKubeconfigs = Readonly<Record<WebhookPhase, WebhookKubeconfig | undefined>>

export const webhooks = (kubeconfigs: WebhookKubeconfigs): Feature => ({
  name: 'webhooks',
  open(context) {
    const { authorizer, catalog, clock, diagnostics, evaluator, ids, log, turns, webhookClient } = context
    const indices = { mutating: indexOf(context, 'mutating'), validating: indexOf(context, 'validating') }
    const deps = {
      client: webhookClient,
      clock,
      ids,
      log,
      namespaces: namespaceLookup(context),
      convert: async (...conversion: Parameters<typeof convertObject>) => convertObject(...conversion),
      ask: permissionAsker(authorizer),
      evaluator,
      turns,
      observe: (call: ObservedCall) => diagnostics.publish(webhookCalled, call),
      settle: (type: ResourceType, object: JsonObject, slice: Slice | undefined) => {
        const { value } = decodeObject(object, type)
        return afterPause(slice, () => catalog.applyDefaults(type, value as unknown as KubeObject))
      },
    }
    return {
      admission: [
        mutatingWebhooks({ ...deps, kubeconfig: kubeconfigs.mutating, index: indices.mutating }),
        validatingWebhooks({ ...deps, kubeconfig: kubeconfigs.validating, index: indices.validating }),
      ],
      metrics: (instruments) => webhookMetrics(instruments, diagnostics),
      start() {
        indices.mutating.start()
        indices.validating.start()
      },
    }
  },
})

const indexOf = (
  { catalog, lister, log, typeOf }: FeatureContext,
  phase: keyof typeof configurationResources,
): HookIndex =>
  new HookIndex({
    lister,
    types: catalog.types,
    configurationType: typeOf(configurationResources[phase]),
    onFault: (configuration, error) => log.error({ configuration, error }, 'a webhook configuration makes no sense'),
  })
