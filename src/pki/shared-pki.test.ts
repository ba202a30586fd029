import { describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { PrivateFileError } from '../base/private-files.ts'
import { damageNote } from '../storage/damaged-value.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { openPki, type Pki, rotateServiceAccountKey } from './open-pki.ts'
import { memoryPkiStore, type PkiStore } from './pki-store.ts'
import { sharedPkiStore } from './shared-pki.ts'

const clock = new FakeClock()
const open = (storage: MemoryStorage, local: PkiStore, name = 'localhost'): Promise<Pki> =>
  openPki(sharedPkiStore(storage, local), { clock, names: [name] })
const kidsOf = (pki: Pki): string[] => pki.serviceAccountKeys.map((key) => key.kid)

describe('replicas on one store', () => {
  test('that start for the first time at once have one authority and one service-account key', async () => {
    await using storage = new MemoryStorage({ clock })
    const stores = Array.from({ length: 5 }, () => memoryPkiStore())
    const pkis = await Promise.all(stores.map((local) => open(storage, local)))
    expect(new Set(pkis.map((pki) => pki.caCert)).size).toBe(1)
    expect(new Set(pkis.flatMap(kidsOf)).size).toBe(1)
  })

  test('have serving certificates of their own, and a copy of the authority beside them', async () => {
    await using storage = new MemoryStorage({ clock })
    const [here, there] = [memoryPkiStore(), memoryPkiStore()]
    const a = await open(storage, here, 'a')
    const b = await open(storage, there, 'b')
    expect(a.serving.cert).not.toBe(b.serving.cert)
    for (const local of [here, there]) {
      expect([...(await local.read()).keys()].sort()).toEqual(['ca.crt', 'ca.key', 'server.crt', 'server.key'])
    }
    const { entries } = await storage.range({ start: '/', end: '0' })
    expect(entries.map((e) => e.key)).toEqual([
      '/borough/pki/ca.crt',
      '/borough/pki/ca.key',
      `/borough/pki/sa-${kidsOf(a)[0]}.crt`,
      `/borough/pki/sa-${kidsOf(a)[0]}.key`,
    ])
    expect((await open(storage, here, 'a')).serving.cert).toBe(a.serving.cert)
  })

  test('know each key that was added, and sign with the newest', async () => {
    await using storage = new MemoryStorage({ clock })
    const local = memoryPkiStore()
    const first = await open(storage, local)
    await clock.advance(60_000)
    const kid = await rotateServiceAccountKey(sharedPkiStore(storage, local), clock)
    expect(kidsOf(await open(storage, memoryPkiStore()))).toEqual([kid, ...kidsOf(first)])
  })
})

describe('a data directory with an authority of its own', () => {
  test('gives it to a store that has none: certificates and tokens stay good', async () => {
    const local = memoryPkiStore()
    const before = await openPki(local, { clock, names: ['localhost'] })
    await using storage = new MemoryStorage({ clock })
    const after = await open(storage, local)
    expect([after.caCert, kidsOf(after)]).toEqual([before.caCert, kidsOf(before)])
    const elsewhere = await open(storage, memoryPkiStore())
    expect([elsewhere.caCert, kidsOf(elsewhere)]).toEqual([before.caCert, kidsOf(before)])
  })

  test('is not called another one where that of the store can not be read', async () => {
    await using storage = new MemoryStorage({ clock })
    const local = memoryPkiStore()
    await open(storage, local)
    const { entry } = await storage.get('/borough/pki/ca.crt')
    const why = "the stored value of /borough/pki/ca.crt at revision 1 can't be decrypted: no key fits"
    const writes = [
      { key: '/borough/pki/ca.crt', value: damageNote(why), expect: entry?.revision ?? ('absent' as const) },
    ]
    await storage.commit({ guards: [], writes }).done
    await expect(open(storage, local)).rejects.toThrow(new PrivateFileError(why))
  })

  test('is refused by a store that has another', async () => {
    const local = memoryPkiStore()
    await openPki(local, { clock, names: ['localhost'] })
    await using storage = new MemoryStorage({ clock })
    await open(storage, memoryPkiStore())
    await expect(open(storage, local)).rejects.toThrow(
      'memory holds another certificate authority than the store: choose another --data-dir, or remove ' +
        'ca.crt and ca.key there',
    )
  })
})
