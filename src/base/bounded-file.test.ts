import { chmod, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mostSettingsBytes, readBoundedFile, readBoundedFileSync } from './bounded-file.ts'
import { ensurePrivateDirectory, readPrivateFile } from './private-files.ts'
import { readSecretFile } from './secret-file.ts'

let folder: string
let path: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-bounded-'))
  path = join(folder, 'a b')
})

afterAll(() => rm(folder, { recursive: true }))

describe.each([
  { name: 'readBoundedFile', read: async (file: string) => (await readBoundedFile(file)).toString() },
  { name: 'readBoundedFileSync', read: async (file: string) => readBoundedFileSync(file) },
  { name: 'readSecretFile', read: async (file: string) => (await readSecretFile(file)).toString() },
])('$name', ({ read }) => {
  test('reads up to its bound, and no more', async () => {
    await writeFile(path, 'é'.repeat(mostSettingsBytes / 2), { mode: 0o600 })
    expect(await read(path)).toHaveLength(mostSettingsBytes / 2)
    await truncate(path, mostSettingsBytes + 1)
    await expect(read(path)).rejects.toThrow('it has more than 1 MiB')
    await truncate(path, 3 * 1024 ** 3)
    await expect(read(path)).rejects.toMatchObject({ code: 'EFBIG: more than 1 MiB' })
  })

  test('says as fs what is not there', async () => {
    await expect(read(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

test.each([readBoundedFile, readBoundedFileSync])('what has no end is refused', async (read) => {
  await expect(async () => read('/dev/zero')).rejects.toThrow('it has more than 1 MiB')
})

test('a secret that is open is named with the command that closes it, its path as one word to a shell', async () => {
  await writeFile(path, 'a')
  await chmod(path, 0o644)
  await expect(readSecretFile(path)).rejects.toThrow(`(mode 644): run: chmod o= '${path}'`)
  await expect(readPrivateFile(path)).rejects.toThrow(`(mode 644): run: chmod 600 '${path}'`)
  await chmod(folder, 0o755)
  await expect(ensurePrivateDirectory(join(folder, '.'))).rejects.toThrow(`run: chmod 700 ${folder}`)
})
