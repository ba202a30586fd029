/**
 * Somebody removes the files that keep a second server from a data directory while the first one runs. At most one goes
 * on, and nothing that either acknowledged is lost or damaged.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { PrivateFileError } from '../../src/base/private-files.ts'
import { dataDirLock, openDataDir } from '../../src/datadir/data-dir.ts'
import { SharedLock } from '../../src/datadir/directory-lock.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan, type Revision, type Storage } from '../../src/storage/storage.ts'
import { BoroughProcess, borough } from '../interop/borough-process.ts'
import { startServing, startTimeoutMs } from '../interop/serving-process.ts'
import { freePort } from '../support/free-port.ts'

const options = { clock: systemClock, log: silentLog }
/** A guard, not a measure. */
const patience = { timeout: startTimeoutMs, interval: 50 }

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-locks-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function put(storage: Storage, key: string, value: string | undefined = key): Promise<Revision> {
  const { entry } = await storage.get(key)
  const bytes = value === undefined ? undefined : Buffer.from(value)
  const writes = [{ key, value: bytes, expect: entry?.revision ?? ('absent' as const) }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new Error(`${key} was not written`)
  return commit.revision
}

describe('a store whose lock is removed, and that is opened a second time at once', () => {
  const foreign = (directory: string): object => ({
    code: 'unavailable',
    message: `another program has written into ${directory}/state.db`,
  })

  it('takes writes of one of the two alone, whatever is swept from its log', async () => {
    const directory = join(root, 'data', 'store')
    {
      await using first = await SqliteStorage.open({ directory })
      await put(first, '/kept')
      await rm(join(directory, 'owner.lock'))
      await using second = await SqliteStorage.open({ directory })
      await put(second, '/gone')
      await second.commit({
        guards: [],
        writes: [{ key: '/gone', value: undefined, expect: (await second.get('/gone')).entry?.revision ?? 0 }],
      }).done
      await second.compact(await second.currentRevision())
      // Nothing in the log tells of the second any more, but the number that was given out does.
      await expect(put(first, '/lost')).rejects.toMatchObject(foreign(directory))
      await put(second, '/kept-too')
    }
    const { findings } = await verifyStoreAt({ dataDir: join(root, 'data') }, options)
    expect(findings).toEqual([])
  })

  it('is not described as it was before the other wrote, by a compaction', async () => {
    const directory = join(root, 'data', 'store')
    {
      await using first = await SqliteStorage.open({ directory })
      const before = await put(first, '/kept')
      await put(first, '/kept', 'changed')
      await rm(join(directory, 'owner.lock'))
      await using second = await SqliteStorage.open({ directory })
      await put(second, '/new')
      await expect(first.compact(before)).rejects.toMatchObject(foreign(directory))
    }
    const { findings } = await verifyStoreAt({ dataDir: join(root, 'data') }, options)
    expect(findings).toEqual([])
    await using again = await SqliteStorage.open({ directory })
    expect((await again.range(prefixSpan('/'))).entries.map(({ key }) => key)).toEqual(['/kept', '/new'])
  })

  it('says so, and takes no more writes, before it is asked for one', async () => {
    await using first = await SqliteStorage.open({ directory: root })
    await rm(join(root, 'owner.lock'))
    await using _ = await SqliteStorage.open({ directory: root })
    await vi.waitUntil(() => first.condition()?.writes === 'none', patience)
    expect(first.condition()?.warnings).toEqual([
      `owner.lock beside ${root}/state.db was removed while the store was open, ` +
        'and another process has opened the store; no more writes are taken until a restart',
    ])
  })

  it('has its lock again soon where nobody else opens it, with what it remembers', async () => {
    await using first = await SqliteStorage.open({ directory: root })
    await rm(join(root, 'owner.lock'))
    await vi.waitUntil(() => existsSync(join(root, 'owner.lock')), patience)
    await expect(SqliteStorage.open({ directory: root })).rejects.toMatchObject({ code: 'locked' })
    await put(first, '/goes-on')
    await first[Symbol.asyncDispose]()
    await rm(join(root, 'state.db'))
    await expect(SqliteStorage.open({ directory: root })).rejects.toThrow(/is empty or gone, but there was a store/)
  })
})

it('a store whose lock is damaged says what to do, and opens when that is done', async () => {
  {
    await using storage = await SqliteStorage.open({ directory: root })
    await put(storage, '/kept')
  }
  const path = join(root, 'owner.lock')
  await writeFile(path, 'x'.repeat(100))
  await expect(SqliteStorage.open({ directory: root })).rejects.toMatchObject({
    code: 'corrupt',
    message:
      `${path} is damaged: it says only what was made beside it. Where no borough runs on it and ` +
      '`borough storage verify` finds the store sound, remove it; else restore a backup',
  })
  await rm(path)
  await using again = await SqliteStorage.open({ directory: root })
  expect((await again.range(prefixSpan('/'))).entries.map(({ key }) => key)).toEqual(['/kept'])
})

/** SQLite's lock on the store is held meanwhile, so that no thread is stopped that has it: it would keep it. */
async function stopBetweenTransactions(server: BoroughProcess): Promise<void> {
  const tasks = `/proc/${server.pid}/task`
  using store = new DatabaseSync(join(server.dataDir, 'store', 'state.db'), { timeout: startTimeoutMs })
  store.exec('BEGIN IMMEDIATE')
  server.send('SIGSTOP')
  await vi.waitUntil(async () => {
    const stats = (await readdir(tasks)).map((id) => readFileSync(join(tasks, id, 'stat'), 'utf8'))
    return stats.every((stat) => /^\d+ \(.*\) T /.test(stat))
  }, patience)
  store.exec('ROLLBACK')
}

describe('the lock of a data directory', () => {
  it('is refused where a pipe lies in its place, and is not waited for', async () => {
    execFileSync('mkfifo', ['-m', '600', join(root, 'lock')])
    await expect(openDataDir(root)).rejects.toThrow(`${join(root, 'lock')} is no file`)
    await expect(dataDirLock(root)).rejects.toThrow(`${join(root, 'lock')} is no file`)
  })

  it('is refused where its bytes are none of a lock, with what to do, and taken once they are gone', async () => {
    const path = join(root, 'lock')
    await writeFile(path, 'x'.repeat(100), { mode: 0o600 })
    const refused =
      `${path} is damaged (file is not a database): it holds nothing but the lock, so remove it, ` +
      'unless a borough that runs has it open'
    await expect(openDataDir(root)).rejects.toThrow(new PrivateFileError(refused))
    await expect(dataDirLock(root)).rejects.toThrow(new PrivateFileError(refused))
    await rm(path)
    await using _ = await openDataDir(root)
  })

  /** Of this process, where the system tells. */
  const byLock = String.raw`\((process ${process.pid}|which one, \`fuser \S+lock\` says)\)`
  const killed = { url: 'https://127.0.0.1:1', pid: 4_194_304 }

  it('is told as that of a server that only reads, not of one that was killed before', async () => {
    await writeFile(join(root, 'endpoint.json'), JSON.stringify(killed), { mode: 0o600 })
    await writeFile(join(root, 'lock'), '', { mode: 0o600 })
    using _ = new SharedLock(join(root, 'lock'))
    await expect(openDataDir(root)).rejects.toThrow(
      new RegExp(
        `^${root} is in use by another borough that only reads it, since it could not write ${byLock}: ` +
          'stop it, or choose another --data-dir$',
      ),
    )
  })

  it.skipIf(process.platform !== 'linux')('is told by who holds it, not by what a killed server left', async () => {
    await using held = await openDataDir(root)
    await held.announce(killed)
    await expect(openDataDir(root)).rejects.toThrow(
      `${root} is in use by another borough (process ${process.pid}): stop it, or choose another --data-dir`,
    )
  })

  it('is kept against others although this process tried to take it twice', async () => {
    await using _ = await openDataDir(root)
    await expect(openDataDir(root)).rejects.toThrow(/is in use by another borough/)
    const found = await borough(['up', '--data-dir', root, '--listen', `127.0.0.1:${await freePort()}`])
    expect(found).toMatchObject({ code: 1, stderr: expect.stringMatching(/is in use by another borough/) })
  })
})

describe('two servers', { timeout: 5 * startTimeoutMs }, () => {
  const locks = (server: BoroughProcess): string[] => [
    join(server.dataDir, 'lock'),
    join(server.dataDir, 'store', 'owner.lock'),
  ]
  const removeLocks = async (server: BoroughProcess): Promise<void> => {
    for (const path of locks(server)) await rm(path)
  }

  it('do not run on one directory, by whatever path, soon after its locks were removed', async () => {
    await using server = await BoroughProcess.start()
    const other = join(root, 'link')
    await symlink(server.dataDir, other)
    await removeLocks(server)
    await vi.waitUntil(() => locks(server).every((path) => existsSync(path)), patience)
    for (const dataDir of [server.dataDir, other]) {
      const second = await borough(['up', '--data-dir', dataDir, '--listen', `127.0.0.1:${await freePort()}`])
      expect(second).toMatchObject({
        code: 1,
        stderr:
          `borough: ${dataDir} is in use by another borough (process ${server.pid}, https://${server.listen}): ` +
          'stop it, or choose another --data-dir\n',
      })
    }
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
  })

  const why = process.platform === 'linux' ? '' : ' (skipped: without /proc a stopped thread is not known)'
  it.skipIf(why !== '')(
    `that both have begun are soon one: that which stood still ends, and says why${why}`,
    async () => {
      const log: string[] = []
      await using server = await BoroughProcess.start([], (text) => log.push(text))
      await stopBetweenTransactions(server)
      await removeLocks(server)
      const listen = `127.0.0.1:${await freePort()}`
      const { child } = await startServing(['up', '--data-dir', server.dataDir, '--listen', listen, '--output', 'json'])
      try {
        server.send('SIGCONT')
        expect(await server.ended()).toEqual({ code: 1, signal: null })
        expect(log.join('')).toContain(
          `borough: ${server.dataDir}/lock was removed while this server ran, and ${server.dataDir} is in use by ` +
            `another borough (process ${child.pid}, https://${listen}): this one ends\n`,
        )
        // What tells of the other one is left alone.
        expect(await readFile(join(server.dataDir, 'endpoint.json'), 'utf8')).toContain(`"pid":${child.pid}`)
        const { findings } = await verifyStoreAt({ dataDir: server.dataDir }, options)
        expect(findings).toEqual([])
      } finally {
        child.kill('SIGKILL')
      }
    },
  )
})
