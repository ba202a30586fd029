/**
 * What a victim sees of each attack: server, victim and attacker are processes of their own, the victim an ordinary
 * user, the attacker another one on another address of the loopback. Right before each attack the victim is measured
 * undisturbed.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AttackTask } from '../fairness/attacker.ts'
import { attacks } from '../fairness/attacks.ts'
import type { Tally } from '../fairness/means.ts'
import type { VictimResult, VictimTask } from '../fairness/victim.ts'
import { type Connection, connect, type Endpoint } from '../load/connection.ts'
import { type Row, spread } from '../report.ts'
import { create, createNamespace, endpointOf } from '../target.ts'
import { type Bench, configMap } from './rows.ts'

const file = (name: string): string => fileURLToPath(new URL(`../fairness/${name}`, import.meta.url))
const executable = fileURLToPath(new URL('../../bin/borough.mjs', import.meta.url))

/** Of an attack. With what surrounds it: less than ten seconds. */
const times = { undisturbedMs: 2000, attackMs: 5000, leadMs: 500 }
const quickTimes = { undisturbedMs: 1000, attackMs: 2000, leadMs: 300 }
/** Of `--max-memory`: what clients may cause above cache and indices. */
const maxCausedMiB = 512
/** Whichever is more. */
const goal = { timesUndisturbed: 3, p99Ms: 100 }

/** As `bin/borough.mjs` starts Node. */
const flags = ['--max-semi-space-size=32', '--no-allocation-site-pretenuring']

class Child<Task, Result> implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(script: string, args: readonly string[] = []) {
    this.#child = fork(file(script), [...args], { execArgv: [...process.execArgv, ...flags] })
    this.#ended = once(this.#child, 'exit')
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  ask(task: Task): Promise<Result> {
    this.#child.send(task as object)
    return this.said()
  }

  /** @throws Error as the child says it */
  async said(): Promise<Result> {
    const [message] = (await Promise.race([
      once(this.#child, 'message'),
      this.#ended.then(() => Promise.reject(new Error('the process ended'))),
    ])) as [{ readonly error?: string; readonly result?: Result; readonly answer?: Result }]
    if (message.error !== undefined) throw new Error(message.error)
    return (message.result ?? message.answer) as Result
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect()
    await this.#ended
  }
}

/** As `held-turns.mjs` says it. */
interface Held {
  readonly heldMs: number
  readonly longestTurn: NonNullable<Row['longestTurn']>
}

interface World {
  readonly server: Child<string, Held>
  readonly victim: Child<VictimTask, VictimResult>
  readonly attacker: Child<AttackTask, Tally>
  readonly asVictim: Endpoint
  readonly asAttacker: Endpoint
}

/** At the address of `at`: the folder does not tell where a server on a free port is. */
async function endpointFor(dataDir: string, user: string, { host, port }: Endpoint): Promise<Endpoint> {
  const args = [executable, 'kubeconfig', '--data-dir', dataDir, '--user', user, '--group', 'tenants']
  return { ...endpointOf((await promisify(execFile)(process.execPath, args)).stdout), host, port }
}

async function bind(admin: Connection, user: string, namespace: string, role = 'edit'): Promise<void> {
  await create(admin, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}

/** Definitions of a group of its own, groups that it may act in, and a role with 10,000 rules that it may bind. */
async function grantOdds(admin: Connection): Promise<void> {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  const rulesOfRole = (start: number): object[] =>
    Array.from({ length: 1000 }, (_, i) => ({ apiGroups: [''], resources: [`r${start + i}`], verbs: ['get'] }))
  for (let i = 0; i < 10; i++) {
    await create(admin, roles, {
      metadata: { name: `part-${i}`, labels: { part: 'yes' } },
      rules: rulesOfRole(i * 1000),
    })
  }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] }
  await create(admin, roles, { metadata: { name: 'many-rules' }, aggregationRule, rules: [] })
  await create(admin, roles, {
    metadata: { name: 'odds' },
    rules: [
      { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['*'] },
      { apiGroups: ['attack.example.com'], resources: ['*'], verbs: ['*'] },
      { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['create'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['bind'] },
    ],
  })
  await create(admin, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'attacker-odds' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'odds' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'attacker' }],
  })
}

/** 31 MB of Secrets and 83 MB of ConfigMaps that the attacker may read, and what the victim works with. */
async function fill(admin: Connection): Promise<void> {
  for (const name of ['victim', 'attacker', 'hoard']) await createNamespace(admin, name)
  await bind(admin, 'victim', 'victim')
  await bind(admin, 'attacker', 'attacker')
  await bind(admin, 'attacker', 'hoard', 'view')
  await create(admin, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'attacker' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'borough:namespace-creator' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'attacker' }],
  })
  await grantOdds(admin)
  for (const namespace of ['victim', 'attacker']) {
    await create(admin, `/api/v1/namespaces/${namespace}/configmaps`, configMap('mine', 1000))
  }
  const value = Buffer.alloc(7500, 'x').toString('base64')
  for (let i = 0; i < 3100; i++) {
    const metadata = { name: `s-${i}`, labels: { kept: 'yes' } }
    await create(admin, '/api/v1/namespaces/attacker/secrets', { metadata, data: { value } })
  }
  for (let i = 0; i < 83; i++) {
    await create(admin, '/api/v1/namespaces/hoard/configmaps', configMap(`c-${i}`, 1_000_000))
  }
}

