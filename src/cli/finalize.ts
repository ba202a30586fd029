/** `borough finalize`: takes a finalizer off a namespace that its controller never removes. */
import type { Command } from 'commander'
import { namespaceNamed } from './namespace-name.ts'
import { oneLine } from './one-line.ts'
import { outputOption, printAnswer } from './output.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'
import { awaitNamespace, type WaitFlags, withWaitFlags } from './wait-flags.ts'
import { warningLines } from './warning-lines.ts'

interface FinalizeFlags extends RemoteFlags, WaitFlags {
  readonly remove: string
  readonly dryRun: boolean
}

export function addFinalizeCommand(program: Command): void {
  const command = program
    .command('finalize')
    .description('take a finalizer off a namespace that is being deleted, and off its content')
    .argument('<namespace>')
    .requiredOption('--remove <finalizer>', 'which one')
    .option('--dry-run', 'say what would be done', false)
  withWaitFlags(withRemoteFlags(command), 'until the namespace is gone')
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
For the day when the finalizer's controller never comes back: what it would have cleaned up stays behind. Each removal
is an ordinary request: it needs the right to patch the object (for the namespace itself: update on
namespaces/finalize), and it stands in the audit log. The finalizer kubernetes can't be removed while anything is left
in the namespace. Exit code 2: with --wait, it was not gone in time.

Examples:
  borough why team-a
  borough finalize team-a --remove example.com/cleanup --dry-run
  borough finalize team-a --remove example.com/cleanup --wait --timeout 1m`,
    )
    .action(async (given: string, flags: FinalizeFlags) => {
      const name = namespaceNamed(given)
      const { releaseFinalizer } = await import('../apis/namespaces/release.ts')
      const { client } = await openFlags(flags, 'finalize', { onWarning: warningLines(command) })
      const release = { finalizer: flags.remove, dryRun: flags.dryRun }
      const released = await releaseFinalizer(client, name, release, AbortSignal.timeout(patienceMs)).catch(
        async (error: unknown) => {
          const { findStatusError } = await import('../kube/status-error.ts')
          const left = findStatusError(error)?.details?.causes?.map((cause) => cause.message) ?? []
          if (left.length === 0) throw error
          throw new Error(`${oneLine(error)}: ${left.join(', ')}; 'borough why ${name}' says who must act`, {
            cause: error,
          })
        },
      )
      const verb = flags.dryRun ? 'would be removed' : 'removed'
      await printAnswer(command, {
        value: { namespace: name, ...release, released },
        text: (_paint, _isWide, shown) =>
          shown.released
            .map((from) => `${shown.finalizer} ${verb} from ${from === 'namespace' ? `namespace ${name}` : from}\n`)
            .join(''),
        names: released.map((from) => (from === 'namespace' ? `namespace/${name}` : from)),
      })
      if (!flags.wait || flags.dryRun) return
      // Beside the answer, which may be JSON.
      if (await awaitNamespace(client, name, flags.timeout)) process.stderr.write(`namespace ${name} is gone\n`)
      else process.exitCode = 2
    })
}
