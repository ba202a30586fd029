/** Watch fan-out: one namespace, many watchers, each sees every change. */
import { connect, type Protocol } from '../load/connection.ts'
import type { TaskResult } from '../load/tasks.ts'
import { type Row, spread } from '../report.ts'
import { createNamespace, type Target } from '../target.ts'
import { type Bench, targetsOf } from './rows.ts'

const watchers = 200
const writers = 16
const goalPerSecond = 100_000
const goalP99Ms = 50

async function fanOutRow(bench: Bench, protocol: Protocol): Promise<Row> {
  const perTarget = new Map<Target, TaskResult[]>(targetsOf(bench).map((t) => [t, []]))
  const prefix = protocol === 'h2' ? 'watched-h2' : 'watched-h1'
  for (let round = -1; round < bench.rounds; round++) {
    for (const [target, results] of perTarget) {
      const namespace = `${prefix}-${round + 1}`
      const connection = await connect(target.endpoint, 'http/1.1')
      await createNamespace(connection, namespace)
      const { status, chunks } = await connection.send({
        method: 'GET',
        path: `/api/v1/namespaces/${namespace}/secrets?limit=1`,
      })
      if (status !== 200) throw new Error(`the namespace can't be read: ${status}`)
      connection.close()
      const list = JSON.parse(Buffer.concat(chunks).toString()) as { metadata: { resourceVersion: string } }
      const path = `/api/v1/namespaces/${namespace}/secrets`
      const result = await bench.load.run({
        kind: 'watch',
        endpoint: target.endpoint,
        protocol,
        watchers,
        watchPath: `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`,
        writers,
        create: {
          method: 'POST',
          path,
          body: JSON.stringify({
            metadata: { name: 'w-{n}', annotations: { t: '{t}' } },
            stringData: { key: 'x'.repeat(100) },
          }),
        },
        creates: bench.quick ? 500 : 3000,
      })
      if (round >= 0) results.push(result)
    }
  }
  const [ours = [], peer = []] = [...perTarget.values()]
  const rate = spread(ours.map((r) => r.perSecond))
  const p99Ms = spread(ours.map((r) => r.p99Ms)).median
  return {
    what: `watch, ${watchers} watchers, ${writers} writers at full speed (${protocol})`,
    unit: 'events/s',
    ours: rate,
    p50Ms: spread(ours.map((r) => r.p50Ms)).median,
    p99Ms,
    ...(peer.length > 0 ? { peer: spread(peer.map((r) => r.perSecond)) } : {}),
    goal: `≥ ${goalPerSecond.toLocaleString('en-US')}/s, p99 < ${goalP99Ms} ms`,
    met: rate.median >= goalPerSecond && p99Ms < goalP99Ms,
  }
}

export async function* watchRows(bench: Bench): AsyncGenerator<Row> {
  yield fanOutRow(bench, 'http/1.1')
  if (!bench.quick) yield fanOutRow(bench, 'h2')
}
