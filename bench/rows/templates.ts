/** Templates over many namespaces: filling them, an edit that reaches them all, what it costs when nothing happens. */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { type Connection, connect } from '../load/connection.ts'
import { type Row, spread } from '../report.ts'
import { type Borough, create, startBorough } from '../target.ts'
import { residentMiB } from './process.ts'
import { type Bench, configMap, cpuMsOf } from './rows.ts'

const creators = 16
const completeTemplate = new URL('../complete-template.yaml', import.meta.url)
const goalPerSecond = 500
const goalEditSeconds = 60
/** Until V8 has collected what the filling left. */
const settleMs = 30_000
const idleMs = 20_000
/** Of one core: one tick of what the system counts by, in that time. */
const goalIdlePercent = 0.1
const templates = '/apis/policy.borough.dev/v1alpha1/namespacetemplates'

const namespacesOf = ({ quick, full }: Bench): number => (full ? 10_000 : quick ? 500 : 2000)

const plain = { labels: { bench: 'populated' } }
/** By a portal, for one of its users. */
const complete = {
  labels: { bench: 'complete', 'example.com/size': 'large' },
  annotations: { 'example.com/cost-centre': '4711', 'borough.dev/owner': 'alice@example.com' },
}

async function fill(
  bench: Bench,
  borough: Borough,
  count: number,
  name: string,
  metadata: object = plain,
): Promise<number> {
  const result = await bench.load.run({
    kind: 'repeat',
    endpoint: borough.endpoint,
    protocol: 'http/1.1',
    clients: creators,
    call: {
      method: 'POST',
      path: '/api/v1/namespaces',
      body: JSON.stringify({ metadata: { name: `${name}-{n}`, ...metadata } }),
    },
    calls: count,
  })
  return result.perSecond
}

interface TemplateFigures {
  readonly metadata: { readonly generation: number }
  readonly status?: { readonly observedGeneration?: number; readonly synced?: number }
}

async function figures(connection: Connection, name: string): Promise<TemplateFigures> {
  const { chunks } = await connection.send({ method: 'GET', path: `${templates}/${name}` })
  return JSON.parse(Buffer.concat(chunks).toString()) as TemplateFigures
}

const pollMs = 20

/** Until every one of `count` namespaces holds the present generation. */
async function synced(connection: Connection, name: string, count: number): Promise<void> {
  for (;;) {
    const { metadata, status } = await figures(connection, name)
    if (status?.observedGeneration === metadata.generation && status.synced === count) return
    await sleep(pollMs)
  }
}

/** From the answer of the edit until the status says that all hold it. Each edit changes one object of five. */
async function editSeconds(connection: Connection, count: number, edit: number): Promise<number> {
  const { metadata: _, ...template } = (await figures(connection, 'default')) as TemplateFigures & {
    spec: { templates: { metadata: { labels?: object } }[] }
  }
  const objects = template.spec.templates.map((o, i) =>
    i === 0 ? { ...o, metadata: { ...o.metadata, labels: { edit: `${edit}` } } } : o,
  )
  const began = performance.now()
  const { status } = await connection.send({
    method: 'PATCH',
    path: `${templates}/default`,
    contentType: 'application/merge-patch+json',
    body: JSON.stringify({ spec: { templates: objects } }),
  })
  if (status !== 200) throw new Error(`the template could not be edited: ${status}`)
  await synced(connection, 'default', count)
  return (performance.now() - began) / 1000
}

