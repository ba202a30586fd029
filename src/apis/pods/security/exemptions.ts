/**
 * Who is exempt from PodSecurity by the operator's configuration, and what is told of it.
 * @see k8s.io/pod-security-admission/admission/admission.go v0.36
 */
import type { Attributes } from '../../../admission/admission.ts'
import { quote } from '../../../kube/go-quote.ts'
import type { JudgedPod } from './judged-pod.ts'
import { isPrivileged, isSame, type LevelVersion, modeLabels, type PodPolicy, printPolicy } from './pod-policy.ts'
import type { PodSecurityExemptions } from './pod-security-configuration.ts'

/** By what a pod, or what makes pods, is exempt before it is looked at; in the words of the audit log. */
export function exemptionOf(
  { namespace, user }: Pick<Attributes, 'namespace' | 'user'>,
  { namespaces, usernames }: PodSecurityExemptions,
): 'namespace' | 'user' | undefined {
  if (namespaces.has(namespace)) return 'namespace'
  return usernames.has(user.username) ? 'user' : undefined
}

export function hasExemptClass(pod: JudgedPod | undefined, { runtimeClasses }: PodSecurityExemptions): boolean {
  if (runtimeClasses.size === 0) return false
  const { runtimeClassName } = (pod?.spec ?? {}) as { readonly runtimeClassName?: string }
  return runtimeClassName !== undefined && runtimeClasses.has(runtimeClassName)
}

/** Labels that would ask for something, were the namespace not exempt. */
export const hasOwnPolicy = (policy: PodPolicy, defaults: PodPolicy): boolean =>
  !isPrivileged(policy) &&
  !modes.every((mode) => isSame(policy[mode], defaults[mode]) || (isLax(policy[mode]) && isLax(defaults[mode])))

const modes = ['enforce', 'audit', 'warn'] as const
const isLax = ({ level }: LevelVersion): boolean => level === 'privileged'

export function exemptNamespaceWarning(
  namespace: string,
  policy: PodPolicy,
  labels: Readonly<Record<string, string>> = {},
): string {
  const said = modes
    .filter((mode) => !isLax(policy[mode]) && modeLabels(mode).some((label) => label in labels))
    .map((mode) => `${mode}=${printPolicy(policy[mode])}`)
  return (
    `namespace ${quote(namespace)} is exempt from Pod Security, ` +
    `and the policy (${said.join(', ')}) will be ignored`
  )
}
