/**
 * Volumes that show files made of other objects.
 * @see validateProjectionSources, validateKeyToPath, validateDownwardAPIVolumeFile in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { isExactNumber } from '../../../kube/json-value.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { checkOwnAmount, checkOwnField, fieldsOfFiles } from './own-fields.ts'
import { checkUnreservedPath } from './paths.ts'

const modeMax = 0o777

const projections = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
]

export function checkMode(report: Report, at: string, field: string, part: Part): void {
  const mode = part[field]
  if (typeof mode === 'number' && (mode < 0 || mode > modeMax)) {
    report.invalid(`${at}.${field}`, mode, 'must be a number between 0 and 0777 (octal), both inclusive')
  }
}

export function checkItems(report: Report, at: string, source: Part): void {
  partsIn(source, 'items').forEach((item, i) => {
    const here = `${at}.items[${i}]`
    if (textIn(item, 'key') === '') report.required(`${here}.key`)
    const path = textIn(item, 'path')
    if (path === '') report.required(`${here}.path`)
    checkUnreservedPath(report, `${here}.path`, path)
    checkMode(report, here, 'mode', item)
  })
}

export function checkDownward(report: Report, at: string, source: Part): void {
  // Upstream leaves `items[i]` out of the paths.
  const here = at
  partsIn(source, 'items').forEach((item) => {
    const path = textIn(item, 'path')
    if (path === '') report.required(`${here}.path`)
    checkUnreservedPath(report, `${here}.path`, path)
    const field = findPart(item, 'fieldRef')
    const amount = findPart(item, 'resourceFieldRef')
    if (field) {
      checkOwnField(report, `${here}.fieldRef`, field, fieldsOfFiles)
      if (amount) report.invalid(here, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')
    } else if (amount) checkOwnAmount(report, `${here}.resourceFieldRef`, amount, true)
    else report.required(here, 'one of fieldRef and resourceFieldRef is required')
    checkMode(report, here, 'mode', item)
  })
}

export function checkProjected(report: Report, at: string, source: Part): void {
  checkMode(report, at, 'defaultMode', source)
  const taken = new Set<string>()
  /** `shown` is what upstream tells of a path that two sources have. */
  const take = (files: readonly Part[], shown?: string): void => {
    for (const file of files) {
      const path = textIn(file, 'path')
      if (path === '') continue
      if (taken.has(path)) report.invalid(at, shown ?? path, 'conflicting duplicate paths')
      taken.add(path)
    }
  }
  partsIn(source, 'sources').forEach((projection, i) => {
    const here = `${at}.sources[${i}]`
    const given = projections.filter((p) => projection[p] !== undefined)
    given.forEach((kind) => {
      const part = partIn(projection, kind)
      if (kind === 'secret' || kind === 'configMap') {
        if (textIn(part, 'name') === '') report.required(`${here}.${kind}.name`)
        checkItems(report, `${here}.${kind}`, part)
        take(partsIn(part, 'items'), textIn(part, 'name'))
      } else if (kind === 'downwardAPI') {
        checkDownward(report, `${here}.${kind}`, part)
        take(partsIn(part, 'items'))
      } else if (kind === 'serviceAccountToken') checkTokenProjection(report, at, `${here}.${kind}`, part)
    })
    if (given.length > 1) report.forbidden(here, 'may not specify more than 1 volume type per source')
  })
}

const tenMinutes = 600
const maxTokenSeconds = 2 ** 32

/** `whole` is where upstream looks for the path. Exact numbers are beyond one bound or the other. */
function checkTokenProjection(report: Report, whole: string, at: string, part: Part): void {
  const seconds = part.expirationSeconds
  const value = isExactNumber(seconds) ? Number(seconds.rawJSON) : seconds
  if (typeof value === 'number' && value < tenMinutes) {
    report.invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes')
  }
  if (typeof value === 'number' && value > maxTokenSeconds) {
    report.invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds')
  }
  const path = textIn(part, 'path')
  if (path === '') report.required(`${whole}.path`)
  else checkUnreservedPath(report, `${whole}.path`, path)
}
