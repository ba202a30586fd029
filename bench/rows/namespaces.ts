/** Namespaces: made, with their content, and gone again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, connect } from '../load/connection.ts'
import type { TaskResult } from '../load/tasks.ts'
import { type Row, spread } from '../report.ts'
import { create, createNamespace, type Target } from '../target.ts'
import { type Bench, configMap, targetsOf } from './rows.ts'

const namespaces = '/api/v1/namespaces'
const creators = 16
const goalPerSecond = 500
const goalP99Ms = 50

async function populateRow(bench: Bench): Promise<Row> {
  const { rounds, quick } = bench
  const perTarget = new Map<Target, TaskResult[]>(targetsOf(bench).map((t) => [t, []]))
  let from = 0
  for (let round = -1; round < rounds; round++) {
    for (const [target, results] of perTarget) {
      const calls = quick ? 200 : 1000
      const result = await bench.load.run({
        kind: 'repeat',
        endpoint: target.endpoint,
        protocol: 'http/1.1',
        clients: creators,
        call: {
          method: 'POST',
          path: namespaces,
          body: JSON.stringify({ metadata: { name: 'populated-{n}', labels: { bench: 'populated' } } }),
        },
        calls,
        from,
      })
      if (target.populates) await checkPopulated(target, `populated-${from + calls - 1}`)
      if (round >= 0) results.push(result)
      from += calls
    }
  }
  const [ours = [], peer = []] = [...perTarget.values()]
  const rate = spread(ours.map((r) => r.perSecond))
  const p99Ms = spread(ours.map((r) => r.p99Ms)).median
  return {
    what: `namespace create, answered when populated with 5 objects, ${creators} clients (http/1.1)`,
    unit: '/s',
    ours: rate,
    p50Ms: spread(ours.map((r) => r.p50Ms)).median,
    p99Ms,
    ...(peer.length > 0 ? { peer: spread(peer.map((r) => r.perSecond)) } : {}),
    goal: `≥ ${goalPerSecond}/s, p99 < ${goalP99Ms} ms`,
    met: rate.median >= goalPerSecond && p99Ms < goalP99Ms,
  }
}

/** A fast answer counts only if what it promises is there. */
async function checkPopulated(target: Target, name: string): Promise<void> {
  const connection = await connect(target.endpoint, 'http/1.1')
  const content = [
    `/apis/networking.k8s.io/v1/namespaces/${name}/networkpolicies/default`,
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}/rolebindings/admin`,
    `/api/v1/namespaces/${name}/limitranges/default`,
    `/api/v1/namespaces/${name}/resourcequotas/default`,
    `/api/v1/namespaces/${name}/serviceaccounts/deployer`,
  ]
  for (const path of content) {
    const { status } = await connection.send({ method: 'GET', path })
    if (status !== 200) throw new Error(`${name} was answered and is not populated: ${path} ${status}`)
  }
  connection.close()
}

const pollMs = 2

/** From the DELETE until a GET says 404, for each of them. */
export async function goneAfterMs(connection: Connection, names: readonly string[]): Promise<number> {
  const began = performance.now()
  for (const name of names) await connection.send({ method: 'DELETE', path: `${namespaces}/${name}` })
  for (const name of names) {
    for (;;) {
      const { status } = await connection.send({ method: 'GET', path: `${namespaces}/${name}` })
      if (status === 404) break
      await sleep(pollMs)
    }
  }
  return performance.now() - began
}

interface Deletion {
  readonly what: string
  readonly namespaces: number
  readonly objects: number
  /** A quota counts them. */
  readonly limited?: boolean
  readonly goalMs: number
}

async function deleteRow(
  bench: Bench,
  { what, namespaces: count, objects, limited = false, goalMs }: Deletion,
): Promise<Row> {
  const perTarget = new Map<Target, number[]>(targetsOf(bench).map((t) => [t, []]))
  for (let round = 0; round < bench.rounds; round++) {
    for (const [target, times] of perTarget) {
      const connection = await connect(target.endpoint, 'http/1.1')
      const names = Array.from({ length: count }, (_, i) => `doomed-${objects}-${count}-${limited}-${round}-${i}`)
      for (const name of names) {
        await createNamespace(connection, name)
        if (limited) await create(connection, `${namespaces}/${name}/resourcequotas`, quota)
      }
      if (objects > 0) {
        await bench.load.run({
          kind: 'repeat',
          endpoint: target.endpoint,
          protocol: 'http/1.1',
          clients: 16,
          call: {
            method: 'POST',
            path: `${namespaces}/${names[0]}/configmaps`,
            body: JSON.stringify(configMap('c-{n}', 300)),
          },
          calls: objects,
        })
      }
      times.push(await goneAfterMs(connection, names))
      connection.close()
    }
  }
  const [ours = [], peer = []] = [...perTarget.values()]
  const time = spread(ours)
  return {
    what: `delete ${what}`,
    unit: 'ms',
    ours: time,
    ...(peer.length > 0 ? { peer: spread(peer) } : {}),
    goal: `< ${goalMs} ms`,
    met: time.median < goalMs,
  }
}

const quota = { metadata: { name: 'limits' }, spec: { hard: { configmaps: '100000', 'count/configmaps': '100000' } } }

export async function* namespaceRows(bench: Bench): AsyncGenerator<Row> {
  yield populateRow(bench)
  yield deleteRow(bench, { what: 'an empty namespace', namespaces: 1, objects: 0, goalMs: 50 })
  yield deleteRow(bench, { what: 'a namespace with 1,000 objects', namespaces: 1, objects: 1000, goalMs: 500 })
  yield deleteRow(bench, {
    what: 'a namespace with 1,000 objects and a quota that counts them',
    namespaces: 1,
    objects: 1000,
    limited: true,
    goalMs: 500,
  })
  yield deleteRow(bench, { what: '100 empty namespaces', namespaces: 100, objects: 0, goalMs: 500 })
}
