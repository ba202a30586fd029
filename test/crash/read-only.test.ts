/** A store on a file system that became read-only, as the system makes a failing disk: it can be verified and saved. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyStore, sourceAt, targetAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'

const mount = (...args: readonly string[]): void => void execFileSync('mount', args, { stdio: 'pipe' })
const unmount = (place: string): void => void execFileSync('umount', [place], { stdio: 'pipe' })

/** undefined: it can be done. */
function missing(): string | undefined {
  const place = mkdtempSync(join(tmpdir(), 'borough-may-mount-'))
  try {
    mount('-t', 'tmpfs', 'tmpfs', place)
    unmount(place)
    return undefined
  } catch (error) {
    return `no tmpfs can be mounted here (${(error instanceof Error ? error.message : '').split('\n')[0]})`
  } finally {
    rmSync(place, { recursive: true })
  }
}

const why = missing()
const options = { clock: systemClock, log: silentLog }

describe.skipIf(why !== undefined)(`a read-only file system${why === undefined ? '' : ` (skipped: ${why})`}`, () => {
  let folder: string
  let disk: string
  let dataDir: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'borough-read-only-'))
    disk = join(folder, 'disk')
    dataDir = join(disk, 'data')
    await mkdir(disk)
    mount('-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk)
    mkdirSync(dataDir, { mode: 0o700 })
    await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
    for (const key of ['/a', '/b']) {
      await storage.commit({ guards: [], writes: [{ key, value: Buffer.from('v'), expect: 'absent' }] }).done
    }
  })
  afterEach(async () => {
    unmount(disk)
    await rm(folder, { recursive: true })
  })

  it('a store that was closed is verified, backed up, and restored elsewhere', async () => {
    mount('-o', 'remount,ro', disk)
    expect(await verifyStoreAt({ dataDir }, options)).toMatchObject({ entries: 2, findings: [] })
    const file = join(folder, 'backup')
    const restored = join(folder, 'restored')
    {
      await using target = await targetAt({ file }, options)
      expect(await copyStore(sourceAt({ dataDir }, options), target, () => undefined)).toMatchObject({ entries: 2 })
    }
    await using target = await targetAt({ dataDir: restored }, options)
    expect(await copyStore(sourceAt({ file }, options), target, () => undefined)).toMatchObject({ entries: 2 })
  })
})
