/**
 * `borough populate` over many namespaces of the cluster of `--kubeconfig`: filling them, an edit, a start on all of
 * them. The cluster is one to throw away: what was made stays there.
 */

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { openRemote, type Remote } from '../../src/client/remote.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import type { Endpoint } from '../load/connection.ts'
import { installAccount, type PopulateProcess, startPopulate } from '../populate-process.ts'
import { type Relay, startRelay } from '../relay.ts'
import { type Row, spread } from '../report.ts'
import { residentMiB } from './process.ts'
import { type Bench, cpuMsOf } from './rows.ts'

const templateFile = fileURLToPath(new URL('../populated-template.yaml', import.meta.url))
const resource = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const ref = { name: 'default' }
const creators = 8
const stepMs = 1000
/** At rest there are a lease, and now and then a watch that begins anew. */
const restingPerSecond = 2
const restingSteps = 10
const longestMs = 60 * 60_000

interface Template extends KubeObject {
  readonly spec: { readonly templates: readonly KubeObject[] }
  readonly status?: { readonly observedGeneration?: number; readonly synced?: number }
}

export async function* elsewhereRows(bench: Bench): AsyncGenerator<Row> {
  if (bench.peerKubeconfig === undefined || bench.peer === undefined)
    throw new Error('these rows need --kubeconfig, of a cluster to throw away')
  const { endpoint } = bench.peer
  const counts = bench.namespaces ?? [bench.full ? 10_000 : bench.quick ? 200 : 2000]
  const remote = openRemote({ kubeconfigPath: bench.peerKubeconfig, userAgent: 'bench' })
  const token = await installAccount(remote, templateFile)
  using relay = await startRelay(endpoint)
  const folder = await bench.tempDir()
  const server = `https://${endpoint.host}:${relay.port}`
  const start = (): Promise<PopulateProcess> => startPopulate(folder, { server, ca: endpoint.ca ?? '', token })
  for (const count of counts) {
    {
      await using populate = await start()
      await installTemplate(remote)
      yield* rowsOf(
        `${shown(count)} namespaces made (${creators} clients) and populated`,
        await phase(bench, {
          populate,
          relay,
          work: () => fill(bench, endpoint, remote, count),
        }),
      )
      yield* rowsOf(`until it rests after that`, await phase(bench, { populate, relay, work: () => rest(populate) }))
      yield* rowsOf(
        `an edit of one object through ${shown(count)}`,
        await phase(bench, {
          populate,
          relay,
          work: () => edit(remote, count),
        }),
      )
      await rest(populate)
    }
    const began = { fromServer: relay.fromServerBytes, toServer: relay.toServerBytes }
    await using again = await start()
    yield row(`start to ready on ${shown(count)} populated`, 'ms', again.readyAfterMs)
    const figures = await phase(bench, { populate: again, relay, work: () => rest(again) })
    // With what it did before its ready line.
    const whole = {
      ...figures,
      seconds: figures.seconds + again.readyAfterMs / 1000,
      ...(await again.asked()),
      fromServerMiB: mib(relay.fromServerBytes - began.fromServer),
      toServerMiB: mib(relay.toServerBytes - began.toServer),
      cpuSeconds: (cpuMsOf(again.pid) ?? Number.NaN) / 1000,
    }
    yield* rowsOf(`a start on ${shown(count)} populated, until it rests`, whole)
    const atRest = await phase(bench, { populate: again, relay, work: () => sleep(60 * stepMs) })
    yield* rowsOf(`a minute at rest with ${shown(count)}`, atRest)
  }
}

/** As it was in the file, however often this ran. */
async function installTemplate({ client }: Remote): Promise<void> {
  const template = parse(await readFile(templateFile, 'utf8')) as KubeObject
  await client.apply(resource, template, { fieldManager: 'bench', force: true })
}

async function fill(bench: Bench, endpoint: Endpoint, remote: Remote, count: number): Promise<void> {
  const there = (await template(remote)).status?.synced ?? 0
  await bench.load.run({
    kind: 'repeat',
    endpoint,
    protocol: 'http/1.1',
    clients: creators,
    call: {
      method: 'POST',
      path: '/api/v1/namespaces',
      body: JSON.stringify({ metadata: { name: 'elsewhere-{n}', labels: { bench: 'populated' } } }),
    },
    calls: count - there,
    from: there,
  })
  bench.say('all are created')
  await synced(remote, count)
}

