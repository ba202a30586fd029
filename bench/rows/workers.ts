/**
 * Two workers (`borough up --workers 2`) against one process: requests a second, and requests per second of CPU time
 * that all processes of the server spend. How much of a core the load took is said on stderr: it shares the machine.
 */
import { readFileSync } from 'node:fs'
import { connect } from '../load/connection.ts'
import type { RepeatTask } from '../load/tasks.ts'
import { type Row, ratios, spread } from '../report.ts'
import { type Borough, create, createNamespace, startBorough } from '../target.ts'
import { type Bench, configMap, cpuMsOf } from './rows.ts'

const namespace = 'bench-workers'
const path = `/api/v1/namespaces/${namespace}/configmaps`
const listedObjects = 500

interface Plan {
  readonly what: string
  readonly clients: number
  readonly call: RepeatTask['call']
}

interface Round {
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Cores that the load kept busy. */
  readonly loadCores: number
}

export async function* workerRows(bench: Bench): AsyncGenerator<Row> {
  await using two = await startBorough(await bench.tempDir(), ['--workers', '2'])
  await using one = await startBorough(await bench.tempDir())
  for (const { endpoint } of [two, one]) {
    const connection = await connect(endpoint, 'http/1.1')
    await createNamespace(connection, namespace)
    for (let i = 0; i < listedObjects; i++) await create(connection, path, configMap(`listed-${i}`, 200))
    connection.close()
  }
  const body = JSON.stringify(configMap('made-{n}', 480))
  const plans: readonly Plan[] = [
    { what: 'GET, 32 clients', clients: 32, call: { method: 'GET', path: `${path}/listed-1` } },
    { what: `list of ${listedObjects} objects, 8 clients`, clients: 8, call: { method: 'GET', path } },
    { what: 'durable create, 64 clients', clients: 64, call: { method: 'POST', path: `${path}`, body } },
  ]
  for (const plan of plans) yield* compare(bench, two, one, plan)
}

async function* compare(bench: Bench, two: Borough, one: Borough, plan: Plan): AsyncGenerator<Row> {
  const ours: Round[] = []
  const limit: Round[] = []
  for (let round = -1; round < bench.rounds; round++) {
    const a = await measure(bench, two, plan, round)
    const b = await measure(bench, one, plan, round)
    if (round < 0) continue
    ours.push(a)
    limit.push(b)
  }
  const cores = (rounds: readonly Round[]): string => spread(rounds.map((r) => r.loadCores)).median.toFixed(2)
  bench.say(
    `${plan.what}: the load kept ${cores(ours)} cores busy against two workers, ${cores(limit)} against one process`,
  )
  const row = (what: string, unit: string, of: (round: Round) => number): Row => ({
    what: `${plan.what}, 2 workers${what} (http/1.1)`,
    unit,
    ours: spread(ours.map(of)),
    limit: { what: 'one process', value: spread(limit.map(of)) },
    ratio: ratios(ours.map(of), limit.map(of)),
    goal: '',
  })
  yield {
    ...row('', '/s', (r) => r.perSecond),
    p50Ms: spread(ours.map((r) => r.p50Ms)).median,
    p99Ms: spread(ours.map((r) => r.p99Ms)).median,
  }
  yield row(', per CPU-second', '/CPU-s', (r) => r.perCpuSecond)
}

async function measure(bench: Bench, { endpoint, pid }: Borough, plan: Plan, round: number): Promise<Round> {
  const processes = [pid, ...childrenOf(pid)]
  const cpuMs = (): number => processes.reduce((sum, p) => sum + (cpuMsOf(p) ?? 0), 0)
  const [serverBefore, loadBefore, began] = [cpuMs(), cpuMsOf(bench.load.pid) ?? 0, performance.now()]
  const { count, perSecond, p50Ms, p99Ms } = await bench.load.run({
    kind: 'repeat',
    endpoint,
    protocol: 'http/1.1',
    clients: plan.clients,
    call: plan.call,
    from: (round + 2) * 1_000_000,
    durationMs: bench.roundMs,
  })
  const tookMs = performance.now() - began
  const serverMs = cpuMs() - serverBefore
  const loadMs = (cpuMsOf(bench.load.pid) ?? 0) - loadBefore
  return { perSecond, perCpuSecond: (count * 1000) / serverMs, p50Ms, p99Ms, loadCores: loadMs / tookMs }
}

/** Empty where /proc is missing. */
function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
