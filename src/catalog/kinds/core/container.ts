/**
 * Containers of all three roles.
 * @see ValidateContainers and below in pkg/apis/core/validation/validation.go, pkg/apis/core/v1/defaults.go,
 *   pkg/util/parsers of Kubernetes 1.36
 */
import { isExactNumber } from '../../../kube/json-value.ts'
import { isConfigMapKey } from '../../../kube/names.ts'
import { type DefaultRule, type DefaultRules, fillUnset, isUnset } from '../default-rules.ts'
import { findPart, isPortName, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { checkLifecycle, checkProbe } from './probe.ts'
import { checkResourceRequirements } from './resource-requirements.ts'

/** What containers share: the pod's volumes, and names and ports already taken. */
export interface ContainerScope {
  readonly volumes: ReadonlySet<string>
  readonly hostNetwork: boolean
  readonly names: Set<string>
  readonly hostPorts: Set<string>
}

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const messagePolicies = ['File', 'FallbackToLogsOnError']

export const protocols: readonly string[] = ['SCTP', 'TCP', 'UDP']

export type ContainerRole = 'containers' | 'initContainers' | 'ephemeralContainers'

export function checkContainer(
  report: Report,
  at: string,
  container: Part,
  role: ContainerRole,
  scope: ContainerScope,
): void {
  const name = textIn(container, 'name')
  if (name === '') report.required(`${at}.name`)
  else {
    report.label(`${at}.name`, name)
    report.unique(`${at}.name`, name, scope.names)
  }
  const image = textIn(container, 'image')
  if (image === '') report.required(`${at}.image`)
  else if (image !== image.trim()) report.invalid(`${at}.image`, image, 'must not have leading or trailing whitespace')

  report.oneOf(`${at}.terminationMessagePolicy`, textIn(container, 'terminationMessagePolicy'), messagePolicies)
  report.oneOf(`${at}.imagePullPolicy`, textIn(container, 'imagePullPolicy'), pullPolicies)

  checkPorts(report, `${at}.ports`, container, scope)
  checkEnv(report, at, container)
  checkMounts(report, at, container, scope.volumes)
  checkResourceRequirements(report, `${at}.resources`, partIn(container, 'resources'))
  checkSecurityContext(report, `${at}.securityContext`, findPart(container, 'securityContext'))
  checkRestartPolicy(report, at, container, role)

  const sidecar = role === 'initContainers' && textIn(container, 'restartPolicy') === 'Always'
  if (role === 'containers' || sidecar) {
    checkLifecycle(report, `${at}.lifecycle`, findPart(container, 'lifecycle'))
    for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      checkProbe(report, `${at}.${kind}`, findPart(container, kind), kind)
    }
  } else {
    const why =
      role === 'initContainers'
        ? 'may not be set for init containers without restartPolicy=Always'
        : 'cannot be set for an Ephemeral Container'
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
      if (container[field] !== undefined) report.forbidden(`${at}.${field}`, why)
    }
  }
}

function checkRestartPolicy(report: Report, at: string, container: Part, role: ContainerRole): void {
  const policy = textIn(container, 'restartPolicy')
  if (policy === '') return
  if (role === 'ephemeralContainers')
    report.forbidden(`${at}.restartPolicy`, 'cannot be set for an Ephemeral Container')
  else report.oneOf(`${at}.restartPolicy`, policy, ['Always', 'Never', 'OnFailure'])
}

