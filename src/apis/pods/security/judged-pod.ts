/**
 * A pod, or the template of one, as far as its security is judged; and how its containers and volumes are named in what
 * is said about them.
 */
import { quote } from '../../../kube/go-quote.ts'
import type { ObjectMeta } from '../../../kube/types.ts'

interface Typed {
  readonly type?: string
}

export interface Selinux extends Typed {
  readonly user?: string
  readonly role?: string
}

/** What a pod and a container may both set. */
interface SharedContext {
  readonly appArmorProfile?: Typed
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly seLinuxOptions?: Selinux
  readonly seccompProfile?: Typed
  readonly windowsOptions?: { readonly hostProcess?: boolean }
}

interface PodContext extends SharedContext {
  readonly sysctls?: readonly { readonly name: string }[]
}

interface ContainerContext extends SharedContext {
  readonly allowPrivilegeEscalation?: boolean
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
  readonly privileged?: boolean
  readonly procMount?: string
}

interface Hosted {
  readonly host?: string
}

/** A probe, or what is done at the begin or end of a container. */
export interface Handler {
  readonly httpGet?: Hosted
  readonly tcpSocket?: Hosted
}

export interface JudgedContainer {
  readonly name: string
  readonly image?: string
  readonly securityContext?: ContainerContext
  readonly ports?: readonly { readonly hostPort?: number }[]
  readonly livenessProbe?: Handler
  readonly readinessProbe?: Handler
  readonly startupProbe?: Handler
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler }
}

/** One member tells where it comes from. */
export interface Volume {
  readonly name: string
  readonly [source: string]: unknown
}

export interface PodSpec {
  readonly initContainers?: readonly JudgedContainer[]
  readonly containers?: readonly JudgedContainer[]
  readonly ephemeralContainers?: readonly JudgedContainer[]
  readonly volumes?: readonly Volume[]
  readonly securityContext?: PodContext
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly hostUsers?: boolean
  readonly os?: { readonly name?: string }
}

export interface JudgedPod {
  readonly metadata?: Pick<ObjectMeta, 'annotations'>
  readonly spec?: PodSpec
}

/** In the order in which they are told. */
export const judgedContainersOf = ({ spec }: JudgedPod): readonly JudgedContainer[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]

export const namesOf = (containers: readonly JudgedContainer[]): string[] => containers.map(({ name }) => name)

/** What holds for Linux does not for it. */
export const isWindows = ({ spec }: JudgedPod): boolean => spec?.os?.name === 'windows'

/** In a user namespace of its own: its root is none outside. */
export const hasOwnUsers = ({ spec }: JudgedPod): boolean => spec?.hostUsers === false

export const plural = (one: string, count: number, many = `${one}s`): string => (count === 1 ? one : many)

/** `"a", "b"` */
export const quoted = (texts: readonly string[]): string => texts.map((text) => `"${text}"`).join(', ')

/** `containers "a", "b"` */
export const named = (what: string, names: readonly string[]): string =>
  `${plural(what, names.length)} ${quoted(names)}`

/** `pod and container "a"`: who sets what. */
export const setters = (isPod: boolean, containers: readonly string[]): string =>
  [...(isPod ? ['pod'] : []), ...(containers.length > 0 ? [named('container', containers)] : [])].join(' and ')

/** Each once, in the order of their bytes. */
export const distinct = (texts: Iterable<string>): string[] =>
  [...new Set(texts)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** `key="value"` */
export const printAnnotation = (key: string, value: string): string => `${key}=${quote(value)}`
