/** An etcd that is full, and one that forgets while a long list is read: what clients hear, and what goes on. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { Wire } from '../support/wire.ts'
import { etcdCall } from './cluster.ts'

describe.skipIf(etcdVersion === undefined)(
  `the limits of etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`,
  () => {
    const opened: AsyncDisposable[] = []
    let etcd: EtcdServer

    beforeEach(async () => {
      etcd = await EtcdServer.start({ flags: ['--quota-backend-bytes=16777216'] })
    })
    afterEach(async () => {
      for (const resource of opened.splice(0).reverse()) await resource[Symbol.asyncDispose]()
      await etcd[Symbol.asyncDispose]()
    })

    async function replica(): Promise<TestControlPlane> {
      const storage = { engine: 'etcd', endpoints: [new URL(etcd.endpoint).host], prefix: '' } as const
      const plane = await startControlPlane({ storage, population: false })
      opened.push(plane)
      return plane
    }

    /** Forgets everything before the present. */
    async function compact(): Promise<void> {
      const { header } = (await etcdCall(etcd.endpoint, 'kv/range', { key: 'AA==' })) as {
        header: { revision: string }
      }
      await etcdCall(etcd.endpoint, 'kv/compaction', { revision: header.revision, physical: true })
    }

    async function alarms(): Promise<readonly object[]> {
      const told = (await etcdCall(etcd.endpoint, 'maintenance/alarm', { action: 'GET' })) as { alarms?: object[] }
      return told.alarms ?? []
    }

    it('full: writes are answered 507, reads go on, and writes too once its history is compacted', async () => {
      const wire = new Wire(await replica())
      const path = '/api/v1/namespaces/default/configmaps'
      await wire.must('POST', path, { metadata: { name: 'big' } })
      const put = (turn: number): ReturnType<Wire['call']> =>
        wire.call('PUT', `${path}/big`, {
          metadata: { name: 'big' },
          data: { turn: String(turn), text: 'x'.repeat(900_000) },
        })
      let turn = 0
      let answer = await put(turn)
      while (answer.status === 200) answer = await put(++turn)
      expect([answer.status, answer.body.message]).toEqual([507, expect.stringContaining('full')])
      const { data } = (await wire.must('GET', `${path}/big`)) as { data?: { turn?: string } }
      // etcd may apply the very write that it answers with its alarm: its size is looked at once before and once while.
      expect([turn - 1, turn]).toContain(Number(data?.turn))
      // The answer to the write that was too much may come before the alarm that it raises.
      await expect.poll(alarms, { timeout: 20_000 }).not.toEqual([])
      expect((await wire.call('POST', path, { metadata: { name: 'small' } })).status).toBe(507)

      // What operations.md tells the operator to do.
      await compact()
      await etcdCall(etcd.endpoint, 'maintenance/defragment')
      for (const alarm of await alarms())
        await etcdCall(etcd.endpoint, 'maintenance/alarm', { ...alarm, action: 'DEACTIVATE' })
      expect((await wire.call('POST', path, { metadata: { name: 'small' } })).status).toBe(201)
      expect((await put(turn)).status).toBe(200)
    })

    it('history forgotten during a list: the pages go on where memory reaches, or say 410 with a token', async () => {
      const here = new Wire(await replica())
      await here.must('POST', '/api/v1/namespaces', { metadata: { name: 'long' } })
      const path = '/api/v1/namespaces/long/secrets'
      for (let i = 10; i < 40; i++) await here.must('POST', path, { metadata: { name: `s-${i}` } })
      const first = await here.must('GET', `${path}?limit=10`)
      const token = encodeURIComponent((first.metadata as { continue?: string }).continue ?? '')
      await here.must('DELETE', `${path}/s-25`)
      // Begins after the list: what was before, it knows from etcd only.
      const there = new Wire(await replica())
      const { header } = (await etcdCall(etcd.endpoint, 'kv/range', { key: 'AA==' })) as {
        header: { revision: string }
      }
      await etcdCall(etcd.endpoint, 'kv/compaction', { revision: header.revision, physical: true })

      const next = await here.must('GET', `${path}?limit=100&continue=${token}`)
      expect(next.items.map((o) => o.metadata.name)).toContain('s-25')
      expect([...first.items, ...next.items]).toHaveLength(30)

      const expired = await there.call('GET', `${path}?limit=100&continue=${token}`)
      expect([expired.status, expired.body.reason]).toEqual([410, 'Expired'])
      const again = encodeURIComponent((expired.body.metadata as { continue?: string }).continue ?? '')
      const rest = await there.must('GET', `${path}?limit=100&continue=${again}`)
      expect([...first.items, ...rest.items].map((o) => o.metadata.name)).toHaveLength(29)
    })
  },
)
