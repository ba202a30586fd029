/** GET and LIST against a bare server that sends the same bytes; creates against raw writes of the same store. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connect, type Endpoint, type Protocol } from '../load/connection.ts'
import type { Task, TaskResult } from '../load/tasks.ts'
import { type Row, ratios, spread } from '../report.ts'
import type { StoreLoad, StoreRun } from '../store.ts'
import { create, createNamespace, type Target } from '../target.ts'
import { type Bench, bareEndpoint, configMap, cpuMsOf, targetsOf } from './rows.ts'

const namespace = 'bench-requests'
const listNamespace = 'bench-list'
const configMaps = (ns: string): string => `/api/v1/namespaces/${ns}/configmaps`

/** So that a body of a create has about 600 bytes, and a listed object about 0.5 KB. */
const createdBytes = 480
const listedBytes = 200
const listedObjects = 2000

interface WithCpu {
  /** CPU time of the server per call; undefined where it can't be told. */
  readonly serverMs: number | undefined
}

interface Measured extends TaskResult, WithCpu {}

async function measured(bench: Bench, pid: number | undefined, task: Task): Promise<Measured> {
  const before = pid === undefined ? undefined : cpuMsOf(pid)
  const result = await bench.load.run(task)
  const after = pid === undefined ? undefined : cpuMsOf(pid)
  const serverMs = before === undefined || after === undefined ? undefined : (after - before) / result.count
  return { ...result, serverMs }
}

function read(bench: Bench, endpoint: Endpoint, pid: number | undefined, plan: ReadPlan): Promise<Measured> {
  return measured(bench, pid, {
    kind: 'repeat',
    endpoint,
    protocol: plan.protocol,
    clients: plan.clients,
    call: { method: 'GET', path: plan.path },
    durationMs: bench.roundMs,
  })
}

/** How much more CPU time a request of ours takes. */
function cpuRatioOf(ours: readonly WithCpu[], limit: readonly WithCpu[]): { readonly cpuRatio?: number } {
  const each = ours.map((o, i) => (o.serverMs ?? Number.NaN) / (limit[i]?.serverMs ?? Number.NaN))
  const cpuRatio = spread(each).median
  return Number.isFinite(cpuRatio) ? { cpuRatio } : {}
}

interface ReadPlan {
  readonly what: string
  readonly path: string
  readonly protocol: Protocol
  readonly clients: number
  readonly goal: number
}

/** Borough and the bare server in turn, so that what else the machine does hits both. */
async function readRow(bench: Bench, plan: ReadPlan): Promise<Row> {
  const { borough, peer, bare } = bench
  const connection = await connect(borough.endpoint, 'http/1.1')
  const reply = await connection.send({ method: 'GET', path: plan.path })
  connection.close()
  if (reply.status !== 200) throw new Error(`GET ${plan.path}: ${reply.status}`)
  await bare.serve(Buffer.concat(reply.chunks))
  const limits = bareEndpoint(bench, plan.protocol)
  const ours: Measured[] = []
  const limit: Measured[] = []
  const peers: Measured[] = []
  for (let round = -1; round < bench.rounds; round++) {
    const one = await read(bench, borough.endpoint, borough.pid, plan)
    const two = await read(bench, limits, bare.pid, plan)
    const three = peer && (await read(bench, peer.endpoint, peer.pid, plan))
    if (round < 0) continue // the first is for warming up
    ours.push(one)
    limit.push(two)
    if (three) peers.push(three)
  }
  const rate = (r: Measured): number => r.perSecond
  const ratio = ratios(ours.map(rate), limit.map(rate))
  return {
    what: `${plan.what} (${plan.protocol}, ${reply.sizeBytes.toLocaleString('en-US')} bytes)`,
    unit: '/s',
    ours: spread(ours.map(rate)),
    limit: { what: 'bare Node', value: spread(limit.map(rate)) },
    ratio,
    ...cpuRatioOf(ours, limit),
    p50Ms: spread(ours.map((r) => r.p50Ms)).median,
    p99Ms: spread(ours.map((r) => r.p99Ms)).median,
    ...(peers.length > 0 ? { peer: spread(peers.map(rate)) } : {}),
    goal: `ratio ≥ ${plan.goal}`,
    met: ratio.median >= plan.goal,
  }
}

