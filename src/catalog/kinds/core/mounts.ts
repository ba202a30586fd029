/**
 * Where a container has its volumes: as files below a path, or as a device.
 * @see ValidateVolumeMounts, ValidateVolumeDevices, validateMountPropagation, validateMountRecursiveReadOnly in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { checkRelativePath, leadsUp } from './paths.ts'

/** By name, whether it is a claim: only those are devices. */
export type MountedVolumes = ReadonlyMap<string, boolean>

const propagations = ['Bidirectional', 'HostToContainer', 'None']
const recursions = ['Disabled', 'Enabled', 'IfPossible']

interface Taken {
  readonly names: ReadonlySet<string>
  readonly paths: ReadonlySet<string>
}

/** Of each name the last path. */
function takenBy(parts: readonly Part[], field: string): Taken {
  const paths = new Map(parts.map((part) => [textIn(part, 'name'), textIn(part, field)]))
  return { names: new Set(paths.keys()), paths: new Set(paths.values()) }
}

export function checkMounts(report: Report, at: string, container: Part, volumes: MountedVolumes): void {
  const mounts = partsIn(container, 'volumeMounts')
  const devices = partsIn(container, 'volumeDevices')
  const isPrivileged = partIn(container, 'securityContext').privileged === true
  const ofDevices = takenBy(devices, 'devicePath')
  const seen = new Set<string>()
  mounts.forEach((mount, i) => {
    const here = `${at}.volumeMounts[${i}]`
    const name = textIn(mount, 'name')
    if (name === '') report.required(`${here}.name`)
    if (!volumes.has(name)) report.notFound(`${here}.name`, name)
    if (textIn(mount, 'mountPath') === '') report.required(`${here}.mountPath`)
    checkPlace(report, here, 'mountPath', mount, seen, 'volumeDevices', ofDevices)
    checkWay(report, `${at}.volumeMounts`, here, mount, isPrivileged)
    seen.add(textIn(mount, 'mountPath'))
  })
  const ofMounts = takenBy(mounts, 'mountPath')
  const names = new Set<string>()
  const paths = new Set<string>()
  devices.forEach((device, i) => {
    const here = `${at}.volumeDevices[${i}]`
    const name = textIn(device, 'name')
    const path = textIn(device, 'devicePath')
    if (name === '') report.required(`${here}.name`)
    if (names.has(name)) report.invalid(`${here}.name`, name, 'must be unique')
    if (!volumes.has(name)) report.notFound(`${here}.name`, name)
    else if (volumes.get(name) === false) {
      const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      report.invalid(`${here}.name`, name, why)
    }
    if (path === '') report.required(`${here}.devicePath`)
    if (leadsUp(path)) report.invalid(`${here}.devicePath`, path, "can not contain backsteps ('..')")
    checkPlace(report, here, 'devicePath', device, paths, 'volumeMounts', ofMounts)
    if (!leadsUp(path)) paths.add(path)
    if (name !== '') names.add(name)
  })
}

/** `all` is where upstream leaves the index out. */
function checkWay(report: Report, all: string, here: string, mount: Part, isPrivileged: boolean): void {
  const sub = textIn(mount, 'subPath')
  const expression = textIn(mount, 'subPathExpr')
  if (sub !== '') checkRelativePath(report, `${all}.subPath`, sub)
  if (expression !== '') {
    if (sub !== '') report.invalid(`${here}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive')
    checkRelativePath(report, `${all}.subPathExpr`, expression)
  }
  const propagation = mount.mountPropagation
  report.oneOfIfSet(`${all}.mountPropagation`, propagation, propagations)
  if (propagation === 'Bidirectional' && !isPrivileged) {
    const why = 'Bidirectional mount propagation is available only to privileged containers'
    report.forbidden(`${all}.mountPropagation`, why)
  }
  const recursion = mount.recursiveReadOnly
  report.oneOfIfSet(`${all}.recursiveReadOnly`, recursion, recursions)
  if (recursion !== 'Enabled' && recursion !== 'IfPossible') return
  if (mount.readOnly !== true)
    report.forbidden(`${all}.recursiveReadOnly`, 'may only be specified when readOnly is true')
  if (typeof propagation === 'string' && propagation !== 'None') {
    const why = 'may only be specified when mountPropagation is None or not specified'
    report.forbidden(`${all}.recursiveReadOnly`, why)
  }
}

/** A volume is mounted or a device, and a path is one place. */
function checkPlace(
  report: Report,
  here: string,
  field: 'mountPath' | 'devicePath',
  part: Part,
  seen: ReadonlySet<string>,
  elsewhere: string,
  others: Taken,
): void {
  const name = textIn(part, 'name')
  const path = textIn(part, field)
  if (seen.has(path)) report.invalid(`${here}.${field}`, path, 'must be unique')
  if (others.names.has(name)) report.invalid(`${here}.name`, name, `must not already exist in ${elsewhere}`)
  if (others.paths.has(path)) {
    report.invalid(`${here}.${field}`, path, `must not already exist as a path in ${elsewhere}`)
  }
}
