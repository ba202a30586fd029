/**
 * An etcd that is restored from a snapshot under two servers and their load, by etcd's own tools: from then on nothing
 * is acknowledged and nothing is read, the servers say why, and started again, with the loss accepted, they serve what
 * the snapshot holds, all that was acknowledged before it included.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { EtcdServer, etcdPrograms } from '../support/etcd-server.ts'
import { pause, supervised } from './faults.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const patienceMs = 10_000

/** Of an etcd from 3.5 on: the tool that restores lies beside it. */
const program = etcdPrograms.map((each) => each.program).find((each) => existsSync(join(dirname(each), 'etcdutl')))
const why = program === undefined ? ' (skipped: BOROUGH_ETCD_NEWER names no etcd with etcdutl beside it)' : ''

interface Acknowledged {
  readonly name: string
  readonly at: number
}

/** Writes at one server after the other, all the time. */
class Writers {
  readonly acknowledged: Acknowledged[] = []
  readonly attempted: Set<string> = new Set()
  readonly #stop = new AbortController()
  readonly #running: readonly Promise<void>[]

  constructor(clients: readonly Client[], name: string) {
    this.#running = clients.map((client, i) => this.#write(client, `${name}-${i}`))
  }

  async acknowledges(count: number): Promise<void> {
    const enough = this.acknowledged.length + count
    while (this.acknowledged.length < enough) await pause(20)
  }

  /** Whatever comes of them. */
  async attempts(count: number): Promise<void> {
    const enough = this.attempted.size + count
    while (this.attempted.size < enough) await pause(20)
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }

  async #write(client: Client, by: string): Promise<void> {
    for (let i = 0; !this.#stop.signal.aborted; i++) {
      const name = `${by}-${i}`
      this.attempted.add(name)
      const signal = AbortSignal.timeout(patienceMs)
      const made = client.create(configMaps, { metadata: { name, namespace: 'default' } }, { signal })
      await made.then(
        () => this.acknowledged.push({ name, at: performance.now() }),
        () => pause(50),
      )
    }
  }
}

async function names(client: Client): Promise<Set<string>> {
  const { items } = await client.list(configMaps, { namespace: 'default' })
  return new Set(items.map(({ metadata }) => metadata.name ?? ''))
}

describe.skipIf(program === undefined)(`a snapshot of etcd${why}`, { timeout: 300_000 }, () => {
  it('that is restored under load is told of, and served once the servers are started again', async () => {
    const etcd = await EtcdServer.start({ program: program ?? '' })
    onTestFinished(() => etcd[Symbol.asyncDispose]())
    const flags = [`--storage=etcd://${new URL(etcd.endpoint).host}`, '--log-level=error']
    const start = async (): Promise<BoroughProcess> => {
      const server = await supervised(() => BoroughProcess.start(flags))
      onTestFinished(() => server[Symbol.asyncDispose]())
      return server
    }
    const servers = [await start(), await start()]
    const kubeconfig = (await servers[0]?.adminKubeconfig()) ?? ''
    const clients = servers.map((server) => clientOf(kubeconfig, server))
    const writers = new Writers(clients, 'w')
    await writers.acknowledges(20)

    const snapshotBegan = performance.now()
    const snapshot = await etcd.saveSnapshot()
    await writers.acknowledges(20)
    await etcd.stop('SIGTERM')
    await etcd.restoreSnapshot(snapshot, (args) => {
      const { status, stderr } = spawnSync(join(dirname(program ?? ''), 'etcdutl'), args, { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
    })
    const restoredAt = performance.now()
    await etcd.start()
    for (const [i, client] of clients.entries()) {
      const asked = (): Promise<unknown> => client.list(configMaps, { namespace: 'default' }).catch((e: unknown) => e)
      await expect.poll(async () => findStatusError(await asked())?.code, { timeout: 60_000 }).toBe(503)
      const page = await pageOf(kubeconfig, servers[i] as BoroughProcess, '/readyz?verbose')
      expect(page).toMatch(/\[-\]storage failed/)
    }
    await writers.attempts(40)
    await writers.end()
    // A write that was under way while etcd was down is not acknowledged by the one that was restored.
    expect(writers.acknowledged.filter(({ at }) => at > restoredAt)).toEqual([])

    for (const server of servers) {
      await server.end('SIGTERM')
      server.version = { ...server.version, flags: ['--accept-loss'] }
      await supervised(() => server.start())
    }
    for (const client of clients) {
      const found = await names(client)
      const before = writers.acknowledged.filter(({ at }) => at < snapshotBegan).map(({ name }) => name)
      expect([...found]).toEqual(expect.arrayContaining(before))
      const others = [...found].filter((name) => name !== 'kube-root-ca.crt' && !writers.attempted.has(name))
      expect(others).toEqual([])
      expect(writers.acknowledged.some(({ name }) => !found.has(name))).toBe(true)
    }
    const again = new Writers(clients, 'again')
    await again.acknowledges(10)
    await again.end()
    for (const client of clients) {
      const found = await names(client)
      expect(again.acknowledged.filter(({ name }) => !found.has(name))).toEqual([])
    }
  })
})
