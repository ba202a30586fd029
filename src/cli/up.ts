/** `borough up`: serves until it is told to stop. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type Config,
  controllerNames,
  defaultConfig,
  extraAdmission,
  leastMaxStoreBytes,
  parseControllers,
  parsePortRange,
  parseServiceRanges,
} from '../app/config.ts'
import { addBackupOptions, type BackupFlags, backupOf } from './backup-flags.ts'
import { durationOption, minuteMs, parseDuration, timerOrNone } from './duration.ts'
import { addElectionOptions, type ElectionFlags, leaseTimingOf } from './election-flags.ts'
import { addEncryptionOptions, encryptionOf, type ServedEncryptionFlags } from './encryption-flags.ts'
import {
  type AuthorizationFlags,
  addAuthorizationOptions,
  addIdentityOptions,
  authorizationOf,
  type IdentityFlags,
  identityOf,
} from './identity-flags.ts'
import { refuseIdleFlags } from './idle-flags.ts'
import { parseListenAddress } from './listen-address.ts'
import { addLoadOptions, type LoadFlags, loadOf, refusedAdminListen } from './load-flags.ts'
import { parseNamespace } from './namespace-name.ts'
import { parseCount, parseCountUpTo, parsePositive } from './number.ts'
import { outputOption } from './output.ts'
import { readableFile, usableFolder, writableFile } from './path-flags.ts'
import { logLevelOption } from './process-log.ts'
import { addServingName } from './serving-name.ts'
import { addSettings } from './settings.ts'
import { addEtcdOptions, type EtcdFlags, type NamedStorage, parseStorage, storageChoice } from './storage-flags.ts'

interface UpFlags
  extends EtcdFlags,
    IdentityFlags,
    AuthorizationFlags,
    ElectionFlags,
    LoadFlags,
    BackupFlags,
    ServedEncryptionFlags {
  readonly dataDir: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly storage: NamedStorage
  readonly acceptLoss?: true
  readonly maxStoreSize?: number
  readonly scrubEvery: number
  readonly workers: number
  readonly kubeconfig?: string
  readonly tlsSan: readonly string[]
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  readonly tokenFile?: string
  readonly anonymousAuth: boolean
  readonly auditLog?: string
  readonly auditPolicy?: string
  readonly auditLogMaxMib: number
  readonly auditLogKeep: number
  readonly controllers: (name: string) => boolean
  readonly population: boolean
  readonly listOwnNamespaces: boolean
  readonly featureGates: Config['featureGates']
  readonly namespaceInitializationTimeout: number
  readonly historyAge: number
  readonly historyMib: number
  readonly serviceAddress: Config['serviceAddresses']
  readonly serviceClusterIpRange: Config['serviceRanges']
  readonly serviceNodePortRange: Config['serviceNodePorts']
  readonly manifestPath?: string
  readonly manifestUrl?: string
  readonly clusterId?: string
  readonly enableAdmissionPlugins: Config['extraAdmission']
  readonly admissionControlConfigFile?: string
  readonly logLevel: string
}

/** @param onReady called when it serves */
export function addUpCommand(program: Command, onReady: () => void): Command {
  const command = program.command('up')
  command.description('serve the API until a signal ends it, then finish what is under way')
  addServingOptions(command)
  addIdentityOptions(command)
  addAuthorizationOptions(command)
  addElectionOptions(command)
  addLoadOptions(command)
  addAuditOptions(command)
  addNamespaceOptions(command)
  addServiceOptions(command)
  addAdmissionOptions(command)
  addManifestOptions(command)
  command.addOption(logLevelOption()).addOption(outputOption('the ready line'))
  addSettings(command)
  return command.addHelpText('after', examples).action(async (flags: UpFlags, command: Command) => {
    const config = configOf(flags, command)
    checkFlags(flags, command)
    const { runUp } = await import('./run-up.ts')
    try {
      await runUp(config, flags.workers, flags.logLevel, command, onReady)
    } catch (error) {
      throw refusedAdminListen(error, flags.adminListen) ?? error
    }
  })
}

