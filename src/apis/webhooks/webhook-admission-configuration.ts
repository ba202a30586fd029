/**
 * `WebhookAdmissionConfiguration`: a kubeconfig with the credentials for webhooks, its users named after their hosts.
 * @see k8s.io/apiserver/pkg/admission/plugin/webhook/config/kubeconfig.go v0.36
 */
import { isAbsolute } from 'node:path'
import { AdmissionConfigurationError, type PluginReader } from '../../admission/admission-configuration.ts'
import { invalidFault } from '../../kube/value-faults.ts'

/** Where the kubeconfig is; undefined = webhooks are asked without credentials. */
export const webhookConfiguration = (
  plugin: 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook',
): PluginReader<string | undefined> => ({
  plugin,
  kinds: { WebhookAdmissionConfiguration: ['apiserver.config.k8s.io/v1'] },
  read(reader) {
    const path = reader.text('kubeConfigFile')
    if (path !== '' && !isAbsolute(path)) {
      throw new AdmissionConfigurationError(
        invalidFault(reader.pathOf('kubeConfigFile'), path, 'must be an absolute file path'),
      )
    }
    if (reader.text('staticManifestsDir') !== '') {
      const problem = 'staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled'
      throw new AdmissionConfigurationError(`${reader.pathOf('staticManifestsDir')}: Forbidden: ${problem}`)
    }
    return path === '' ? undefined : path
  },
})
