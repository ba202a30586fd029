/**
 * Variables of a container's environment.
 * @see ValidateEnv, ValidateEnvFrom, validateFileKeySelector, validateFileKeyRefVolumes in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { isConfigMapKey } from '../../../kube/names.ts'
import { findPart, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { containerRoles } from './container-roles.ts'
import { checkOwnAmount, checkOwnField, fieldsOfVariables } from './own-fields.ts'
import { checkNoBacksteps } from './paths.ts'

const envSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

function checkEnvName(report: Report, field: string, name: string): void {
  if (!/^[ -<>-~]+$/.test(name)) {
    report.invalid(
      field,
      name,
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )
  }
}

export function checkEnv(report: Report, at: string, container: Part): void {
  partsIn(container, 'env').forEach((entry, i) => {
    const here = `${at}.env[${i}]`
    const name = textIn(entry, 'name')
    if (name === '') report.required(`${here}.name`)
    else checkEnvName(report, `${here}.name`, name)
    const source = findPart(entry, 'valueFrom')
    if (source) checkEnvSource(report, `${here}.valueFrom`, source, textIn(entry, 'value'))
  })
  partsIn(container, 'envFrom').forEach((entry, i) => {
    const here = `${at}.envFrom[${i}]`
    const prefix = textIn(entry, 'prefix')
    if (prefix !== '') checkEnvName(report, `${here}.prefix`, prefix)
    const given = ['configMapRef', 'secretRef'].filter((f) => entry[f] !== undefined)
    for (const f of given) report.reference(`${here}.${f}.name`, textIn(partIn(entry, f), 'name'))
    if (given.length === 0) report.invalid(`${at}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`')
    else if (given.length > 1)
      report.invalid(`${at}.envFrom`, '', 'may not have more than one field specified at a time')
  })
}

function checkEnvSource(report: Report, at: string, source: Part, value: string): void {
  const given = envSources.filter((f) => source[f] !== undefined)
  for (const f of given) checkOneSource(report, `${at}.${f}`, f, partIn(source, f))
  if (given.length === 0) {
    report.invalid(
      at,
      '',
      `must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or ` +
        `\`fileKeyRef\``,
    )
  } else if (value !== '') report.invalid(at, '', 'may not be specified when `value` is not empty')
  else if (given.length > 1) report.invalid(at, '', 'may not have more than one field specified at a time')
}

function checkOneSource(report: Report, at: string, kind: string, part: Part): void {
  const key = textIn(part, 'key')
  switch (kind) {
    case 'fieldRef':
      return checkOwnField(report, at, part, fieldsOfVariables)
    case 'resourceFieldRef':
      return checkOwnAmount(report, at, part, false)
    case 'fileKeyRef':
      if (key === '') report.required(`${at}.key`)
      else checkEnvName(report, `${at}.key`, key)
      return checkFile(report, at, part)
    default:
      report.subdomain(`${at}.name`, textIn(part, 'name'))
      if (key === '') report.required(`${at}.key`)
      else report.each(`${at}.key`, key, isConfigMapKey(key))
  }
}

function checkFile(report: Report, at: string, part: Part): void {
  const volume = textIn(part, 'volumeName')
  if (volume === '') report.required(`${at}.volumeName`)
  else report.label(`${at}.volumeName`, volume)
  const path = textIn(part, 'path')
  if (path === '') report.required(`${at}.path`)
  else checkNoBacksteps(report, `${at}.path`, path)
}

/** Only what containers of the pod itself write is read: nothing of its node, nor of other pods. */
export function checkVolumesOfEnv(report: Report, at: string, spec: Part): void {
  const volumes = new Map(partsIn(spec, 'volumes').map((volume) => [textIn(volume, 'name'), volume]))
  for (const role of containerRoles) {
    partsIn(spec, role).forEach((container, i) => {
      partsIn(container, 'env').forEach((entry, j) => {
        const file = findPart(findPart(entry, 'valueFrom'), 'fileKeyRef')
        if (!file) return
        const field = `${at}.${role}[${i}].env[${j}].valueFrom.fileKeyRef.volumeName`
        const name = textIn(file, 'volumeName')
        const volume = volumes.get(name)
        if (!volume) report.notFound(field, name)
        else if (volume.emptyDir === undefined) {
          report.invalid(field, name, 'referenced volume must be of type emptyDir')
        }
      })
    })
  }
}