const examples = `
Examples:
  borough up
  borough up --listen 127.0.0.1:0 --storage memory -o json
  borough up --data-dir /var/lib/borough --token-file tokens.csv
  borough up --config /etc/borough/config.yaml
  borough up --storage etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379 --etcd-cafile ca.pem`

/** Those that need each other. */
function checkFlags(flags: UpFlags, command: Command): void {
  if ((flags.manifestPath ?? flags.manifestUrl) !== undefined && flags.clusterId === undefined) {
    command.error('--manifest-path and --manifest-url need --cluster-id')
  }
  refuseIdleFlags(command)
}

function addServingOptions(command: Command): void {
  command
    .option('--data-dir <dir>', 'where everything is kept', '.borough')
    .addOption(
      new Option('--listen <host:port>', 'address to serve; port 0 picks a free one')
        .argParser(parseListenAddress)
        .default({ host: '127.0.0.1', port: 6443 }, '127.0.0.1:6443'),
    )
    .addOption(
      new Option('--storage <engine>', 'sqlite, memory, or etcd://host:port[,host:port…]')
        .argParser(parseStorage)
        .default({ engine: 'sqlite' } satisfies NamedStorage, 'sqlite'),
    )
  addEtcdOptions(command, { prefix: true }).addOption(
    new Option(
      '--etcd-format-level <n>',
      'the newest form of values that is announced and written: 0 holds a switch back',
    ).argParser(parseLevel),
  )
  addBackupOptions(addEncryptionOptions(command))
    .option('--accept-loss', 'serve a store from which acknowledged writes are missing, without them')
    .option('--max-store-size <size>', 'of a SQLite store, like 8Gi; beyond it only deletes are taken', parseStoreSize)
    .addOption(
      new Option('--scrub-every <duration>', 'how often everything stored is read and checked: 12h, 7d; or never')
        .argParser((text) => (text === 'never' ? 0 : parseDuration(text)))
        .default(defaultConfig.scrubEveryMs, '24h'),
    )
    .addOption(
      new Option(
        '--tls-san <names...>',
        'further names or addresses of the serving certificate: of a load balancer, say',
      )
        .argParser(addServingName)
        .default([], 'none'),
    )
    .option('--tls-cert-file <pem>', 'serve with this certificate and its intermediates; read again when it changes')
    .option('--tls-private-key-file <pem>', 'its key')
    .option('--workers <n>', 'processes that serve the port, on the cores of one machine', parseWorkers, 1)
    .option('--kubeconfig <file>', "also write the administrator's kubeconfig here")
    .option('--token-file <csv>', 'lines of token,user,uid,"group1,group2"; read again when it changes')
    .option('--no-anonymous-auth', 'refuse requests without credentials')
}

function addAuditOptions(command: Command): void {
  command
    .option('--audit-log <file>', 'record who did what here, as JSON lines; readable by you alone')
    .option(
      '--audit-policy <file>',
      'audit.k8s.io/v1 Policy: what is recorded; default: every change and read, no bodies',
    )
    .option('--audit-log-max-mib <n>', 'size at which the audit log is rotated', parsePositive, 100)
    .option('--audit-log-keep <n>', 'rotated audit logs that are kept', parseCount, 10)
}

function addNamespaceOptions(command: Command): void {
  command
    .addOption(
      new Option('--controllers <list>', 'which controllers run: *,-name')
        .argParser((text) => parsed(text, (list) => parseControllers(list, controllerNames)))
        .default(() => true, '*'),
    )
    .option(
      '--list-own-namespaces',
      'who may not list all namespaces is shown those they may get, in lists and watches',
      false,
    )
    .option('--no-population', 'no templates here: neither the kind nor its controller (somebody else may bring both)')
    .addOption(
      durationOption(
        '--namespace-initialization-timeout <duration>',
        'how long a create of a namespace waits for its initializers',
        defaultConfig.initializationTimeoutMs,
        timerOrNone,
      ),
    )
    .addOption(
      new Option('--feature-gates <gates>', 'what is on or off: NamespaceInitializers=false')
        .argParser(parseFeatureGates)
        .default(defaultConfig.featureGates, 'NamespaceInitializers=true'),
    )
    .addOption(durationOption('--history-age <duration>', 'how far back watches can resume', 5 * minuteMs))
    .option('--history-mib <n>', 'how much of the past is kept at most', parsePositive, 256)
}