async function* populated(bench: Bench): AsyncGenerator<Row> {
  const count = namespacesOf(bench)
  // Once a day the scrub has 2 % of a core, beginning a minute after the start: it is no rest.
  await using borough = await startBorough(await bench.tempDir(), ['--scrub-every', 'never'])
  const perSecond = await fill(bench, borough, count, 'many')
  // Not before: a server closes a connection on which nothing is asked for long.
  const connection = await connect(borough.endpoint, 'http/1.1')
  await synced(connection, 'default', count)
  const of = count.toLocaleString('en-US')
  const rate = spread([perSecond])
  yield {
    what: `${of} namespaces made and populated with 5 objects, ${creators} clients`,
    unit: '/s',
    ours: rate,
    goal: `≥ ${goalPerSecond}/s`,
    met: rate.median >= goalPerSecond,
  }
  const edits: number[] = []
  for (let edit = 0; edit < bench.rounds; edit++) edits.push(await editSeconds(connection, count, edit))
  const seconds = spread(edits)
  yield {
    what: `an edit of a template reaches ${of} namespaces`,
    unit: 's',
    ours: seconds,
    goal: `< ${goalEditSeconds} s for 10,000`,
    met: (seconds.median * 10_000) / count < goalEditSeconds,
  }
  connection.close()
  await sleep(settleMs)
  const before = cpuMsOf(borough.pid)
  await sleep(idleMs)
  const after = cpuMsOf(borough.pid)
  if (before !== undefined && after !== undefined) {
    const percent = (100 * (after - before)) / idleMs
    yield {
      what: `CPU of the server while ${of} populated namespaces rest, but for the daily scrub`,
      unit: '% of a core',
      ours: spread([percent]),
      goal: `≤ ${goalIdlePercent} %`,
      met: percent <= goalIdlePercent,
    }
  }
}

/** With all that a template can ask and give. */
async function* completely(bench: Bench): AsyncGenerator<Row> {
  const count = namespacesOf(bench)
  await using borough = await startBorough(await bench.tempDir())
  let connection = await connect(borough.endpoint, 'http/1.1')
  const annotations = { 'policy.borough.dev/clone-to': '*' }
  const data = { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') }
  await create(connection, '/api/v1/namespaces/default/secrets', {
    metadata: { name: 'pull-secret', annotations },
    type: 'kubernetes.io/dockerconfigjson',
    data,
  })
  await create(connection, templates, parse(await readFile(completeTemplate, 'utf8')))
  connection.close()
  const perSecond: number[] = []
  for (let round = 0; round < bench.rounds; round++) {
    perSecond.push(await fill(bench, borough, count, `complete-${round}`, complete))
  }
  connection = await connect(borough.endpoint, 'http/1.1')
  await synced(connection, 'complete', count * bench.rounds)
  connection.close()
  const rate = spread(perSecond)
  yield {
    what: `${count.toLocaleString('en-US')} namespaces with owner, parameters, labels, condition, end and copy`,
    unit: '/s',
    ours: rate,
    goal: `≥ ${goalPerSecond}/s`,
    met: rate.median >= goalPerSecond,
  }
}

const manyTemplates = 60
const theirNamespaces = 180
/** 300 MB. */
const goalMiB = 286
const restMs = 10_000

/** What took another engine to 7 GB. */
async function* many(bench: Bench): AsyncGenerator<Row> {
  await using borough = await startBorough(await bench.tempDir())
  let connection = await connect(borough.endpoint, 'http/1.1')
  const namespaces = { labelSelector: { matchLabels: { bench: 'populated' } } }
  for (let i = 0; i < manyTemplates; i++) {
    const object = configMap(`object-${i}`, 300)
    await create(connection, templates, { metadata: { name: `t-${i}` }, spec: { namespaces, templates: [object] } })
  }
  connection.close()
  await fill(bench, borough, theirNamespaces, 'shared')
  connection = await connect(borough.endpoint, 'http/1.1')
  for (let i = 0; i < manyTemplates; i++) await synced(connection, `t-${i}`, theirNamespaces)
  connection.close()
  const row = async (when: string): Promise<Row> => {
    const mib = await residentMiB(borough.pid)
    return {
      what: `memory with ${manyTemplates} templates for ${theirNamespaces} namespaces, ${when} (resident)`,
      unit: 'MiB',
      ours: spread([mib]),
      goal: `< ${goalMiB} MiB`,
      met: mib < goalMiB,
    }
  }
  yield await row('right after they were filled')
  await sleep(restMs)
  yield await row(`${restMs / 1000} s later`)
}

export async function* templateRows(bench: Bench): AsyncGenerator<Row> {
  yield* populated(bench)
  yield* completely(bench)
  yield* many(bench)
}
