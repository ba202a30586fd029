/**
 * Backups of a store whose past is not what its backups hold: what was lost and given up, an index made anew, a store
 * that is behind. What is restored is what the store held, or nothing.
 */
import { cp, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpInto, copyStore, rebuildIndexAt, sourceAt, targetAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'

const options = { clock: systemClock, log: silentLog }

let root: string
let dataDir: string
let set: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-forked-'))
  dataDir = join(root, 'data')
  set = join(root, 'set')
  for (const path of [dataDir, set]) await mkdir(path, { mode: 0o700 })
})
afterEach(() => rm(root, { recursive: true }))

const open = (acceptLoss = false, at = dataDir): Promise<SqliteStorage> =>
  SqliteStorage.open({ directory: join(at, 'store'), acceptLoss })

async function put(storage: Storage, key: string, isThere = true): Promise<void> {
  const { entry } = await storage.get(key)
  const expected = entry?.revision ?? ('absent' as const)
  const write = { key, value: isThere ? Buffer.from(key) : undefined, expect: expected }
  expect(await storage.commit({ guards: [], writes: [write] }).done).toMatchObject({ ok: true })
}

async function keysIn(at: string): Promise<readonly string[]> {
  await using storage = await open(false, at)
  const { entries } = await storage.range(prefixSpan('/'))
  return entries.map(({ key }) => key)
}

async function restoredKeys(): Promise<readonly string[]> {
  const to = join(root, 'restored')
  {
    await using target = await targetAt({ dataDir: to }, options)
    await copyStore(sourceAt({ folder: set, point: undefined }, options), target, () => undefined)
  }
  return await keysIn(to)
}

describe('a backup into a folder', () => {
  it('is of everything after a loss was accepted: what is restored is not half of what was lost', async () => {
    const before = join(root, 'before')
    {
      await using storage = await open()
      for (const key of ['/kept', '/stays']) await put(storage, key)
    }
    await cp(join(dataDir, 'store', 'state.db'), before)
    {
      await using storage = await open()
      await put(storage, '/kept', false)
      await put(storage, '/lost')
      await backUpInto(set, dataDir, options)
    }
    await cp(before, join(dataDir, 'store', 'state.db'))
    {
      await using storage = await open(true)
      await put(storage, '/new')
      expect(await backUpInto(set, dataDir, options)).toMatchObject({ full: true })
    }
    expect(await restoredKeys()).toEqual(['/kept', '/new', '/stays'])
  })

  it('is of everything after an index was made anew: what was deleted does not come back', async () => {
    {
      await using storage = await open()
      for (const key of ['/deleted', '/stays']) await put(storage, key)
      await backUpInto(set, dataDir, options)
      await put(storage, '/deleted', false)
      await put(storage, '/later')
      // A backup that is too old holds nothing back in the log.
      await utimes(join(dataDir, 'store', 'backup-mark'), 0, 0)
      await storage.compact(await storage.currentRevision())
    }
    await rebuildIndexAt(dataDir)
    expect(await backUpInto(set, dataDir, options)).toMatchObject({ full: true })
    expect(await restoredKeys()).toEqual(['/later', '/stays'])
  })

  it('is refused where the store is behind what the folder holds, which would be restored instead', async () => {
    {
      await using storage = await open()
      for (const key of ['/a', '/b', '/c']) await put(storage, key)
      await backUpInto(set, dataDir, options)
    }
    const other = join(root, 'other')
    await mkdir(other, { mode: 0o700 })
    {
      await using storage = await open(false, other)
      await put(storage, '/of-another')
    }
    const [newest] = await readdir(set)
    await expect(backUpInto(set, other, options)).rejects.toThrow(
      `${join(set, String(newest))} ends at revision 4095, and ${other} is at 2047: that is of another store, or ` +
        'this one is an older copy of it. Back up into a folder of its own',
    )
    expect(await readdir(set)).toEqual([newest])
  })

  it('is refused where it would replace one of another store, which is restored as before', async () => {
    const other = join(root, 'other')
    await mkdir(other, { mode: 0o700 })
    for (const [at, key] of [[dataDir, '/a'] as const, [other, '/of-another'] as const]) {
      await using storage = await open(false, at)
      await put(storage, key)
    }
    await backUpInto(set, dataDir, options)
    const [first] = await readdir(set)
    await expect(backUpInto(set, other, options)).rejects.toThrow(
      `${join(set, String(first))} is there already, and not known to be of ${other}: it is of another store, or ` +
        'from before a repair of this one. Back up into a folder of its own',
    )
    expect(await readdir(set)).toEqual([first])
    expect(await restoredKeys()).toEqual(['/a'])
  })

  it('replaces one of everything that is of this store and revision', async () => {
    {
      await using storage = await open()
      await put(storage, '/a')
    }
    const made = await backUpInto(set, dataDir, options)
    expect(await backUpInto(set, dataDir, { ...options, fullAfterMs: 0 })).toEqual(made)
    // Its memory of backups is gone, and what was written is the same.
    await rm(join(dataDir, 'store', 'backup-mark'))
    expect(await backUpInto(set, dataDir, options)).toEqual(made)
    expect(await restoredKeys()).toEqual(['/a'])
  })

  it.each(['full', 'changes'])('is of everything where the newest one, of %s, was damaged since', async (what) => {
    {
      await using storage = await open()
      await put(storage, '/a')
      await backUpInto(set, dataDir, options)
      await put(storage, '/b')
      if (what === 'changes') await backUpInto(set, dataDir, options)
      await put(storage, '/c')
    }
    const [damaged = ''] = await readdir(set)
    await writeFile(join(set, damaged), 'x', { flag: 'r+' })
    const told: unknown[] = []
    const log = { ...silentLog, warn: ({ path }: Record<string, unknown>, text: string) => void told.push(path, text) }
    expect(await backUpInto(set, dataDir, { ...options, log })).toMatchObject({ full: true })
    expect(told[0]).toBe(join(set, damaged))
    expect(new Set(told.filter((_, i) => i % 2 === 1))).toEqual(
      new Set(['the newest backup is damaged: one of everything is made']),
    )
    expect(await restoredKeys()).toEqual(['/a', '/b', '/c'])
  })

  it('removes what killed ones left in it, and nothing that another store is writing', async () => {
    {
      await using storage = await open()
      await put(storage, '/a')
    }
    await backUpInto(set, dataDir, options)
    const left = ['unfinished-full', 'unfinished-full.part', `changes-${'0'.repeat(16)}-${'1'.repeat(16)}.part`]
    const others = ['unfinished-0123456789abcdef.part', 'notes.part']
    for (const name of [...left, ...others]) await writeFile(join(set, name), '')
    await backUpInto(set, dataDir, options)
    expect((await readdir(set)).sort()).toEqual(['full-0000000000002047', 'notes.part', others[0]])
  })
})
