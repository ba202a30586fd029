import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endOfCommit, prefixSpan, type Revision } from '../storage.ts'
import { readMarkedStore } from './acknowledged-mark.ts'
import { openSnapshot } from './snapshot.ts'
import { SqliteStorage } from './sqlite-storage.ts'
import { storeIdIn } from './store-identity.ts'
import { verifyStore } from './verify.ts'

let root: string
/** The newest revision that this one gave out. */
let ours: Revision
let theirs: Revision
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-identity-'))
  ours = await fill('ours', 3)
  theirs = await fill('theirs', 30)
})
afterEach(() => rm(root, { recursive: true, force: true }))

const folderOf = (name: string): string => join(root, name, 'store')
const madeIn = (name: string): string => join(root, name, 'store-made')
const inFolder = (name: string, file: string): string => join(folderOf(name), file)

async function open(name: string, acceptLoss = false): Promise<SqliteStorage> {
  return SqliteStorage.open({ directory: folderOf(name), madePath: madeIn(name), acceptLoss })
}

async function put(storage: SqliteStorage, key: string): Promise<Revision> {
  const writes = [{ key, value: Buffer.from(key), expect: 'absent' as const }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new Error('refused')
  return commit.revision
}

const keysOf = async (storage: SqliteStorage): Promise<string[]> =>
  (await storage.range(prefixSpan('/'))).entries.map(({ key }) => key)

/** `<name>-killed` is what kill -9 would have left, with all in the log. */
async function fill(name: string, count: number): Promise<Revision> {
  await mkdir(join(root, name), { recursive: true })
  await using storage = await open(name)
  let last = 0
  for (let i = 0; i < count; i++) last = await put(storage, `/${name}-${String(i).padStart(2, '0')}`)
  await cp(join(root, name), join(root, `${name}-killed`), { recursive: true })
  return last
}

function idOf(name: string): string | undefined {
  const database = new DatabaseSync(inFolder(name, 'state.db'), { readOnly: true })
  try {
    return storeIdIn(database)
  } finally {
    database.close()
  }
}

describe.each([
  {
    what: 'the folder of another store, whose volume was mounted here',
    place: 'ours',
    async put() {
      await rm(folderOf('ours'), { recursive: true })
      await cp(folderOf('theirs'), folderOf('ours'), { recursive: true })
    },
  },
  {
    what: 'the file of another store',
    place: 'ours',
    put: () => cp(inFolder('theirs', 'state.db'), inFolder('ours', 'state.db')),
  },
  {
    what: 'the log of another store, which was killed',
    place: 'ours',
    put: () => cp(inFolder('theirs-killed', 'state.db-wal'), inFolder('ours', 'state.db-wal')),
  },
  {
    what: 'the log of another store in the place of its own',
    place: 'ours-killed',
    async put() {
      await rm(inFolder('ours-killed', 'state.db-shm'))
      await cp(inFolder('theirs-killed', 'state.db-wal'), inFolder('ours-killed', 'state.db-wal'))
    },
  },
])('$what, that has come further', ({ place, put: putThere }) => {
  let id: string | undefined
  let message: string
  beforeEach(async () => {
    id = idOf('ours')
    await putThere()
    message =
      `${inFolder(place, 'state.db')}, with its log, is not the store that was served here, but another: ` +
      `it is store ${idOf('theirs')}, and ${id} was here`
  })

  it('is not served, and is left as it is', async () => {
    const before = await readFile(inFolder(place, 'state.db'))
    await expect(open(place)).rejects.toMatchObject({
      code: 'corrupt',
      message: `${message}. Put that one back, or start a server with --accept-loss to go on with this one`,
    })
    expect(await readFile(inFolder(place, 'state.db'))).toEqual(before)
  })

  it('is not backed up, and is named by verify', () => {
    expect(() => openSnapshot(folderOf(place), madeIn(place))).toThrow(
      `${message}. Put that one back, or start a server with --accept-loss to go on with this one`,
    )
    expect(verifyStore(folderOf(place), undefined, madeIn(place)).findings).toContain(
      `${message}. Put that one back, or start a server with --accept-loss to go on with this one`,
    )
  })

  it('is gone on with where that is accepted, above all that either gave out, and is then at home', async () => {
    {
      await using storage = await open(place, true)
      expect(await keysOf(storage)).toHaveLength(30)
      expect(await put(storage, '/next')).toBeGreaterThan(endOfCommit(Math.max(ours, theirs)))
    }
    await using again = await open(place)
    expect(await keysOf(again)).toContain('/next')
  })
})

describe('a store of a version before identities', () => {
  /** As that version left it: no column, and marks without one. */
  async function forget(name: string): Promise<void> {
    const database = new DatabaseSync(inFolder(name, 'state.db'))
    database.exec('ALTER TABLE meta DROP COLUMN store; PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    for (const path of [inFolder(name, 'acknowledged'), madeIn(name)])
      await writeFile(path, (await readFile(path)).subarray(0, 8192))
  }

  it('is given one, in all its places, and keeps it', async () => {
    await forget('ours')
    for (let i = 0; i < 2; i++) await (await open('ours'))[Symbol.asyncDispose]()
    const id = idOf('ours')
    expect(id).toMatch(/^[-0-9a-f]{36}$/)
    expect([readMarkedStore(inFolder('ours', 'acknowledged')), readMarkedStore(madeIn('ours'))]).toEqual([id, id])
  })

  it('is another where one with an identity was', async () => {
    await forget('theirs')
    await rm(folderOf('ours'), { recursive: true })
    await cp(folderOf('theirs'), folderOf('ours'), { recursive: true })
    await expect(open('ours')).rejects.toThrow(/but another: it is one without an identity, and \S{36} was here\. Put/)
  })

  it.each([
    { when: 'before its marks were written', spoil: (bytes: Buffer) => bytes.subarray(0, 8192) },
    { when: 'in the middle of its mark', spoil: (bytes: Buffer) => bytes.subarray(0, 8192 + 20) },
    { when: 'with its mark torn', spoil: (bytes: Buffer) => bytes.fill(0, 8192 + 10) },
  ])('that was killed $when has the one that is in the file', async ({ spoil }) => {
    const id = idOf('ours')
    for (const path of [inFolder('ours', 'acknowledged'), madeIn('ours')])
      await writeFile(path, spoil(await readFile(path)))
    await (await open('ours'))[Symbol.asyncDispose]()
    expect([idOf('ours'), readMarkedStore(inFolder('ours', 'acknowledged')), readMarkedStore(madeIn('ours'))]).toEqual([
      id,
      id,
      id,
    ])
  })
})

it('a copy of a whole data directory, and a folder that was moved and put back, are served', async () => {
  await cp(join(root, 'ours'), join(root, 'copy'), { recursive: true })
  await using copy = await open('copy')
  expect(await keysOf(copy)).toHaveLength(3)
  await rename(folderOf('ours'), join(root, 'away'))
  await rename(join(root, 'away'), folderOf('ours'))
  await using back = await open('ours')
  expect(await keysOf(back)).toHaveLength(3)
})
