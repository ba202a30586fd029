import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SqliteStorage } from './sqlite-storage.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-present-keys-'))
})
afterEach(() => rm(directory, { recursive: true }))

it('an index whose last key was changed to lie before others is refused, not read without end', async () => {
  const keys = Array.from({ length: 9 }, (_, i) => `/things/${i + 1}`)
  {
    await using storage = await SqliteStorage.open({ directory })
    const writes = keys.map((key) => ({ key, value: Buffer.from('x'), expect: 'absent' as const }))
    await storage.commit({ guards: [], writes }).done
  }
  const path = join(directory, 'state.db')
  const bytes = await readFile(path)
  const pageBytes = bytes.readUInt16BE(16)
  const index = 2 * pageBytes
  const at = bytes.indexOf('/things/9', index)
  expect(at).toBeLessThan(index + pageBytes)
  bytes.write('/things/0', at)
  await writeFile(path, bytes)
  await expect(SqliteStorage.open({ directory })).rejects.toThrow(
    `${path} is damaged (the index is out of order at /things/0); restore it from a backup`,
  )
})
