/**
 * Rights on every route: answers of the server against an oracle that knows the documents and none of its code.
 * README.md says how to read a finding.
 */
import { describe, expect, test } from 'vitest'
import { type Case, fullProduct, randomFrom, sampled } from './cases.ts'
import { administrator, identities } from './identities.ts'
import { type Run, report, run } from './matrix.ts'
import { type Route, routesOf } from './routes.ts'
import { type Server, serverInProcess, serverOfWorkers } from './server.ts'
import { makeWorld } from './world.ts'

const seed = Number(process.env['BOROUGH_MATRIX_SEED'] ?? (process.env['CI'] ? 1 : Date.now() % 2 ** 31))

interface Setting {
  readonly name: string
  readonly start: () => Promise<Server>
  readonly own: boolean
  /** Of the cases of the sample, one in so many. */
  readonly every: number
  readonly atLeast: number
}

const settings: readonly Setting[] = [
  {
    name: 'a server in memory: every kind of route, way of asking and identity',
    start: () => serverInProcess(identities),
    own: false,
    every: 1,
    atLeast: 100_000,
  },
  {
    name: 'a server on SQLite that lists own namespaces',
    start: () => serverInProcess(identities, { storage: { engine: 'sqlite' }, listOwnNamespaces: true }),
    own: true,
    every: 2,
    atLeast: 50_000,
  },
  {
    name: 'two workers, through sockets',
    start: () => serverOfWorkers(identities),
    own: false,
    every: 40,
    atLeast: 2500,
  },
]

describe(`answers are what the documents say (BOROUGH_MATRIX_SEED=${seed})`, () => {
  test.each(settings)('$name', { timeout: 600_000 }, async ({ start, own, every, atLeast }) => {
    await using server = await start()
    const world = await makeWorld(server, own)
    const before = await world.snapshot()
    const routes = routesOf(world.types, world.facts)
    const { tried, findings } = await run(server, world, oneIn(every, sampled(routes, world, randomFrom(seed))))
    expect(report(findings)).toBe('')
    expect(tried).toBeGreaterThan(atLeast)
    // Whatever was allowed was a dry run.
    expect(await world.snapshot()).toEqual(before)
  })
})

test('what is asked are the routes of all types, in all scopes, by all identities', async () => {
  await using server = await serverInProcess(identities)
  const world = await makeWorld(server, false)
  const routes = routesOf(world.types, world.facts)
  expect(world.types.length).toBeGreaterThan(70)
  for (const { group, resource } of world.types) {
    const of = routes.filter((route) => route.group === group && route.parts.includes(resource))
    expect([resource, placesIn(of)]).toEqual([
      resource,
      expect.arrayContaining(['cluster', 'mine', 'theirs', 'missing']),
    ])
  }
  const product = fullProduct(routes, world, seed)
  expect(product.size).toBeGreaterThan(1_000_000)
  const first = Array.from({ length: 2000 }, (_, i) => product.at(i))
  expect(new Set(first.map((c) => c.identity.name))).toEqual(new Set(identities.map(({ name }) => name)))
  expect(new Set(first.map(textOf)).size).toBe(2000)
})

test('a finding tells the request, what was expected and what came', async () => {
  await using server = await serverInProcess(identities)
  const world = await makeWorld(server, false)
  const question = { method: 'GET', watch: false, group: '', version: 'v1', under: 'zqtheirs', parts: ['secrets'] }
  const stranger = identities.find(({ name }) => name === 'stranger') ?? administrator
  // The oracle is told of an identity that the server does not see.
  const mistaken = { ...stranger, groups: ['system:masters'] }
  const refusal =
    'secrets is forbidden: User "stranger" cannot list resource "secrets" in API group "" in the namespace "zqtheirs"'
  const { findings }: Run = await run(server, world, [{ question, form: 'json', identity: mistaken }])
  expect(report(findings)).toBe(
    `GET /api/v1/namespaces/zqtheirs/secrets as stranger
    expected no refusal
    got      403 Forbidden ${refusal}
    (1 like this)`,
  )
})

const placesIn = (routes: readonly Route[]): string[] => [
  ...new Set(routes.map(({ kind }) => kind.split(' / ')[2] ?? '')),
]

const textOf = ({ question, form, identity }: Case): string => JSON.stringify([question, form, identity.name])

function* oneIn(every: number, cases: Iterable<Case>): Generator<Case> {
  let i = 0
  for (const next of cases) if (i++ % every === 0) yield next
}
