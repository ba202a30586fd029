/**
 * A store that ends before what was acknowledged, or lacks rows of its log: commands that read it, or mend its index,
 * must not take what is left for the whole.
 */
import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpInto, copyStore, rebuildIndexAt, sourceAt, targetAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { examineDataDirectory } from '../../src/doctor/data-directory.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { positionsPerCommit, type Revision, type Storage } from '../../src/storage/storage.ts'

const options = { clock: systemClock, log: silentLog }
const loss = /state\.db ends at revision \d+, but \d+ was acknowledged: \d+ to \d+ are missing/
const markGone = /acknowledged is gone: it told the last acknowledged revision/

let root: string
let dataDir: string
let set: string
/** Of the last commit. */
let last: Revision

const store = (): string => join(dataDir, 'store')
const open = (acceptLoss = false): Promise<SqliteStorage> => SqliteStorage.open({ directory: store(), acceptLoss })

async function put(storage: Storage, key: string): Promise<Revision> {
  const writes = [{ key, value: Buffer.from(key), expect: 'absent' as const }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new Error(`${key} was not written`)
  return commit.revision
}

/** The log is lost, as with a copy of the directory that left it out. */
async function loseLog(): Promise<void> {
  const whole = join(root, 'whole')
  {
    await using storage = await open()
    last = await put(storage, '/lost')
    await cp(store(), whole, { recursive: true, filter: (path) => !/-(wal|shm)$/.test(path) })
  }
  await rm(store(), { recursive: true })
  await cp(whole, store(), { recursive: true })
}

const change = (sql: string): void => {
  using database = new DatabaseSync(join(store(), 'state.db'))
  database.exec(sql)
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-lost-end-'))
  dataDir = join(root, 'data')
  set = join(root, 'set')
  for (const path of [dataDir, set]) await mkdir(path, { mode: 0o700 })
  await using storage = await open()
  last = await put(storage, '/kept')
  await put(storage, '/kept-too')
  await backUpInto(set, dataDir, options)
})
afterEach(() => rm(root, { recursive: true }))

describe.each([
  { what: 'whose log is lost', damage: loseLog, says: loss },
  { what: 'whose mark is lost', damage: () => rm(join(store(), 'acknowledged')), says: markGone },
])('a store $what', ({ damage, says }) => {
  beforeEach(damage)

  it('is not sound to verify', async () => {
    const { findings } = await verifyStoreAt({ dataDir }, options)
    const remedy = 'Restore a backup, or start a server with --accept-loss to go on without them'
    const what = says === loss ? /but \d+ was acknowledged/ : says
    expect(findings).toEqual([expect.stringMatching(new RegExp(`${what.source}.*\\. ${remedy}$`))])
    const found = await examineDataDirectory(dataDir, systemClock)
    expect(found.find(({ check }) => check === 'data directory: store')).toEqual({
      check: 'data directory: store',
      status: 'fail',
      message: `1 findings, the first: ${findings[0]}`,
      remedy: "do what the line says: 'borough storage repair' does not bring it back",
    })
  })

  it('is not backed up, nor copied', async () => {
    const before = await readdir(set)
    await expect(backUpInto(set, dataDir, options)).rejects.toThrow(says)
    expect(await readdir(set)).toEqual(before)
    await using target = await targetAt({ dataDir: join(root, 'copy') }, options)
    await expect(copyStore(sourceAt({ dataDir }, options), target, () => undefined)).rejects.toThrow(says)
  })

  it('gets no new index but where the loss is accepted', async () => {
    await expect(rebuildIndexAt(dataDir)).rejects.toThrow(says)
    await expect(open()).rejects.toThrow(says)
    const { entries, revision } = await rebuildIndexAt(dataDir, true)
    expect(entries).toBe(2)
    expect(revision).toBeGreaterThanOrEqual(last)
    await using storage = await open(true)
    expect(await put(storage, '/next')).toBeGreaterThan(revision)
  })
})

it('a log that lacks a key is not made an index of', async () => {
  change(`DELETE FROM log WHERE revision = ${last}; DELETE FROM present`)
  await expect(rebuildIndexAt(dataDir)).rejects.toThrow(/the log of .* has 1 keys that are not the 2 that were written/)
  await expect(open()).rejects.toMatchObject({ code: 'corrupt' })
  expect((await rebuildIndexAt(dataDir, true)).entries).toBe(1)
})

it('a store whose meta is damaged, too, gets an index where its log ends with what it acknowledged', async () => {
  change('DELETE FROM present; UPDATE meta SET live = 77')
  const { entries, revision } = await rebuildIndexAt(dataDir)
  expect({ entries, revision }).toEqual({ entries: 2, revision: last + 2 * positionsPerCommit - 1 })
})

it.each(['state.db', 'state.db-wal', 'acknowledged', 'owner.lock'])(
  'a pipe in the place of %s is named',
  async (name) => {
    const path = join(store(), name)
    await rm(path, { force: true })
    execFileSync('mkfifo', ['-m', '600', path])
    await expect(open()).rejects.toThrow(`${path} is no file`)
  },
)
