/** `--wait` and `--timeout`: for what happens after the answer of the server. */
import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
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
  const { awaitSettled } = await import('../apis/namespaces/await-settled.ts')
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    await awaitSettled(client, name, signal)
    return true
  } catch (error) {
    if (!signal.aborted) throw error
  }
  process.stderr.write(`namespace ${name}: the time is up\n`)
  return false
}
