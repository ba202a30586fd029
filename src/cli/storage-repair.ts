/** `borough storage verify` and `borough storage repair`: is a store what was written, and what to do if not. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { DamagedEntry, Remedy, Verification } from '../backup/backup.ts'
import type { Paint } from './colour.ts'
import { printAnswer } from './output.ts'
import { readableFile } from './path-flags.ts'
import { progressOf, withQuietFlag } from './progress-line.ts'
import { addStoreOptions, placeOptions, type StoreFlags, storeOf } from './store-place.ts'
import { tableText } from './table.ts'

interface RepairFlags extends StoreFlags {
  readonly key?: string
  readonly with?: Remedy
  readonly from?: string
  readonly index?: true
  readonly acceptLoss?: true
  readonly yes?: true
}

export function addVerifyCommand(program: Command): void {
  const verify = program.command('verify')
  verify.description('check everything that a store holds against its checksums, also while it is served')
  withQuietFlag(addStoreOptions(verify))
    .addHelpText(
      'after',
      `
It ends with 1 where something is not what was written, and names it. A SQLite store is also checked against itself: the
index against the log, the log for gaps, and its end against the last acknowledged revision.

Examples:
  borough storage verify --data-dir /var/lib/borough
  borough storage verify --storage etcd://10.0.0.1:2379`,
    )
    .action(async (flags: StoreFlags, command: Command) => {
      const place = storeOf(flags, command)
      const { placeName, verifyStoreAt } = await import('../backup/backup.ts')
      using progress = progressOf(command)
      const options = { ...(await placeOptions()), report: progress.report }
      const { findings, ...figures } = await verifyStoreAt(place, options)
      progress[Symbol.dispose]()
      await printAnswer(command, {
        value: { ...figures, findings },
        names: [placeName(place)],
        text: (paint, _isWide, shown) =>
          [...shown.findings, `${inWords(figures)}: ${verdict(findings.length, paint)}`, ''].join('\n'),
      })
      process.exitCode = findings.length === 0 ? 0 : 1
    })
}

export function addRepairCommand(program: Command): void {
  const repair = program.command('repair')
  repair
    .description('list what is damaged and what can be done; with --key and --with, do it')
    .option('--key <key>', 'the damaged key, as verify names it')
    .addOption(
      new Option('--with <remedy>', 'the version before, the one of a backup, or the removal of the key').choices([
        'previous',
        'backup',
        'removal',
      ]),
    )
    .option('--from <file>', 'the backup to look into: a file, or a folder of --incremental')
    .option('--index', 'make the index of what exists anew from the log, where that is sound; history is given up')
    .option('--accept-loss', 'with --index: also where the log lacks something that was written, without it')
    .option('--yes', 'really do it')
  withQuietFlag(addStoreOptions(repair))
    .addHelpText(
      'after',
      `
Nothing is changed without --yes. A SQLite store must not be served meanwhile. A removal is a deletion to every client;
finalizers are not asked.

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
  if (flags.acceptLoss && !flags.index) command.error('--accept-loss goes with --index')
  if (flags.index && !('dataDir' in place)) command.error('--index is of a SQLite store')
  if ((flags.index || flags.key !== undefined) && !flags.yes) command.error('nothing was changed: say --yes to do it')
  const { damagedAt, rebuildIndexAt, repairAt } = await import('../backup/backup.ts')
  if (flags.index && 'dataDir' in place) {
    const { entries, revision } = await rebuildIndexAt(place.dataDir, flags.acceptLoss)
    return printAnswer(command, {
      value: { entries, revision },
      text: () => `the index was made anew from the log: ${entries} keys, at revision ${revision}\n`,
      names: [place.dataDir],
    })
  }
  const from = flags.from === undefined ? {} : { backup: backupAt(flags.from, command) }
  const options = { ...(await placeOptions()), ...from }
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
  const damaged = await damagedAt(place, { ...options, report: progress.report })
  progress[Symbol.dispose]()
  await printAnswer(command, {
    value: { damaged },
    text: (_paint, isWide, shown) => {
      if (damaged.length === 0) return 'no entry is damaged\n'
      return isWide ? tableText(damagedColumns, shown.damaged.map(damagedRow)) : shown.damaged.map(offer).join('')
    },
    names: damaged.map(({ key }) => key),
  })
}

function backupAt(from: string, command: Command): string {
  const isFolder = from !== '' && statSync(from, { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder ? resolve(from) : readableFile(command, 'from', from)
}

const verdict = (findings: number, paint: Paint): string =>
  findings === 0 ? paint('good', 'all is sound') : paint('bad', `${findings} findings`)

const damagedColumns = ['KEY', 'REVISION', 'PREVIOUS', 'IN BACKUP', 'DAMAGE']

const damagedRow = ({ key, revision, previous, inBackup, damage }: DamagedEntry): readonly string[] => [
  key,
  String(revision),
  String(previous ?? '<none>'),
  inBackup ? 'yes' : 'no',
  damage,
]

function offer({ key, damage, previous, inBackup }: DamagedEntry): string {
  const remedies = [
    ...(previous === undefined ? [] : [`  --key ${key} --with previous    (revision ${previous})`]),
    ...(inBackup ? [`  --key ${key} --with backup`] : []),
    `  --key ${key} --with removal`,
  ]
  return `${damage}\n${remedies.join('\n')}\n`
}

function inWords({ revision, entries, changes, unsealed = 0 }: Omit<Verification, 'findings'>): string {
  const history = changes === undefined ? '' : `, ${changes} changes`
  const old = unsealed === 0 ? '' : ` (${unsealed} from before there were checksums)`
  return `${entries} entries${history}${old} at revision ${revision}`
}
