/**
 * PodSecurity: what the labels of a namespace say about its pods. Refuses pods, warns of those that Deployments and
 * their like would make, tells the audit log, and sees to the labels themselves.
 *
 * Upstream judges by a copy of the namespace that may be old. Here a pod is judged once more at its commit, by the
 * namespace as it is then, and a guard holds it: no pod gets past a label that was set meanwhile, on any replica.
 * @see k8s.io/pod-security-admission/admission/admission.go v0.36
 */
import type { AdmissionPlugin, Attributes, Operation } from '../../../admission/admission.ts'
import { objectOf } from '../../../admission/object-of.ts'
import type { Clock } from '../../../base/clock.ts'
import { aggregate } from '../../../kube/aggregate.ts'
import type { FieldError } from '../../../kube/field-error.ts'
import { forbidden, invalid, notFound, type StatusError } from '../../../kube/status-error.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { type NamespaceLookup, namespaceOf } from '../../namespaces/lookup.ts'
import { type Namespace, namespaceResource } from '../../namespaces/types.ts'
import type { Finding } from './checks.ts'
import { exemptionOf, exemptNamespaceWarning, hasExemptClass, hasOwnPolicy } from './exemptions.ts'
import { warnOfExisting } from './existing-pods.ts'
import { judge, printFindings } from './judge.ts'
import { isOtherPod, type Judged, judgedOf, podIn } from './judged-objects.ts'
import type { JudgedPod } from './judged-pod.ts'
import {
  isSame,
  isStricter,
  type LevelVersion,
  type PodPolicy,
  policyReader,
  prefix,
  printPolicy,
} from './pod-policy.ts'
import type { PodSecuritySettings } from './pod-security-configuration.ts'

/** What was asked about. */
export interface ObservedPod {
  readonly operation: Operation
  readonly judged: Judged
  readonly subresource: string
}

export interface ObservedJudgement extends ObservedPod {
  readonly mode: keyof PodPolicy
  readonly policy: LevelVersion
  readonly isAllowed: boolean
}

export interface ObservedFault extends ObservedPod {
  /** Refused for it; otherwise judged as if the labels asked for everything. */
  readonly isFatal: boolean
}

export interface PodSecurityParts {
  readonly settings: PodSecuritySettings
  readonly namespaces: NamespaceLookup
  readonly clock: Clock
  podsIn(namespace: string): Iterable<KubeObject>
  judged(judgement: ObservedJudgement): void
  failed(fault: ObservedFault): void
  exempted(pod: ObservedPod): void
}

interface OpenParts extends PodSecurityParts {
  readonly readPolicy: ReturnType<typeof policyReader>
}

/** These neither show a pod nor can they change what it may do. */
const ignoredSubresources: ReadonlySet<string> = new Set(['binding', 'eviction', 'status'])

export function podSecurity(given: PodSecurityParts): AdmissionPlugin {
  const { namespaces, settings } = given
  const parts: OpenParts = { ...given, readPolicy: policyReader(settings.defaults) }
  const enforcedIn = (namespace: KubeObject): LevelVersion => parts.readPolicy(namespace.metadata.labels).policy.enforce
  return {
    name: 'PodSecurity',
    handles(operation, type, subresource) {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false
      const judged = judgedOf(type)
      if (judged === 'pod') return !ignoredSubresources.has(subresource)
      return judged !== undefined && subresource === '' && ['validate']
    },
    validate(a) {
      if (judgedOf(a.type) === 'namespace') return checkNamespace(a, parts)
      const exemption = exemptionOf(a, settings.exemptions)
      if (exemption !== undefined) return exempt(a, exemption, parts)
      const namespace = namespaceOf(namespaces, a)
      if (namespace !== undefined && violations(a, enforcedIn(namespace)).length === 0)
        return settle(a, namespace, parts)
      // Believed only from what is there now: it may have been made, or the label lifted, elsewhere a moment ago.
      return namespaces.refresh().then(() => settle(a, namespaces.find(a.namespace), parts))
    },
    /** Of pods. */
    decide(a, view) {
      if (!isWorthALook(a) || isExempt(a, parts)) return {}
      const seen = view.see(namespaces.type, '', a.namespace)
      const namespace = seen.object
      if (namespace !== undefined) {
        const enforce = enforcedIn(namespace)
        const found = violations(a, enforce)
        if (found.length > 0) throw refusalOf(a, enforce, found)
      }
      // Creates are guarded so already, by the lifecycle of namespaces.
      return a.operation === 'CREATE' ? {} : { guards: [{ key: seen.key, expect: seen.expect }] }
    },
  }
}

/** In any way. */
const isExempt = (a: Attributes, { settings: { exemptions } }: OpenParts): boolean =>
  exemptionOf(a, exemptions) !== undefined || hasExemptClass(podIn(a.type, a.object as KubeObject), exemptions)

function exempt(a: Attributes, why: string, parts: OpenParts): void {
  a.annotate(`${prefix}exempt`, why)
  parts.exempted(aboutOf(a))
}

const aboutOf = (a: Attributes): ObservedPod => ({
  operation: a.operation,
  judged: judgedOf(a.type) ?? 'pod',
  subresource: a.subresource,
})

const isWorthALook = (a: Attributes): boolean =>
  a.operation === 'CREATE' || isOtherPod(a.object as JudgedPod, a.oldObject as JudgedPod)

