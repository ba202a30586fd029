/** The life of `borough console`: serve the page, say where, open it, wait for a signal. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { systemClock } from '../base/clock.ts'
import { startConsole } from '../console/console.ts'
import { listenForEnding } from './ending.ts'
import type { ListenAddress } from './listen-address.ts'
import { printReady } from './output.ts'
import { openFlags, type RemoteFlags } from './remote-flags.ts'

export interface ConsoleFlags extends RemoteFlags {
  readonly listen: ListenAddress
  readonly open: boolean
}

/** Until a signal; a second one ends the process at once. */
export async function runConsole(flags: ConsoleFlags, command: Command): Promise<void> {
  const remote = await openFlags(flags, 'console')
  using ending = listenForEnding()
  await using served = await startConsole({ remote, clock: systemClock, listen: flags.listen })
  await printReady(command, {
    value: { cluster: remote.server, address: served.address, pid: process.pid },
    text: (_paint, _isWide, shown) => `The console of ${shown.cluster} is at ${shown.address}\n`,
    names: [served.address],
  })
  await using opening = new AsyncDisposableStack()
  if (flags.open && !ending.signal.aborted) opening.use(await openBrowser(served.address))
  await ending.asked
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/**
 * By way of a file that only this user can read: the arguments of a process are shown to every user of the machine, and
 * the address holds the secret. Without a browser the printed address is all that is needed.
 */
async function openBrowser(address: string): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-console-'))
  const file = join(folder, 'open.html')
  const text = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}">\n`
  await writeFile(file, text, { mode: 0o600 })
  const [program = '', ...args] = openers[platform()] ?? ['xdg-open']
  const child = spawn(program, [...args, pathToFileURL(file).href], { stdio: 'ignore', detached: true })
  child.once('error', () => process.stderr.write(`${program} is not there: open the address yourself\n`))
  child.unref()
  return { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
