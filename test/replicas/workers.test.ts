/** `borough up --workers 2`: two processes on one port and one SQLite file keep every promise of one, also when one of them dies. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Change } from '../../src/storage/storage.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'
import { RecordedLoad, randomFrom, recordedSpans } from './recorded-load.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('two workers', () => {
  let server: BoroughProcess

  beforeAll(async () => {
    server = await BoroughProcess.start(['--workers=2'])
  }, 120_000)

  afterAll(() => server?.[Symbol.asyncDispose](), 60_000)

  const workers = (): number[] =>
    readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ').map(Number)

  it('both serve, and one of them runs the controllers', async () => {
    const kubeconfig = await server.adminKubeconfig()
    const leads = (page: string): string | undefined => /\nborough_controllers_leading (\d)/.exec(page)?.[1]
    const pages: string[] = []
    // The server is ready before one of them has the lease.
    while (leads(await pageOf(kubeconfig, server, '/metrics')) !== '1') await pause(20)
    for (let i = 0; i < 6; i++) pages.push(await pageOf(kubeconfig, server, '/metrics'))
    const starts = pages.map((page) => /\nprocess_start_time_seconds (\S+)/.exec(page)?.[1])
    expect(new Set(starts.map((start, i) => `${start} ${leads(pages[i] ?? '')}`)).size).toBe(2)
    expect(new Set(pages.map(leads))).toEqual(new Set(['0', '1']))
    const lease = await clientOf(kubeconfig, server).get(leases, {
      namespace: 'kube-system',
      name: 'borough-controllers',
    })
    expect((lease['spec'] as { holderIdentity?: string }).holderIdentity).toBeTruthy()
  })

  it('under load, and while one is killed: linearizable keys, complete watches, exact quota', {
    timeout: 120_000,
  }, async () => {
    const kubeconfig = await server.adminKubeconfig()
    // Connections go to the workers in turn.
    const clients = Array.from({ length: 4 }, () => clientOf(kubeconfig, server))
    const changes = (): Change[] => changesIn(join(server.dataDir, 'store/state.db'))
    const load = new RecordedLoad({ clients, changes, keys: 5, contenders: 8, random: randomFrom(7) })
    await load.start()
    await pause(1500)
    const [victim] = workers()
    if (victim === undefined) throw new Error('no worker')
    const killed = performance.now()
    process.kill(victim, 'SIGKILL')
    await pause(2500)
    const silentMs = load.longestSilence(killed)
    const { problems, ...counts } = await load.finish(() => Promise.resolve())
    console.log(`two workers, one killed: ${JSON.stringify(counts)}; no write for at most ${Math.round(silentMs)} ms`)
    expect(problems.slice(0, 20)).toEqual([])
    expect(counts.acknowledged).toBeGreaterThan(10)
    expect(silentMs).toBeLessThan(4000)
    for (let tries = 0; workers().length < 2; tries++) {
      expect(tries).toBeLessThan(200)
      await pause(50)
    }
    expect(workers()).not.toContain(victim)
  })

  it('end together, and nothing is lost', { timeout: 120_000 }, async () => {
    const kubeconfig = await server.adminKubeconfig()
    await clientOf(kubeconfig, server).create(configMaps, { metadata: { name: 'last', namespace: 'default' } })
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
    await server.start()
    const found = await clientOf(kubeconfig, server).get(configMaps, { namespace: 'default', name: 'last' })
    expect(found.metadata.name).toBe('last')
  })
})

/** The log of the store, read beside it. */
function changesIn(path: string): Change[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = database
      .prepare(
        'SELECT l.revision, l.key, l.value, l.previous, p.value AS before FROM log l LEFT JOIN log p ON p.revision = l.previous ORDER BY l.revision',
      )
      .all()
    return rows.flatMap(({ revision, key, value, previous, before }): Change[] => {
      if (typeof key !== 'string' || !recordedSpans.some((span) => key.startsWith(span))) return []
      const old = typeof previous === 'number' ? { key, revision: previous, value: before as Uint8Array } : undefined
      return [{ key, revision: Number(revision), value: (value as Uint8Array | null) ?? undefined, previous: old }]
    })
  } finally {
    database.close()
  }
}
