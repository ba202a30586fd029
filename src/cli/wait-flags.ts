/** `--wait` and `--timeout`: for what happens after the answer of the server. */
import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
import type { KubeObject } from '../kube/types.ts'
import { durationOption, minuteMs } from './duration.ts'

export interface WaitFlags {
  readonly wait: boolean
  readonly timeout: number
}

export const withWaitFlags = (command: Command, until: string, defaultMs: number = 10 * minuteMs): Command =>
  command
    .option('--wait', until, false)
    .addOption(durationOption('--timeout <duration>', 'with --wait: how long', defaultMs))

/** Until it is neither being made ready nor being deleted. False: the time was up. @throws StatusError */
export async function awaitNamespace(client: Client, name: string, timeoutMs: number): Promise<boolean> {
  const { namespaceResource } = await import('../apis/namespaces/types.ts')
  const { objectStates } = await import('../client/object-states.ts')
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    for await (const namespace of objectStates(client, namespaceResource, name, signal)) {
      if (namespace === undefined || isSettled(namespace)) return true
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  process.stderr.write(`namespace ${name}: the time is up\n`)
  return false
}

function isSettled(namespace: KubeObject): boolean {
  const { initializers } = (namespace['spec'] ?? {}) as { readonly initializers?: unknown }
  return namespace.metadata.deletionTimestamp === undefined && initializers === undefined
}
