/**
 * An etcd that is restored from a snapshot under running servers: its revisions go back. What a server remembers is
 * then of a history that is no more.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'

async function openOn({ endpoint }: EtcdServer): Promise<EtcdStorage> {
  const storage = await EtcdStorage.open({ endpoints: [endpoint] })
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
        message: expect.stringMatching(
          /^etcd at http:\S+ has gone back from revision \d+ to \d+, as after a restore from a snapshot; nothing more is read or written: start every server of this store again$/,
        ) as string,
      }
      await expect(storage.get('/k9')).rejects.toMatchObject(refusal)
      await expect(storage.range(prefixSpan('/'))).rejects.toMatchObject(refusal)
      const writes = [{ key: '/new', value: Buffer.from('x'), expect: 'absent' as const }]
      await expect(storage.commit({ guards: [], writes }).done).rejects.toMatchObject(refusal)
      const started = await openOn(etcd)
      const { entries } = await started.range(prefixSpan('/'))
      expect(entries.map(({ key }) => key)).toEqual(['/k0', '/k1', '/k2'])
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
