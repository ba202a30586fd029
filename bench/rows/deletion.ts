/**
 * What a deletion of a namespace does not depend on: how many types are served, how many other namespaces there are.
 * Each round deletes on a server with few and on one with many, in turn.
 */
import { type Connection, connect } from '../load/connection.ts'
import { type Row, ratios, spread } from '../report.ts'
import { type Borough, create, createNamespace, startBorough } from '../target.ts'
import { goneAfterMs } from './namespaces.ts'
import { type Bench, configMap } from './rows.ts'

const fewTypes = 10
const manyTypes = 500
const fewNamespaces = 100
const manyNamespaces = 10_000
/** In each namespace that is deleted, and one custom resource besides. */
const objects = 20
const deletionsPerRound = 5
const makers = 16
const goal = 1.5

const definition = (n: number): object => ({
  metadata: { name: `kinds${n}.bench.example.com` },
  spec: {
    group: 'bench.example.com',
    scope: 'Namespaced',
    names: { plural: `kinds${n}`, kind: `Kind${n}` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {} } } } },
      },
    ],
  },
})

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function serverWith(bench: Bench, types: number, namespaces: number): Promise<Borough> {
  const server = await startBorough(await bench.tempDir())
  const connections = await Promise.all(Array.from({ length: makers }, () => connect(server.endpoint, 'http/1.1')))
  const each = async (count: number, make: (connection: Connection, n: number) => Promise<void>): Promise<void> => {
    let next = 0
    const work = async (connection: Connection): Promise<void> => {
      while (next < count) await make(connection, next++)
    }
    await Promise.all(connections.map(work))
  }
  await each(types, (connection, n) => create(connection, path, definition(n)))
  await each(namespaces, (connection, n) => createNamespace(connection, `other-${n}`))
  for (const connection of connections) connection.close()
  return server
}

let made = 0

async function deletionMs(server: Borough): Promise<number> {
  const connection = await connect(server.endpoint, 'http/1.1')
  const times: number[] = []
  for (let i = 0; i < deletionsPerRound; i++) {
    const name = `doomed-${++made}`
    const at = `/api/v1/namespaces/${name}`
    await createNamespace(connection, name)
    for (let o = 0; o < objects; o++) await create(connection, `${at}/configmaps`, configMap(`c-${o}`, 300))
    await create(connection, `/apis/bench.example.com/v1/namespaces/${name}/kinds0`, {
      apiVersion: 'bench.example.com/v1',
      kind: 'Kind0',
      metadata: { name: 'one' },
    })
    times.push(await goneAfterMs(connection, [name]))
  }
  connection.close()
  return spread(times).median
}

interface Comparison {
  readonly what: string
  readonly limit: string
}

async function compare(bench: Bench, few: Borough, many: Borough, { what, limit }: Comparison): Promise<Row> {
  const times = { few: [] as number[], many: [] as number[] }
  // The first round warms both up.
  for (let round = 0; round <= bench.rounds; round++) {
    const [a, b] = [await deletionMs(few), await deletionMs(many)]
    if (round === 0) continue
    times.few.push(a)
    times.many.push(b)
  }
  const ratio = ratios(times.many, times.few)
  return {
    what: `delete a namespace of ${objects + 1} objects, ${what}`,
    unit: 'ms',
    ours: spread(times.many),
    limit: { what: limit, value: spread(times.few) },
    ratio,
    goal: `ratio < ${goal}`,
    met: ratio.median < goal,
  }
}

export async function* deletionRows(bench: Bench): AsyncGenerator<Row> {
  const shown = (n: number): string => n.toLocaleString('en-US')
  await using few = await serverWith(bench, fewTypes, fewNamespaces)
  {
    await using many = await serverWith(bench, manyTypes, fewNamespaces)
    yield compare(bench, few, many, { what: `${manyTypes} types of custom resources`, limit: `${fewTypes} types` })
  }
  await using many = await serverWith(bench, fewTypes, manyNamespaces)
  const told = { what: `${shown(manyNamespaces)} other namespaces`, limit: `${fewNamespaces} others` }
  yield compare(bench, few, many, told)
}
