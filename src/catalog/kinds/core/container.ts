/**
 * Containers of all three roles.
 * @see ValidateContainers and below in pkg/apis/core/validation/validation.go, pkg/apis/core/v1/defaults.go,
 *   pkg/util/parsers of Kubernetes 1.36
 */
import { isExactNumber } from '../../../kube/json-value.ts'
import { type DefaultRule, type DefaultRules, fillUnset, isUnset } from '../default-rules.ts'
import { findPart, isPortName, type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'
import { checkEnv } from './env.ts'
import { checkMounts, type MountedVolumes } from './mounts.ts'
import { checkLifecycle, checkProbe } from './probe.ts'
import { checkResourceRequirements } from './resource-requirements.ts'
import { checkResizes, checkResizesOfInit, checkRestarts } from './restarts.ts'

/** What containers share. */
export interface ContainerScope {
  /** Not a template: what is asked of one more strictly. */
  readonly isPod: boolean
  readonly volumes: MountedVolumes
  /** Names of the pod's claims to devices. */
  readonly claims: ReadonlySet<string>
  /** The policy of the pod. */
  readonly restarts: string
  readonly graceSeconds: number | undefined
  /** Names of the containers that are not ephemeral. */
  readonly lasting: ReadonlySet<string>
  /** Names that came before. */
  readonly names: Set<string>
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
  else if (scope.isPod && image !== image.trim())
    report.invalid(`${at}.image`, image, 'must not have leading or trailing whitespace')

  report.oneOf(`${at}.terminationMessagePolicy`, textIn(container, 'terminationMessagePolicy'), messagePolicies)
  report.oneOf(`${at}.imagePullPolicy`, textIn(container, 'imagePullPolicy'), pullPolicies)

  checkPorts(report, `${at}.ports`, container)
  checkEnv(report, at, container)
  checkMounts(report, at, container, scope.volumes)
  checkResourceRequirements(report, `${at}.resources`, partIn(container, 'resources'), scope.claims)
  checkResizes(report, at, container, scope.restarts)
  checkSecurityContext(report, `${at}.securityContext`, findPart(container, 'securityContext'))
  if (role === 'ephemeralContainers') return checkEphemeral(report, at, container, scope)
  checkRestarts(report, at, container)
  if (role === 'containers' || textIn(container, 'restartPolicy') === 'Always') {
    checkLifecycle(report, `${at}.lifecycle`, findPart(container, 'lifecycle'), scope.graceSeconds)
    for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      checkProbe(report, `${at}.${kind}`, findPart(container, kind), kind)
    }
  } else {
    for (const field of onlyForRunning) {
      if (container[field] === undefined) continue
      report.forbidden(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always')
    }
  }
  if (role === 'initContainers') checkResizesOfInit(report, at, container)
}

const onlyForRunning = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']
const notForEphemeral = ['ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules', ...onlyForRunning]

function checkEphemeral(report: Report, at: string, container: Part, scope: ContainerScope): void {
  const why = 'cannot be set for an Ephemeral Container'
  const target = textIn(container, 'targetContainerName')
  if (target !== '' && !scope.lasting.has(target)) report.notFound(`${at}.targetContainerName`, target)
  for (const field of notForEphemeral) {
    const value = container[field]
    if (value !== undefined && !sameValue(value, undefined)) report.forbidden(`${at}.${field}`, why)
  }
  partsIn(container, 'volumeMounts').forEach((mount, i) => {
    for (const field of ['subPath', 'subPathExpr']) {
      if (textIn(mount, field) !== '') report.forbidden(`${at}.volumeMounts[${i}].${field}`, why)
    }
  })
}

function checkPorts(report: Report, at: string, container: Part): void {
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
    if (typeof hostPort === 'number' && hostPort !== 0) report.port(`${here}.hostPort`, hostPort)
    report.oneOf(`${here}.protocol`, protocol, protocols)
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
