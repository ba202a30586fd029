/** `borough doctor`: is everything in order, and what to do if not. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Remote } from '../client/remote.ts'
import type { Finding, Health } from '../doctor/doctor.ts'
import type { Paint, Tone } from './colour.ts'
import { parseNamespace } from './namespace-name.ts'
import { outputOption, printAnswer } from './output.ts'
import { openFlags, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'
import { tableText } from './table.ts'

interface DoctorFlags extends RemoteFlags {
  readonly dataDir?: string
  readonly namespace: string
}

const usualDataDir = '.borough'
const tones = { ok: 'good', warn: 'warning', fail: 'bad' } satisfies Record<Health, Tone>

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('examine a data directory and a server: say how each thing is, and what to do')
    .option('--data-dir <dir>', `of a server, running or not; default: ${usualDataDir}, where neither is named`)
  withRemoteFlags(command)
    .option('--namespace <name>', "where borough populate's Secret and Lease are", parseNamespace, 'borough-system')
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
Of a data directory: modes, lock, store, room on the disk, dates of certificates, and the server that runs on it. Of a
server: whether it answers, its clock, what it warns of itself (/readyz?verbose), certificates, webhooks and policies;
where it does not populate namespaces by itself, whether borough populate can run there, and what it installed. Nothing
is written, and no secret is printed.
Exit codes: 0 nothing failed, 1 something did.

Examples:
  borough doctor
  borough doctor --data-dir /var/lib/borough -o json
  borough doctor -o wide      # a table
  borough doctor -o name      # what is not in order
  borough doctor --kubeconfig ~/.kube/config --context production`,
    )
    .action(async (flags: DoctorFlags) => {
      const isUsual = (flags.dataDir ?? flags.kubeconfig ?? flags.context) === undefined
      const named = isUsual ? usualDataDir : flags.dataDir
      const dataDir = named === undefined ? undefined : resolve(named)
      const { examine } = await import('../doctor/doctor.ts')
      const { systemClock } = await import('../base/clock.ts')
      const remote = await remoteOf(flags, dataDir)
      const findings = await examine(
        {
          namespace: flags.namespace,
          ...(dataDir === undefined ? {} : { dataDir }),
          ...(remote === undefined ? {} : { remote }),
        },
        systemClock,
      )
      await printAnswer(command, {
        value: {
          ...(dataDir === undefined ? {} : { dataDir }),
          ...(remote === undefined ? {} : { server: remote.server }),
          findings,
        },
        text: (paint, isWide, shown) =>
          (isUsual
            ? `Of ${shown.dataDir}, for neither --data-dir nor --kubeconfig or --context names another:\n`
            : '') + (isWide ? findingsTable : findingsText)(shown.findings, paint),
        names: findings.filter(({ status }) => status !== 'ok').map(({ check }) => check),
      })
      process.exitCode = findings.some(({ status }) => status === 'fail') ? 1 : 0
    })
}

/** The server of the kubeconfig, or the one that runs on the data directory. */
async function remoteOf(flags: DoctorFlags, dataDir: string | undefined): Promise<Remote | undefined> {
  if (dataDir === undefined || flags.kubeconfig !== undefined || flags.context !== undefined) {
    return openFlags(flags, 'doctor')
  }
  const { adminKubeconfigPath, dataDirLock } = await import('../datadir/data-dir.ts')
  const kubeconfig = adminKubeconfigPath(dataDir)
  if (!existsSync(kubeconfig) || (await dataDirLock(dataDir)).state === 'free') return undefined
  return openFlags({ kubeconfig }, 'doctor')
}

function findingsText(findings: readonly Finding[], paint: Paint): string {
  const lines = findings.map(
    ({ status, check, message, remedy }) =>
      `${paint(tones[status], status.padEnd(4))}  ${check}: ${message}\n` +
      (remedy === undefined ? '' : `      → ${remedy}\n`),
  )
  return `${lines.join('')}${summary(findings)}\n`
}

function findingsTable(findings: readonly Finding[]): string {
  const rows = findings.map(({ status, check, message, remedy = '' }) => [status, check, message, remedy])
  return `${tableText(['STATUS', 'CHECK', 'FINDING', 'WHAT TO DO'], rows)}${summary(findings)}\n`
}

function summary(findings: readonly Finding[]): string {
  const count = (wanted: Health): number => findings.filter(({ status }) => status === wanted).length
  return `${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed`
}
