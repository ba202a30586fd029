/**
 * The annotations of a pod that say what its containers may do, or who made it. PodSecurity does not look at a pod
 * again when only these change, so they can't change.
 * @see ValidatePodSpecificAnnotations, ValidatePodSpecificAnnotationUpdates in pkg/apis/core/validation of
 *   Kubernetes 1.36
 */
import type { KubeObject } from '../../../kube/types.ts'
import { type Part, partIn, partsIn, type Report, textIn } from '../report.ts'

const mirror = 'kubernetes.io/config.mirror'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompOfContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const int32Max = 2_147_483_647

const at = (key: string): string => `metadata.annotations[${key}]`

/** What is stored already is not held against a write that leaves it as it is. */
export function checkPodAnnotations(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const given = next.metadata.annotations ?? {}
  const before = old?.metadata.annotations ?? {}
  for (const key of Object.keys(before).sort()) {
    if (given[key] === before[key]) continue
    if (key.startsWith(appArmor)) report.forbidden(at(key), 'may not remove or update AppArmor annotations')
    if (key === mirror) report.forbidden(at(key), 'may not remove or update mirror pod annotation')
  }
  const spec = partIn(next, 'spec')
  for (const [key, value] of Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === before[key]) continue
    if (old && before[key] === undefined) {
      if (key.startsWith(appArmor)) report.forbidden(at(key), 'may not add AppArmor annotations')
      if (key === mirror) report.forbidden(at(key), 'may not add mirror pod annotation')
    }
    checkValue(report, key, value, spec)
  }
}

function checkValue(report: Report, key: string, value: string, spec: Part): void {
  if (key === mirror && textIn(spec, 'nodeName') === '') {
    report.invalid(at(key), value, 'must set spec.nodeName if mirror pod annotation is set')
  } else if (key === deletionCost && !isDeletionCost(value)) {
    report.invalid(at(key), value, 'must be a 32bit integer')
  } else if (key === seccomp || key.startsWith(seccompOfContainer)) {
    checkSeccomp(report, `metadata.annotations.${key}`, value)
  } else if (key.startsWith(appArmor)) {
    const container = key.slice(appArmor.length)
    if (!hasContainer(spec, container)) report.invalid(at(key), container, 'container not found')
    if (!isAppArmorProfile(value)) {
      report.invalid(at(key), value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)
    }
  }
}

/** Neither a plus sign nor zeros in front. */
const isDeletionCost = (value: string): boolean =>
  /^(0|-[0-9]+|[1-9][0-9]*)$/.test(value) && Number(value) <= int32Max && Number(value) >= -int32Max - 1

const isAppArmorProfile = (value: string): boolean =>
  ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith('localhost/')

const hasContainer = (spec: Part, name: string): boolean =>
  ['containers', 'initContainers', 'ephemeralContainers'].some((role) =>
    partsIn(spec, role).some((c) => textIn(c, 'name') === name),
  )

const localhost = 'localhost/'

function checkSeccomp(report: Report, field: string, value: string): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return
  if (!value.startsWith(localhost)) return report.invalid(field, value, 'must be a valid seccomp profile')
  const path = value.slice(localhost.length)
  if (path.startsWith('/')) report.invalid(field, path, 'must be a relative path')
  if (path.split('/').includes('..')) report.invalid(field, path, "must not contain '..'")
}
