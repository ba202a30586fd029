/** `borough doctor`: is everything in order, and what to do if not. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Remote } from '../client/remote.ts'
import type { Finding } from '../doctor/doctor.ts'
import { openFlags, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'

interface DoctorFlags extends RemoteFlags {
  readonly dataDir?: string
  readonly namespace: string
  readonly output: 'text' | 'json' | 'yaml'
}

const usualDataDir = '.borough'

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description('examine a data directory and a server: say how each thing is, and what to do')
    .option('--data-dir <dir>', `of a server, running or not; default: ${usualDataDir}, where neither is named`)
  withRemoteFlags(command)
    .option('--namespace <name>', "where borough populate's Secret and Lease are", 'borough-system')
    .addOption(
      new Option('-o, --output <format>', 'how it is printed').choices(['text', 'json', 'yaml']).default('text'),
    )
    .addHelpText(
      'after',
      `
Of a data directory: modes, lock, store, room on the disk, dates of certificates, and the server that runs on it. Of a
server: whether it answers, its clock, certificates, webhooks and policies; where it does not populate namespaces by
itself, whether borough populate can run there, and what it installed. Nothing is written, and no secret is printed.
Exit codes: 0 nothing failed, 1 something did.

Examples:
  borough doctor
  borough doctor --data-dir /var/lib/borough -o json
  borough doctor --kubeconfig ~/.kube/config --context production`,
    )
    .action(async (flags: DoctorFlags) => {
      const named = flags.dataDir ?? ((flags.kubeconfig ?? flags.context) ? undefined : usualDataDir)
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
      process.stdout.write(await printed(findings, flags.output))
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

async function printed(findings: readonly Finding[], output: DoctorFlags['output']): Promise<string> {
  if (output === 'json') return `${JSON.stringify({ findings }, null, 2)}\n`
  if (output === 'yaml') {
    const { stringify } = await import('yaml')
    return stringify({ findings }, { lineWidth: 0 })
  }
  const lines = findings.map(
    ({ status, check, message, remedy }) =>
      `${status.padEnd(4)}  ${check}: ${message}\n${remedy === undefined ? '' : `      → ${remedy}\n`}`,
  )
  const count = (wanted: string): number => findings.filter(({ status }) => status === wanted).length
  return `${lines.join('')}${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed\n`
}
