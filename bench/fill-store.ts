/** Puts objects into the store of a data directory that nobody serves. `node bench/fill-store.ts DATADIR COUNT`. */
import { join } from 'node:path'
import { objectKey } from '../src/kube/object-key.ts'
import { encodeStored } from '../src/kube/stored-form.ts'
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'

const [dataDir = '', count = '0'] = process.argv.slice(2)
await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
const perTransaction = 100
const pending: Promise<unknown>[] = []
for (let from = 0; from < Number(count); from += perTransaction) {
  const writes = Array.from({ length: perTransaction }, (_, i) => {
    const name = `filled-${from + i}`
    const value = encodeStored({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default', uid: crypto.randomUUID(), creationTimestamp: '2026-01-01T00:00:00Z' },
      data: { key: 'x'.repeat(350) },
    })
    return { key: objectKey('configmaps', 'default', name), value, expect: 'absent' as const }
  })
  pending.push(storage.commit({ guards: [], writes }).done)
  if (pending.length === 50) await Promise.all(pending.splice(0))
}
await Promise.all(pending)
