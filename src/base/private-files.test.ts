import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PrivateFileError, readPrivateFile, writingTo } from './private-files.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-private-'))
})
afterEach(() => rm(folder, { recursive: true }))

it.skipIf(process.platform === 'win32')('a pipe in the place of a file is refused, not waited for', async () => {
  const path = join(folder, 'ca.key')
  execFileSync('mkfifo', ['-m', '600', path])
  await expect(readPrivateFile(path)).rejects.toThrow(`${path} is no file`)
})

it.skipIf(process.platform !== 'linux')('what finds no room is told with its file', async () => {
  await using full = await open('/dev/full', 'w')
  await expect(writingTo('/backup/monday', () => full.writeFile('x'))).rejects.toThrow(
    new PrivateFileError("can't write /backup/monday (ENOSPC)"),
  )
  await expect(writingTo('/backup/monday', () => Promise.reject(new TypeError('ours')))).rejects.toThrow(
    new TypeError('ours'),
  )
})
