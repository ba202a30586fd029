/**
 * Volumes that servers of storage networks give, of pods and as persistent ones.
 * @see validateISCSIVolumeSource, validateFCVolumeSource, validateQuobyteVolumeSource, validateFlockerVolumeSource in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { findPart, numberIn, type Part, type Report, textIn, textsIn } from '../report.ts'

const maxLun = 255
const outOfLuns = `must be between 0 and ${maxLun}, inclusive`
const iqn = /iqn\.\d{4}-\d{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\t\n\f\r ]+)$/
const eui = /^eui.[0-9A-Za-z]{16}$/
const naa = /^naa.[0-9A-Za-z]{32}$/

/** The name of a target, or of who asks for it. */
function checkIscsiName(report: Report, field: string, name: string, unknown: string): void {
  const form = name.startsWith('iqn') ? iqn : name.startsWith('eui') ? eui : name.startsWith('naa') ? naa : undefined
  if (!form) report.invalid(field, name, unknown)
  else if (!form.test(name)) report.invalid(field, name, 'must be valid format')
}

/** `unknown` is how it is told that a name is of no form. */
export function checkIscsi(
  report: Report,
  at: string,
  source: Part,
  unknown = 'must be valid format starting with iqn, eui, or naa',
): void {
  if (textIn(source, 'targetPortal') === '') report.required(`${at}.targetPortal`)
  const name = textIn(source, 'iqn')
  if (name === '') report.required(`${at}.iqn`)
  else checkIscsiName(report, `${at}.iqn`, name, unknown)
  const lun = numberIn(source, 'lun')
  if (lun !== undefined && (lun < 0 || lun > maxLun)) report.invalid(`${at}.lun`, lun, outOfLuns)
  const asksPassword = source.chapAuthDiscovery === true || source.chapAuthSession === true
  if (asksPassword && !findPart(source, 'secretRef')) report.required(`${at}.secretRef`)
  // Upstream writes it so.
  const initiator = source.initiatorName
  if (typeof initiator === 'string') checkIscsiName(report, `${at}.initiatorname`, initiator, unknown)
}

const maxTotal = 64

/** Kubelets name a session by the volume and where it is. `value` is what the fault shows. */
export function checkIscsiTotal(report: Report, field: string, value: string, name: string, iscsi: Part): void {
  if (typeof iscsi.initiatorName !== 'string') return
  if (Buffer.byteLength(`${name}:${textIn(iscsi, 'targetPortal')}`) <= maxTotal) return
  const why =
    `Total length of <volume name>:<iscsi.targetPortal> must be under ${maxTotal} characters if ` +
    'iscsi.initiatorName is specified.'
  report.invalid(field, value, why)
}

export function checkFc(report: Report, at: string, source: Part): void {
  const names = textsIn(source, 'targetWWNs')
  const ids = textsIn(source, 'wwids')
  const field = `${at}.targetWWNs`
  if (names.length === 0 && ids.length === 0) {
    report.required(field, 'must specify either targetWWNs or wwids, but not both')
  }
  if (names.length === 0) return
  if (ids.length > 0) report.invalid(field, names, 'targetWWNs and wwids can not be specified simultaneously')
  const lun = numberIn(source, 'lun')
  if (lun === undefined) report.required(`${at}.lun`, 'lun is required if targetWWNs is specified')
  else if (lun < 0 || lun > maxLun) report.invalid(`${at}.lun`, lun, outOfLuns)
}

export function checkFlocker(report: Report, at: string, source: Part): void {
  const name = textIn(source, 'datasetName')
  const uuid = textIn(source, 'datasetUUID')
  if (name === '' && uuid === '') report.required(at, 'one of datasetName and datasetUUID is required')
  if (name !== '' && uuid !== '') {
    report.invalid(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')
  }
  if (name.includes('/')) report.invalid(`${at}.datasetName`, name, "must not contain '/'")
}

const maxTenant = 64
const notPairs = 'must be a host:port pair or multiple pairs separated by commas'
/** As Go takes them apart: an address with colons stands in brackets. */
const hostAndPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/

export function checkQuobyte(report: Report, at: string, source: Part): void {
  const registry = textIn(source, 'registry')
  if (registry === '') report.required(`${at}.registry`, notPairs)
  else if (Buffer.byteLength(textIn(source, 'tenant')) > maxTenant) {
    report.required(`${at}.tenant`, `must be a UUID and may not exceed a length of ${maxTenant} characters`)
  } else {
    for (const pair of registry.split(',')) {
      if (!hostAndPort.test(pair)) report.invalid(`${at}.registry`, registry, notPairs)
    }
  }
  if (textIn(source, 'volume') === '') report.required(`${at}.volume`)
}
