/**
 * The order in which discovery lists groups and versions; kubectl takes the first match of an unqualified name.
 * @see pkg/controlplane/apiserver/aggregator.go and cmd/kube-apiserver/app/aggregator.go of Kubernetes,
 *   k8s.io/apimachinery/pkg/version/helpers.go v0.36
 */

/** Higher comes first. Groups made by custom resources have upstream's 1000. */
const priorities: Readonly<Record<string, number>> = {
  '': 18000,
  'apiregistration.k8s.io': 17900,
  apps: 17800,
  'events.k8s.io': 17750,
  'authentication.k8s.io': 17700,
  'authorization.k8s.io': 17600,
  autoscaling: 17500,
  batch: 17400,
  'certificates.k8s.io': 17300,
  'networking.k8s.io': 17200,
  policy: 17100,
  'rbac.authorization.k8s.io': 17000,
  'storage.k8s.io': 16800,
  'admissionregistration.k8s.io': 16700,
  'apiextensions.k8s.io': 16700,
  'scheduling.k8s.io': 16600,
  'coordination.k8s.io': 16500,
  'node.k8s.io': 16300,
  'discovery.k8s.io': 16200,
  'flowcontrol.apiserver.k8s.io': 16100,
  'resource.k8s.io': 15900,
}
const customPriority = 1000

/** Higher comes first. */
export const groupPriority = (group: string): number => priorities[group] ?? customPriority

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** For sorting: negative if `a` is listed before `b`. */
export function compareGroups(a: string, b: string): number {
  return groupPriority(b) - groupPriority(a) || compareText(a, b)
}

const versionShape = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/
const stageRank: Readonly<Record<string, number>> = { alpha: 0, beta: 1 }

/** For sorting: v10, v2, v1, v2beta1, v1beta2, v3alpha1, then anything else by name. */
export function compareVersions(a: string, b: string): number {
  const left = versionShape.exec(a)
  const right = versionShape.exec(b)
  if (!left || !right) return left ? -1 : right ? 1 : compareText(a, b)
  const stage = (m: RegExpExecArray): number => stageRank[m[2] ?? ''] ?? 2
  return (
    stage(right) - stage(left) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}
