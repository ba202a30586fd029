/** `borough finalize`: takes a finalizer off a namespace that its controller never removes. */
import type { Command } from 'commander'
import { oneLine } from './one-line.ts'
import { outputOption } from './output-option.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'

interface FinalizeFlags extends RemoteFlags {
  readonly remove: string
  readonly dryRun: boolean
  readonly output: 'text' | 'json'
}

export function addFinalizeCommand(program: Command): void {
  const command = program
    .command('finalize')
    .description('take a finalizer off a namespace that is being deleted, and off its content')
    .argument('<namespace>')
    .requiredOption('--remove <finalizer>', 'which one')
    .option('--dry-run', 'say what would be done', false)
  withRemoteFlags(command)
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
For the day when the finalizer's controller never comes back: what it would have cleaned up stays behind. Each removal
is an ordinary request: it needs the right to patch the object (for the namespace itself: update on
namespaces/finalize), and it stands in the audit log. The finalizer kubernetes can't be removed while anything is left
in the namespace.

Examples:
  borough why team-a
  borough finalize team-a --remove example.com/cleanup --dry-run
  borough finalize team-a --remove example.com/cleanup`,
    )
    .action(async (name: string, flags: FinalizeFlags) => {
      const { releaseFinalizer } = await import('../apis/namespaces/release.ts')
      const { client } = await openFlags(flags, 'finalize')
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
      if (flags.output === 'json') {
        process.stdout.write(`${JSON.stringify({ namespace: name, ...release, released }, null, 2)}\n`)
        return
      }
      const verb = flags.dryRun ? 'would be removed' : 'removed'
      for (const from of released) {
        process.stdout.write(`${flags.remove} ${verb} from ${from === 'namespace' ? `namespace ${name}` : from}\n`)
      }
    })
}
