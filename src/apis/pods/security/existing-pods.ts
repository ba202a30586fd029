/**
 * The warnings to a client that makes a namespace stricter than the pods in it. The pods stay; the warnings say what
 * the next of their kind will be refused for. Bounded in pods and in time, and other work gets its turn in between.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { judge } from './judge.ts'
import { type LevelVersion, printPolicy } from './pod-policy.ts'

/** As upstream. */
const maxPods = 3_000
const maxMs = 1_000
/** Some milliseconds of work. */
const podsAtOnce = 100

export interface Patience {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** On the wall clock; half of what is left until then may be used. */
  readonly deadlineMs?: number | undefined
}

/** Warnings, in their order. */
export async function warnOfExisting(
  namespace: string,
  pods: Iterable<KubeObject>,
  enforce: LevelVersion,
  { clock, signal, deadlineMs }: Patience,
): Promise<string[]> {
  const leftMs = deadlineMs === undefined ? maxMs : (deadlineMs - clock.now()) / 2
  const until = clock.monotonic() + Math.min(maxMs, leftMs)
  const all = onePerController(pods)
  const first = all.slice(0, maxPods)
  const byReason = new Map<string, string[]>()
  let checked = 0
  for (const pod of first) {
    const reasons = judge(enforce, pod).map(({ reason }) => reason)
    if (reasons.length > 0) {
      const names = byReason.get(reasons.join(', ')) ?? []
      names.push(pod.metadata.name ?? '')
      byReason.set(reasons.join(', '), names)
    }
    checked++
    if (signal.aborted || clock.monotonic() >= until) break
    if (checked % podsAtOnce === 0) await setImmediate()
  }
  const warnings: string[] = []
  if (checked < all.length) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${checked} of ${all.length} existing pods`,
    )
  }
  if (byReason.size > 0) {
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${printPolicy(enforce)}"`,
    )
  }
  return [...warnings, ...[...byReason].map(([reasons, names]) => `${list(names)}: ${reasons}`).sort()]
}

/** The others that a controller made come last: they are like the first. */
function onePerController(pods: Iterable<KubeObject>): KubeObject[] {
  const first: KubeObject[] = []
  const others: KubeObject[] = []
  const seen = new Set<string>()
  for (const pod of pods) {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    if (uid !== undefined && seen.has(uid)) others.push(pod)
    else first.push(pod)
    if (uid !== undefined) seen.add(uid)
  }
  return [...first, ...others]
}

/** The first of them by name, and how many more there are. */
function list(names: readonly string[]): string {
  const name = names.reduce((least, next) => (next < least ? next : least))
  const others = names.length - 1
  return others === 0 ? name : `${name} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`
}
