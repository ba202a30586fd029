/**
 * What many namespaces cost: a start, memory, and requests whose cost should not depend on how many there are. The
 * namespaces are copies of one that was made through the API, put into the store while it is not served.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Connection, connect, type Endpoint } from '../load/connection.ts'
import { type Row, spread } from '../report.ts'
import { createNamespace, endpointOf, startBorough, startProcess } from '../target.ts'
import { residentMiB } from './process.ts'
import { type Bench, configMap, cpuMsOf } from './rows.ts'

const run = promisify(execFile)
const filler = fileURLToPath(new URL('../fill-namespaces.ts', import.meta.url))

const original = 'original'
const fewNamespaces = 1000
const connections = 8
/** At rest a server uses less than this share of a processor. */
const restingShare = 0.03
const longestUnrestMs = 10 * 60_000

interface Size {
  readonly namespaces: number
  readonly objects: number
  readonly fillSeconds: number
  readonly readyMs: number
  readonly cpuReadyMs: number
  readonly cpuQuietMs: number
  readonly residentMiB: number
  readonly heapMiB: number
  /** µs of the server's processor time per request. */
  readonly requests: Readonly<Record<string, number>>
}

export async function* scaleRows(bench: Bench): AsyncGenerator<Row> {
  const sizes = bench.namespaces ?? (bench.full ? [100_000, 1_000_000] : [bench.quick ? 10_000 : 100_000])
  const few = await measure(bench, fewNamespaces)
  for (const namespaces of sizes) yield* rowsOf(await measure(bench, namespaces), few)
}

function* rowsOf(many: Size, few: Size): Generator<Row> {
  const count = (n: number): string => n.toLocaleString('en-US')
  const at = `${count(many.namespaces)} namespaces`
  const row = (what: string, unit: string, value: number, goal?: number): Row => ({
    what: `${what}, ${at}`,
    unit,
    ours: spread([value]),
    ...(goal === undefined ? { goal: '' } : { goal: `≤ ${goal} ${unit}`, met: value <= goal }),
  })
  const each = (of: (size: Size) => number): number =>
    ((of(many) - of(few)) * 1024) / (many.namespaces - few.namespaces)
  const readyGoalMs = many.objects <= 100_000 ? 1000 : many.objects <= 1_100_000 ? 3000 : 20_000
  yield row(`objects in the store (filled in ${Math.round(many.fillSeconds)} s, not through the API)`, '', many.objects)
  yield row('start to ready', 'ms', many.readyMs, readyGoalMs)
  yield row('processor time to ready', 'ms', many.cpuReadyMs)
  yield row('processor time from the start until it rests', 'ms', many.cpuQuietMs)
  yield row(
    'resident memory per namespace',
    'KiB',
    each((size) => size.residentMiB),
    8,
  )
  yield row(
    'of it in the heap (used, with what is not collected yet)',
    'KiB',
    each((size) => size.heapMiB),
    0.5,
  )
  for (const [what, us] of Object.entries(many.requests)) {
    const base = few.requests[what] ?? Number.NaN
    const ratio = us / base
    yield {
      what: `${what}, ${at}`,
      unit: 'µs of processor time',
      ours: spread([us]),
      limit: { what: `${count(few.namespaces)} namespaces`, value: spread([base]) },
      ratio: spread([ratio]),
      goal: 'ratio ≤ 1.2',
      met: ratio <= 1.2,
    }
  }
}

