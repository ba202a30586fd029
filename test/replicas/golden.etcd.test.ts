/**
 * What servers of each format level left in an etcd, commit by commit, opens for ever: recorded from a server of that
 * time (of level 0: the last version that knew no other).
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { damageOf } from '../../src/storage/damaged-value.ts'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { type Entry, prefixSpan } from '../../src/storage/storage.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall } from './cluster.ts'

/** Base64; without a value: a deletion. */
interface RawWrite {
  readonly key: string
  readonly value?: string
}

const golden = [
  {
    file: 'etcd-level-0.json.gz',
    entries: 137,
    sha256: 'f41ca5e002e8e4f81d4cab2f79f6c59f008bd2c647827a14ed3a818732b95930',
  },
  {
    file: 'etcd-level-1.json.gz',
    entries: 143,
    sha256: '38028d46874d0b49008a06829ed76f181468c5ec02421a16194499f944d44ed7',
  },
]
const changed = '/registry/configmaps/team-a/c1'

/** Each commit gets the revision that it had: checksums cover what a write replaced. */
async function replay({ endpoint }: EtcdServer, file: string): Promise<void> {
  const packed = await readFile(join(import.meta.dirname, '../golden/store', file))
  const commits = JSON.parse(gunzipSync(packed).toString()) as readonly (readonly RawWrite[])[]
  for (const [i, writes] of commits.entries()) {
    const success = writes.map(({ key, value }) =>
      value === undefined ? { request_delete_range: { key } } : { request_put: { key, value } },
    )
    const { header } = (await etcdCall(endpoint, 'kv/txn', { success })) as { header: { revision: string } }
    expect(header.revision).toBe(String(i + 2))
  }
}

function digestOf(entries: Iterable<Entry>): string {
  const hash = createHash('sha256')
  for (const { key, revision, value } of entries) hash.update(`${key}\0${revision}\0`).update(value)
  return hash.digest('hex')
}

describe.skipIf(etcdVersion === undefined)(`a store in etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  it.each(golden)('of $file opens, holds what was written, keeps its history, and takes writes', async (of) => {
    const etcd = await EtcdServer.start()
    onTestFinished(() => etcd[Symbol.asyncDispose]())
    await replay(etcd, of.file)
    await using storage = await EtcdStorage.open({ endpoints: [etcd.endpoint] })
    const { entries } = await storage.range(prefixSpan('/'))
    expect(entries.filter(({ value }) => damageOf(value) !== undefined)).toEqual([])
    expect({ entries: entries.length, sha256: digestOf(entries) }).toEqual({ entries: of.entries, sha256: of.sha256 })
    const { entry } = await storage.get(changed)
    const revision = entry?.revision ?? 0
    expect(Buffer.from(entry?.value ?? []).toString()).toContain('"labels":{"a":"b"}')
    const before = await storage.get(changed, { at: revision - 1024 })
    expect(Buffer.from(before.entry?.value ?? []).toString()).not.toContain('"labels"')
    const writes = [{ key: changed, value: Buffer.from('{"metadata":{"name":"c1"}}'), expect: revision }]
    expect(await storage.commit({ guards: [], writes }).done).toMatchObject({ ok: true })
    expect(Buffer.from((await storage.get(changed)).entry?.value ?? []).toString()).toBe('{"metadata":{"name":"c1"}}')
  })
})
