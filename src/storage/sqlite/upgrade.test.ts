import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { damageOf } from '../damaged-value.ts'
import { type Entry, prefixSpan } from '../storage.ts'
import { openSnapshot } from './snapshot.ts'
import { SqliteStorage } from './sqlite-storage.ts'

/** What a store of each format held: recorded by the version that wrote it. */
const golden = [
  {
    file: 'format-1.db.gz',
    entries: 115,
    sha256: '29016b4197324aff5dd1cec026be482cab0727a268dfe2bfa8a5fddae97a45f9',
  },
  {
    file: 'format-2.db.gz',
    entries: 139,
    sha256: '510afa3e6f7aa11e978b760964026e8a01f4d12c59574317cef84a0794c081f6',
    mark: 'format-2.acknowledged.gz',
  },
]
const updated = '/registry/configmaps/team-a/c1'

let directory: string
const path = (): string => join(directory, 'state.db')
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'borough-upgrade-')), 'store')
  await mkdir(directory)
})
afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }))

const unpackTo = async (target: string, file: string): Promise<void> =>
  writeFile(target, gunzipSync(await readFile(join(import.meta.dirname, '../../../test/golden/store', file))))

async function unpack(file: string, mark: string | undefined): Promise<void> {
  await unpackTo(path(), file)
  if (mark !== undefined) await unpackTo(join(directory, 'acknowledged'), mark)
}

function digestOf(entries: Iterable<Entry>): string {
  const hash = createHash('sha256')
  for (const { key, revision, value } of entries) hash.update(`${key}\0${revision}\0`).update(value)
  return hash.digest('hex')
}

describe.each(golden)('a store of $file', ({ file, entries, sha256, mark }) => {
  it('opens, holds what was written, keeps its history, and takes writes', async () => {
    await unpack(file, mark)
    const last = await (async () => {
      await using storage = await SqliteStorage.open({ directory })
      const found = (await storage.range(prefixSpan('/'))).entries
      expect(found).toHaveLength(entries)
      expect(digestOf(found)).toBe(sha256)
      const { entry } = await storage.get(updated)
      const changed = entry?.revision ?? 0
      const before = await storage.get(updated, { at: changed - 1024 })
      expect(before.entry?.revision).toBeLessThan(changed)
      expect(Buffer.from(before.entry?.value ?? []).toString()).toContain('"n":"1"')
      const write = {
        key: updated,
        value: Buffer.from('{"metadata":{"name":"c1"}}'),
        expect: changed,
      }
      return (await storage.commit({ guards: [], writes: [write] }).done).ok
    })()
    expect(last).toBe(true)
    await using again = await SqliteStorage.open({ directory })
    expect(Buffer.from((await again.get(updated)).entry?.value ?? []).toString()).toBe('{"metadata":{"name":"c1"}}')
    expect((await again.range(prefixSpan('/'))).entries.filter(({ value }) => damageOf(value))).toEqual([])
  })

  it('can be backed up before it is opened, and stays as it is', async () => {
    await unpack(file, mark)
    const before = await readFile(path())
    using snapshot = openSnapshot(directory)
    expect(digestOf(snapshot.entries())).toBe(sha256)
    expect(await readFile(path())).toEqual(before)
  })

  it('seals what is written from then on: a value without a header is damage there', async () => {
    await unpack(file, mark)
    const write = (key: string) => ({ key, value: Buffer.from('{"metadata":{}}'), expect: 'absent' as const })
    await (async () => {
      await using storage = await SqliteStorage.open({ directory })
      await storage.commit({ guards: [], writes: [write('/new')] }).done
    })()
    const database = new DatabaseSync(path())
    database.exec("UPDATE log SET header = NULL WHERE key = '/new'")
    database.close()
    await using storage = await SqliteStorage.open({ directory })
    const { entry } = await storage.get('/new')
    expect(damageOf(entry?.value ?? new Uint8Array())).toBe(
      `the stored value of /new at revision ${entry?.revision} is damaged: its header is missing`,
    )
  })
})

it('a store of a later format is refused in one line, also by a backup', async () => {
  await (await SqliteStorage.open({ directory }))[Symbol.asyncDispose]()
  const database = new DatabaseSync(path())
  database.exec('PRAGMA user_version = 3')
  database.close()
  const refusal = { code: 'unavailable', message: `${path()} has format 3, this version reads formats 1 to 2` }
  await expect(SqliteStorage.open({ directory })).rejects.toMatchObject(refusal)
  expect(() => openSnapshot(directory)).toThrow(expect.objectContaining(refusal))
})
