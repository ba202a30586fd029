/** Where this machine lets us mount a small file system. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SqliteStorage } from './sqlite-storage.ts'
import { squeeze } from './squeeze.ts'

/** undefined: it does not. */
function smallPlace(): string | undefined {
  const place = mkdtempSync(join(tmpdir(), 'borough-squeeze-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', place], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', [place]))
  return place
}

test('a store that can not be written anew for want of room says where, and is as it was', async ({ skip }) => {
  const directory = smallPlace()
  if (directory === undefined) return skip('no file system can be mounted here')
  const key = '/registry/a'
  const value = Buffer.alloc(1024 * 1024, 'x')
  {
    await using storage = await SqliteStorage.open({ directory })
    for (const each of [key, `${key}b`]) {
      await storage.commit({ guards: [], writes: [{ key: each, value, expect: 'absent' }] }).done
    }
  }
  const path = join(directory, 'state.db')
  expect(() => squeeze(directory)).toThrow(
    `there is no room to write ${path} anew: as much as it takes, beside it, and in the directory for temporary ` +
      'files (SQLITE_TMPDIR, TMPDIR, /var/tmp): what was there before is still in it. Do this again when there is',
  )
  await using storage = await SqliteStorage.open({ directory })
  expect((await storage.get(key)).entry?.value.byteLength).toBe(value.byteLength)
})
