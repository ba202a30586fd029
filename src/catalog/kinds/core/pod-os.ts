/**
 * Fields of a pod that only one operating system knows.
 * @see validateOS, validateLinux, validateWindows in pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { findPart, type Part, partsIn, type Report, textIn } from '../report.ts'
import { containerRoles } from './container-roles.ts'

const systems = ['linux', 'windows']
const namespaceFields = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace']
const podFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
]
const containerFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

export function checkOs(report: Report, at: string, spec: Part): void {
  const os = findPart(spec, 'os')
  if (!os) return
  const name = textIn(os, 'name')
  if (name === '') return report.required(`${at}.os.name`)
  // Upstream names the whole field here.
  if (!systems.includes(name)) return report.notSupported(`${at}.os`, name, systems)
  const ofLinux = name === 'linux'
  const why = ofLinux ? 'windows options cannot be set for a linux pod' : 'cannot be set for a windows pod'
  const refuse = (here: string, part: Part | undefined, fields: readonly string[]): void => {
    for (const field of fields) if (isGiven(field, part?.[field])) report.forbidden(`${here}.${field}`, why)
  }
  if (!ofLinux) refuse(at, spec, namespaceFields)
  refuse(`${at}.securityContext`, findPart(spec, 'securityContext'), ofLinux ? ['windowsOptions'] : podFields)
  for (const role of containerRoles) {
    partsIn(spec, role).forEach((container, i) => {
      const context = findPart(container, 'securityContext')
      refuse(`${at}.${role}[${i}].securityContext`, context, ofLinux ? ['windowsOptions'] : containerFields)
    })
  }
}

/** Some can be told from fields that are not there by nothing else than being true, or longer than nothing. */
function isGiven(field: string, value: unknown): boolean {
  if (field === 'hostPID' || field === 'hostIPC') return value === true
  if (field === 'sysctls') return Array.isArray(value) && value.length > 0
  return value !== undefined && value !== null
}