/** Memory of a process, now and at most since `forgetPeak`; 0 where /proc is missing. */
async function residentMiB(pid: number): Promise<{ readonly now: number; readonly most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const mib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { now: mib('VmRSS'), most: mib('VmHWM') }
}

const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {})

function rowOf(
  name: string,
  before: VictimResult,
  under: VictimResult,
  { heldMs, longestTurn }: Held,
  topMiB: number,
  tally: Tally,
): Row {
  const most = Math.max(goal.timesUndisturbed * before.p99Ms, goal.p99Ms)
  const failed = Object.values(under.failures).reduce((sum, times) => sum + times, 0)
  const told = Object.entries({ ...under.failures }).map(([why, times]) => `${times} ${why}`)
  return {
    what: name,
    unit: 'ms p99',
    ours: spread([under.p99Ms]),
    limit: { what: `undisturbed (p50 ${before.p50Ms.toFixed(1)})`, value: spread([before.p99Ms]) },
    ratio: spread([under.p99Ms / before.p99Ms]),
    p50Ms: under.p50Ms,
    p99Ms: under.p99Ms,
    failures: failed === 0 ? `none of ${under.requests}` : `${told.join(', ')} of ${under.requests}`,
    heldMs,
    longestTurn,
    topMiB,
    attacker: `${tally.sent} sent; ${Object.entries(tally.answers)
      .map(([answer, times]) => `${times} ${answer}`)
      .join(', ')}`,
    goal: `< ${Math.round(most)} ms, no failure`,
    met: under.p99Ms < most && failed === 0,
  }
}

interface Measured {
  readonly row: Row
  /** The most that the server took, above what it took right before. */
  readonly causedMiB: number
}

async function measure(
  world: World,
  name: string,
  { undisturbedMs, attackMs, leadMs }: typeof times,
): Promise<Measured> {
  const { server, victim, attacker, asVictim, asAttacker } = world
  const living = (durationMs: number): Promise<VictimResult> =>
    victim.ask({ endpoint: asVictim, namespace: 'victim', durationMs })
  const before = await living(undisturbedMs)
  await forgetPeak(server.pid)
  const { now: restMiB } = await residentMiB(server.pid)
  await server.ask('longest')
  const attacking = attacker.ask({ name, endpoint: asAttacker, localAddress: '127.0.0.2', durationMs: attackMs })
  await new Promise((resolve) => setTimeout(resolve, leadMs))
  const under = await living(attackMs - leadMs)
  const tally = await attacking
  const held = await server.ask('longest')
  const { most: topMiB } = await residentMiB(server.pid)
  return { row: rowOf(name, before, under, held, topMiB, tally), causedMiB: topMiB - restMiB }
}

function memoryRow(caused: readonly { readonly name: string; readonly mib: number }[]): Row {
  const most = caused.reduce((a, b) => (b.mib > a.mib ? b : a))
  return {
    what: `memory that an attack causes at most (${most.name})`,
    unit: 'MiB',
    ours: spread([most.mib]),
    goal: `< ${maxCausedMiB} MiB`,
    met: most.mib < maxCausedMiB,
  }
}

export async function* fairnessRows(bench: Bench): AsyncGenerator<Row> {
  const dataDir = await bench.tempDir()
  await using server = new Child<string, Held>('server.mjs', [join(dataDir)])
  const adminEndpoint = endpointOf(String(await server.said()))
  const admin = await connect(adminEndpoint, 'http/1.1')
  await fill(admin)
  admin.close()
  await using victim = new Child<VictimTask, VictimResult>('victim.ts')
  await using attacker = new Child<AttackTask, Tally>('attacker.ts')
  const world = {
    server,
    victim,
    attacker,
    asVictim: await endpointFor(dataDir, 'victim', adminEndpoint),
    asAttacker: await endpointFor(dataDir, 'attacker', adminEndpoint),
  }
  const caused: { readonly name: string; readonly mib: number }[] = []
  for (const { name } of attacks) {
    if (bench.attack !== undefined && !bench.attack.split('|').some((text) => name.includes(text))) continue
    const { row, causedMiB } = await measure(world, name, bench.quick ? quickTimes : times)
    caused.push({ name, mib: causedMiB })
    yield row
  }
  if (caused.length > 0) yield memoryRow(caused)
}
