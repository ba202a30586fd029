/**
 * What `baseline` forbids: known ways from a pod to its node.
 * @see k8s.io/pod-security-admission/policy v0.36
 */
import type { Check, Finding } from './checks.ts'
import {
  distinct,
  type Handler,
  hasOwnUsers,
  type JudgedContainer,
  type JudgedPod,
  judgedContainersOf,
  named,
  namesOf,
  plural,
  printAnnotation,
  quoted,
  type Selinux,
  setters,
} from './judged-pod.ts'

const isDefined = <T>(value: T | undefined): value is T => value !== undefined

const safeProfiles = ['RuntimeDefault', 'Localhost']
const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/'

function appArmorProfile(pod: JudgedPod): Finding | undefined {
  const typeOf = (given: { readonly appArmorProfile?: { readonly type?: string } } | undefined): string | undefined =>
    given?.appArmorProfile && !safeProfiles.includes(given.appArmorProfile.type ?? '')
      ? (given.appArmorProfile.type ?? '')
      : undefined
  const ofPod = typeOf(pod.spec?.securityContext)
  const bad = judgedContainersOf(pod).filter((c) => typeOf(c.securityContext) !== undefined)
  const annotations = Object.entries(pod.metadata?.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorAnnotation) && !isSafeAppArmor(value))
    .map(([key, value]) => printAnnotation(key, value))
  const who = [
    setters(ofPod !== undefined, namesOf(bad)),
    annotations.length > 0 ? plural('annotation', annotations.length) : '',
  ]
  const values = [
    ...distinct([ofPod, ...bad.map((c) => typeOf(c.securityContext))].filter(isDefined)),
    ...distinct(annotations),
  ]
  if (values.length === 0) return undefined
  return {
    reason: plural('forbidden AppArmor profile', values.length),
    detail:
      `${who.filter((text) => text !== '').join(' and ')} ` + `must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const isSafeAppArmor = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/')

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

function capabilities(pod: JudgedPod): Finding | undefined {
  const added = ({ securityContext }: JudgedContainer): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !defaultCapabilities.has(name))
  const bad = judgedContainersOf(pod).filter((c) => added(c).length > 0)
  if (bad.length === 0) return undefined
  return {
    reason: 'non-default capabilities',
    detail:
      `${named('container', namesOf(bad))} must not include ${quoted(distinct(bad.flatMap(added)))} in ` +
      'securityContext.capabilities.add',
  }
}

function hostNamespaces({ spec }: JudgedPod): Finding | undefined {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec?.[field])
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

function hostPathVolumes({ spec }: JudgedPod): Finding | undefined {
  const bad = (spec?.volumes ?? []).filter((volume) => volume['hostPath'])
  if (bad.length === 0) return undefined
  const names = bad.map(({ name }) => name)
  return { reason: 'hostPath volumes', detail: named('volume', names) }
}

function hostPorts(pod: JudgedPod): Finding | undefined {
  const portsOf = ({ ports }: JudgedContainer): string[] =>
    (ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []))
  const bad = judgedContainersOf(pod).filter((c) => portsOf(c).length > 0)
  if (bad.length === 0) return undefined
  const ports = distinct(bad.flatMap(portsOf))
  return {
    reason: 'hostPort',
    detail:
      `${named('container', namesOf(bad))} ${plural('uses', bad.length, 'use')} ` +
      `${plural('hostPort', ports.length)} ${ports.join(', ')}`,
  }
}

function hostsOfHandlers(pod: JudgedPod): Finding | undefined {
  const bad = judgedContainersOf(pod).filter((c) => handlersOf(c).some((h) => hostsOf(h).length > 0))
  if (bad.length === 0) return undefined
  const names = distinct(namesOf(bad))
  const hosts = distinct(bad.flatMap(handlersOf).flatMap(hostsOf))
  return {
    reason: 'probe or lifecycle host',
    detail:
      `${named('container', names)} ${plural('uses', names.length, 'use')} ` +
      `${named('probe or lifecycle host', hosts)}`,
  }
}

const handlersOf = (c: JudgedContainer): Handler[] =>
  [c.livenessProbe, c.readinessProbe, c.startupProbe, c.lifecycle?.postStart, c.lifecycle?.preStop].filter(isDefined)

const hostsOf = ({ httpGet, tcpSocket }: Handler): string[] =>
  [httpGet?.host ?? '', tcpSocket?.host ?? ''].filter((host) => host !== '')

function privileged(pod: JudgedPod): Finding | undefined {
  const bad = judgedContainersOf(pod).filter((c) => c.securityContext?.privileged)
  if (bad.length === 0) return undefined
  return {
    reason: 'privileged',
    detail: `${named('container', namesOf(bad))} must not set securityContext.privileged=true`,
  }
}

/** In `restricted` for pods with users of their own too. */
export function procMount(pod: JudgedPod): Finding | undefined {
  const mountOf = ({ securityContext }: JudgedContainer): string => securityContext?.procMount ?? 'Default'
  const bad = judgedContainersOf(pod).filter((c) => mountOf(c) !== 'Default')
  if (bad.length === 0) return undefined
  return {
    reason: 'procMount',
    detail:
      `${named('container', namesOf(bad))} must not set securityContext.procMount to ` +
      `${quoted(distinct(bad.map(mountOf)))}`,
  }
}

const selinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

const seLinuxOptions =
  (types: readonly string[]) =>
  (pod: JudgedPod): Finding | undefined => {
    const isBad = (o: Selinux | undefined): o is Selinux =>
      o !== undefined && (!types.includes(o.type ?? '') || Boolean(o.user) || Boolean(o.role))
    const ofPod = pod.spec?.securityContext?.seLinuxOptions
    const bad = judgedContainersOf(pod).filter((c) => isBad(c.securityContext?.seLinuxOptions))
    const options = [ofPod, ...bad.map((c) => c.securityContext?.seLinuxOptions)].filter(isBad)
    if (options.length === 0) return undefined
    const badTypes = distinct(options.map(({ type }) => type ?? '').filter((type) => !types.includes(type)))
    const what = [
      ...(badTypes.length > 0 ? [named('type', badTypes)] : []),
      ...(options.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(options.some(({ role }) => role) ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters(isBad(ofPod), namesOf(bad))} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    }
  }

const seccompAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const containerSeccompAnnotation = 'container.seccomp.security.alpha.kubernetes.io/'

/** Before there were fields for it. */
function seccompAnnotations(pod: JudgedPod): Finding | undefined {
  const { annotations = {} } = pod.metadata ?? {}
  const keys = [seccompAnnotation, ...judgedContainersOf(pod).map(({ name }) => containerSeccompAnnotation + name)]
  const bad = distinct(
    keys.flatMap((key) => {
      const value = annotations[key]
      return value === undefined || isSafeSeccomp(value) ? [] : [printAnnotation(key, value)]
    }),
  )
  if (bad.length === 0) return undefined
  return { reason: 'seccompProfile', detail: `forbidden ${plural('annotation', bad.length)} ${bad.join(', ')}` }
}

const isSafeSeccomp = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')

/** Profiles that are set and not safe. `restricted` asks for them, too. */
export function seccompProfile(pod: JudgedPod): Finding | undefined {
  const isBad = (profile: { readonly type?: string } | undefined): profile is { readonly type?: string } =>
    profile !== undefined && !safeProfiles.includes(profile.type ?? '')
  const ofPod = pod.spec?.securityContext?.seccompProfile
  const bad = judgedContainersOf(pod).filter((c) => isBad(c.securityContext?.seccompProfile))
  const profiles = [ofPod, ...bad.map((c) => c.securityContext?.seccompProfile)].filter(isBad)
  if (profiles.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail:
      `${setters(isBad(ofPod), namesOf(bad))} must not set securityContext.seccompProfile.type to ` +
      `${quoted(distinct(profiles.map(({ type }) => type ?? '')))}`,
  }
}

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const safeSince27 = [...safeSysctls, 'net.ipv4.ip_local_reserved_ports']
const safeSince29 = [
  ...safeSince27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const safeSince32 = [...safeSince29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

const sysctls =
  (safe: readonly string[]) =>
  ({ spec }: JudgedPod): Finding | undefined => {
    const bad = (spec?.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !safe.includes(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }

function windowsHostProcess(pod: JudgedPod): Finding | undefined {
  const ofPod = pod.spec?.securityContext?.windowsOptions?.hostProcess === true
  const bad = judgedContainersOf(pod).filter((c) => c.securityContext?.windowsOptions?.hostProcess)
  if (!ofPod && bad.length === 0) return undefined
  return {
    reason: 'hostProcess',
    detail: `${setters(ofPod, namesOf(bad))} must not set securityContext.windowsOptions.hostProcess=true`,
  }
}

/** In the order in which they are told: by the bytes of upstream's names for them. */
export const baselineChecks: readonly Check[] = [
  { name: 'appArmorProfile', since: [[0, appArmorProfile]] },
  { name: 'capabilities_baseline', since: [[0, capabilities]] },
  { name: 'hostNamespaces', since: [[0, hostNamespaces]] },
  { name: 'hostPathVolumes', since: [[0, hostPathVolumes]] },
  { name: 'hostPorts', since: [[0, hostPorts]] },
  { name: 'hostProbesAndHostLifecycle', since: [[34, hostsOfHandlers]] },
  { name: 'privileged', since: [[0, privileged]] },
  {
    name: 'procMount',
    since: [
      [0, procMount],
      [35, (pod) => (hasOwnUsers(pod) ? undefined : procMount(pod))],
    ],
  },
  {
    name: 'seLinuxOptions',
    since: [
      [0, seLinuxOptions(selinuxTypes)],
      [31, seLinuxOptions([...selinuxTypes, 'container_engine_t'])],
    ],
  },
  {
    name: 'seccompProfile_baseline',
    since: [
      [0, seccompAnnotations],
      [19, seccompProfile],
    ],
  },
  {
    name: 'sysctls',
    since: [
      [0, sysctls(safeSysctls)],
      [27, sysctls(safeSince27)],
      [29, sysctls(safeSince29)],
      [32, sysctls(safeSince32)],
    ],
  },
  { name: 'windowsHostProcess', since: [[0, windowsHostProcess]] },
]