async function measure(bench: Bench, namespaces: number): Promise<Size> {
  const dataDir = await bench.tempDir()
  const user = await prepared(dataDir)
  const began = performance.now()
  await run(process.execPath, [filler, dataDir, original, String(namespaces)])
  const fillSeconds = (performance.now() - began) / 1000
  await using server = await startProcess(dataDir)
  const { pid } = server
  const cpuReadyMs = cpuMsOf(pid) ?? Number.NaN
  bench.say(`${namespaces} namespaces: ready after ${Math.round(server.readyAfterMs)} ms`)
  const endpoint = { ...user, port: endpointOf(await readFile(server.kubeconfig, 'utf8')).port }
  await rest(pid)
  const figures = await metricsOf(endpoint)
  return {
    namespaces,
    objects:
      (figures('borough_cache_objects{in_memory="value"}') ?? 0) +
      (figures('borough_cache_objects{in_memory="key"}') ?? 0),
    fillSeconds,
    readyMs: server.readyAfterMs,
    cpuReadyMs,
    cpuQuietMs: cpuMsOf(pid) ?? Number.NaN,
    residentMiB: await residentMiB(pid),
    heapMiB: (figures('nodejs_heap_size_used_bytes') ?? Number.NaN) / 1024 / 1024,
    requests: await requestCosts(bench, endpoint, pid, namespaces),
  }
}

/** A data directory with a template and a namespace that it has populated; answers who may do everything there. */
async function prepared(dataDir: string): Promise<Endpoint> {
  await using server = await startBorough(dataDir)
  const connection = await connect(server.endpoint, 'http/1.1')
  await createNamespace(connection, original, true)
  connection.close()
  return server.endpoint
}

/** Until the process does next to nothing, ten minutes at most. */
export async function rest(pid: number): Promise<void> {
  const stepMs = 2000
  for (let waitedMs = 0; waitedMs < longestUnrestMs; waitedMs += stepMs) {
    const before = cpuMsOf(pid) ?? 0
    await sleep(stepMs)
    if ((cpuMsOf(pid) ?? 0) - before < stepMs * restingShare) return
  }
}

export async function metricsOf(endpoint: Endpoint): Promise<(name: string) => number | undefined> {
  const connection = await connect(endpoint, 'http/1.1')
  const { chunks } = await connection.send({ method: 'GET', path: '/metrics' })
  connection.close()
  const lines = Buffer.concat(chunks).toString().split('\n')
  return (name) => {
    const line = lines.find((text) => text.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length + 1))
  }
}

async function requestCosts(
  bench: Bench,
  endpoint: Endpoint,
  pid: number,
  namespaces: number,
): Promise<Record<string, number>> {
  const some = (): string => `copy-${String(Math.floor(Math.random() * namespaces)).padStart(7, '0')}`
  const open = await Promise.all(Array.from({ length: connections }, () => connect(endpoint, 'http/1.1')))
  const times = bench.quick ? 1000 : 4000
  const get = (path: string) => (connection: Connection) => connection.send({ method: 'GET', path })
  let made = 0
  const work: Record<string, (connection: Connection) => Promise<unknown>> = {
    'GET of an object': (connection) => get(`/api/v1/namespaces/${some()}/serviceaccounts/deployer`)(connection),
    'list of a namespace': (connection) => get(`/api/v1/namespaces/${some()}/serviceaccounts`)(connection),
    'list of 200 namespaces by label': get('/api/v1/namespaces?labelSelector=cohort%3Dpicked'),
    'create in a namespace': (connection) =>
      connection.send({
        method: 'POST',
        path: `/api/v1/namespaces/${some()}/configmaps`,
        body: JSON.stringify(configMap(`bench-${made++}`, 300)),
      }),
    'create of a populated namespace': (connection) => createNamespace(connection, `bench-${made++}`, true),
  }
  const costs: Record<string, number> = {}
  for (const [what, once] of Object.entries(work)) {
    await each(open, times / 4, once)
    const before = cpuMsOf(pid) ?? Number.NaN
    await each(open, times, once)
    costs[what] = (((cpuMsOf(pid) ?? Number.NaN) - before) * 1000) / times
  }
  for (const connection of open) connection.close()
  return costs
}

async function each(
  open: readonly Connection[],
  times: number,
  once: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  let left = times
  await Promise.all(
    open.map(async (connection) => {
      while (left-- > 0) await once(connection)
    }),
  )
}
