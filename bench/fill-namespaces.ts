/**
 * Puts populated namespaces into the store of a data directory that no process serves: copies of one that is there,
 * each with names and uids of its own. `node bench/fill-namespaces.ts DATADIR NAMESPACE COUNT`.
 */
import { join } from 'node:path'
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan } from '../src/storage/storage.ts'

const [dataDir = '', original = '', count = '0'] = process.argv.slice(2)
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const namespacesPerTransaction = 8
const transactionsUnderWay = 64

await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
const { entries } = await storage.range(prefixSpan('/registry/'))
const parts = entries
  .filter(({ key }) => key.split('/').includes(original))
  .map(({ key, value }) => ({ key, text: Buffer.from(value).toString('utf8') }))
// Those of this namespace and its objects; others (of the template) are the same in each copy.
const uids = new Set(parts.map(({ text }) => /"uid":"([^"]+)"/.exec(text)?.[1]))

/** Namespaces that share a label, however many there are. */
const picked = 200

function copyOf(name: string, isPicked: boolean): { key: string; value: Buffer; expect: 'absent' }[] {
  const fresh = new Map([...uids].map((uid) => [uid, crypto.randomUUID()]))
  const labels = '"bench":"populated"'
  const own = (text: string): string => (isPicked ? text.replace(labels, `${labels},"cohort":"picked"`) : text)
  return parts.map(({ key, text }) => ({
    key: key.replaceAll(original, name),
    value: Buffer.from(own(text.replaceAll(original, name)).replaceAll(uuid, (uid) => fresh.get(uid) ?? uid)),
    expect: 'absent' as const,
  }))
}

const pending: Promise<unknown>[] = []
for (let from = 0; from < Number(count); from += namespacesPerTransaction) {
  const many = Math.min(namespacesPerTransaction, Number(count) - from)
  const each = Math.max(1, Math.floor(Number(count) / picked))
  const writes = Array.from({ length: many }, (_, i) =>
    copyOf(`copy-${String(from + i).padStart(7, '0')}`, (from + i) % each === 0),
  ).flat()
  pending.push(storage.commit({ guards: [], writes }).done)
  if (pending.length === transactionsUnderWay) {
    await Promise.all(pending.splice(0))
    await storage.compact((await storage.currentRevision()) - 1024)
  }
}
await Promise.all(pending)
