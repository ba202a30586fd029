/**
 * What the spec of a pod asks of the node's kernel: its security contexts, and whose namespaces it runs in.
 * @see ValidateSecurityContext, validatePodSpecSecurityContext, validateHostUsers in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { findPart, type Part, partsIn, Report, textIn } from '../report.ts'
import { checkId, checkIds } from './container.ts'
import { containerRoles } from './container-roles.ts'
import { checkRelativePath } from './paths.ts'
import { checkWindowsOptions } from './pod-windows.ts'

/** Of seccomp and of AppArmor. */
export const profileTypes: readonly string[] = ['Localhost', 'RuntimeDefault', 'Unconfined']
const procMounts = ['Default', 'Unmasked']
const groupChangePolicies = ['Always', 'OnRootMismatch']
const groupsPolicies = ['Merge', 'Strict']
/** MountOption as well with the feature SELinuxMount, which is off in 1.36. */
const seLinuxChangePolicies = ['Recursive']
export const pathMax = 4095
const ofLocalhost = (what: string): string => `must be set when ${what} type is Localhost`
const onlyOfLocalhost = (what: string): string => `can only be set when ${what} type is Localhost`

/** Reports what `check` finds in `next`, but for what it finds in `stored` as well: that came before the check. */
export function checkUnlessStored(
  report: Report,
  next: Part,
  stored: Part | undefined,
  check: (report: Report, part: Part) => void,
): void {
  const found = new Report()
  check(found, next)
  if (!stored || found.errors.length === 0) return report.add(found.errors)
  const before = new Report()
  check(before, stored)
  const known = new Set(before.errors.map((e) => `${e.field}: ${e.body}`))
  report.add(found.errors.filter((e) => !known.has(`${e.field}: ${e.body}`)))
}

/** What each container asks for itself. */
export function checkContainerProfiles(report: Report, at: string, spec: Part): void {
  for (const role of ['containers', 'initContainers', 'ephemeralContainers']) {
    partsIn(spec, role).forEach((container, i) => {
      const context = findPart(container, 'securityContext')
      if (!context) return
      const here = `${at}.${role}[${i}].securityContext`
      report.oneOfIfSet(`${here}.procMount`, context.procMount, procMounts)
      if (context.procMount === 'Unmasked' && spec.hostUsers !== false) {
        report.invalid(`${here}.procMount`, 'Unmasked', '`hostUsers` must be false to use `Unmasked`')
      }
      checkSeccompProfile(report, `${here}.seccompProfile`, findPart(context, 'seccompProfile'))
      checkWindowsOptions(report, `${here}.windowsOptions`, findPart(context, 'windowsOptions'))
      checkAppArmorProfile(report, `${here}.appArmorProfile`, findPart(context, 'appArmorProfile'))
    })
  }
}

