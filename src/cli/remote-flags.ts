/** Flags of the commands that speak to a server as any client does, and what they open. */
import type { Command } from 'commander'
import type { Remote, RemoteOptions } from '../client/remote.ts'
import { unreadable } from './paths.ts'

export interface RemoteFlags {
  readonly kubeconfig?: string
  readonly context?: string
}

export function withRemoteFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'which server, and as whom; default: $KUBECONFIG, ~/.kube/config, the account of the pod',
    )
    .option('--context <name>', 'a context of that file other than its current one')
}

/** @param command as it stands in the audit log: `borough/why` */
export async function openFlags(
  { kubeconfig, context }: RemoteFlags,
  command: string,
  more: Pick<RemoteOptions, 'onAnswer' | 'onWarning'> = {},
): Promise<Remote> {
  const problem = kubeconfig === undefined ? undefined : unreadable(kubeconfig)
  if (problem !== undefined) throw new Error(`--kubeconfig: ${problem}`)
  const { openRemote } = await import('../client/remote.ts')
  return openRemote({
    ...more,
    userAgent: `borough/${command}`,
    ...(kubeconfig === undefined ? {} : { kubeconfigPath: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  })
}

/** Longer than any answer takes that is worth waiting for at a terminal. */
export const patienceMs = 60_000
