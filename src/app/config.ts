/**
 * What a control plane is told, with its defaults. Flags of `borough up` and options of `startControlPlane` end here.
 */
import type { ManifestConfig } from '../apis/mirrorpods/feature.ts'
import { type AddressRange, parseCidr } from '../apis/services/address-range.ts'
import type { PortRange } from '../apis/services/free-ports.ts'
import type { AuditConfig } from '../audit/open-audit.ts'
import type { FrontProxy } from '../authn/front-proxy.ts'
import type { OidcConfig } from '../authn/identity-config.ts'
import type { AuthorizationWebhookConfig } from '../authz/open-authorization-webhook.ts'
import type { BackupLedger, BackupPlan } from '../backup/backup.ts'
import type { Clock } from '../base/clock.ts'
import { systemClock } from '../base/clock.ts'
import { type Ids, randomIds } from '../base/ids.ts'
import { type Log, silentLog } from '../base/log.ts'
import type { RelayPort } from '../base/relay-port.ts'
import type { Endpoint } from '../client/webhook-client.ts'
import { checkLeaseTiming, defaultLeaseTiming, type LeaseTiming } from '../controller/lease-timing.ts'
import type { EncryptionChoice } from '../encryption/encryption.ts'
import { defaultServerSeats } from '../flowcontrol/flowcontrol.ts'
import {
  type ConnectionLimits,
  connectionsWithin,
  type Deadlines,
  defaultDeadlines,
  defaultHttp2Limits,
  defaultMaxMemoryBytes,
  type Http2Limits,
  leastMaxMemoryBytes,
} from '../http/limits.ts'
import type { StorageChoice } from '../storage/storage-choice.ts'

export { leastMaxStoreBytes } from '../storage/storage-choice.ts'

export interface HistoryWindow {
  readonly ageMs: number
  readonly bytes: number
}

/** What clients may do to the server before it defends itself. */
export interface LoadLimits {
  /** That clients cause at most, beyond cache and indices. */
  readonly maxMemoryBytes: number
  /** Absent = what fits into the memory. */
  readonly connections?: Partial<ConnectionLimits>
  readonly deadlines: Deadlines
  readonly http2: Http2Limits
  /** Of priority and fairness: how many requests are worked on at once, all priority levels together. */
  readonly serverSeats: number
}

/** The least that makes sense, and the connections that the default has room for. */
export const leastMemoryBytes: number = leastMaxMemoryBytes
export const defaultConnections: number = connectionsWithin(defaultMaxMemoryBytes).all

/** Plugins that are off by default, as upstream. */
export const extraAdmission = [
  'NamespaceExists',
  'NamespaceAutoProvision',
  'OwnerReferencesPermissionEnforcement',
] as const

type ExtraAdmission = (typeof extraAdmission)[number]

export interface Config {
  /** Absent = nothing on disk: keys and, with engine memory, objects live as long as the process. */
  readonly dataDir?: string
  readonly storage: StorageChoice
  /** Serve a store that ends before what was acknowledged; see docs/operations.md. */
  readonly acceptLoss?: boolean
  /** Of a SQLite store; beyond it only deletes and small changes are taken. Absent = as large as the disk allows. */
  readonly maxStoreBytes?: number
  /** How often all that is stored is read and checked in the background; 0 = never. */
  readonly scrubEveryMs: number
  /** Of a SQLite store; absent = the server makes no backups. */
  readonly backup?: BackupPlan
  /** How they went. */
  readonly backupLedger?: BackupLedger
  /** Absent = values are stored as they are. */
  readonly encryption?: EncryptionChoice
  /** Which of several processes on one data directory this is; no two that run have the same. */
  readonly workerSlot?: number
  /** Ways to the primary of the group of processes that this one is in; absent = it is alone. */
  readonly group?: { readonly audit: RelayPort; readonly metrics: RelayPort }
  readonly history: HistoryWindow
  /** Absent = no sockets. */
  readonly listen?: { readonly host: string; readonly port: number }
  /** A second address, for administrators alone: clients of the first can't keep them out. */
  readonly adminListen?: { readonly host: string; readonly port: number }
  readonly load: LoadLimits
  /** Of the serving certificate, beside those that the server finds itself. */
  readonly extraNames: readonly string[]
  /** PEM. Absent = the server makes its own certificate. Read again when they change. */
  readonly tlsFiles?: { readonly certFile: string; readonly keyFile: string }
  /** PEM: who may vouch for clients beside the server's own authority. Read again when it changes. */
  readonly clientCaFile?: string
  /** The admin kubeconfig is also written here. */
  readonly kubeconfigPath?: string
  readonly tokenFile?: string
  /** One issuer of ID tokens, by flags. */
  readonly oidc?: OidcConfig
  /** An AuthenticationConfiguration: several. Read again when it changes. */
  readonly authenticationConfigFile?: string
  /** Absent = headers name no user. */
  readonly frontProxy?: FrontProxy
  /** Absent = RBAC alone says who may do what. */
  readonly authorizationWebhook?: AuthorizationWebhookConfig
  readonly anonymous: boolean
  /** Absent = no audit log. */
  readonly audit?: AuditConfig
  readonly featureGates: { readonly NamespaceInitializers: boolean }
  /** Controllers that run; see `controllerNames`. */
  readonly controllers: (name: string) => boolean
  /** Of the lease that says where the controllers run, if the store is shared. */
  readonly leaseTiming: LeaseTiming
  /** Population by templates, built in. Without it the kind is not served either, and may be a custom one. */
  readonly population: boolean
  /** Who may not list all namespaces is shown those they may get. */
  readonly listOwnNamespaces: boolean
  /** How long a create of a namespace is held while it initializes. */
  readonly initializationTimeoutMs: number
  /** Where Services are reached that webhooks are behind: `namespace/name` or `namespace/name:port`. */
  readonly serviceAddresses: ReadonlyMap<string, Endpoint>
  /** Of the ServiceCIDR made at the first start; one, or one of each family, the preferred one first. */
  readonly serviceRanges: readonly AddressRange[]
  readonly serviceNodePorts: PortRange
  /** Absent = no mirror pods. */
  readonly manifests?: ManifestConfig
  readonly extraAdmission: readonly ExtraAdmission[]
  /** An AdmissionConfiguration: what plugins are configured with. Read at the start. */
  readonly admissionConfigFile?: string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}

