/** `borough why-denied`: why a user may not do something, and what would allow it. */
import type { Command } from 'commander'
import { parseNamespace } from './namespace-name.ts'
import { outputOption, printAnswer } from './output.ts'
import { openFlags, patienceMs, type RemoteFlags, withRemoteFlags } from './remote-flags.ts'

interface WhyDeniedFlags extends RemoteFlags {
  readonly namespace?: string
  readonly allNamespaces: boolean
  readonly user?: string
  readonly group: readonly string[]
}

/** What it says to a script. 1 is a fault: not found out. */
const exitCodes = { allowed: 0, denied: 2 } as const

export function addWhyDeniedCommand(program: Command): void {
  const command = program
    .command('why-denied')
    .description('say why a user may not do something, which bindings allow it to others, and which roles would')
    .argument('<verb>', 'get, list, watch, create, update, patch, delete, deletecollection, bind, use, …')
    .argument('<what>', 'a resource (pods, deployments.apps, pods/log) or a path (/metrics)')
    .argument('[name]', 'of one object')
  withRemoteFlags(command)
    .option('-n, --namespace <name>', 'default: that of the context, else default', parseNamespace)
    .option('-A, --all-namespaces', 'in all namespaces', false)
    .option('--user <name>', 'about whom; default: yourself')
    .option('--group <name>', 'a group of that user; repeatable', (name: string, all: string[]) => [...all, name], [])
    .addOption(outputOption('it'))
    .addHelpText(
      'after',
      `
It reads with the rights of who asks, so it works against any cluster, and shows of roles and bindings what you may
read.
Exit codes: 0 it is allowed, 2 it is not, 1 it could not be found out.

Examples:
  borough why-denied create deployments.apps -n team-a
  borough why-denied get secrets db -n team-a --user dev1 --group devs
  borough why-denied get secrets -n team-a -o name      # the roles that would allow it
  borough why-denied get /metrics --user system:serviceaccount:monitoring:prometheus`,
    )
    .action(async (verb: string, target: string, name: string | undefined, flags: WhyDeniedFlags) => {
      if (flags.user === undefined && flags.group.length > 0) command.error('--group needs --user')
      const { whyDenied } = await import('../apis/rbac/why-denied.ts')
      const { refusalText } = await import('./refusal-text.ts')
      const { client, namespace: usual } = await openFlags(flags, 'why-denied')
      const subject = flags.user === undefined ? undefined : { user: flags.user, groups: flags.group }
      const namespace = flags.allNamespaces ? '' : (flags.namespace ?? usual ?? 'default')
      const question = { verb, target, name: name ?? '', namespace, subject }
      const answer = await whyDenied(client, question, AbortSignal.timeout(patienceMs))
      await printAnswer(command, {
        value: answer,
        text: (paint, isWide) => refusalText(answer, paint, isWide),
        names:
          answer.explanation?.roles.map(
            (role) => `${role.kind.toLowerCase()}.rbac.authorization.k8s.io/${role.name}`,
          ) ?? [],
      })
      process.exitCode = answer.allowed ? exitCodes.allowed : exitCodes.denied
    })
}
