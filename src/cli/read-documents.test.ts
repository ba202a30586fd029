import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readDocuments } from './read-documents.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-documents-'))
})

afterEach(() => rm(folder, { recursive: true }))

test('a file that is larger than any text can be is named, in a folder too', async () => {
  const path = join(folder, 'large.yaml')
  await writeFile(path, '')
  await truncate(path, 1024 ** 3)
  const refusal = `${path}: it has more than 16 MiB`
  await expect(readDocuments(path, '-f')).rejects.toThrow(refusal)
  await expect(readDocuments(folder, '-f')).rejects.toThrow(refusal)
})
