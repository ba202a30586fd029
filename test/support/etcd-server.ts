/**
 * Real etcd servers for tests: each on free loopback ports, with its data in a temporary folder, gone with the test.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

const versionOf = (program: string): string | undefined =>
  /etcd Version: (\S+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]

/** undefined when there is no `etcd` on the PATH: tests that need one are skipped, and say so. */
export const etcdVersion: string | undefined = versionOf('etcd')

/**
 * What the contract of storage engines is kept on: that etcd, and one that BOROUGH_ETCD_NEWER names, if it is another.
 */
export const etcdPrograms: readonly { readonly program: string; readonly version: string | undefined }[] = [
  { program: 'etcd', version: etcdVersion },
  ...[process.env['BOROUGH_ETCD_NEWER'] ?? ''].flatMap((program) => {
    const version = program === '' ? undefined : versionOf(program)
    return version === undefined || version === etcdVersion ? [] : [{ program, version }]
  }),
]

export const etcdMissing = 'there is no etcd on the PATH'

export interface EtcdServerOptions {
  /** Further flags, such as `--quota-backend-bytes=…`. */
  readonly flags?: readonly string[]
  readonly scheme?: 'http' | 'https'
  /** Default: the one on the PATH. */
  readonly program?: string
}

export interface EtcdClusterOptions {
  /** Further flags of each. */
  readonly flags?: readonly string[]
  /** A machine of its own for each. By default all are on loopback. */
  readonly places?: readonly { readonly address: string; readonly within: readonly string[] }[]
  /** Called with the folder of each before it starts. */
  readonly prepare?: (folder: string, member: number) => void
}

export class EtcdServer implements AsyncDisposable {
  readonly endpoint: string
  readonly #folder: string
  #flags: readonly string[]
  readonly #program: string
  readonly #within: readonly string[]
  #process: ChildProcess | undefined

  private constructor(
    endpoint: string,
    folder: string,
    flags: readonly string[],
    program: string = 'etcd',
    within: readonly string[] = [],
  ) {
    this.#within = within
    this.endpoint = endpoint
    this.#folder = folder
    this.#flags = flags
    this.#program = program
  }

  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const folder = await mkdtemp(join(tmpdir(), 'borough-etcd-'))
    const client = `${options.scheme ?? 'http'}://127.0.0.1:${await freePort()}`
    const peer = `http://127.0.0.1:${await freePort()}`
    const flags = [
      '--name=test',
      `--data-dir=${folder}/data`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=test=${peer}`,
      // One member has nobody to wait for before it elects itself.
      '--heartbeat-interval=20',
      '--election-timeout=200',
      '--logger=zap',
      '--log-outputs=stderr',
      ...(options.flags ?? []),
    ]
    const server = new EtcdServer(client, folder, flags, options.program)
    await server.start()
    return server
  }

  /** Members of one cluster, all of them up. */
  static async startCluster(count: number, options: EtcdClusterOptions = {}): Promise<EtcdServer[]> {
    const { flags = [], places = [], prepare } = options
    const ports = await Promise.all(Array.from({ length: count * 2 }, freePort))
    const host = (i: number): string => places[i]?.address ?? '127.0.0.1'
    const peer = (i: number): string => `http://${host(i)}:${ports[count + i]}`
    const members = Array.from({ length: count }, (_, i) => `m${i}=${peer(i)}`).join(',')
    const servers = await Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const folder = await mkdtemp(join(tmpdir(), `borough-etcd-m${i}-`))
        prepare?.(folder, i)
        const client = `http://${host(i)}:${ports[i]}`
        const its = [
          `--name=m${i}`,
          `--data-dir=${folder}/data`,
          `--listen-client-urls=${client}`,
          `--advertise-client-urls=${client}`,
          `--listen-peer-urls=${peer(i)}`,
          `--initial-advertise-peer-urls=${peer(i)}`,
          `--initial-cluster=${members}`,
          '--heartbeat-interval=50',
          '--election-timeout=500',
          '--logger=zap',
          '--log-outputs=stderr',
          ...flags,
        ]
        return new EtcdServer(client, folder, its, undefined, places[i]?.within)
      }),
    )
    await Promise.all(servers.map((server) => server.start()))
    return servers
  }

  /** Starts it (again), on the same ports and data; resolves when it serves clients. */
  async start(): Promise<void> {
    const [command = '', ...args] = [...this.#within, this.#program, ...this.#flags]
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    let log = ''
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', () => reject(new Error(`etcd did not start:\n${log}`)))
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-8000)
        if (/serving (?:insecure )?client (?:requests|traffic)/.test(text)) resolve()
      })
    })
  }

  /** False: it was stopped, or has ended by itself. */
  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** SIGSTOP: it answers nobody, and its connections stay open. */
  pause(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Where the other members reach it. */
  get peer(): string {
    return this.#flags.find((flag) => flag.startsWith('--initial-advertise-peer-urls='))?.split('=')[1] ?? ''
  }

  get name(): string {
    return this.#flags.find((flag) => flag.startsWith('--name='))?.split('=')[1] ?? ''
  }

  /** Of a member that is stopped, and was taken out of its cluster and added anew: it has no data. */
  async startAnew(): Promise<void> {
    await rm(join(this.#folder, 'data'), { recursive: true, force: true })
    this.#flags = [...this.#flags, '--initial-cluster-state=existing']
    await this.start()
  }

  /** Of a member that is stopped, and alone: a new cluster takes its place, of another token and without data. */
  async startAsAnother(): Promise<void> {
    await rm(join(this.#folder, 'data'), { recursive: true, force: true })
    this.#flags = [...this.#flags, '--initial-cluster-token=another']
    await this.start()
  }

  /** Ends the process and keeps the data. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.kill(signal)
    })
  }

  /** Of a member that is stopped: keeps its data as it is now, as a snapshot does. */
  async keepData(): Promise<void> {
    await cp(join(this.#folder, 'data'), join(this.#folder, 'kept'), { recursive: true })
  }

  /** Of a member that is stopped: it has what was kept, and nothing of what came after. */
  async putBackData(): Promise<void> {
    await rm(join(this.#folder, 'data'), { recursive: true })
    await cp(join(this.#folder, 'kept'), join(this.#folder, 'data'), { recursive: true })
  }

  /** By the maintenance API, while it serves. Answers the file. */
  async saveSnapshot(): Promise<string> {
    const answer = await fetch(`${this.endpoint}/v3/maintenance/snapshot`, { method: 'POST', body: '{}' })
    const pieces = (await answer.text()).trim().split('\n')
    const blobs = pieces.map((piece) => {
      const { result } = JSON.parse(piece) as { result?: { blob?: string } }
      return Buffer.from(result?.blob ?? '', 'base64')
    })
    const file = join(this.#folder, 'snapshot')
    await writeFile(file, Buffer.concat(blobs))
    return file
  }

  /** Of a member that is stopped, and alone. `etcdutl`: runs etcd's own tool with these arguments. */
  async restoreSnapshot(file: string, etcdutl: (args: readonly string[]) => void): Promise<void> {
    await rm(join(this.#folder, 'data'), { recursive: true })
    const kept = ['--name=', '--data-dir=', '--initial-advertise-peer-urls=', '--initial-cluster=']
    const flags = this.#flags.filter((flag) => kept.some((name) => flag.startsWith(name)))
    etcdutl(['snapshot', 'restore', file, ...flags])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
