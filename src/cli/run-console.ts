/** The life of `borough console`: serve the page, say where, open it, wait for a signal. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemClock } from '../base/clock.ts'
import { startConsole } from '../console/console.ts'
import type { ConsoleFlags } from './console.ts'
import { openFlags } from './remote-flags.ts'

/** Until SIGINT or SIGTERM. */
export async function runConsole(flags: ConsoleFlags): Promise<void> {
  const remote = await openFlags(flags, 'console')
  await using served = await startConsole({ remote, clock: systemClock, listen: flags.listen })
  const signalled = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  // After that: a process that waits for this line may send a signal at once.
  process.stdout.write(
    flags.output === 'json'
      ? `${JSON.stringify({ cluster: remote.server, address: served.address, pid: process.pid })}\n`
      : `The console of ${remote.server} is at ${served.address}\n`,
  )
  await using opening = new AsyncDisposableStack()
  if (flags.open) opening.use(await openBrowser(served.address))
  await signalled
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