function addServiceOptions(command: Command): void {
  command
    .addOption(
      new Option('--service-address <namespace/name[:port]=host:port>', 'where a Service with a webhook is; repeatable')
        .argParser(addServiceAddress)
        .default(new Map(), 'none'),
    )
    .addOption(
      new Option(
        '--service-cluster-ip-range <cidr[,cidr]>',
        'where the addresses of Services come from; used when the store is new',
      )
        .argParser((text) => parsed(text, parseServiceRanges))
        .default(defaultConfig.serviceRanges, '10.96.0.0/12'),
    )
    .addOption(
      new Option('--service-node-port-range <first-last>', 'where the node ports of Services come from')
        .argParser((text) => parsed(text, parsePortRange))
        .default(defaultConfig.serviceNodePorts, '30000-32767'),
    )
}

function addAdmissionOptions(command: Command): void {
  command
    .addOption(
      new Option('--enable-admission-plugins <names...>', 'plugins that are off by default')
        .choices(extraAdmission)
        .default([], 'none'),
    )
    .option(
      '--admission-control-config-file <file>',
      'an AdmissionConfiguration: of PodSecurity, ResourceQuota, and credentials for admission webhooks',
    )
}

function addManifestOptions(command: Command): void {
  command
    .option('--manifest-path <dir>', 'show the pods that the files of this folder describe as mirror pods')
    .option('--manifest-url <url>', 'show the pods that are described here as mirror pods', parseUrl)
    .option(
      '--cluster-id <name>',
      'whose mirror pods they are: names them, their node and their namespace',
      parseNamespace,
    )
}

function configOf(flags: UpFlags, command: Command): Config {
  return {
    ...defaultConfig,
    dataDir: usableFolder(command, 'data-dir', flags.dataDir),
    storage: storageChoice(flags.storage, flags, command),
    ...(flags.acceptLoss ? { acceptLoss: true } : {}),
    ...maxStoreOf(flags, command),
    scrubEveryMs: flags.scrubEvery,
    listen: flags.listen,
    extraNames: flags.tlsSan,
    ...tlsFilesOf(flags, command),
    history: { ageMs: flags.historyAge, bytes: flags.historyMib * 1024 * 1024 },
    ...(flags.kubeconfig === undefined
      ? {}
      : { kubeconfigPath: writableFile(command, 'kubeconfig', flags.kubeconfig) }),
    ...(flags.tokenFile === undefined ? {} : { tokenFile: readableFile(command, 'token-file', flags.tokenFile) }),
    anonymous: flags.anonymousAuth,
    ...loadOf(flags),
    ...identityOf(flags, command),
    ...authorizationOf(flags, command),
    ...(flags.auditLog === undefined ? {} : { audit: auditOf(flags, flags.auditLog, command) }),
    controllers: flags.controllers,
    leaseTiming: leaseTimingOf(flags, command),
    ...encryptionOf(flags, command),
    ...backupOf(flags, flags.storage.engine, command),
    population: flags.population,
    listOwnNamespaces: flags.listOwnNamespaces,
    featureGates: flags.featureGates,
    initializationTimeoutMs: flags.namespaceInitializationTimeout,
    serviceAddresses: flags.serviceAddress,
    serviceRanges: flags.serviceClusterIpRange,
    serviceNodePorts: flags.serviceNodePortRange,
    ...manifestsOf(flags, command),
    extraAdmission: flags.enableAdmissionPlugins,
    ...(flags.admissionControlConfigFile === undefined
      ? {}
      : {
          admissionConfigFile: readableFile(command, 'admission-control-config-file', flags.admissionControlConfigFile),
        }),
  }
}

