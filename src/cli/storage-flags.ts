/** Which store a command works on: the text of `--storage`, and how to get into an etcd. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type EtcdTlsFiles, etcdPasswordVariable, type StorageChoice } from '../storage/storage-choice.ts'
import { refuseEtcdFlags } from './idle-flags.ts'
import { readableFile } from './path-flags.ts'

/** What the text says; how to get into an etcd is said by `EtcdFlags`. */
export type NamedStorage = { readonly engine: 'memory' | 'sqlite' } | ({ readonly engine: 'etcd' } & NamedEtcd)

export interface NamedEtcd {
  readonly endpoints: readonly string[]
  /** Who we are to etcd. */
  readonly user?: string
}

export interface EtcdFlags {
  readonly etcdPrefix: string
  readonly etcdChecksums?: true
  readonly etcdFormatLevel?: number
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
  readonly etcdPasswordFile?: string
}

/** `prefix`: false where the place names it itself. */
export function addEtcdOptions(command: Command, { prefix }: { readonly prefix: boolean }): Command {
  if (prefix) {
    command.addOption(
      new Option('--etcd-prefix <path>', 'in front of every key in etcd: /like/this')
        .argParser(parsePrefix)
        .default(''),
    )
  }
  return command
    .option(
      '--etcd-checksums',
      'write values with a checksum at once; every server on this etcd must be able to read them',
    )
    .option('--etcd-cafile <pem>', "speak TLS to etcd; the authority of its members' certificates")
    .option('--etcd-certfile <pem>', 'the client certificate for etcd')
    .option('--etcd-keyfile <pem>', 'its key')
    .option('--etcd-password-file <file>', `the password of etcd://user@…; else ${etcdPasswordVariable} holds it`)
}

/** @throws CommanderError for flags that make no sense together */
export function storageChoice(named: NamedStorage, flags: EtcdFlags, command: Command): StorageChoice {
  if ((flags.etcdCertfile === undefined) !== (flags.etcdKeyfile === undefined)) {
    command.error('--etcd-certfile and --etcd-keyfile go together')
  }
  if (named.engine !== 'etcd') {
    refuseEtcdFlags(command)
    return named
  }
  const { endpoints, user } = named
  const { etcdPrefix: prefix, etcdPasswordFile } = flags
  if (user === undefined && etcdPasswordFile !== undefined) {
    command.error('--etcd-password-file is of a user: etcd://user@host:port')
  }
  const tls = tlsOf(flags, command)
  return {
    engine: 'etcd',
    endpoints,
    prefix,
    ...(flags.etcdChecksums ? { checksums: true } : {}),
    ...(flags.etcdFormatLevel === undefined ? {} : { formatLevel: flags.etcdFormatLevel }),
    ...(tls ? { tls } : {}),
    ...(user === undefined
      ? {}
      : {
          user: {
            name: user,
            ...(etcdPasswordFile === undefined
              ? {}
              : { passwordFile: readableFile(command, 'etcd-password-file', etcdPasswordFile) }),
          },
        }),
  }
}

function tlsOf({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdFlags, command: Command): EtcdTlsFiles | undefined {
  if (etcdCafile === undefined && etcdCertfile === undefined) return undefined
  return {
    ...(etcdCafile === undefined ? {} : { caFile: readableFile(command, 'etcd-cafile', etcdCafile) }),
    ...(etcdCertfile === undefined ? {} : { certFile: readableFile(command, 'etcd-certfile', etcdCertfile) }),
    ...(etcdKeyfile === undefined ? {} : { keyFile: readableFile(command, 'etcd-keyfile', etcdKeyfile) }),
  }
}

/**
 * `etcd://[user@]host:port[,host:port…]`. @throws Error for a password: others can read command lines, and the message
 * must not repeat it
 */
export function parseEtcd(text: string): NamedEtcd | undefined {
  const [, user, hosts = ''] = /^etcd:\/\/(?:([^@/]*)@)?([^@]*)$/.exec(text) ?? []
  if (user?.includes(':')) {
    throw new Error(
      'a password does not belong on the command line, where others can read it: --etcd-password-file, or ' +
        `${etcdPasswordVariable}`,
    )
  }
  const endpoints = hosts.split(',').map((part) => part.replace(/^etcd:\/\//, ''))
  if (user === '' || !endpoints.every((e) => /^[^\s:/]+:\d+$/.test(e) || /^\[[^\]]+\]:\d+$/.test(e))) return undefined
  return { endpoints, ...(user === undefined ? {} : { user: decodeURIComponent(user) }) }
}

export function parseStorage(text: string): NamedStorage {
  if (text === 'sqlite' || text === 'memory') return { engine: text }
  const etcd = parseEtcd(text)
  if (etcd) return { engine: 'etcd', ...etcd }
  throw new InvalidArgumentError('It must be sqlite, memory, or etcd://[user@]host:port[,host:port…].')
}

function parsePrefix(text: string): string {
  if (text === '' || /^(?:\/[^/\s]+)+$/.test(text)) return text
  throw new InvalidArgumentError('It must begin with / and not end with it: /like/this.')
}