/** Of pods; nothing else is. */
function violations(a: Attributes, enforce: LevelVersion): readonly Finding[] {
  if (enforce.level === 'privileged' || judgedOf(a.type) !== 'pod' || !isWorthALook(a)) return []
  return judge(enforce, a.object as JudgedPod)
}

function refusalOf(a: Attributes, enforce: LevelVersion, found: readonly Finding[]): StatusError {
  const policy = printPolicy(enforce)
  return forbidden(a.type, a.name, `violates PodSecurity "${policy}": ${printFindings(found)}`)
}

const allows = ({ level }: LevelVersion): boolean => level === 'privileged'

/** The last word before the commit, with all that is told about it. @throws StatusError */
function settle(a: Attributes, namespace: Namespace | undefined, parts: OpenParts): void {
  const about = aboutOf(a)
  if (namespace === undefined) {
    parts.failed({ ...about, isFatal: true })
    throw notFound(namespaceResource, a.namespace)
  }
  const { policy, faults } = parts.readPolicy(namespace.metadata.labels)
  const isPod = about.judged === 'pod'
  if (faults.length === 0 && allows(policy.audit) && allows(policy.warn) && (!isPod || allows(policy.enforce))) {
    if (!isPod) return
    a.annotate(`${prefix}enforce-policy`, 'privileged:latest')
    parts.judged({ ...about, mode: 'enforce', policy: policy.enforce, isAllowed: true })
    return
  }
  const pod = podIn(a.type, a.object as KubeObject)
  if (pod === undefined || (isPod && !isWorthALook(a))) return
  if (hasExemptClass(pod, parts.settings.exemptions)) return exempt(a, 'runtimeClass', parts)
  if (faults.length > 0) {
    a.annotate(`${prefix}error`, `Failed to parse policy: ${printFaults(faults)}`)
    parts.failed({ ...about, isFatal: false })
  }
  tell(a, policy, pod, about, parts)
}

/** @throws StatusError */
function tell(
  a: Attributes,
  { enforce, audit, warn }: PodPolicy,
  pod: JudgedPod,
  about: ObservedPod,
  parts: OpenParts,
): void {
  const known = new Map<string, readonly Finding[]>()
  const findingsOf = (policy: LevelVersion): readonly Finding[] => {
    const findings = known.get(printPolicy(policy)) ?? judge(policy, pod)
    known.set(printPolicy(policy), findings)
    return findings
  }
  const wouldViolate = (policy: LevelVersion): string =>
    `would violate PodSecurity "${printPolicy(policy)}": ${printFindings(findingsOf(policy))}`

  let isAllowed = true
  if (about.judged === 'pod') {
    isAllowed = findingsOf(enforce).length === 0
    a.annotate(`${prefix}enforce-policy`, printPolicy(enforce))
    parts.judged({ ...about, mode: 'enforce', policy: enforce, isAllowed })
  }
  if (findingsOf(audit).length > 0) {
    a.annotate(`${prefix}audit-violations`, wouldViolate(audit))
    parts.judged({ ...about, mode: 'audit', policy: audit, isAllowed: false })
  }
  // A refusal needs no warning beside it.
  if (!isAllowed) throw refusalOf(a, enforce, findingsOf(enforce))
  if (findingsOf(warn).length > 0) {
    a.warn(wouldViolate(warn))
    parts.judged({ ...about, mode: 'warn', policy: warn, isAllowed: false })
  }
}

/** Labels that say nothing are refused, but not in updates that leave them as they were. @throws StatusError */
function checkNamespace(a: Attributes, parts: OpenParts): void | Promise<void> {
  const { labels } = objectOf(namespaceResource, a).metadata
  const { policy, faults } = parts.readPolicy(labels)
  const before = a.oldObject && parts.readPolicy(a.oldObject.metadata.labels)
  if (faults.length > 0 && (before === undefined || printFaults(faults) !== printFaults(before.faults))) {
    throw invalid(a.type, a.name, faults)
  }
  if (before !== undefined && !isTightened(policy.enforce, before.policy.enforce)) return
  const { defaults, exemptions } = parts.settings
  if (exemptions.namespaces.has(a.name)) {
    if (hasOwnPolicy(policy, defaults)) a.warn(exemptNamespaceWarning(a.name, policy, labels))
    return
  }
  if (before === undefined) return
  const patience = { clock: parts.clock, signal: a.caller.signal, deadlineMs: a.deadlineMs }
  return warnOfExisting(a.name, judgedPods(a.name, parts), policy.enforce, patience).then((warnings) => {
    for (const warning of warnings) a.warn(warning)
  })
}

function* judgedPods(namespace: string, { podsIn, settings }: OpenParts): Generator<KubeObject> {
  for (const pod of podsIn(namespace)) if (!hasExemptClass(pod, settings.exemptions)) yield pod
}

/** Then pods that were allowed may be so no more. Another version may ask for other things. */
const isTightened = (now: LevelVersion, before: LevelVersion): boolean =>
  !allows(now) && !isSame(now, before) && (now.version !== before.version || isStricter(now.level, before.level))

const printFaults = (faults: readonly FieldError[]): string =>
  aggregate(faults.map(({ field, body }) => `${field}: ${body}`))