function tlsFilesOf({ tlsCertFile, tlsPrivateKeyFile }: UpFlags, command: Command): Pick<Config, 'tlsFiles'> {
  if (tlsCertFile === undefined && tlsPrivateKeyFile === undefined) return {}
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) {
    return command.error('--tls-cert-file and --tls-private-key-file need each other')
  }
  return {
    tlsFiles: {
      certFile: readableFile(command, 'tls-cert-file', tlsCertFile),
      keyFile: readableFile(command, 'tls-private-key-file', tlsPrivateKeyFile),
    },
  }
}

function manifestsOf({ manifestPath, manifestUrl, clusterId }: UpFlags, command: Command): Pick<Config, 'manifests'> {
  if (clusterId === undefined) return {}
  return {
    manifests: {
      clusterId,
      ...(manifestPath === undefined ? {} : { path: usableFolder(command, 'manifest-path', manifestPath) }),
      ...(manifestUrl === undefined ? {} : { url: manifestUrl }),
    },
  }
}

function auditOf(flags: UpFlags, log: string, command: Command): NonNullable<Config['audit']> {
  return {
    path: writableFile(command, 'audit-log', log),
    ...(flags.auditPolicy === undefined
      ? {}
      : { policyPath: readableFile(command, 'audit-policy', flags.auditPolicy) }),
    maxBytes: flags.auditLogMaxMib * 1024 * 1024,
    keep: flags.auditLogKeep,
  }
}

function parseFeatureGates(text: string): Config['featureGates'] {
  const gates = { ...defaultConfig.featureGates }
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*(\w+)=(true|false)\s*$/.exec(part) ?? []
    if (name === undefined || !Object.hasOwn(gates, name))
      throw new InvalidArgumentError(`It must be ${Object.keys(gates).join(', ')}, each with =true or =false.`)
    gates[name as keyof typeof gates] = value === 'true'
  }
  return gates
}

function addServiceAddress(text: string, before: Config['serviceAddresses']): Config['serviceAddresses'] {
  const match = /^([a-z0-9-]+\/[a-z0-9-]+(?::\d{1,5})?)=(?:\[([^\]]+)\]|([^:=]+)):(\d{1,5})$/.exec(text)
  const [, service = '', address, name = '', port = ''] = match ?? []
  if (match === null || Number(port) > 65_535) {
    throw new InvalidArgumentError('It must be like team-a/hooks=127.0.0.1:8443 or team-a/hooks:443=127.0.0.1:8443.')
  }
  return new Map(before).set(service, { host: address ?? name, port: Number(port) })
}

/** @throws InvalidArgumentError with what `parse` says, so that the flag is named */
function parsed<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It can not be read.')
  }
}

function parseUrl(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (protocol !== 'http:' && protocol !== 'https:') throw new InvalidArgumentError('It must be an http or https URL.')
  return text
}

function parseLevel(text: string): number {
  if (text === '0' || text === '1') return Number(text)
  throw new InvalidArgumentError('It must be 0 (values without a checksum) or 1 (with one).')
}

/** Each is a process with a heap of its own. */
const parseWorkers = (text: string): number => parseCountUpTo(text, 256)

function maxStoreOf({ maxStoreSize, storage }: UpFlags, command: Command): Pick<Config, 'maxStoreBytes'> {
  if (maxStoreSize === undefined) return {}
  if (storage.engine !== 'sqlite') {
    const instead = storage.engine === 'etcd' ? 'etcd has --quota-backend-bytes' : 'one in memory has no bound'
    command.error(`--max-store-size is of a SQLite store: ${instead}`)
  }
  return { maxStoreBytes: maxStoreSize }
}

/** `512Mi`, `8Gi`, `1Ti` in bytes. */
function parseStoreSize(text: string): number {
  const [, digits = '', unit = 'Mi'] = /^(\d+)(Mi|Gi|Ti)$/.exec(text) ?? []
  const bytes = Number(digits) * 1024 ** ({ Mi: 2, Gi: 3, Ti: 4 }[unit] ?? 2)
  if (digits === '' || bytes < leastMaxStoreBytes) {
    throw new InvalidArgumentError(
      `It must be like 512Mi or 8Gi, and no less than ${leastMaxStoreBytes / 1024 ** 2}Mi.`,
    )
  }
  return bytes
}
