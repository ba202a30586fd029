/** A folder that other users of the machine may write to: what they put there is neither written to nor followed. */
import { lstat, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { backupTarget } from './backup-file.ts'
import { type KeptChange, readChangeFile, writeChangeFile } from './change-file.ts'

const value = Buffer.from('a secret')
const time = '2026-11-23T00:00:00Z'

async function* oneChange(): AsyncGenerator<KeptChange> {
  yield { key: '/a', value, revision: 2, timeMs: 0 }
}

const ways: { name: string; write: (path: string) => Promise<void> }[] = [
  {
    name: 'a backup',
    async write(path) {
      await using target = await backupTarget(path, systemClock)
      await target.begin(1, 'x')
      await target.write({ key: '/a', value })
      await target.finish()
    },
  },
  {
    name: 'a file of changes',
    async write(path) {
      await writeChangeFile(path, { after: 1, previous: 'x', revision: 2, time }, oneChange())
    },
  },
]

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'))
  path = join(folder, 'backup')
})

describe.each(ways)('$name', ({ write }) => {
  test('does not follow a link that waits where it is written', async () => {
    const victim = join(folder, 'victim')
    await writeFile(victim, 'of another', { mode: 0o644 })
    await symlink(victim, `${path}.part`)
    await write(path)
    expect(await readFile(victim, 'utf8')).toBe('of another')
    expect((await lstat(path)).isFile()).toBe(true)
  })

  test('is readable by its owner alone, whatever file waits where it is written', async () => {
    await writeFile(`${path}.part`, '', { mode: 0o666 })
    const { ino } = await stat(`${path}.part`)
    await write(path)
    const written = await stat(path)
    expect([written.mode & 0o777, written.ino === ino]).toEqual([0o600, false])
    expect(await readFile(path, 'utf8')).toContain('a secret')
  })
})

test('a file of changes that could not be made tells why', async () => {
  const missing = join(folder, 'missing', 'file')
  const written = writeChangeFile(missing, { after: 1, previous: 'x', revision: 2, time }, oneChange())
  await expect(written).rejects.toThrow(`can't write ${missing}.part (ENOENT)`)
  await expect(readChangeFile(missing)).rejects.toThrow('ENOENT')
})