/**
 * Controllers, by the service account each acts as: the command line must not load the features to know them. A test
 * compares them with what the features bring.
 */
export const controllerNames = [
  'namespace-controller',
  'customresourcedefinition-controller',
  'namespace-template-controller',
  'service-account-controller',
  'root-ca-cert-publisher',
  'generic-garbage-collector',
  'clusterrole-aggregation-controller',
  'namespace-initializer-controller',
  'namespace-expiry-controller',
  'pod-garbage-collector',
  'certificate-controller',
  'apiservice-registration-controller',
  'event-ttl-controller',
  'resourcequota-controller',
  'cluster-resource-quota-controller',
  'service-claim-controller',
  'validatingadmissionpolicy-status-controller',
  'mirror-pod-controller',
  'priority-and-fairness-controller',
] as const

export const defaultConfig: Config = {
  storage: { engine: 'memory' },
  scrubEveryMs: 24 * 3_600_000,
  history: { ageMs: 5 * 60_000, bytes: 256 * 1024 * 1024 },
  load: {
    maxMemoryBytes: defaultMaxMemoryBytes,
    deadlines: defaultDeadlines,
    http2: defaultHttp2Limits,
    serverSeats: defaultServerSeats,
  },
  extraNames: [],
  anonymous: true,
  featureGates: { NamespaceInitializers: true },
  controllers: () => true,
  leaseTiming: defaultLeaseTiming,
  population: true,
  listOwnNamespaces: false,
  initializationTimeoutMs: 30_000,
  serviceAddresses: new Map(),
  serviceRanges: parseServiceRanges('10.96.0.0/12'),
  serviceNodePorts: { first: 30_000, last: 32_767 },
  extraAdmission: [],
  clock: systemClock,
  ids: randomIds,
  log: silentLog,
}

/**
 * One CIDR, or two of different families.
 * @throws Error that says what is wrong
 */
export function parseServiceRanges(text: string): readonly AddressRange[] {
  const ranges = text.split(',').map((cidr) => {
    const range = parseCidr(cidr.trim())
    if (range === undefined)
      throw new Error(`${JSON.stringify(cidr)} is no CIDR like 10.96.0.0/12, or has no addresses to give.`)
    return range
  })
  if (ranges.length > 2 || ranges[0]?.family === ranges[1]?.family) {
    throw new Error('It must be one CIDR, or one of IPv4 and one of IPv6.')
  }
  return ranges
}

/**
 * `30000-32767`.
 * @throws Error that says what is wrong
 */
export function parsePortRange(text: string): PortRange {
  const [, from = '', to = ''] = /^\s*(\d{1,5})-(\d{1,5})\s*$/.exec(text) ?? []
  const range = { first: Number(from), last: Number(to) }
  if (from === '' || range.first < 1 || range.last > 65_535 || range.last < range.first) {
    throw new Error('It must be two ports, like 30000-32767.')
  }
  return range
}

/**
 * `*,-name,-other`: as kube-controller-manager's `--controllers`.
 * @throws Error naming the part that makes no sense
 */
export function parseControllers(text: string, known: readonly string[]): (name: string) => boolean {
  let all = false
  const on = new Set<string>()
  const off = new Set<string>()
  for (const part of text.split(',').map((p) => p.trim())) {
    if (part === '*') {
      all = true
      continue
    }
    const name = part.startsWith('-') ? part.slice(1) : part
    if (!known.includes(name)) throw new Error(`unknown controller ${JSON.stringify(name)}; known: ${known.join(', ')}`)
    if (part.startsWith('-')) off.add(name)
    else on.add(name)
  }
  return (name) => !off.has(name) && (all || on.has(name))
}

/** @throws RangeError for times that make no sense together */
export function leaseTiming(timing: LeaseTiming): Config['leaseTiming'] {
  checkLeaseTiming(timing)
  return timing
}
