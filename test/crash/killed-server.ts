/**
 * A server under load is killed again and again, on the same data; what its clients were promised must be there, and
 * nothing that they did not try. When it is killed depends on the seed, what the machine does then on the machine.
 *
 * As a command: `node test/crash/killed-server.ts <folder> [kills]`, by default 1000. The folder keeps the data and the
 * count: a command that was interrupted goes on where it was. BOROUGH_MAIN names a built `bin/borough.mjs`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { endProcess, startServing } from '../interop/serving-process.ts'
import { clientOf } from '../replicas/kubeconfig-client.ts'
import { freePort } from '../support/free-port.ts'
import { randomFrom } from './random-damage.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'default'
const writers = 6
/** Of each writer; no other writer touches them. */
const keysEach = 30
const mostBytes = 3000
/** Writes that are acknowledged between a start and the kill that follows. */
const mostWrites = 250
const patienceMs = 20_000

/** What is stored under a name: `id` tells one write from every other. */
interface Known {
  readonly id: string
  readonly revision: string
}

/** What a name may hold after a kill: what was acknowledged last, or what was under way. */
interface Expected {
  acknowledged: Known | undefined
  /** `id` undefined: a removal. */
  pending: { readonly id: string | undefined } | undefined
}

export interface Tally {
  kills: number
  acknowledged: number
  /** Writes that nobody had been told of, and that were there all the same. */
  unacknowledged: number
  /** One line each. */
  readonly problems: string[]
}

interface Serving {
  readonly client: Client
  kill(): Promise<void>
}

export class KilledServer {
  readonly #dataDir: string
  readonly #expected = new Map<string, Expected>()
  readonly #random: (below: number) => number
  readonly tally: Tally
  #ids = 0
  #isKnown = false

  constructor(dataDir: string, seed: number, tally: Tally = emptyTally()) {
    this.#dataDir = dataDir
    this.#random = randomFrom(seed)
    this.tally = tally
  }

  /** Starts it, looks, writes, kills it. */
  async live(): Promise<void> {
    const serving = await this.#start()
    let killed: Promise<void> | undefined
    try {
      await this.#check(serving.client)
      const last = this.tally.acknowledged + 1 + this.#random(mostWrites)
      const isOver = (): boolean => killed !== undefined
      const acknowledged = (): void => {
        this.tally.acknowledged++
        if (this.tally.acknowledged === last) killed = serving.kill()
      }
      const writing = Array.from({ length: writers }, (_, i) => this.#write(serving.client, i, acknowledged, isOver))
      await Promise.all(writing)
    } finally {
      await (killed ?? serving.kill())
    }
    this.tally.kills++
  }

  /** The last look, of a server that is stopped then. */
  async finish(): Promise<void> {
    const serving = await this.#start()
    try {
      await this.#check(serving.client)
    } finally {
      await serving.kill()
    }
  }

  async #start(): Promise<Serving> {
    const listen = `127.0.0.1:${await freePort()}`
    const flags = ['--log-level', 'error', '--output', 'json', '--history-age', '1m']
    const args = ['up', '--data-dir', this.#dataDir, '--listen', listen, ...flags]
    const { child, ready } = await startServing<{ kubeconfig: string }>(args)
    const kubeconfig = await readFile(ready.kubeconfig, 'utf8')
    return {
      client: clientOf(kubeconfig, { listen }),
      kill: async () => void (await endProcess(child, 'SIGKILL')),
    }
  }

  /** Compares what is there with what was promised; from then on what is there is what is known. */
  async #check(client: Client): Promise<void> {
    const { items } = await client.list(configMaps, { namespace, labelSelector: 'killed=yes' })
    const found = new Map(items.map((item) => [item.metadata.name ?? '', knownOf(item)]))
    if (this.#isKnown) {
      for (const [name, expected] of this.#expected) this.#compare(name, expected, found.get(name))
      for (const name of found.keys()) if (!this.#expected.has(name)) this.#problem(`${name} was never written`)
    }
    this.#isKnown = true
    this.#expected.clear()
    for (const [name, known] of found) this.#expected.set(name, { acknowledged: known, pending: undefined })
  }

  #compare(name: string, { acknowledged, pending }: Expected, found: Known | undefined): void {
    if (found?.id === acknowledged?.id && found?.revision === acknowledged?.revision) return
    if (pending !== undefined && pending.id === found?.id) this.tally.unacknowledged++
    else this.#problem(`${name} holds ${text(found)}, acknowledged was ${text(acknowledged)}`)
  }

  #problem(what: string): void {
    this.tally.problems.push(`after kill ${this.tally.kills}: ${what}`)
  }

  async #write(client: Client, writer: number, acknowledged: () => void, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const name = `w${writer}-${this.#random(keysEach)}`
      const expected = this.#expected.get(name) ?? { acknowledged: undefined, pending: undefined }
      this.#expected.set(name, expected)
      const removes = expected.acknowledged !== undefined && this.#random(4) === 0
      const id = removes ? undefined : `${this.tally.kills}-${this.#ids++}`
      expected.pending = { id }
      try {
        expected.acknowledged = await this.#send(client, name, id, expected.acknowledged)
        expected.pending = undefined
        acknowledged()
      } catch (error) {
        if (isOver()) return
        throw error
      }
    }
  }

  async #send(
    client: Client,
    name: string,
    id: string | undefined,
    before: Known | undefined,
  ): Promise<Known | undefined> {
    const signal = AbortSignal.timeout(patienceMs)
    if (id === undefined) {
      await client.delete(configMaps, { namespace, name }, { signal })
      return undefined
    }
    const data = { id, bytes: 'x'.repeat(this.#random(mostBytes)) }
    const metadata = { name, namespace, labels: { killed: 'yes' } }
    const written =
      before === undefined
        ? await client.create(configMaps, { metadata, data }, { signal })
        : await client.update(
            configMaps,
            { metadata: { ...metadata, resourceVersion: before.revision }, data },
            { signal },
          )
    return knownOf(written)
  }
}

export const emptyTally = (): Tally => ({ kills: 0, acknowledged: 0, unacknowledged: 0, problems: [] })

const knownOf = ({ metadata, data }: KubeObject & { readonly data?: { readonly id?: string } }): Known => {
  return { id: data?.id ?? '', revision: metadata.resourceVersion ?? '' }
}

const text = (known: Known | undefined): string =>
  known === undefined ? 'nothing' : `write ${known.id} at revision ${known.revision}`

async function main(): Promise<void> {
  const [folder, kills = '1000'] = process.argv.slice(2)
  if (folder === undefined) throw new Error('a folder is needed, for the data and the count')
  await mkdir(folder, { recursive: true })
  const countFile = resolve(folder, 'tally.json')
  const tally = JSON.parse(await readFile(countFile, 'utf8').catch(() => JSON.stringify(emptyTally()))) as Tally
  while (tally.kills < Number(kills)) {
    const server = new KilledServer(join(folder, 'data'), 1 + tally.kills, tally)
    // What was promised before is looked at by the start that follows, so several lives belong together.
    for (let i = 0; i < 25 && tally.kills < Number(kills); i++) await server.live()
    await server.finish()
    await writeFile(countFile, JSON.stringify(tally))
  }
  const { acknowledged, unacknowledged, problems } = tally
  console.log(`${tally.kills} kills: ${acknowledged} writes acknowledged, ${unacknowledged} found that were not`)
  for (const problem of problems) console.error(problem)
  console.log(problems.length === 0 ? 'nothing is missing, nothing is invented' : `${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

if (import.meta.main) await main()
