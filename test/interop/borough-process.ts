/** `borough up` as somebody at a terminal runs it: a process of its own, on a data directory, from the source. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { type Exit, endProcess, isRunning, main, startServing, startTimeoutMs } from './serving-process.ts'

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line to its end. */
export async function borough(
  args: readonly string[],
  timeoutMs: number = startTimeoutMs,
  environment: Readonly<Record<string, string>> = {},
  cwd: string = process.cwd(),
): Promise<CliResult> {
  // Colours as the test says, not as the terminal that runs the tests.
  const { FORCE_COLOR: _, NO_COLOR: __, ...ours } = process.env
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...ours, ...environment },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** What is started, and what it is told beside the flags of every start. */
export interface Version {
  readonly program: string
  readonly flags: readonly string[]
}

const present: Version = { program: main, flags: [] }

export class BoroughProcess implements AsyncDisposable {
  readonly dataDir: string
  /** Of the next start. */
  version: Version
  readonly #folder: string
  #child: ChildProcess | undefined
  #listen = ''
  #kubeconfigPath = ''

  readonly #flags: readonly string[]

  readonly #onLog: ((text: string) => void) | undefined

  private constructor(
    folder: string,
    version: Version,
    flags: readonly string[],
    onLog: ((text: string) => void) | undefined,
  ) {
    this.#folder = folder
    this.version = version
    this.#flags = flags
    this.#onLog = onLog
    this.dataDir = join(folder, 'data')
  }

  /** `flags` are given to every start. */
  static async start(
    flags: readonly string[] = [],
    onLog?: (text: string) => void,
    version: Version = present,
  ): Promise<BoroughProcess> {
    const process = new BoroughProcess(await mkdtemp(join(tmpdir(), 'borough-up-')), version, flags, onLog)
    await process.start()
    return process
  }

  /** Starts it (again), on the same data and the same port; resolves when it serves. */
  async start(): Promise<void> {
    if (this.#listen === '') this.#listen = `127.0.0.1:${await freePort()}`
    const { program, flags } = this.version
    const where = ['--data-dir', this.dataDir, '--listen', this.#listen]
    const args = ['up', ...where, '--output', 'json', ...this.#flags, ...flags]
    const { child, ready } = await startServing<{ kubeconfig: string }>(args, {}, program)
    this.#child = child
    if (this.#onLog !== undefined) child.stderr?.on('data', this.#onLog)
    this.#kubeconfigPath = ready.kubeconfig
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('it does not run')
    return this.#child.pid
  }

  get listen(): string {
    return this.#listen
  }

  async adminKubeconfig(): Promise<string> {
    return readFile(this.#kubeconfigPath, 'utf8')
  }

  /** SIGSTOP, SIGCONT: it goes on running. */
  send(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** By itself. */
  async ended(): Promise<Exit> {
    const child = this.#child
    if (child === undefined) throw new Error('it does not run')
    return new Promise((resolve) => child.once('close', (code, by) => resolve({ code, signal: by })))
  }

  async end(signal: NodeJS.Signals): Promise<Exit> {
    const child = this.#child
    if (child === undefined) throw new Error('it does not run')
    this.#child = undefined
    return endProcess(child, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child !== undefined && isRunning(this.#child)) await this.end('SIGKILL')
    await rm(this.#folder, { recursive: true, force: true })
  }
}
