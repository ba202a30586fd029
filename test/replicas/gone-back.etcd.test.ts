/**
 * An etcd that is restored from a snapshot under running servers: its revisions go back. What a server remembers is
 * then of a history that is no more.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { prefixSpan, type Storage, type StorageError } from '../../src/storage/storage.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall } from './cluster.ts'

async function openOn({ endpoint }: EtcdServer, onFault?: (error: StorageError) => void): Promise<EtcdStorage> {
  const storage = await EtcdStorage.open({ endpoints: [endpoint], ...(onFault && { onFault }) })
  onTestFinished(() => storage[Symbol.asyncDispose]())
  return storage
}

async function write(storage: Storage, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const writes = [{ key: `/k${i}`, value: Buffer.from(`${i}`), expect: 'absent' as const }]
    expect(await storage.commit({ guards: [], writes }).done).toMatchObject({ ok: true })
  }
}

/** Restored to a time when it held `/k0` to `/k2`, while `storage` has seen `/k9`. */
async function restoreUnder(etcd: EtcdServer): Promise<EtcdStorage> {
  {
    await using before = await EtcdStorage.open({ endpoints: [etcd.endpoint] })
    await write(before, 0, 3)
  }
  await etcd.stop('SIGTERM')
  await etcd.keepData()
  await etcd.start()
  const storage = await openOn(etcd)
  await write(storage, 3, 10)
  await etcd.stop('SIGTERM')
  await etcd.putBackData()
  await etcd.start()
  return storage
}

/** `what`: the source of a pattern. */
function saying(what: string): string {
  const remedy = 'nothing more is read or written: start every server of this store again'
  return expect.stringMatching(new RegExp(`^etcd at http:\\S+ ${what}; ${remedy}$`)) as string
}

describe.skipIf(etcdVersion === undefined)(
  `etcd ${etcdVersion ?? `(skipped: ${etcdMissing})`}`,
  { timeout: 60_000 },
  () => {
    it('a server of before reads and writes nothing more, and says why; a new one serves what is there', async () => {
      const etcd = await EtcdServer.start()
      onTestFinished(() => etcd[Symbol.asyncDispose]())
      const storage = await restoreUnder(etcd)
      const refusal = {
        code: 'unavailable',
        message: saying(
          'has gone back from revision \\d+ to \\d+, as after a restore from a snapshot, or where it was filled anew',
        ),
      }
      await expect(storage.get('/k9')).rejects.toMatchObject(refusal)
      await expect(storage.range(prefixSpan('/'))).rejects.toMatchObject(refusal)
      const writes = [{ key: '/new', value: Buffer.from('x'), expect: 'absent' as const }]
      await expect(storage.commit({ guards: [], writes }).done).rejects.toMatchObject(refusal)
      const started = await openOn(etcd)
      const { entries } = await started.range(prefixSpan('/'))
      expect(entries.map(({ key }) => key)).toEqual(['/k0', '/k1', '/k2'])
    })

    it('another etcd that has come further is not read or written, nor followed', async () => {
      const etcd = await EtcdServer.start()
      onTestFinished(() => etcd[Symbol.asyncDispose]())
      const idle = await openOn(etcd)
      const faults: string[] = []
      const following = await openOn(etcd, ({ message }) => faults.push(message))
      await write(idle, 0, 3)
      const told: string[] = []
      const stop = new AbortController()
      const watch = following.watch(prefixSpan('/'), await following.currentRevision(), stop.signal)
      const followed = (async () => {
        for await (const batch of watch)
          if (batch.type === 'changes') for (const { key } of batch.changes) told.push(key)
      })()
      await etcd.stop('SIGTERM')
      await etcd.startAsAnother()
      for (let i = 0; i < 40; i++)
        await etcdCall(etcd.endpoint, 'kv/put', { key: Buffer.from(`/other${i}`).toString('base64'), value: 'eA==' })
      const refusal = {
        code: 'unavailable',
        message: saying('is of another cluster than the one that answered before'),
      }
      await expect(idle.range(prefixSpan('/'))).rejects.toMatchObject(refusal)
      const writes = [{ key: '/new', value: Buffer.from('x'), expect: 'absent' as const }]
      await expect(idle.commit({ guards: [], writes }).done).rejects.toMatchObject(refusal)
      await expect.poll(() => faults, { timeout: 30_000 }).toContainEqual(refusal.message)
      stop.abort()
      await followed
      expect(told).toEqual([])
      const started = await openOn(etcd)
      expect((await started.range(prefixSpan('/'))).entries).toHaveLength(40)
    })

    it('a write that is the first to find out has not been acknowledged', async () => {
      const etcd = await EtcdServer.start()
      onTestFinished(() => etcd[Symbol.asyncDispose]())
      const storage = await restoreUnder(etcd)
      const writes = [{ key: '/new', value: Buffer.from('x'), expect: 'absent' as const }]
      await expect(storage.commit({ guards: [], writes }).done).rejects.toMatchObject({ code: 'unavailable' })
      await expect(storage.currentRevision()).rejects.toMatchObject({ code: 'unavailable' })
    })
  },
)
