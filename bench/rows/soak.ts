/**
 * Namespaces that come and go for a long time, always as many: memory, heap and file should end where they began. Both
 * ends are measured at rest, after the same work, so that what a start leaves and what a load takes are in neither.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, connect, type Endpoint } from '../load/connection.ts'
import { type Row, spread } from '../report.ts'
import { create, createNamespace, startBorough } from '../target.ts'
import { goneAfterMs } from './namespaces.ts'
import { residentMiB } from './process.ts'
import { type Bench, configMap } from './rows.ts'
import { metricsOf, rest } from './scale.ts'

const standing = 1000
const clients = 16
const configMaps = 4
const defaultMinutes = 60
/** Before it begins: history is kept for five minutes, as is what watches resume from; caches and pools fill. */
const warmUpMs = 6 * 60_000
const quickWarmUpMs = 10_000
/** Each opens its watches anew. */
const samples = 12
const goal = 1.1
/** What comes and goes, as the template and this load make it. */
const watched = [
  '/api/v1/namespaces',
  '/api/v1/configmaps',
  '/api/v1/limitranges',
  '/api/v1/resourcequotas',
  '/api/v1/serviceaccounts',
  '/apis/networking.k8s.io/v1/networkpolicies',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
]

interface Sample {
  readonly residentMiB: number
  readonly heapMiB: number
  readonly storeMiB: number
}

interface Plane {
  readonly pid: number
  readonly endpoint: Endpoint
  readonly dataDir: string
}

export async function* soakRows(bench: Bench): AsyncGenerator<Row> {
  const minutes = bench.minutes ?? defaultMinutes
  const dataDir = await bench.tempDir()
  await using server = await startBorough(dataDir)
  const plane: Plane = { pid: server.pid, endpoint: server.endpoint, dataDir }
  const rotation = new Rotation(server.endpoint)
  await rotation.fill()
  await soak(bench, plane, rotation, bench.quick ? quickWarmUpMs : warmUpMs)
  const began = await atRest(bench, plane, 'began')
  const { gone: goneBefore } = rotation
  const { curve, events } = await soak(bench, plane, rotation, minutes * 60_000)
  const gone = rotation.gone - goneBefore
  const ended = await atRest(bench, plane, 'ended')
  const under = `${minutes} minutes, ${standing.toLocaleString('en-US')} namespaces at a time`
  yield figure(`namespaces that came and went, ${under}`, '', gone)
  yield figure('events seen by one watch of each type', '', events)
  yield compared('resident at rest, when it ended', 'MiB', ended.residentMiB, began.residentMiB, 'when it began')
  yield compared('heap used at rest, when it ended', 'MiB', ended.heapMiB, began.heapMiB, 'when it began')
  yield compared('file of the store at rest, when it ended', 'MiB', ended.storeMiB, began.storeMiB, 'when it began')
  const third = Math.ceil(curve.length / 3)
  const medianOf = (some: readonly Sample[]): number => spread(some.map((sample) => sample.residentMiB)).median
  const [first, last] = [medianOf(curve.slice(0, third)), medianOf(curve.slice(-third))]
  yield compared('resident under load, last third', 'MiB', last, first, 'first third')
}

const figure = (what: string, unit: string, value: number): Row => ({ what, unit, ours: spread([value]), goal: '' })

function compared(what: string, unit: string, value: number, before: number, limit: string): Row {
  const ratio = value / before
  return {
    what,
    unit,
    ours: spread([value]),
    limit: { what: limit, value: spread([before]) },
    ratio: spread([ratio]),
    goal: `ratio ≤ ${goal}`,
    met: ratio <= goal,
  }
}