const template = ({ client }: Remote): Promise<Template> => client.get<Template>(resource, ref)

async function synced(remote: Remote, count: number): Promise<void> {
  for (const began = performance.now(); performance.now() - began < longestMs; ) {
    const { metadata, status } = await template(remote)
    if (status?.observedGeneration === metadata.generation && status?.synced === count) return
    await sleep(stepMs / 4)
  }
  throw new Error(`after ${longestMs / 60_000} minutes not all ${count} namespaces were populated`)
}

async function edit(remote: Remote, count: number): Promise<void> {
  const { spec } = await template(remote)
  const changed = spec.templates.map((object, i) =>
    i === 0 ? { ...object, metadata: { ...object.metadata, labels: { edit: `${Date.now()}` } } } : object,
  )
  await remote.client.patch(resource, ref, { spec: { templates: changed } })
  await synced(remote, count)
}

async function rest(populate: PopulateProcess): Promise<void> {
  for (let [resting, before] = [0, (await populate.asked()).requests]; resting < restingSteps; ) {
    await sleep(stepMs)
    const { requests } = await populate.asked()
    resting = requests - before <= restingPerSecond ? resting + 1 : 0
    before = requests
  }
}

interface Phase {
  readonly populate: PopulateProcess
  readonly relay: Relay
  readonly work: () => Promise<unknown>
}

interface Figures {
  readonly seconds: number
  readonly requests: number
  readonly writes: number
  readonly mostPerSecond: number
  readonly fromServerMiB: number
  readonly toServerMiB: number
  readonly cpuSeconds: number
  readonly mostMiB: number
}

async function phase(bench: Bench, { populate, relay, work }: Phase): Promise<Figures> {
  const before = await populate.asked()
  const cpuBeforeMs = cpuMsOf(populate.pid) ?? Number.NaN
  const [received, sent] = [relay.fromServerBytes, relay.toServerBytes]
  const began = performance.now()
  let [mostMiB, mostPerSecond] = [await residentMiB(populate.pid), 0]
  const done = new AbortController()
  const looking = (async () => {
    let [last, lastMs] = [before.requests, performance.now()]
    while (!done.signal.aborted) {
      await sleep(stepMs)
      const [{ requests }, now] = [await populate.asked(), performance.now()]
      mostMiB = Math.max(mostMiB, await residentMiB(populate.pid))
      mostPerSecond = Math.max(mostPerSecond, ((requests - last) * 1000) / (now - lastMs))
      ;[last, lastMs] = [requests, now]
    }
  })()
  try {
    await work()
  } finally {
    done.abort()
    await looking
  }
  const after = await populate.asked()
  return {
    seconds: (performance.now() - began) / 1000,
    requests: after.requests - before.requests,
    writes: after.writes - before.writes,
    mostPerSecond,
    fromServerMiB: mib(relay.fromServerBytes - received),
    toServerMiB: mib(relay.toServerBytes - sent),
    cpuSeconds: ((cpuMsOf(populate.pid) ?? Number.NaN) - cpuBeforeMs) / 1000,
    mostMiB,
  }
}

function* rowsOf(what: string, figures: Figures): Generator<Row> {
  yield row(what, 's', figures.seconds)
  yield row(`${what}: requests of borough populate`, '', figures.requests)
  yield row(`${what}: of these, writes`, '', figures.writes)
  yield row(`${what}: requests, on average`, '/s', figures.requests / figures.seconds)
  yield row(`${what}: requests, at most`, '/s', figures.mostPerSecond)
  yield row(`${what}: received`, 'MiB', figures.fromServerMiB)
  yield row(`${what}: sent`, 'MiB', figures.toServerMiB)
  yield row(`${what}: processor time`, 's', figures.cpuSeconds)
  yield row(`${what}: resident, at most`, 'MiB', figures.mostMiB)
}

const row = (what: string, unit: string, value: number): Row => ({ what, unit, ours: spread([value]), goal: '' })
const mib = (bytes: number): number => bytes / 1024 / 1024
const shown = (count: number): string => count.toLocaleString('en-US')
