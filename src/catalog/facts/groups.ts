/**
 * The order in which discovery lists groups; kubectl takes the first match of an unqualified name.
 * @see pkg/controlplane/apiserver/aggregator.go and cmd/kube-apiserver/app/aggregator.go of Kubernetes v1.36
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
  // Ours. Before `policy`, so that kubectl takes it where a kind is served in both.
  'policy.borough.dev': 17150,
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
export const groupPriority = (group: string): number =>
  (Object.hasOwn(priorities, group) ? priorities[group] : undefined) ?? customPriority

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** For sorting: negative if `a` is listed before `b`. */
export function compareGroups(a: string, b: string): number {
  return groupPriority(b) - groupPriority(a) || compareText(a, b)
}