export function checkPodContext(report: Report, at: string, spec: Part): void {
  const context = findPart(spec, 'securityContext')
  if (!context) return
  const here = `${at}.securityContext`
  checkIds(report, here, context)
  const groups = context.supplementalGroups
  for (const [i, id] of (Array.isArray(groups) ? groups : []).entries()) {
    checkId(report, `${here}.supplementalGroups[${i}]`, id)
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    report.invalid(`${here}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled')
  }
  checkSysctls(report, `${here}.sysctls`, spec, partsIn(context, 'sysctls'))
  report.oneOfIfSet(`${here}.fsGroupChangePolicy`, context.fsGroupChangePolicy, groupChangePolicies)
  checkWindowsOptions(report, `${here}.windowsOptions`, findPart(context, 'windowsOptions'))
  checkSeccompProfile(report, `${here}.seccompProfile`, findPart(context, 'seccompProfile'))
  checkAppArmorProfile(report, `${here}.appArmorProfile`, findPart(context, 'appArmorProfile'))
  report.oneOfIfSet(`${here}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy, groupsPolicies)
  report.oneOfIfSet(`${here}.seLinuxChangePolicy`, context.seLinuxChangePolicy, seLinuxChangePolicies)
}

export function checkHostUsers(report: Report, at: string, spec: Part): void {
  if (spec.hostUsers !== false) return
  const why = 'when `hostUsers` is false'
  if (spec.hostNetwork === true) report.forbidden(`${at}.hostNetwork`, why)
  // Upstream writes these two as Go names them.
  if (spec.hostPID === true) report.forbidden(`${at}.HostPID`, why)
  if (spec.hostIPC === true) report.forbidden(`${at}.HostIPC`, why)
  for (const role of containerRoles) {
    partsIn(spec, role).forEach((container, i) => {
      if (partsIn(container, 'volumeDevices').length > 0) report.forbidden(`${at}.${role}[${i}].volumeDevices`, why)
    })
  }
}

/** As Go prints its own form of a profile. */
const shown = (profile: Part): object => ({ Type: textIn(profile, 'type'), LocalhostProfile: profile.localhostProfile })

function checkProfileType(report: Report, at: string, type: string, field: string): void {
  if (type === '') report.required(`${at}.type`, `type is required when ${field} is set`)
  else report.oneOf(`${at}.type`, type, profileTypes)
}

function checkSeccompProfile(report: Report, at: string, profile: Part | undefined): void {
  if (!profile) return
  const type = textIn(profile, 'type')
  checkProfileType(report, at, type, 'seccompProfile')
  const path = profile.localhostProfile
  if (type === 'Localhost') {
    if (typeof path !== 'string') report.required(`${at}.localhostProfile`, ofLocalhost('seccomp'))
    else checkRelativePath(report, `${at}.localhostProfile`, path)
  } else if (path !== undefined) {
    report.invalid(`${at}.localhostProfile`, shown(profile), onlyOfLocalhost('seccomp'))
  }
}

function checkAppArmorProfile(report: Report, at: string, profile: Part | undefined): void {
  if (!profile) return
  const type = textIn(profile, 'type')
  const name = profile.localhostProfile
  const field = `${at}.localhostProfile`
  if (!profileTypes.includes(type)) return checkProfileType(report, at, type, 'appArmorProfile')
  if (type !== 'Localhost') {
    if (name !== undefined) report.invalid(field, name, onlyOfLocalhost('AppArmor'))
    return
  }
  if (typeof name !== 'string') return report.required(field, ofLocalhost('AppArmor'))
  if (name !== name.trim()) report.invalid(field, name, 'must not be padded with whitespace')
  else if (name === '') report.required(field, ofLocalhost('AppArmor'))
  if (Buffer.byteLength(name) > pathMax) report.tooLong(field, pathMax)
}

const sysctlMax = 253
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlFormat = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`
const sysctlForm = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:[./][a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$/
const ofIpc = /^(?:kernel\.(?:sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)$|fs\.mqueue\.)/

function checkSysctls(report: Report, at: string, spec: Part, sysctls: readonly Part[]): void {
  const names = new Set<string>()
  sysctls.forEach((sysctl, i) => {
    const field = `${at}[${i}].name`
    const name = textIn(sysctl, 'name')
    if (name === '') report.required(field)
    else if (name.length > sysctlMax || !sysctlForm.test(name)) {
      report.invalid(field, name, `must have at most ${sysctlMax} characters and match regex ${sysctlFormat}`)
    } else report.unique(field, name, names)
    const dotted = withDots(name)
    if (spec.hostNetwork === true && dotted.startsWith('net.')) {
      report.invalid(field, name, "may not be specified when 'hostNetwork' is true")
    } else if (spec.hostIPC === true && ofIpc.test(dotted)) {
      report.invalid(field, name, "may not be specified when 'hostIPC' is true")
    }
  })
}

/** Where a slash comes first, slashes part its segments and dots belong to them. @see NormalizeName */
function withDots(name: string): string {
  const first = /[./]/.exec(name)?.[0]
  return first === '/' ? name.replace(/[./]/g, (c) => (c === '/' ? '.' : '/')) : name
}
