/**
 * The whole matrix, for so many minutes, in an order that spreads over all of it:
 *
 *   node test/matrix/run.ts --minutes 10 [--seed 7] [--own] [--sqlite] [--workers]
 *
 * Prints what it tried and what it found. Where it stopped is kept in `.cache/matrix/`; the next run of the same seed
 * and setting goes on from there.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readRunnerFlags } from '../support/runner-flags.ts'
import { type Case, fullProduct, type Product } from './cases.ts'
import { identities } from './identities.ts'
import { report, run } from './matrix.ts'
import { routesOf } from './routes.ts'
import { type Server, serverInProcess, serverOfWorkers } from './server.ts'
import { makeWorld } from './world.ts'

const help = `Usage: node test/matrix/run.ts [options]

Tries every route, way of asking and identity, in an order that spreads over all of it, and prints what it tried and
found. Where it stopped is kept in .cache/matrix/: the next run of the same seed and setting goes on from there.

Options:
  --minutes N    for so long (default 10)
  --seed N       in which order (default 1)
  --own          users may list their own namespaces
  --sqlite       on a store in a file
  --workers      on a server of several processes
  --help

Examples:
  node test/matrix/run.ts --minutes 10
  node test/matrix/run.ts --minutes 60 --seed 7 --own --workers
`

const values = readRunnerFlags(
  help,
  {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    own: { type: 'boolean', default: false },
    sqlite: { type: 'boolean', default: false },
    workers: { type: 'boolean', default: false },
  },
  ['minutes', 'seed'],
)

interface Progress {
  /** A product of another size is another one. */
  readonly size: number
  readonly next: number
}

async function start(): Promise<Server> {
  if (values.workers) return serverOfWorkers(identities, { listOwnNamespaces: values.own })
  const storage = values.sqlite ? ({ engine: 'sqlite' } as const) : ({ engine: 'memory' } as const)
  return serverInProcess(identities, { storage, listOwnNamespaces: values.own })
}

async function main(): Promise<boolean> {
  const setting = ['own', 'sqlite', 'workers'].filter((name) => values[name as 'own']).join('-') || 'memory'
  const file = fileURLToPath(new URL(`../../.cache/matrix/${setting}-${values.seed}.json`, import.meta.url))
  await using server = await start()
  const world = await makeWorld(server, values.own)
  const product = fullProduct(routesOf(world.types, world.facts), world, Number(values.seed))
  const from = await resumed(file, product)
  const endMs = performance.now() + Number(values.minutes) * 60_000
  const { tried, findings } = await run(server, world, casesFrom(product, from), () => performance.now() > endMs)
  const next = from + tried
  if (tried > 0) {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, JSON.stringify({ size: product.size, next } satisfies Progress))
  }
  console.log(report(findings))
  const share = ((next / product.size) * 100).toFixed(1)
  console.log(`${setting}, seed ${values.seed}: ${tried} cases tried, ${findings.length} findings`)
  console.log(`${next} of ${product.size} (${share} %) since the first run`)
  return findings.length === 0
}

async function resumed(file: string, { size }: Product): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const progress = JSON.parse(text) as Partial<Progress>
  return progress.size === size && progress.next !== undefined && progress.next < size ? progress.next : 0
}

function* casesFrom(product: Product, from: number): Generator<Case> {
  for (let i = from; i < product.size; i++) yield product.at(i)
}

process.exitCode = (await main()) ? 0 : 1
