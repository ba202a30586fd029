/**
 * Real kubectls for tests: every one this machine offers, each run with a home and a cache of its own.
 *
 * Offered are the one on the PATH and those named in `BOROUGH_KUBECTL` (paths, separated by colons). Nothing here knows
 * what a server should answer.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'

export interface Kubectl {
  readonly path: string
  /** `1.32.4` */
  readonly version: string
  /** 32 */
  readonly minor: number
}

/** One of each version. */
export const kubectls: readonly Kubectl[] = findKubectls()

/** The suite once for each; where there is none, a skipped test that says so. */
export function describeEachKubectl(suite: (kubectl: Kubectl) => void): void {
  if (kubectls.length > 0) describe.each(kubectls)('kubectl $version', suite)
  else test.skip('there is no kubectl on the PATH and none in BOROUGH_KUBECTL', () => {})
}

function findKubectls(): Kubectl[] {
  const paths = ['kubectl', ...(process.env['BOROUGH_KUBECTL']?.split(':') ?? [])].filter((path) => path !== '')
  const found = new Map<string, Kubectl>()
  for (const path of paths) {
    const { stdout } = spawnSync(path, ['version', '--client', '-o', 'json'], { encoding: 'utf8', timeout: 20_000 })
    const version = /"gitVersion":\s*"v(\d+\.(\d+)\.\d+)/.exec(stdout ?? '')
    if (version?.[1] === undefined) {
      if (path !== 'kubectl') throw new Error(`BOROUGH_KUBECTL names ${path}, which does not say its version`)
      continue
    }
    if (!found.has(version[1])) found.set(version[1], { path, version: version[1], minor: Number(version[2]) })
  }
  return [...found.values()]
}

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What was run and what it said, for the message of a failed test. */
  readonly transcript: string
}

export interface RunOptions {
  /** Whose kubeconfig to use; default: the one the session was opened with. */
  readonly kubeconfig?: string
  readonly input?: string
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>>
  /** Then it is killed, and `code` is null. */
  readonly timeoutMs?: number
}

/** A command is over before it is worth collecting what it left: a quarter of its time. What goes on is bounded. */
const collectsLate = { GOGC: 'off', GOMEMLIMIT: '256MiB' }

/** Patient: the machine may be busy. What must be fast is measured elsewhere. */
const defaultTimeoutMs = 100_000

export class KubectlSession implements AsyncDisposable {
  readonly kubectl: Kubectl
  readonly folder: string
  readonly #kubeconfig: string
  readonly #running = new Set<ChildProcess>()

  private constructor(kubectl: Kubectl, folder: string, kubeconfig: string) {
    this.kubectl = kubectl
    this.folder = folder
    this.#kubeconfig = kubeconfig
  }

  /** @param kubeconfig its text */
  static async open(kubectl: Kubectl, kubeconfig: string): Promise<KubectlSession> {
    const folder = await mkdtemp(join(tmpdir(), 'borough-kubectl-'))
    const session = new KubectlSession(kubectl, folder, join(folder, 'kubeconfig'))
    await writeFile(session.#kubeconfig, kubeconfig, { mode: 0o600 })
    return session
  }

  /** Keeps a text in a file that `kubectl -f` can read. */
  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name)
    await writeFile(path, text, { mode: 0o600 })
    return path
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const { child, output } = this.#spawn(args, options)
    child.stdin?.end(options.input ?? '')
    const code = await exitOf(child)
    return ran(this.kubectl, args, code, output)
  }

  /** A command that goes on, such as `get -w`. */
  start(args: readonly string[], options: RunOptions = {}): RunningKubectl {
    const { child, output } = this.#spawn(args, options)
    child.stdin?.end()
    return new RunningKubectl(child, output, args)
  }

  #spawn(args: readonly string[], options: RunOptions): { child: ChildProcess; output: Output } {
    const { kubeconfig = this.#kubeconfig, timeoutMs = defaultTimeoutMs } = options
    // Nothing of this machine's own: no kubeconfig, no aliases, no cache of another server.
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      KUBECONFIG: kubeconfig,
      TZ: 'UTC',
      ...collectsLate,
      ...options.env,
    }
    const child = spawn(this.kubectl.path, ['--cache-dir', join(this.folder, 'cache'), ...args], {
      env,
      cwd: this.folder,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      stdio: 'pipe',
    })
    this.#running.add(child)
    child.once('close', () => this.#running.delete(child))
    // It may end before it has read what it is given.
    child.stdin.on('error', () => {})
    const output: Output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    return { child, output }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#running].map((child) => {
        child.kill('SIGKILL')
        return exitOf(child)
      }),
    )
    await rm(this.folder, { recursive: true, force: true })
  }
}

interface Output {
  stdout: string
  stderr: string
}

export class RunningKubectl {
  readonly #child: ChildProcess
  readonly #output: Output
  readonly #args: readonly string[]

  constructor(child: ChildProcess, output: Output, args: readonly string[]) {
    this.#child = child
    this.#output = output
    this.#args = args
  }

  get stdout(): string {
    return this.#output.stdout
  }

  /** Resolves when it has printed this. @throws Error if it ends first */
  async seen(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (this.#output.stdout.includes(text)) resolve()
      }
      this.#child.stdout?.on('data', look)
      this.#child.once('close', () => {
        const { stdout, stderr } = this.#output
        reject(new Error(`kubectl ${this.#args.join(' ')} ended without printing ${text}:\n${stdout}${stderr}`))
      })
      look()
    })
  }

  /** Ends it and resolves when it is gone. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await exitOf(this.#child)
  }
}

function ran({ path }: Kubectl, args: readonly string[], code: number | null, { stdout, stderr }: Output): Ran {
  const transcript = `$ ${path} ${args.join(' ')}\n${stdout}${stderr}(exit code ${code ?? 'none: killed'})`
  return { code, stdout, stderr, transcript }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  return new Promise((resolve, reject) => {
    child.once('close', (code) => resolve(code))
    child.once('error', reject)
  })
}
