/** What the operator says to admission plugins: `--admission-control-config-file`. */
import { AdmissionConfiguration } from '../../admission/admission-configuration.ts'
import {
  defaultPodSecurity,
  type PodSecuritySettings,
  podSecurityConfiguration,
} from '../pods/security/pod-security-configuration.ts'
import type { LimitedResource } from '../quotas/limited-resources.ts'
import { quotaConfiguration } from '../quotas/quota-configuration.ts'
import type { WebhookKubeconfigs } from '../webhooks/feature.ts'
import { webhookConfiguration } from '../webhooks/webhook-admission-configuration.ts'
import { readWebhookKubeconfig } from '../webhooks/webhook-kubeconfig.ts'

export interface AdmissionSettings {
  readonly podSecurity: PodSecuritySettings
  readonly limitedResources: readonly LimitedResource[]
  readonly webhookKubeconfigs: WebhookKubeconfigs
}

const mutating = webhookConfiguration('MutatingAdmissionWebhook')
const validating = webhookConfiguration('ValidatingAdmissionWebhook')
const configurable = [podSecurityConfiguration, quotaConfiguration, mutating, validating]

export const defaultAdmissionSettings: AdmissionSettings = {
  podSecurity: defaultPodSecurity,
  limitedResources: [],
  webhookKubeconfigs: { mutating: undefined, validating: undefined },
}

/** `path`: absent = as upstream without the flag. @throws AdmissionConfigurationError, one line for the operator */
export async function readAdmissionSettings(path: string | undefined): Promise<AdmissionSettings> {
  if (path === undefined) return defaultAdmissionSettings
  const configuration = AdmissionConfiguration.read(
    path,
    configurable.map(({ plugin }) => plugin),
  )
  const paths = { mutating: configuration.of(mutating), validating: configuration.of(validating) }
  return {
    podSecurity: configuration.of(podSecurityConfiguration) ?? defaultPodSecurity,
    limitedResources: configuration.of(quotaConfiguration) ?? [],
    webhookKubeconfigs: {
      mutating: paths.mutating === undefined ? undefined : await readWebhookKubeconfig(paths.mutating),
      validating: paths.validating === undefined ? undefined : await readWebhookKubeconfig(paths.validating),
    },
  }
}