/** For so long. Answers what was measured under way, and how many events the watches saw. */
async function soak(
  bench: Bench,
  plane: Plane,
  rotation: Rotation,
  durationMs: number,
): Promise<{ readonly curve: readonly Sample[]; readonly events: number }> {
  const curve: Sample[] = []
  let events = 0
  for (let i = 0; i < samples; i++) {
    const watches = await watchAll(plane.endpoint)
    await rotation.turn(durationMs / samples)
    events += watches.end()
    const sample = await measured(plane)
    curve.push(sample)
    bench.say(`${rotation.gone} came and went: ${told(sample)}`)
  }
  return { curve, events }
}

async function atRest(bench: Bench, { pid, endpoint, dataDir }: Plane, when: string): Promise<Sample> {
  await rest(pid)
  const sample = await measured({ pid, endpoint, dataDir })
  bench.say(`at rest, when it ${when}: ${told(sample)}`)
  return sample
}

async function measured({ pid, endpoint, dataDir }: Plane): Promise<Sample> {
  const metrics = await metricsOf(endpoint)
  return {
    residentMiB: await residentMiB(pid),
    heapMiB: (metrics('nodejs_heap_size_used_bytes') ?? Number.NaN) / 1024 / 1024,
    storeMiB: (await stat(join(dataDir, 'store', 'state.db'))).size / 1024 / 1024,
  }
}

const told = ({ residentMiB: resident, heapMiB, storeMiB }: Sample): string =>
  `${Math.round(resident)} MiB resident, ${Math.round(heapMiB)} in the heap, ${Math.round(storeMiB)} in the file`

/** From now on, one of each type. */
async function watchAll(endpoint: Endpoint): Promise<{ end(): number }> {
  let events = 0
  const watchers = await Promise.all(
    watched.map(async (path) => {
      const watcher = await connect(endpoint, 'http/1.1')
      const { chunks } = await watcher.send({ method: 'GET', path: `${path}?limit=1` })
      const { metadata } = JSON.parse(Buffer.concat(chunks).toString()) as { metadata: { resourceVersion: string } }
      const since = `${path}?watch=1&resourceVersion=${metadata.resourceVersion}`
      await watcher.follow({ method: 'GET', path: since }, (data) => {
        for (let at = data.indexOf('}\n'); at >= 0; at = data.indexOf('}\n', at + 2)) events++
      })
      return watcher
    }),
  )
  return {
    end() {
      for (const watcher of watchers) watcher.close()
      return events
    },
  }
}

/** Each client makes one, fills it, deletes its oldest, and waits until that is gone. */
class Rotation {
  readonly #endpoint: Endpoint
  /** By client, the oldest first. */
  readonly #standing: readonly string[][] = Array.from({ length: clients }, () => [])
  #made = 0
  #gone = 0

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
  }

  /** A GET has said so. */
  get gone(): number {
    return this.#gone
  }

  /** Until as many stand as will. */
  async fill(): Promise<void> {
    await this.#each(async (connection, names) => {
      while (names.length < standing / clients) names.push(await this.#make(connection))
    })
  }

  async turn(durationMs: number): Promise<void> {
    const until = performance.now() + durationMs
    await this.#each(async (connection, names) => {
      while (performance.now() < until) {
        names.push(await this.#make(connection))
        const oldest = names.shift()
        if (oldest === undefined) continue
        // Who only asked for deletions would make namespaces faster than they can go.
        await goneAfterMs(connection, [oldest])
        this.#gone++
      }
    })
  }

  /** On connections of their own: the server closes those that are idle while it rests. */
  async #each(work: (connection: Connection, names: string[]) => Promise<void>): Promise<void> {
    await Promise.all(
      this.#standing.map(async (names) => {
        const connection = await connect(this.#endpoint, 'http/1.1')
        try {
          await work(connection, names)
        } finally {
          connection.close()
        }
      }),
    )
  }

  async #make(connection: Connection): Promise<string> {
    const name = `soak-${this.#made++}`
    await createNamespace(connection, name, true)
    for (let i = 0; i < configMaps; i++) {
      await create(connection, `/api/v1/namespaces/${name}/configmaps`, configMap(`c-${i}`, 300))
    }
    return name
  }
}
