/** `borough why`: what keeps a namespace from being ready, or gone. */
import type { Command } from 'commander'
import { namespaceNamed } from './namespace-name.ts'
import { outputOption, printAnswer } from './output.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'
import { awaitNamespace, type WaitFlags, withWaitFlags } from './wait-flags.ts'

type WhyFlags = RemoteFlags & WaitFlags

/** What it says to a script. 1 is a fault: not found out. */
const exitCodes = { nothing: 0, held: 2, notThere: 3 } as const

export function addWhyCommand(program: Command): void {
  const command = program
    .command('why')
    .description('say why a namespace is not ready or not gone, who must act, and what helps')
    .argument('<namespace>')
  withWaitFlags(withRemoteFlags(command), 'first until it is ready or gone, or the time is up')
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
It reads with the rights of the caller, so it works against any cluster. Of a webhook or a policy that refuses the
deletion it learns by a dry run. Of a ClusterResourceQuota that counts the namespace it tells what is used of what,
and whose. Exit codes: 0 nothing holds the namespace, 2 it is not ready or not gone, 3 there is no
such namespace, 1 it could not be found out.

Examples:
  borough why team-a
  borough why team-a --wait --timeout 2m
  borough why team-a -o name      # what is left in it
  borough why team-a -o json | jq -r '.obstacles[].helps[].command'`,
    )
    .action(async (given: string, flags: WhyFlags) => {
      const name = namespaceNamed(given)
      const { systemClock } = await import('../base/clock.ts')
      const { explainNamespace } = await import('../apis/namespaces/explain.ts')
      const { isNotFound } = await import('../kube/status-error.ts')
      const { explanationText } = await import('./explanation-text.ts')
      const { client } = await openFlags(flags, 'why')
      if (flags.wait) await awaitNamespace(client, name, flags.timeout)
      try {
        const explanation = await explainNamespace(client, name, systemClock, AbortSignal.timeout(patienceMs))
        await printAnswer(command, {
          value: explanation,
          text: (paint, isWide, shown) => explanationText(shown, systemClock.now(), paint, isWide),
          names: explanation.left?.objects.map((object) => `${object.resource}/${object.name}`) ?? [],
        })
        process.exitCode = explanation.held ? exitCodes.held : exitCodes.nothing
      } catch (error) {
        if (!isNotFound(error)) throw error
        await printAnswer(command, {
          value: { namespace: name, state: 'NotFound' },
          text: (_paint, _isWide, { namespace }) => `There is no namespace ${namespace}.\n`,
          names: [],
        })
        process.exitCode = exitCodes.notThere
      }
    })
}
