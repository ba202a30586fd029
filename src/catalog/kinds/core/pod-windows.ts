/**
 * As whom containers run on Windows, and whether in its own processes.
 * @see validateWindowsSecurityContextOptions, validateWindowsHostProcessPod in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { findPart, type Part, partIn, partsIn, type Report } from '../report.ts'
import { containerRoles } from './container-roles.ts'

const maxSpecKib = 64
const maxDomain = 256
const maxUser = 104
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\x00-\x1f\x7f]/
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`)

export function checkWindowsOptions(report: Report, at: string, options: Part | undefined): void {
  const name = options?.gmsaCredentialSpecName
  if (typeof name === 'string') report.subdomain(`${at}.gmsaCredentialSpecName`, name)
  const spec = options?.gmsaCredentialSpec
  if (spec === '') report.invalid(`${at}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec cannot be an empty string')
  else if (typeof spec === 'string' && Buffer.byteLength(spec) > maxSpecKib * 1024) {
    report.invalid(`${at}.gmsaCredentialSpec`, spec, `gmsaCredentialSpec size must be under ${maxSpecKib} KiB`)
  }
  const user = options?.runAsUserName
  if (typeof user !== 'string') return
  for (const complaint of complaintsOf(user)) report.invalid(`${at}.runAsUserName`, user, `runAsUserName${complaint}`)
}

function complaintsOf(name: string): readonly string[] {
  if (name === '') return [' cannot be an empty string']
  if (control.test(name)) return [' cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return [' cannot contain more than one backslash']
  const [user = '', domain] = parts.reverse()
  const complaints: string[] = []
  if (domain !== undefined) {
    if (Buffer.byteLength(domain) >= maxDomain) {
      complaints.push(`'s Domain length must be under ${maxDomain} characters`)
    }
    if (!(netBios.test(domain) || dnsName.test(domain))) {
      complaints.push("'s Domain doesn't match the NetBios nor the DNS format")
    }
  }
  if (user === '') complaints.push("'s User cannot be empty")
  else if (Buffer.byteLength(user) > maxUser) {
    complaints.push(`'s User length must not be longer than ${maxUser} characters`)
  }
  if (/^[. ]+$/.test(user)) complaints.push("'s User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    complaints.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`)
  }
  return complaints
}

/** All containers of a pod run in processes of the host, or none does. */
export function checkHostProcesses(report: Report, at: string, spec: Part): void {
  const ofPod = findPart(findPart(spec, 'securityContext'), 'windowsOptions')?.hostProcess
  let all = 0
  let ofHost = 0
  for (const role of containerRoles) {
    partsIn(spec, role).forEach((container, i) => {
      const own = partIn(partIn(container, 'securityContext'), 'windowsOptions').hostProcess
      all++
      if ((own ?? ofPod) === true) ofHost++
      if (typeof own !== 'boolean' || typeof ofPod !== 'boolean' || own === ofPod) return
      const field = `${at}.${role}[${i}].securityContext.windowsOptions.hostProcess`
      report.invalid(field, own, `pod hostProcess value must be identical if both are specified, was ${ofPod}`)
    })
  }
  if (ofHost === 0) return
  if (ofHost !== all) {
    const why = 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    report.invalid(at, '', why)
  }
  if (spec.hostNetwork !== true) {
    const why = 'hostNetwork must be true if pod contains any hostProcess containers'
    report.invalid(`${at}.hostNetwork`, false, why)
  }
}
