import type { AdmissionPlugin } from './admission.ts'

/**
 * Admission, in the order in which it is asked. Quota comes after all of it: it is asked at the commit (apis/quotas).
 */
export const admissionOrder = [
  // Nothing is allowed because what would refuse it can't be read.
  'DamagedObjects',
  'CustomResourceDefinitions',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitRanger',
  'ServiceAccount',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'RuntimeClass',
  'DefaultIngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  // What these check of a namespace must be what is stored, so webhooks have changed it before.
  'NamespaceTemplates',
  'NamespaceExpiry',
  'ClusterResourceQuotas',
  'NamespaceInitializers',
  'NamespaceFinalization',
  'NamespaceDefaultObjects',
  'NamespacePopulation',
  'AppliedRecord',
  'TemplateProtection',
  'IpAddressProtection',
  'CertificateSigningRequests',
  'OwnerReferencesPermissionEnforcement',
  'RbacEscalation',
  'AdmissionPolicyAuthors',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
] as const

/** @throws Error for a plugin that stands nowhere in the order, or twice */
export function inAdmissionOrder(plugins: readonly AdmissionPlugin[]): AdmissionPlugin[] {
  const names: readonly string[] = admissionOrder
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]))
  if (byName.size < plugins.length) throw new Error('two admission plugins have one name')
  for (const { name } of plugins) if (!names.includes(name)) throw new Error(`the order of admission lacks ${name}`)
  return names.flatMap((name) => byName.get(name) ?? [])
}
