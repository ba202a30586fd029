/** `borough storage verify` and `borough storage repair`: is a store what was written, and what to do if not. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { DamagedEntry, Remedy, RestorePoint, UnopenedToRepair, Verification } from '../backup/backup.ts'
import type { Paint } from './colour.ts'
import { encryptedInWords } from './encrypted-text.ts'
import { addEncryptionOption, type EncryptionFlags, encryptionOf } from './encryption-flags.ts'
import { printAnswer } from './output.ts'
import { readableFile } from './path-flags.ts'
import { progressOf, withQuietFlag } from './progress-line.ts'
import { parsePoint } from './restore-point.ts'
import { addStoreOptions, readingOptions, type StoreFlags, storeOf } from './store-place.ts'
import { tableText } from './table.ts'

interface VerifyFlags extends StoreFlags, EncryptionFlags {}

interface RepairFlags extends StoreFlags, EncryptionFlags {
  readonly key?: string
  readonly with?: Remedy
  readonly from?: string
  readonly to?: RestorePoint
  readonly index?: true
  readonly acceptLoss?: true
  readonly yes?: true
}

export function addVerifyCommand(program: Command): void {
  const verify = program.command('verify')
  verify.description('check everything that a store holds against its checksums, also while it is served')
  withQuietFlag(addEncryptionOption(addStoreOptions(verify)))
    .addHelpText(
      'after',
      `
It ends with 1 where something is not what was written, and names it. A SQLite store is also checked against itself:
the index against the log, the log for gaps, and its end against the last acknowledged revision. What is encrypted is
counted by key; with --encryption-provider-config what no key opens is named, apart from damage, and it ends with 1 too.

Examples:
  borough storage verify --data-dir /var/lib/borough
  borough storage verify --data-dir /var/lib/borough --encryption-provider-config encryption.yaml
  borough storage verify --storage etcd://10.0.0.1:2379`,
    )
    .action((flags: VerifyFlags, command: Command) => runVerify(flags, command))
}

async function runVerify(flags: VerifyFlags, command: Command): Promise<void> {
  const place = storeOf(flags, command)
  const { encryption: choice } = encryptionOf(flags, command)
  const { inOneLine, placeName, verifyStoreAt, whatOpens } = await import('../backup/backup.ts')
  using progress = progressOf(command)
  const options = { ...(await readingOptions(choice)), report: progress.report }
  using _ = options.encryption
  const verified = await verifyStoreAt(place, options)
  progress[Symbol.dispose]()
  await printAnswer(command, {
    value: verified,
    names: [placeName(place)],
    text: (paint, _isWide, shown) =>
      [
        ...shown.findings,
        ...(shown.unopened ?? []).map(inOneLine),
        ...furtherUnopened(shown),
        ...new Set((shown.unopened ?? []).map((each) => `to read what is not lost: ${whatOpens(each)}`)),
        `${inWords(shown)}: ${verdict(shown, paint)}`,
        '',
      ].join('\n'),
  })
  process.exitCode = isSound(verified) ? 0 : 1
}

export function addRepairCommand(program: Command): void {
  const repair = program.command('repair')
  repair
    .description('list what is damaged, or opened by no key, and what can be done; with --key and --with, do it')
    .option('--key <key>', 'the key, as verify names it')
    .addOption(
      new Option('--with <remedy>', 'the version before, the one of a backup, or the removal of the key').choices([
        'previous',
        'backup',
        'removal',
      ]),
    )
    .option('--from <file>', 'the backup to look into: a file, or a folder of --incremental')
    .option(
      '--to <point>',
      'with --from a folder: what was there at a revision, or a time like 2026-11-21T06:00:00Z; default: its end',
      parsePoint,
    )
    .option('--index', 'make the index of what exists anew from the log, where that is sound; history is given up')
    .option('--accept-loss', 'with --index: also where the log lacks something that was written, without it')
    .option('--yes', 'really do it')
  withQuietFlag(addEncryptionOption(addStoreOptions(repair)))
    .addHelpText(
      'after',
      `
Nothing is changed without --yes. A SQLite store must not be served meanwhile. A removal is a deletion to every client;
finalizers are not asked. With --encryption-provider-config values that none of its keys opens are listed too. Look for
the key first: with it they are as they were. While a KMS plugin is away, what it encrypted is left alone.

Examples:
  borough storage repair --data-dir /var/lib/borough
  borough storage repair --data-dir /var/lib/borough --key /registry/configmaps/team-a/c --with previous --yes
  borough storage repair --data-dir /var/lib/borough --key /registry/pods/a/b --with backup --from monday --yes`,
    )
    .action((flags: RepairFlags, command: Command) => run(flags, command))
}

async function run(flags: RepairFlags, command: Command): Promise<void> {
  const place = storeOf(flags, command)
  if ((flags.key === undefined) !== (flags.with === undefined)) command.error('--key and --with go together')
  if (flags.with === 'backup' && flags.from === undefined) command.error('--with backup needs --from <file>')
  if (flags.to !== undefined && flags.from === undefined) command.error('--to is of a folder that --from names')
  if (flags.acceptLoss && !flags.index) command.error('--accept-loss goes with --index')
  if (flags.index && !('dataDir' in place)) command.error('--index is of a SQLite store')
  if ((flags.index || flags.key !== undefined) && !flags.yes) command.error('nothing was changed: say --yes to do it')
  const { damagedAt, inOneLine, rebuildIndexAt, repairAt, whatOpens } = await import('../backup/backup.ts')
  if (flags.index && 'dataDir' in place) {
    const { entries, revision } = await rebuildIndexAt(place.dataDir, flags.acceptLoss)
    return printAnswer(command, {
      value: { entries, revision },
      text: () => `the index was made anew from the log: ${entries} keys, at revision ${revision}\n`,
      names: [place.dataDir],
    })
  }
  const { encryption: choice } = encryptionOf(flags, command)
  const from = flags.from === undefined ? {} : { backup: backupAt(flags.from, flags.to, command), point: flags.to }
  const options = { ...(await readingOptions(choice)), ...from }
  using _ = options.encryption
  if (flags.key !== undefined && flags.with !== undefined) {
    const { key, with: remedy } = flags
    const revision = await repairAt(place, options, key, remedy)
    return printAnswer(command, {
      value: { key, remedy, revision },
      text: (_paint, _isWide, shown) => `${shown.key} was repaired with ${remedy}, at revision ${revision}\n`,
      names: [key],
    })
  }
  using progress = progressOf(command)
  const found = await damagedAt(place, { ...options, report: progress.report })
  progress[Symbol.dispose]()
  await printAnswer(command, {
    value: found,
    text: (_paint, isWide, shown) => {
      const { damaged, unopened } = shown
      if (damaged.length + unopened.length === 0) return 'no entry is damaged\n'
      if (!isWide) {
        const offers = [...damaged.map(offer), ...unopened.map((each) => offerUnopened(each, inOneLine, whatOpens))]
        return [...offers, flags.from === undefined ? backupHint : ''].join('')
      }
      return tableText(
        damagedColumns,
        [...damaged, ...unopened.map((each) => ({ ...each, damage: each.reason }))].map(damagedRow),
      )
    },
    names: [...found.damaged, ...found.unopened].map(({ key }) => key),
  })
}

function backupAt(from: string, to: RestorePoint, command: Command): string {
  const isFolder = from !== '' && statSync(from, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isFolder && to !== undefined) command.error('--to is of a folder of backup --incremental')
  return isFolder ? resolve(from) : readableFile(command, 'from', from)
}

function furtherUnopened({ unopened = [], unopenedEntries = 0 }: Verification): readonly string[] {
  const further = unopenedEntries - unopened.length
  return further === 0 ? [] : [`and ${further} more that can't be decrypted`]
}

const isSound = ({ findings, unopenedEntries = 0 }: Verification): boolean => findings.length + unopenedEntries === 0

function verdict(verification: Verification, paint: Paint): string {
  const { findings, unopenedEntries = 0 } = verification
  if (isSound(verification)) return paint('good', 'all is sound')
  const told = [
    ...(findings.length === 0 ? [] : [`${findings.length} findings`]),
    ...(unopenedEntries === 0 ? [] : [`${unopenedEntries} entries that no key opens`]),
  ]
  return paint('bad', told.join(', '))
}

const backupHint = 'with --from <backup> it says what that holds of them, too\n'
const damagedColumns = ['KEY', 'REVISION', 'PREVIOUS', 'IN BACKUP', 'DAMAGE']

const damagedRow = ({ key, revision, previous, inBackup, damage }: DamagedEntry): readonly string[] => [
  key,
  String(revision),
  String(previous ?? '<none>'),
  inBackup ? 'yes' : 'no',
  damage,
]

function offer({ key, damage, previous, inBackup }: DamagedEntry): string {
  return `${damage}\n${remediesOf({ key, previous, inBackup })}`
}

type InOneLine = typeof import('../backup/backup.ts').inOneLine
type WhatOpens = typeof import('../backup/backup.ts').whatOpens

/** What is not lost is left alone. */
function offerUnopened(entry: UnopenedToRepair, inOneLine: InOneLine, whatOpens: WhatOpens): string {
  const line = inOneLine(entry)
  return `${line}\n  ${whatOpens(entry)}\n${entry.needs === 'key' ? remediesOf(entry) : ''}`
}

function remediesOf({ key, previous, inBackup }: Pick<DamagedEntry, 'key' | 'previous' | 'inBackup'>): string {
  const remedies = [
    ...(previous === undefined ? [] : [`  --key ${key} --with previous    (revision ${previous})`]),
    ...(inBackup ? [`  --key ${key} --with backup`] : []),
    `  --key ${key} --with removal`,
  ]
  return `${remedies.join('\n')}\n`
}

function inWords({ revision, entries, changes, unsealed = 0, encrypted, unopenedEntries }: Verification): string {
  const history = changes === undefined ? '' : `, ${changes} changes`
  const old = unsealed === 0 ? '' : ` (${unsealed} from before there were checksums)`
  const sealed = encryptedInWords(encrypted, unopenedEntries !== undefined)
  return `${entries} entries${sealed}${history}${old} at revision ${revision}`
}
