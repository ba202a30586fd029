/**
 * Whether a pod is as a level, in a version, wants it. Pure, some microseconds; `privileged` asks nothing.
 * @see k8s.io/pod-security-admission/policy/registry.go v0.36
 */
import { baselineChecks } from './baseline-checks.ts'
import type { Check, Find, Finding } from './checks.ts'
import type { JudgedPod } from './judged-pod.ts'
import type { LevelVersion } from './pod-policy.ts'
import { restrictedChecks } from './restricted-checks.ts'

const beginnings = [...baselineChecks, ...restrictedChecks].flatMap(({ since }) => since.map(([minor]) => minor))
/** Later versions are like it. */
const newest = beginnings.reduce((a, b) => Math.max(a, b))

const heldIn = ({ since }: Check, minor: number): Find | undefined => since.findLast(([from]) => from <= minor)?.[1]

function findsOf(minor: number): { readonly baseline: readonly Find[]; readonly restricted: readonly Find[] } {
  const held = (checks: readonly Check[]): Find[] => checks.flatMap((check) => heldIn(check, minor) ?? [])
  const replaced = new Set(restrictedChecks.filter((check) => heldIn(check, minor)).map(({ replaces }) => replaces))
  return {
    baseline: held(baselineChecks),
    restricted: [...held(baselineChecks.filter(({ name }) => !replaced.has(name))), ...held(restrictedChecks)],
  }
}

const byMinor = Array.from({ length: newest + 1 }, (_, minor) => findsOf(minor))

/** Nothing = allowed. In the order in which they are told. */
export function judge({ level, minor }: LevelVersion, pod: JudgedPod): readonly Finding[] {
  if (level === 'privileged') return []
  return (byMinor[Math.min(minor, newest)]?.[level] ?? []).flatMap((find) => find(pod) ?? [])
}

/** `privileged (container "a" must not …), hostPort (…)` */
export const printFindings = (findings: readonly Finding[]): string =>
  findings.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
