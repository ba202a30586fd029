/** `borough storage copy`, `borough backup`, `borough restore`: a whole store, moved or kept, and proved. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type {
  CopiedFigures,
  CopyResult,
  Place,
  RestorePoint,
  Source,
  StorePlace,
  Target,
  TargetPlace,
} from '../backup/backup.ts'
import type { ReportProgress } from '../base/progress.ts'
import { encryptedInWords, unopenedInWords } from './encrypted-text.ts'
import { addEncryptionOption, type EncryptionFlags, encryptionOf } from './encryption-flags.ts'
import { stoppable } from './ending.ts'
import { outputOption, printAnswer } from './output.ts'
import { readableFile, usableFolder, writableFile } from './path-flags.ts'
import { progressOf, withQuietFlag } from './progress-line.ts'
import { parsePoint } from './restore-point.ts'
import { addEtcdOptions, type EtcdFlags, type NamedEtcd, parseEtcd, storageChoice } from './storage-flags.ts'
import { addReencryptCommand } from './storage-reencrypt.ts'
import { addRepairCommand, addVerifyCommand } from './storage-repair.ts'
import { addStoreOptions, placeOptions, type StoreFlags, storeOf } from './store-place.ts'

/** `sqlite:DIR` or `etcd://host:port[,…][/prefix]`. */
type NamedPlace = { readonly dataDir: string } | (NamedEtcd & { readonly prefix: string })

interface CopyFlags extends Omit<EtcdFlags, 'etcdPrefix'>, EncryptionFlags {
  readonly from: NamedPlace
  readonly to: NamedPlace
}

interface BackupCommandFlags extends StoreFlags, EncryptionFlags {
  readonly to: string
  readonly incremental?: true
}

interface RestoreFlags extends StoreFlags, EncryptionFlags {
  readonly from: string
  readonly to?: RestorePoint
}

const digestHelp = `
What was written is read back: a digest over all keys and values must be that of what was read, or the command fails.
Nothing is ever overwritten. The keys of the certificate authority and of service accounts go along. Values that are
encrypted stay so; where those keys are files, --encryption-provider-config says how to encrypt or decrypt them. With it
each value is tried too: what none of its keys opens is copied and told`

export function addStorageCommand(program: Command): void {
  const storage = program.command('storage').description('whole stores')
  addVerifyCommand(storage)
  addRepairCommand(storage)
  addReencryptCommand(storage)
  const copy = storage.command('copy')
  copy
    .description('copy everything from one store to another, empty one, at one revision')
    .requiredOption('--from <place>', 'sqlite:DATA-DIR or etcd://host:port[,host:port…][/prefix]', parsePlace)
    .requiredOption('--to <place>', 'the same', parsePlace)
  addEtcdOptions(copy, { prefix: false })
  withQuietFlag(addEncryptionOption(copy))
    .addOption(outputOption('the result'))
    .addHelpText(
      'after',
      `${digestHelp}, and it ends with 1.
A server that runs on the source may go on; what it writes from now on is not in the copy, so stop it first to move.

Examples:
  borough storage copy --from sqlite:/var/lib/borough --to etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379
  borough storage copy --from etcd://10.0.0.1:2379/clusters/one --to sqlite:/var/lib/borough`,
    )
    .action(async (flags: CopyFlags, command: Command) => {
      const place = (named: NamedPlace): StorePlace => placeOf(named, flags, command)
      await run('copied', place(flags.from), place(flags.to), flags, command)
    })
}

export function addBackupCommand(program: Command): void {
  const backup = program.command('backup')
  backup
    .description('write everything that a store holds at one revision to a file, also while it is served')
    .requiredOption('--to <file>', 'a file that is not there yet; it will hold secrets, readable by you alone')
    .option('--incremental', 'into a folder: what changed since its newest backup, or everything where that is gone')
  withQuietFlag(addEncryptionOption(addStoreOptions(backup)))
    .addHelpText(
      'after',
      `${digestHelp}.

Examples:
  borough backup --data-dir /var/lib/borough --incremental --to /backup/borough
  borough backup --data-dir /var/lib/borough --to /backup/borough-monday
  borough backup --storage etcd://10.0.0.1:2379 --to /backup/borough-monday -o json`,
    )
    .action(async (flags: BackupCommandFlags, command: Command) => {
      if (flags.incremental) return backUpIncrementally(flags, command)
      await run('backed up', storeOf(flags, command), { file: writableFile(command, 'to', flags.to) }, flags, command)
    })
}

export function addRestoreCommand(program: Command): void {
  const restore = program.command('restore')
  restore
    .description('fill an empty store from a backup')
    .requiredOption('--from <file>', 'what borough backup wrote: a file, or a folder of --incremental')
    .option(
      '--to <point>',
      'of a folder: a revision, or a time like 2026-11-21T06:00:00Z; default: its end',
      parsePoint,
    )
  withQuietFlag(addEncryptionOption(addStoreOptions(restore)))
    .addHelpText(
      'after',
      `${digestHelp}, and it ends with 1.
A backup that is damaged or cut off is refused before anything is written.

Examples:
  borough restore --from /backup/borough-monday --data-dir /var/lib/borough
  borough restore --from /backup/borough-monday --storage etcd://10.0.0.1:2379`,
    )
    .action(async (flags: RestoreFlags, command: Command) => {
      const from = await restoreFrom(flags, command)
      await run('restored', from, storeOf(flags, command), flags, command)
    })
}