/** Raw transactions of the embedded store, in a process and a folder of their own. */
async function storeRun(bench: Bench, load: StoreLoad): Promise<StoreRun & WithCpu> {
  const child = fork(fileURLToPath(new URL('../store-process.ts', import.meta.url)))
  const ended = once(child, 'exit')
  child.send({ load, directory: await bench.tempDir() })
  const [run] = (await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the store process ended with ${code}`))),
  ])) as [StoreRun & WithCpu]
  await ended
  return run
}

const creators = 64

async function createRow(bench: Bench, protocol: Protocol): Promise<Row> {
  const { rounds, roundMs } = bench
  let from = 0
  const creates = (target: Target): Promise<Measured> => {
    from += 1_000_000
    return measured(bench, target.pid, {
      kind: 'repeat',
      endpoint: target.endpoint,
      protocol,
      clients: creators,
      call: {
        method: 'POST',
        path: configMaps(namespace),
        body: JSON.stringify(configMap(`${protocol === 'h2' ? 'h2' : 'h1'}-{n}`, createdBytes)),
      },
      from,
      durationMs: roundMs,
    })
  }
  const ours: Measured[] = []
  const raw: (StoreRun & WithCpu)[] = []
  const peers: Measured[] = []
  for (let round = -1; round < rounds; round++) {
    const one = await creates(bench.borough)
    const two = await storeRun(bench, { writers: creators, durationMs: roundMs, valueBytes: 700 })
    const three = bench.peer && (await creates(bench.peer))
    if (round < 0) continue
    ours.push(one)
    raw.push(two)
    if (three) peers.push(three)
  }
  const rate = (r: { readonly perSecond: number }): number => r.perSecond
  const ratio = ratios(ours.map(rate), raw.map(rate))
  return {
    what: `durable create, ${creators} clients (${protocol}, ConfigMaps of 600 bytes)`,
    unit: '/s',
    ours: spread(ours.map(rate)),
    limit: { what: 'raw store', value: spread(raw.map(rate)) },
    ratio,
    ...cpuRatioOf(ours, raw),
    p50Ms: spread(ours.map((r) => r.p50Ms)).median,
    p99Ms: spread(ours.map((r) => r.p99Ms)).median,
    ...(peers.length > 0 ? { peer: spread(peers.map(rate)) } : {}),
    goal: 'ratio ≥ 0.35',
    met: ratio.median >= 0.35,
  }
}

export async function* requestRows(bench: Bench): AsyncGenerator<Row> {
  for (const target of targetsOf(bench)) {
    const connection = await connect(target.endpoint, 'http/1.1')
    await createNamespace(connection, namespace)
    await createNamespace(connection, listNamespace)
    await create(connection, configMaps(namespace), configMap('one', createdBytes))
    connection.close()
    await bench.load.run({
      kind: 'repeat',
      endpoint: target.endpoint,
      protocol: 'http/1.1',
      clients: 16,
      call: {
        method: 'POST',
        path: configMaps(listNamespace),
        body: JSON.stringify(configMap('listed-{n}', listedBytes)),
      },
      calls: listedObjects,
    })
  }
  const path = `${configMaps(namespace)}/one`
  yield readRow(bench, { what: 'GET, 32 clients', path, protocol: 'http/1.1', clients: 32, goal: 0.6 })
  yield readRow(bench, { what: 'GET, 32 clients', path, protocol: 'h2', clients: 32, goal: 0.6 })
  yield createRow(bench, 'http/1.1')
  yield createRow(bench, 'h2')
  const list = { what: 'list of 2,000 objects, 4 clients', path: configMaps(listNamespace), clients: 4, goal: 0.7 }
  yield readRow(bench, { ...list, protocol: 'http/1.1' })
  yield readRow(bench, { ...list, protocol: 'h2' })
}
