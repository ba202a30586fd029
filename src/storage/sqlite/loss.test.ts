import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endOfCommit, prefixSpan, type Revision } from '../storage.ts'
import { SqliteStorage } from './sqlite-storage.ts'

const frameLength = 24 + 4096
const commits = 12
let root: string
/** As the disk holds it right after `commits` acknowledged commits: what `kill -9` leaves behind. */
let killed: string
/** The mark as it was one commit before. */
let earlierMark: Buffer
let acknowledged: Revision

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-loss-'))
  const live = join(root, 'live')
  killed = join(root, 'killed')
  await using storage = await SqliteStorage.open({ directory: live })
  for (let i = 0; i < commits; i++) {
    earlierMark = await readFile(join(live, 'acknowledged'))
    const write = { key: `/k${i}`, value: new Uint8Array(700).fill(i), expect: 'absent' as const }
    await storage.commit({ guards: [], writes: [write] }).done
  }
  acknowledged = await storage.currentRevision()
  await cp(live, killed, { recursive: true })
})
afterEach(() => rm(root, { recursive: true, force: true }))

const wal = (): string => join(killed, 'state.db-wal')
const mark = (): string => join(killed, 'acknowledged')

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes.writeUInt8((bytes[at] ?? 0) ^ 0x10, at)
  await writeFile(path, bytes)
}

/** What every file holds, but for SQLite's index of its log, which is made anew by each reader. */
async function contents(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const name of await readdir(killed)) {
    if (name !== 'state.db-shm') found[name] = (await readFile(join(killed, name))).toString('base64')
  }
  return found
}

const keysOf = async (storage: SqliteStorage): Promise<string[]> =>
  (await storage.range(prefixSpan('/'))).entries.map(({ key }) => key)

describe('a store that ends before what was acknowledged', () => {
  it('is refused wherever its log was damaged, names what is missing, and is left as it was', async () => {
    const frames = Math.floor(((await readFile(wal())).length - 32) / frameLength)
    const sound = await readFile(wal())
    expect(frames).toBeGreaterThan(2 * commits)
    for (let frame = 0; frame < frames; frame++) {
      await writeFile(wal(), sound)
      await flip(wal(), 32 + frame * frameLength + 24 + ((frame * 997) % 4096))
      const before = await contents()
      const error = await SqliteStorage.open({ directory: killed }).catch((e: unknown) => e)
      expect(error).toMatchObject({
        code: 'corrupt',
        message: expect.stringMatching(
          `ends at revision \\d+, but ${acknowledged} was acknowledged: \\d+ to ${acknowledged} are missing`,
        ),
      })
      expect(await contents()).toEqual(before)
    }
  })

  it('tells how much of the log can not be read, where more than the end of it is damaged', async () => {
    const bytes = await readFile(wal())
    await flip(wal(), 32 + Math.floor((bytes.length - 32) / frameLength / 2) * frameLength + 100)
    await expect(SqliteStorage.open({ directory: killed })).rejects.toThrow(
      /state\.db-wal is damaged, and at least [4-6] transactions that follow the damage can't be read\. Restore a backup/,
    )
  })

  it.each([
    { name: 'the log is gone', damage: () => rm(wal()) },
    { name: 'the log is cut off', damage: async () => truncate(wal(), (await readFile(wal())).length - frameLength) },
    { name: 'the beginning of the log is damaged', damage: () => flip(wal(), 16) },
    { name: 'the mark is damaged', damage: () => writeFile(mark(), Buffer.alloc(8192)) },
    { name: 'the mark is gone', damage: () => rm(mark()) },
  ])('is refused when $name', async ({ damage }) => {
    await damage()
    await expect(SqliteStorage.open({ directory: killed })).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        /\. Restore a backup, or start a server with --accept-loss to go on without them$/,
      ),
    })
  })

  it('opens where the loss is accepted, gives no revision out twice, and begins history anew', async () => {
    const bytes = await readFile(wal())
    await flip(wal(), bytes.length - 100)
    const lost = await SqliteStorage.open({ directory: killed, acceptLoss: true })
    expect(await keysOf(lost)).not.toContain(`/k${commits - 1}`)
    expect(await keysOf(lost)).toContain(`/k${commits - 2}`)
    expect(await lost.currentRevision()).toBeGreaterThanOrEqual(acknowledged)
    expect(await lost.compactedRevision()).toBe(await lost.currentRevision())
    const again = { key: '/again', value: new Uint8Array(1), expect: 'absent' as const }
    expect(await lost.commit({ guards: [], writes: [again] }).done).toMatchObject({ ok: true })
    await lost[Symbol.asyncDispose]()
    await using later = await SqliteStorage.open({ directory: killed })
    expect(await keysOf(later)).toContain('/again')
  })

  it('is made for its owner alone where there was nothing', async () => {
    const directory = join(root, 'gone')
    await using _ = await SqliteStorage.open({ directory, acceptLoss: true })
    const modes = (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).mode & 0o777)
    expect(new Set(await Promise.all(modes))).toEqual(new Set([0o600]))
  })

  it('raises revisions above all that may have been given out where the mark was lost too', async () => {
    await rm(mark())
    await using storage = await SqliteStorage.open({ directory: killed, acceptLoss: true })
    expect(await keysOf(storage)).toHaveLength(commits)
    expect(await storage.currentRevision()).toBeGreaterThan(acknowledged + 100_000 * 1024)
  })
})

describe('no loss', () => {
  it('is what kill -9 leaves behind', async () => {
    await using storage = await SqliteStorage.open({ directory: killed })
    expect(await keysOf(storage)).toHaveLength(commits)
    expect(await storage.currentRevision()).toBe(endOfCommit(acknowledged))
  })

  it.each([
    { name: 'the end is torn', damage: async () => truncate(wal(), (await readFile(wal())).length - 1000) },
    {
      name: 'its last pages came to the disk in another order',
      damage: async () => flip(wal(), (await frames(-2)) + 90),
    },
  ])('is a last commit that was never acknowledged, where $name', async ({ damage }) => {
    await writeFile(mark(), earlierMark)
    await damage()
    await using storage = await SqliteStorage.open({ directory: killed })
    expect(await keysOf(storage)).toHaveLength(commits - 1)
  })

  it('is a torn write of the mark', async () => {
    // The newest number lies in one of the two slots.
    for (const slot of [0, 4096]) {
      const copy = await readFile(mark())
      await flip(mark(), slot + 12)
      await using storage = await SqliteStorage.open({ directory: killed })
      expect(await keysOf(storage)).toHaveLength(commits)
      await storage[Symbol.asyncDispose]()
      await writeFile(mark(), copy)
    }
  })
})

/** Where the log's frame lies that is so many from the end. */
async function frames(fromEnd: number): Promise<number> {
  const count = Math.floor(((await readFile(wal())).length - 32) / frameLength)
  return 32 + (count + fromEnd) * frameLength
}
