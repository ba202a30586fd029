/** Admission webhooks and policies. */
import type { BuiltInKinds } from '../kind.ts'
import { mutatingAdmissionPolicy, mutatingAdmissionPolicyBinding } from './mutating-admission-policy.ts'
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from './validating-admission-policy.ts'
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from './webhook-configuration.ts'

export const admissionKinds: BuiltInKinds = {
  'mutatingadmissionpolicies.admissionregistration.k8s.io': mutatingAdmissionPolicy,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': mutatingAdmissionPolicyBinding,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': mutatingWebhookConfiguration,
  'validatingadmissionpolicies.admissionregistration.k8s.io': validatingAdmissionPolicy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': validatingAdmissionPolicyBinding,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': validatingWebhookConfiguration,
}
