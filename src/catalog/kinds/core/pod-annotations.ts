/**
 * The annotations of a pod that say what its containers may do, or who made it. PodSecurity does not look at a pod
 * again when only these change, so they can't change.
 * @see ValidatePodSpecificAnnotations, ValidatePodSpecificAnnotationUpdates in pkg/apis/core/validation of
 *   Kubernetes 1.36
 */
import type { KubeObject } from '../../../kube/types.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'
import { containerRoles } from './container-roles.ts'
import { pathMax, profileTypes } from './pod-security.ts'

const mirror = 'kubernetes.io/config.mirror'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompOfContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost'
const localhost = 'localhost/'
const int32Max = 2_147_483_647

const ofPod = 'metadata.annotations'
const at = (key: string): string => `${ofPod}[${key}]`

export const isMirrorPod = (pod: KubeObject): boolean => pod.metadata.annotations?.[mirror] !== undefined

/** As of a field; undefined for what no field can say. */
function appArmorField(value: string): Part | undefined {
  if (value === 'unconfined') return { type: 'Unconfined' }
  if (value === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = value.startsWith(localhost) ? value.slice(localhost.length) : ''
  if (name === '' || name !== name.trim() || Buffer.byteLength(name) > pathMax) return undefined
  return { type: 'Localhost', localhostProfile: name }
}

/**
 * What annotations of a new pod say of its containers, as fields: clients of before 1.30 know no other way.
 * @see applyAppArmorVersionSkew in pkg/registry/core/pod/strategy.go
 */
export function withAppArmorFields(metadata: Part, spec: Part): Part {
  const given = partIn(metadata, 'annotations')
  if (partIn(spec, 'os').name === 'windows' || !Object.keys(given).some((key) => key.startsWith(appArmor))) return spec
  const ofPod = findPart(findPart(spec, 'securityContext'), 'appArmorProfile')
  const withField = (container: Part): Part => {
    const value = given[`${appArmor}${textIn(container, 'name')}`]
    const context = partIn(container, 'securityContext')
    const profile = typeof value !== 'string' || context.appArmorProfile ? undefined : appArmorField(value)
    if (profile === undefined || sameValue(profile, ofPod)) return container
    return { ...container, securityContext: { ...context, appArmorProfile: profile } }
  }
  const changed: Record<string, unknown> = { ...spec }
  for (const role of containerRoles) if (Array.isArray(spec[role])) changed[role] = partsIn(spec, role).map(withField)
  return changed
}

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
    checkValue(report, ofPod, key, value, spec)
  }
}

/** Those that pods of a template will have: templates themselves change. */
export function checkTemplateAnnotations(report: Report, at: string, template: Part, stored: Part | undefined): void {
  const before = partIn(findPart(stored, 'metadata'), 'annotations')
  const given = partIn(partIn(template, 'metadata'), 'annotations')
  for (const [key, value] of Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (typeof value === 'string' && value !== before[key])
      checkValue(report, `${at}.annotations`, key, value, partIn(template, 'spec'))
  }
}

function checkValue(report: Report, all: string, key: string, value: string, spec: Part): void {
  const field = `${all}[${key}]`
  if (key === mirror && textIn(spec, 'nodeName') === '') {
    report.invalid(field, value, 'must set spec.nodeName if mirror pod annotation is set')
  } else if (key === deletionCost && !isDeletionCost(value)) {
    report.invalid(field, value, 'must be a 32bit integer')
  } else if (key === seccomp || key.startsWith(seccompOfContainer)) {
    checkSeccomp(report, `${all}.${key}`, value)
  } else if (key.startsWith(appArmor)) {
    const container = key.slice(appArmor.length)
    if (!hasContainer(spec, container)) report.invalid(field, container, 'container not found')
    if (!isAppArmorProfile(value)) {
      report.invalid(field, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`)
    }
  }
}

/** Neither a plus sign nor zeros in front. */
const isDeletionCost = (value: string): boolean =>
  /^(0|-[0-9]+|[1-9][0-9]*)$/.test(value) && Number(value) <= int32Max && Number(value) >= -int32Max - 1

const isAppArmorProfile = (value: string): boolean =>
  ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith(localhost)

const hasContainer = (spec: Part, name: string): boolean =>
  containerRoles.some((role) => partsIn(spec, role).some((c) => textIn(c, 'name') === name))

function checkSeccomp(report: Report, field: string, value: string): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(value)) return
  if (!value.startsWith(localhost)) return report.invalid(field, value, 'must be a valid seccomp profile')
  const path = value.slice(localhost.length)
  if (path.startsWith('/')) report.invalid(field, path, 'must be a relative path')
  if (path.split('/').includes('..')) report.invalid(field, path, "must not contain '..'")
}

/** Where an annotation and a field both name a profile, they name the same one. `metadata` is of a pod or template. */
export function checkSameProfiles(report: Report, at: string, metadata: Part, spec: Part): void {
  const annotations = partIn(metadata, 'annotations')
  const context = findPart(spec, 'securityContext')
  const ofSpec = findPart(context, 'seccompProfile')
  if (ofSpec) checkSame(report, `${at}.securityContext.seccompProfile`, ofSpec, annotations[seccomp], 'seccomp')
  const each = (check: (here: string, container: Part, name: string) => void): void => {
    for (const role of containerRoles) {
      partsIn(spec, role).forEach((container, i) => {
        check(`${at}.${role}[${i}].securityContext`, partIn(container, 'securityContext'), textIn(container, 'name'))
      })
    }
  }
  each((here, own, name) => {
    const profile = findPart(own, 'seccompProfile')
    if (profile) {
      checkSame(report, `${here}.seccompProfile`, profile, annotations[`${seccompOfContainer}${name}`], 'seccomp')
    }
  })
  if (textIn(partIn(spec, 'os'), 'name') === 'windows') return
  each((here, own, name) => {
    const profile = findPart(own, 'appArmorProfile') ?? findPart(context, 'appArmorProfile')
    if (profile) checkSame(report, `${here}.appArmorProfile`, profile, annotations[`${appArmor}${name}`], 'apparmor')
  })
}

function checkSame(report: Report, at: string, profile: Part, annotation: unknown, what: 'seccomp' | 'apparmor'): void {
  if (typeof annotation !== 'string') return
  const type = textIn(profile, 'type')
  const older = what === 'seccomp' && annotation === 'docker/default' ? 'runtime/default' : annotation
  const named = older.startsWith(localhost) ? 'Localhost' : typeNamed[older]
  if (!profileTypes.includes(type)) return
  if (named !== type) report.forbidden(`${at}.type`, `${what} type in annotation and field must match`)
  else if (type === 'Localhost' && annotation.slice(localhost.length) !== profile.localhostProfile) {
    report.forbidden(`${at}.localhostProfile`, `${what} profile in annotation and field must match`)
  }
}

const typeNamed: Readonly<Record<string, string>> = { 'runtime/default': 'RuntimeDefault', unconfined: 'Unconfined' }
