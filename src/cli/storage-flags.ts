/** Which store a command works on: the text of `--storage`, and how to get into an etcd. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { EtcdTlsFiles, StorageChoice } from '../app/config.ts'

/** What the text says; how to get into an etcd is said by `EtcdFlags`. */
export type NamedStorage =
  | { readonly engine: 'memory' | 'sqlite' }
  | { readonly engine: 'etcd'; readonly endpoints: readonly string[] }

export interface EtcdFlags {
  readonly etcdPrefix: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
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
    .option('--etcd-cafile <pem>', "speak TLS to etcd; the authority of its members' certificates")
    .option('--etcd-certfile <pem>', 'the client certificate for etcd')
    .option('--etcd-keyfile <pem>', 'its key')
}

/** @throws CommanderError for flags that make no sense together */
export function storageChoice(named: NamedStorage, flags: EtcdFlags, command: Command): StorageChoice {
  if ((flags.etcdCertfile === undefined) !== (flags.etcdKeyfile === undefined)) {
    command.error('--etcd-certfile and --etcd-keyfile go together')
  }
  if (named.engine !== 'etcd') return named
  const { endpoints } = named
  const tls = tlsOf(flags)
  return { engine: 'etcd', endpoints, prefix: flags.etcdPrefix, ...(tls ? { tls } : {}) }
}

function tlsOf({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdFlags): EtcdTlsFiles | undefined {
  if (etcdCafile === undefined && etcdCertfile === undefined) return undefined
  return {
    ...(etcdCafile === undefined ? {} : { caFile: resolve(etcdCafile) }),
    ...(etcdCertfile === undefined ? {} : { certFile: resolve(etcdCertfile) }),
    ...(etcdKeyfile === undefined ? {} : { keyFile: resolve(etcdKeyfile) }),
  }
}

export function parseEtcd(text: string): readonly string[] | undefined {
  if (!text.startsWith('etcd://')) return undefined
  const endpoints = text.split(',').map((part) => part.replace(/^etcd:\/\//, ''))
  return endpoints.every((e) => /^[^\s:/]+:\d+$/.test(e) || /^\[[^\]]+\]:\d+$/.test(e)) ? endpoints : undefined
}

export function parseStorage(text: string): NamedStorage {
  if (text === 'sqlite' || text === 'memory') return { engine: text }
  const endpoints = parseEtcd(text)
  if (endpoints) return { engine: 'etcd', endpoints }
  throw new InvalidArgumentError('It must be sqlite, memory, or etcd://host:port[,host:port…].')
}

function parsePrefix(text: string): string {
  if (text === '' || /^(?:\/[^/\s]+)+$/.test(text)) return text
  throw new InvalidArgumentError('It must begin with / and not end with it: /like/this.')
}
