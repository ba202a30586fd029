import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readPrivateFile } from './private-files.ts'

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