function checkPorts(report: Report, at: string, container: Part, scope: ContainerScope): void {
  const names = new Set<string>()
  partsIn(container, 'ports').forEach((port, i) => {
    const here = `${at}[${i}]`
    const name = textIn(port, 'name')
    if (name !== '') {
      const complaints = isPortName(name)
      report.each(`${here}.name`, name, complaints)
      if (complaints.length === 0) report.unique(`${here}.name`, name, names)
    }
    const { containerPort, hostPort } = port
    if (containerPort === undefined || containerPort === 0) report.required(`${here}.containerPort`)
    else report.port(`${here}.containerPort`, containerPort)
    const protocol = textIn(port, 'protocol')
    if (typeof hostPort === 'number' && hostPort !== 0) {
      report.port(`${here}.hostPort`, hostPort)
      report.unique(`${here}.hostPort`, `${protocol}/${textIn(port, 'hostIP')}/${hostPort}`, scope.hostPorts)
      if (scope.hostNetwork && hostPort !== containerPort) {
        report.invalid(`${here}.hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true')
      }
    }
    report.oneOf(`${here}.protocol`, protocol, protocols)
  })
}

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

function checkEnv(report: Report, at: string, container: Part): void {
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
  for (const f of given) {
    const part = partIn(source, f)
    if (f === 'configMapKeyRef' || f === 'secretKeyRef') {
      report.subdomain(`${at}.${f}.name`, textIn(part, 'name'))
      const key = textIn(part, 'key')
      if (key === '') report.required(`${at}.${f}.key`)
      else report.each(`${at}.${f}.key`, key, isConfigMapKey(key))
    } else if (f === 'fieldRef' && textIn(part, 'fieldPath') === '') report.required(`${at}.${f}.fieldPath`)
    else if (f === 'resourceFieldRef' && textIn(part, 'resource') === '') report.required(`${at}.${f}.resource`)
  }
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

export function checkRelativePath(report: Report, field: string, path: string): void {
  if (path.startsWith('/')) report.invalid(field, path, 'must be a relative path')
  if (path.split('/').includes('..')) report.invalid(field, path, "must not contain '..'")
}

function checkMounts(report: Report, at: string, container: Part, volumes: ReadonlySet<string>): void {
  const mounts = partsIn(container, 'volumeMounts')
  const devices = partsIn(container, 'volumeDevices')
  const named = (here: string, name: string): void => {
    if (name === '') report.required(`${here}.name`)
    if (!volumes.has(name)) report.notFound(`${here}.name`, name)
  }
  /** A volume is mounted or a device, and a path is one place. */
  const placed = (
    field: string,
    paths: Set<string>,
    path: string,
    elsewhere: string,
    others: readonly Part[],
  ): void => {
    if (paths.has(path)) report.invalid(field, path, 'must be unique')
    paths.add(path)
    const key = elsewhere === 'volumeDevices' ? 'devicePath' : 'mountPath'
    if (others.some((o) => textIn(o, key) === path)) {
      report.invalid(field, path, `must not already exist as a path in ${elsewhere}`)
    }
  }
  const apart = (here: string, name: string, elsewhere: string, others: readonly Part[]): void => {
    if (others.some((o) => textIn(o, 'name') === name)) {
      report.invalid(`${here}.name`, name, `must not already exist in ${elsewhere}`)
    }
  }
  const mountPaths = new Set<string>()
  mounts.forEach((mount, i) => {
    const here = `${at}.volumeMounts[${i}]`
    named(here, textIn(mount, 'name'))
    const path = textIn(mount, 'mountPath')
    if (path === '') report.required(`${here}.mountPath`)
    placed(`${here}.mountPath`, mountPaths, path, 'volumeDevices', devices)
    apart(here, textIn(mount, 'name'), 'volumeDevices', devices)
    const sub = textIn(mount, 'subPath')
    const expr = textIn(mount, 'subPathExpr')
    // Upstream leaves the index out here.
    if (sub !== '') checkRelativePath(report, `${at}.volumeMounts.subPath`, sub)
    if (expr !== '') {
      if (sub !== '') report.invalid(`${here}.subPathExpr`, expr, 'subPathExpr and subPath are mutually exclusive')
      checkRelativePath(report, `${at}.volumeMounts.subPathExpr`, expr)
    }
  })
  const devicePaths = new Set<string>()
  devices.forEach((device, i) => {
    const here = `${at}.volumeDevices[${i}]`
    named(here, textIn(device, 'name'))
    const path = textIn(device, 'devicePath')
    if (path === '') report.required(`${here}.devicePath`)
    placed(`${here}.devicePath`, devicePaths, path, 'volumeMounts', mounts)
    apart(here, textIn(device, 'name'), 'volumeMounts', mounts)
  })
}

const idMax = 2_147_483_647

export function checkIds(report: Report, at: string, context: Part | undefined): void {
  for (const field of ['runAsUser', 'runAsGroup', 'fsGroup']) checkId(report, `${at}.${field}`, context?.[field])
}

/** Exact numbers are those that no JavaScript number holds: none of them is an id. */
export function checkId(report: Report, field: string, id: unknown): void {
  const isBeyond = typeof id === 'number' ? id < 0 || id > idMax : isExactNumber(id)
  if (isBeyond) report.invalid(field, id, `must be between 0 and ${idMax}, inclusive`)
}

function checkSecurityContext(report: Report, at: string, context: Part | undefined): void {
  if (!context) return
  checkIds(report, at, context)
  if (context.allowPrivilegeEscalation !== false) return
  if (context.privileged === true) {
    report.invalid(at, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true')
  }
  const added = partIn(context, 'capabilities').add
  if (Array.isArray(added) && added.includes('CAP_SYS_ADMIN')) {
    report.invalid(at, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN')
  }
}

/** What is left of an image name without its registry, path and digest; undefined if it is no valid name. */
function tagOf(image: string): string | undefined {
  const [name = '', digest] = image.split('@', 2)
  const last = name.slice(name.lastIndexOf('/') + 1)
  const colon = last.indexOf(':')
  const repository = colon < 0 ? last : last.slice(0, colon)
  if (!/^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/.test(repository)) return undefined
  if (colon >= 0) return last.slice(colon + 1)
  return digest === undefined ? 'latest' : ''
}

export const pullPolicy = (image: unknown): string =>
  tagOf(typeof image === 'string' ? image : '') === 'latest' ? 'Always' : 'IfNotPresent'

const imagePullPolicy: DefaultRule = (container) => {
  if (isUnset(container.imagePullPolicy)) container.imagePullPolicy = pullPolicy(container.image)
}

const container: readonly DefaultRule[] = [
  imagePullPolicy,
  fillUnset({ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }),
]

export const containerDefaults: DefaultRules = {
  'io.k8s.api.core.v1.Container': container,
  'io.k8s.api.core.v1.EphemeralContainer': container,
  'io.k8s.api.core.v1.ObjectFieldSelector': [fillUnset({ apiVersion: 'v1' })],
  'io.k8s.api.core.v1.ResourceFieldSelector': [fillUnset({ divisor: '0' })],
}
