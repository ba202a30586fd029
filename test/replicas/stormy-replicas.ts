/** Replicas in a storm: what befalls them, what etcd tells of it, and what they show when it is over. */
import { clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import type { Client } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { RestClient } from '../../src/client/rest-client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import type { EtcdServer } from '../support/etcd-server.ts'
import { compactAt, followCommits, type RawCommit, readObjects } from './etcd-commits.ts'
import { pause, supervised } from './faults.ts'
import { clientOf, trustOf } from './kubeconfig-client.ts'
import { printAmounts } from './quota-recount.ts'
import { createTemplate, type StormTotals, storm } from './quota-storm.ts'
import { add, amountsIn, QuotaTruth } from './quota-truth.ts'
import { randomFrom } from './recorded-load.ts'
import type { ClusterQuota } from './stored-quotas.ts'

export interface StormFault {
  readonly name: string
  /** Resolves when all that was stopped goes again. */
  run(): Promise<void>
}

const clientsEach = 4
/** Before a fault, and after it, however long they take. */
const commitsAround = 40
const count = 3
/** Commits that lead up to a failure, and characters of each change. */
const [toldCommits, toldLength] = [25, 600]
/** A guard: how long it may take until all is counted that was asked for. */
const quietMs = 120_000
const leaseMs = 3_000
/** Of a start beside all others: a supervisor never gives up. */
const mostStarts = 40
const again = <T>(start: () => Promise<T>): Promise<T> => supervised(start, mostStarts)
const flags = [
  '--log-level=error',
  `--leader-elect-lease-duration=${leaseMs}ms`,
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
]
const secrets = { group: '', version: 'v1', resource: 'secrets' }

export class StormyReplicas implements AsyncDisposable {
  readonly random: () => number
  readonly #etcd: EtcdServer
  readonly #replicas: readonly BoroughProcess[]
  readonly #kubeconfig: string
  readonly #truth = new QuotaTruth()
  readonly #problems: string[] = []
  readonly #told: RawCommit[] = []
  readonly #totals: StormTotals = { answers: new Map(), faults: [] }
  readonly #stop = new AbortController()
  readonly #following: Promise<void>
  readonly #clients = new Map<string, Client>()
  #seen = 0
  #commits = 0
  #rounds = 0

  private constructor(etcd: EtcdServer, replicas: readonly BoroughProcess[], kubeconfig: string, seed: number) {
    this.#etcd = etcd
    this.#replicas = replicas
    this.#kubeconfig = kubeconfig
    this.random = randomFrom(seed)
    // From the very first commit on.
    this.#following = followCommits(etcd.endpoint, 0, (commit) => this.#take(commit), this.#stop.signal).catch(
      (error: unknown) => void this.#problems.push(`etcd could not be followed: ${String(error)}`),
    )
  }

  static async start(etcd: EtcdServer, seed: number): Promise<StormyReplicas> {
    const { host } = new URL(etcd.endpoint)
    const started = Array.from({ length: count }, () =>
      again(() => BoroughProcess.start([`--storage=etcd://${host}`, ...flags])),
    )
    const replicas = await Promise.all(started)
    const stormy = new StormyReplicas(etcd, replicas, (await replicas[0]?.adminKubeconfig()) ?? '', seed)
    await createTemplate(stormy.#admin(0))
    return stormy
  }

  /** The storm, what befalls the replicas in it, and the quiet after: what does not hold. */
  async round({ run }: StormFault): Promise<readonly string[]> {
    this.#rounds++
    const over = new AbortController()
    const clients = Array.from({ length: clientsEach * count }, () => {
      const random = randomFrom(Math.floor(this.random() * 2 ** 31))
      return storm({ client: (at, user) => this.#client(at, user), random, totals: this.#totals }, over.signal)
    })
    const began = this.#commits
    await this.#until(began + commitsAround)
    await run()
    await this.#until(this.#commits + commitsAround)
    over.abort()
    await Promise.all(clients)
    if (this.#problems.length === 0) await this.#calm()
    const { faults } = this.#totals
    if (this.#problems.length === 0 && faults.length === 0) return []
    return [...this.#problems, ...faults, ...this.#told.map(printCommit)]
  }

  async #until(commits: number): Promise<void> {
    while (this.#commits < commits && this.#problems.length === 0) await pause(20)
  }

  faults(): readonly StormFault[] {
    const any = (): BoroughProcess => this.#replicas[Math.floor(this.random() * count)] as BoroughProcess
    return [
      {
        name: 'one replica after the other is killed, and started again',
        run: async () => {
          for (const replica of this.#replicas) await this.#kill(replica, this.random() * 400)
        },
      },
      {
        name: 'a replica is stopped beyond its lease, and history is compacted meanwhile',
        run: async () => {
          const replica = any()
          replica.send('SIGSTOP')
          await pause(leaseMs + this.random() * 2_500)
          await compactAt(this.#etcd.endpoint, this.#seen)
          replica.send('SIGCONT')
          await pause(1_000)
        },
      },
      {
        name: 'replicas are stopped for moments, two at a time, while one is killed',
        run: async () => {
          const moments = async (): Promise<void> => {
            for (let i = 0; i < 12; i++) {
              const replica = any()
              replica.send('SIGSTOP')
              await pause(this.random() * 300)
              replica.send('SIGCONT')
            }
          }
          await Promise.all([moments(), moments(), this.#kill(any(), this.random() * 1_000)])
          for (const replica of this.#replicas) replica.send('SIGCONT')
        },
      },
      {
        name: 'all replicas are killed at once, and etcd with them',
        run: async () => {
          await Promise.all([...this.#replicas.map((replica) => replica.end('SIGKILL')), this.#etcd.stop('SIGKILL')])
          await this.#etcd.start()
          await Promise.all(this.#replicas.map((replica) => again(() => replica.start())))
        },
      },
      {
        name: 'etcd is killed under them',
        run: async () => {
          await this.#etcd.stop('SIGKILL')
          await pause(this.random() * 500)
          await this.#etcd.start()
          await pause(2_000)
        },
      },
      {
        name: 'one replica after the other is ended, as an upgrade does it',
        run: async () => {
          for (const replica of this.#replicas) {
            await replica.end('SIGTERM')
            await again(() => replica.start())
          }
        },
      },
    ]
  }

  /** How many were looked at. */
  get commits(): number {
    return this.#commits
  }

  summary(): string {
    const answers = [...this.#totals.answers].sort(([, a], [, b]) => b - a).map(([what, n]) => `${what} ${n}`)
    return `${this.#rounds} rounds, ${this.#commits} commits were exact; ${answers.join(', ')}`
  }

  async #kill(replica: BoroughProcess, downMs: number): Promise<void> {
    await replica.end('SIGKILL')
    await pause(downMs)
    await again(() => replica.start())
  }

  #take(commit: RawCommit): void {
    this.#seen = commit.revision
    this.#commits++
    this.#told.push(commit)
    // What led to the first failure is told, and what came of it is not.
    if (this.#problems.length > 0) return
    if (this.#told.length > toldCommits) this.#told.shift()
    for (const problem of this.#truth.take(commit)) this.#problems.push(`at ${commit.revision}: ${problem}`)
  }

  /** Until everything is done that was asked for: then every replica shows what a recount gives. */
  async #calm(): Promise<void> {
    const admin = this.#admin(0)
    const end = performance.now() + quietMs
    let missing: string[] = []
    do {
      await this.#release(admin)
      await this.#catchUp()
      if (this.#problems.length > 0) return
      missing = [...this.#unfinished(), ...this.#truth.leftovers()]
      if (missing.length === 0) break
      await pause(200)
    } while (performance.now() < end)
    this.#problems.push(...missing)
    for (let at = 0; at < count && this.#problems.length === 0; at++) await this.#compare(at)
  }

  /** Of what goes with its namespace, finalizers are taken off: their owner has gone with the storm. */
  async #release(admin: Client): Promise<void> {
    for (const [name, { metadata }] of this.#truth.namespaces) {
      if (metadata.deletionTimestamp === undefined) continue
      for (const held of this.#truth.contentOf(name).get('secrets')?.keys() ?? []) {
        try {
          await admin.patch(secrets, { namespace: name, name: held }, { metadata: { finalizers: null } })
        } catch (error) {
          if (findStatusError(error)?.code !== 404) throw error
        }
      }
    }
  }

  #unfinished(): string[] {
    const going = [...this.#truth.namespaces].filter(([, { metadata }]) => metadata.deletionTimestamp !== undefined)
    const behind = [...this.#truth.quotas.values()].filter(
      ({ metadata, status }) => status?.observedGeneration !== metadata.generation,
    )
    return [
      ...going.map(([name]) => `${name} is still being deleted`),
      ...behind.map(({ metadata }) => `the spec of ${metadata.name} is still not counted everywhere`),
    ]
  }

  /** Until everything that was committed by now has been seen, and it is what etcd holds. */
  async #catchUp(): Promise<void> {
    const { revision } = await readObjects(this.#etcd.endpoint)
    while (this.#seen < revision && this.#problems.length === 0) await pause(20)
  }

  /** With a recount of etcd read as a whole. What a client gave up on may still come: then it is asked again. */
  async #compare(at: number): Promise<void> {
    const client = this.#admin(at)
    for (let before = await this.#recount(); ; ) {
      const { items } = await client.list(clusterQuotaResource)
      const shown = items.map((quota) => printStatus(quota as unknown as ClusterQuota)).sort()
      const after = await this.#recount()
      if (before === after) {
        if (shown.join('; ') === after) return
        this.#problems.push(`replica ${at} shows ${shown.join('; ')}, a recount gives ${after}`)
        return
      }
      before = after
    }
  }

  async #recount(): Promise<string> {
    const now = new QuotaTruth()
    this.#problems.push(...now.take(await readObjects(this.#etcd.endpoint)))
    const wanted = [...now.quotas.values()].map((quota) => {
      const total = new Map<string, number>()
      let selected = 0
      for (const { namespaces: its, used } of now.recountOf(quota).values()) {
        selected += its
        add(total, used)
      }
      return `${quota.metadata.name}: ${printAmounts(total)} in ${selected}`
    })
    return wanted.sort().join('; ')
  }

  #admin(at: number): Client {
    return clientOf(this.#kubeconfig, this.#replicas[at] as BoroughProcess)
  }

  /** Who may do everything, under a name of their own: creators and owners are charged apart. */
  #client(at: number, user: string): Client {
    const key = `${at} ${user}`
    let client = this.#clients.get(key)
    if (client === undefined) {
      const { listen } = this.#replicas[at] as BoroughProcess
      const headers = { 'impersonate-user': user, 'impersonate-group': 'system:masters' }
      const trust = trustOf(this.#kubeconfig)
      client = new RestClient({
        transport: httpsTransport({ server: `https://${listen}`, credentials: () => ({ ...trust, headers }) }),
        userAgent: 'storm',
      })
      this.#clients.set(key, client)
    }
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#following
    for (const replica of this.#replicas) await replica[Symbol.asyncDispose]()
  }
}

function printStatus({ metadata, status }: ClusterQuota): string {
  return `${metadata.name}: ${printAmounts(amountsIn(status?.total?.used ?? {}))} in ${status?.namespaceCount ?? 0}`
}

function printCommit({ revision, changes }: RawCommit): string {
  const text = (object: unknown): string =>
    JSON.stringify(object, (key, value: unknown) => (key === 'managedFields' ? undefined : value))
  const lines = changes.map(({ key, object }) => `  ${key} ${object ? text(object).slice(0, toldLength) : 'is gone'}`)
  return [`commit ${revision}`, ...lines].join('\n')
}