async function run(
  done: string,
  from: Place,
  to: TargetPlace,
  flags: EncryptionFlags,
  command: Command,
): Promise<void> {
  using progress = progressOf(command)
  const written = { isBegun: false }
  const left = (): string => {
    if ('file' in to) return `${to.file} ${existsSync(to.file) ? 'is whole, but was not read back' : 'is not there'}`
    if (!written.isBegun) return 'nothing was written'
    return `${'dataDir' in to ? to.dataDir : 'the target'} holds only a part: empty it before it is filled again`
  }
  const work = async (report: ReportProgress): Promise<void> => {
    const { CopiedValues, copyStore, sourceAt, targetAt, whatOpens } = await import('../backup/backup.ts')
    const options = { ...(await placeOptions(encryptionOf(flags, command).encryption)), report }
    using _ = options.encryption
    const began = performance.now()
    await using opened = new AsyncDisposableStack()
    const values = new CopiedValues(options)
    let source = values.of(sourceAt(from, options))
    if ('dataDir' in to && !existsSync(to.dataDir)) {
      // So that a source that can't be read leaves no data directory behind.
      const contents = opened.use(await source.read())
      const kept = { ...contents, [Symbol.asyncDispose]: () => Promise.resolve() }
      source = { ...source, read: () => Promise.resolve(kept) }
    }
    await using target = await targetAt(to, options)
    const result = await copyStore(source, tellingBegin(target, written), report)
    const seconds = (performance.now() - began) / 1000
    progress[Symbol.dispose]()
    const figures = values.figures()
    await printAnswer(command, {
      value: { ...result, seconds, ...figures },
      text: (_paint, _isWide, shown) =>
        `${inWords(done, source, target, shown)}\n${unopenedInWords(shown.unopened ?? [], whatOpens)}`,
      names: [target.name],
    })
    // A backup is good for whatever has the keys; what is filled here is to be served with those that were given.
    if (!('file' in to) && (figures.unopened ?? []).length > 0) process.exitCode = 1
  }
  await stoppable(progress.report, work, left)
}

/** What was begun stays, in part, where the work is stopped. */
const tellingBegin = (target: Target, written: { isBegun: boolean }): Target => ({
  ...target,
  begin(revision, from) {
    written.isBegun = true
    return target.begin(revision, from)
  },
})

async function backUpIncrementally(flags: BackupCommandFlags, command: Command): Promise<void> {
  const place = storeOf(flags, command)
  if (!('dataDir' in place)) return command.error("--incremental is of a SQLite store: take etcd's own snapshots")
  const folder = usableFolder(command, 'to', flags.to)
  using progress = progressOf(command)
  const work = async (report: ReportProgress): Promise<void> => {
    const { backUpInto } = await import('../backup/backup.ts')
    const { ensurePrivateDirectory } = await import('../base/private-files.ts')
    const options = { ...(await placeOptions(encryptionOf(flags, command).encryption)), report }
    using _ = options.encryption
    await ensurePrivateDirectory(folder)
    const done = await backUpInto(folder, place.dataDir, options)
    const what = done.full ? `everything, ${done.entries} entries` : `${done.entries} changes`
    progress[Symbol.dispose]()
    await printAnswer(command, {
      value: done,
      text: () => `${place.dataDir} backed up to ${done.path}: ${what}, at revision ${done.revision}; verified\n`,
      names: [done.path],
    })
  }
  await stoppable(progress.report, work, () => `no part of it is left in ${folder}`)
}

async function restoreFrom({ from, to }: RestoreFlags, command: Command): Promise<Place> {
  const path = resolve(from)
  const { stat } = await import('node:fs/promises')
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (found === undefined) return command.error(`--from: there is no file or folder ${from}`)
  if (found.isDirectory()) return { folder: path, point: to }
  if (to !== undefined) command.error('--to is of a folder of backup --incremental')
  readableFile(command, 'from', from)
  return { file: path }
}

function inWords(
  done: string,
  source: Source,
  target: Target,
  { entries, bytes, revision, sha256, encrypted, unopened }: CopyResult & CopiedFigures,
): string {
  const sealed = encryptedInWords(encrypted, unopened !== undefined)
  return (
    `${source.name} ${done} to ${target.name}: ${entries} entries${sealed}, ${mebibytes(bytes)}, at revision ` +
    `${revision}; verified, sha256 ${sha256}`
  )
}

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

function placeOf(named: NamedPlace, flags: Omit<EtcdFlags, 'etcdPrefix'>, command: Command): StorePlace {
  if ('dataDir' in named) return named
  const { prefix, ...etcd } = named
  const choice = storageChoice({ engine: 'etcd', ...etcd }, { ...flags, etcdPrefix: prefix }, command)
  if (choice.engine !== 'etcd') throw new Error('unreachable: an etcd was named')
  return { etcd: choice }
}

function parsePlace(text: string): NamedPlace {
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length)
    return { dataDir: resolve(text.slice('sqlite:'.length)) }
  const [, hosts = '', prefix = ''] = /^(etcd:\/\/[^/]+(?:,(?:etcd:\/\/)?[^/,]+)*)((?:\/[^/\s]+)*)$/.exec(text) ?? []
  const etcd = parseEtcd(hosts)
  if (etcd) return { ...etcd, prefix }
  throw new InvalidArgumentError('It must be sqlite:DATA-DIR or etcd://host:port[,host:port…][/prefix].')
}
