/**
 * A data directory whose folder `store/` is gone or empty, as where its volume is not mounted: what was there must not
 * be taken for never written.
 */
import { cp, mkdir, mkdtemp, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpInto, copyStore, rebuildIndexAt, sourceAt, targetAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { openServedStorage } from '../../src/storage/served-storage.ts'
import { readMark } from '../../src/storage/sqlite/acknowledged-mark.ts'
import { prefixSpan, type Revision, type Storage } from '../../src/storage/storage.ts'
import { BoroughProcess, borough } from '../interop/borough-process.ts'
import { startTimeoutMs } from '../interop/serving-process.ts'

const remedy = 'Restore a backup, or start a server with --accept-loss to go on without them'
const options = { clock: systemClock, log: silentLog }

let root: string
let dataDir: string
/** Of the last commit before it was closed. */
let last: Revision

const store = (): string => join(dataDir, 'store')
const open = (acceptLoss = false, log = silentLog): Promise<Storage> =>
  openServedStorage({ ...options, log, storage: { engine: 'sqlite' }, dataDir, acceptLoss })

async function put(storage: Storage, key: string): Promise<Revision> {
  const writes = [{ key, value: Buffer.from(key), expect: 'absent' as const }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new Error(`${key} was not written`)
  return commit.revision
}

const keysIn = async (storage: Storage): Promise<string[]> =>
  (await storage.range(prefixSpan('/'))).entries.map(({ key }) => key)

const empty = async (): Promise<void> => {
  await rm(store(), { recursive: true })
  await mkdir(store(), { mode: 0o700 })
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-lost-folder-'))
  dataDir = join(root, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await using storage = await open()
  last = await put(storage, '/kept')
})
afterEach(() => rm(root, { recursive: true, force: true }))

describe.each([
  { what: 'gone', lose: () => rename(store(), join(root, 'elsewhere')) },
  { what: 'empty', lose: empty },
  { what: 'without its file', lose: () => rm(join(store(), 'state.db')) },
  { what: 'with an empty file', lose: () => truncate(join(store(), 'state.db')) },
])('a folder of a store that is $what', ({ lose }) => {
  const says = (): RegExp =>
    new RegExp(
      `^${store()}/state\\.db is empty or gone, but a store was made there, which had come to ` +
        `revision ${last + 1023} or further\\. Is its volume mounted\\?`,
    )
  let left: readonly string[]
  beforeEach(async () => {
    await lose()
    left = (await readdir(dataDir, { recursive: true })).sort()
  })

  it('is not served, and is left as it is', async () => {
    await expect(open()).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        new RegExp(`${says().source} Restore a backup, or start a server with --accept-loss to go on without them$`),
      ),
    })
    expect((await readdir(dataDir, { recursive: true })).sort()).toEqual(left)
  })

  it('is not verified, backed up, copied or given an index', async () => {
    const set = join(root, 'set')
    await mkdir(set, { mode: 0o700 })
    await expect(verifyStoreAt({ dataDir }, options)).rejects.toThrow(new RegExp(`${says().source} ${remedy}$`))
    await expect(backUpInto(set, dataDir, options)).rejects.toThrow(says())
    await expect(rebuildIndexAt(dataDir)).rejects.toThrow(says())
    await using target = await targetAt({ dataDir: join(root, 'copy') }, options)
    await expect(copyStore(sourceAt({ dataDir }, options), target, () => undefined)).rejects.toThrow(says())
  })

  it('begins anew where the loss is accepted, above every revision that was given out', async () => {
    {
      await using storage = await open(true)
      expect(await keysIn(storage)).toEqual([])
      expect(await put(storage, '/new')).toBeGreaterThan(last)
    }
    await using again = await open()
    expect(await keysIn(again)).toEqual(['/new'])
  })
})

it('an older copy of the folder is refused as what lacks the end of it', async () => {
  await cp(store(), join(root, 'older'), { recursive: true })
  {
    await using storage = await open()
    last = await put(storage, '/later')
  }
  await rm(store(), { recursive: true })
  await rename(join(root, 'older'), store())
  await expect(open()).rejects.toThrow(
    new RegExp(
      `state\\.db ends at revision \\d+, but it had come to ${last + 1023}: \\d+ to ${last + 1023} are missing`,
    ),
  )
  const { findings } = await verifyStoreAt({ dataDir }, options)
  expect(findings).toEqual([expect.stringMatching(`but it had come to ${last + 1023}. ${remedy}$`)])
  await using storage = await open(true)
  expect(await put(storage, '/next')).toBeGreaterThan(last)
})

it('a store from before this was remembered is remembered from its next start on', async () => {
  await rm(join(dataDir, 'store-made'))
  {
    await using storage = await open()
    expect(await keysIn(storage)).toEqual(['/kept'])
  }
  expect(readMark(join(dataDir, 'store-made'))).toBe(last + 1023)
})

it('where the memory itself is damaged, the store is served, and missed all the same', async () => {
  await writeFile(join(dataDir, 'store-made'), Buffer.alloc(8192, 7))
  await empty()
  await expect(open()).rejects.toThrow(
    /state\.db is empty or gone, but a store was made there\. Is its volume mounted\?/,
  )
})

it('a store is restored into a place whose store is gone, above what it had come to', async () => {
  const file = join(root, 'file')
  {
    await using target = await targetAt({ file }, options)
    await copyStore(sourceAt({ dataDir }, options), target, () => undefined)
  }
  {
    await using storage = await open()
    last = await put(storage, '/later')
  }
  await rm(store(), { recursive: true })
  {
    await using target = await targetAt({ dataDir }, options)
    await copyStore(sourceAt({ file }, options), target, () => undefined)
  }
  await using storage = await open()
  expect(await keysIn(storage)).toEqual(['/kept'])
  expect(await put(storage, '/next')).toBeGreaterThan(last)
})

it('keys without a store, of a server in memory or a version before this, are told of', async () => {
  const bare = join(root, 'bare')
  await mkdir(join(bare, 'pki'), { recursive: true, mode: 0o700 })
  await writeFile(join(bare, 'pki', 'ca.key'), 'a key', { mode: 0o600 })
  const told: unknown[] = []
  const log = { ...silentLog, warn: (...said: unknown[]) => void told.push(said) }
  for (let start = 0; start < 2; start++) {
    await using _ = await openServedStorage({ ...options, log, storage: { engine: 'sqlite' }, dataDir: bare })
  }
  expect(told).toEqual([
    [{ dataDir: bare }, 'the data directory has keys and no store: an empty store is begun. Is a volume not mounted?'],
  ])
})

it('borough up says so in one line and ends, and doctor says it too', { timeout: 3 * startTimeoutMs }, async () => {
  await using server = await BoroughProcess.start()
  await server.end('SIGKILL')
  await rm(join(server.dataDir, 'store'), { recursive: true })
  const started = await borough(['up', '--data-dir', server.dataDir, '--listen', server.listen])
  expect(started).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(`^borough: \\S+state\\.db is empty or gone[^\\n]+\\? ${remedy}\\n$`),
  })
  const doctor = await borough(['doctor', '--data-dir', server.dataDir])
  expect(doctor.stdout).toMatch(/state\.db is empty or gone, but a store was made there/)
})
