import type { Clock } from '../../base/clock.ts'
import { WebhookClient } from '../../client/webhook-client.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import { endpointSliceResource, serviceResource } from '../services/types.ts'
import { type ServiceResolverDeps, serviceResolver } from './service-resolver.ts'

export interface WebhookClientOptions {
  readonly clock: Clock
  readonly serviceAddresses: ServiceResolverDeps['addresses']
}

/** Calls webhooks, as kube-apiserver does, where the Services they name are said to be. */
export function openWebhookClient(
  { clock, serviceAddresses }: WebhookClientOptions,
  { lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>,
): WebhookClient {
  return new WebhookClient({
    clock,
    userAgent: 'kube-apiserver-admission',
    resolve: serviceResolver({
      addresses: serviceAddresses,
      findService: (namespace, name) => lister.find(typeOf(serviceResource), namespace, name)?.object,
      slices: (namespace) => [...lister.list(typeOf(endpointSliceResource), namespace)].map((s) => s.object),
      random: Math.random,
    }),
  })
}
