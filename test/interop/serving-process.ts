/**
 * A command that serves, as a process of its own from the source: started, heard to be ready, and ended. BOROUGH_MAIN
 * names another program, such as a built one.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const main: string =
  process.env['BOROUGH_MAIN'] ?? fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
export const startTimeoutMs = 100_000

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * Resolves with its ready line, as `-o json` prints it. `within`: what the command is run by.
 * @throws Error with its log when it ends or says nothing
 */
export async function startServing<Ready>(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program: string = main,
  within: readonly string[] = [],
): Promise<{ child: ChildProcess; ready: Ready; log: () => string }> {
  const { child, said, log } = await startHeard(args, env, program, within)
  return { child, ready: JSON.parse(said) as Ready, log }
}

/** Resolves with what it says once it serves, in whatever form; `log`: the end of it. @throws as `startServing` */
export async function startHeard(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program: string = main,
  within: readonly string[] = [],
): Promise<{ child: ChildProcess; said: string; log: () => string }> {
  const [command = '', ...rest] = [...within, process.execPath, program, ...args]
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const name = `borough ${args[0]}`
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-8000)
  })
  const said = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} said nothing:\n${log}`)), startTimeoutMs)
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`${name} ended with ${code}:\n${log}`)))
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (!text.includes('\n')) return
      clearTimeout(timer)
      resolve(text)
    })
  })
  return { child, said, log: () => log }
}

export const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null

export function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('close', (code, by) => resolve({ code, signal: by }))
    child.kill(signal)
  })
}
