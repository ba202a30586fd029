import { cp, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { isStorageError } from '../storage.ts'
import { SqliteStorage } from './sqlite-storage.ts'
import { verifyStore } from './verify.ts'

const pageBytes = 4096

it('pages of zeroes, wherever they lie, are found, and what is said of them names the file or the key', async () => {
  const root = await mkdtemp(join(tmpdir(), 'borough-zeroed-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const sound = join(root, 'sound')
  {
    await using storage = await SqliteStorage.open({ directory: sound })
    for (let i = 0; i < 40; i++) {
      const write = { key: `/k${String(i).padStart(2, '0')}`, value: new Uint8Array(900).fill(i) }
      await storage.commit({ guards: [], writes: [{ ...write, expect: 'absent' as const }] }).done
    }
  }
  const database = new DatabaseSync(join(sound, 'state.db'))
  const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count'])
  database.close()
  const spoiled = join(root, 'spoiled')
  const path = join(spoiled, 'state.db')
  for (let page = 0; page < pages; page++) {
    await rm(spoiled, { recursive: true, force: true })
    await cp(sound, spoiled, { recursive: true })
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(pageBytes), 0, pageBytes, page * pageBytes)
    await file.close()
    const said = saidOf(spoiled)
    expect(said, `page ${page}`).not.toEqual([])
    for (const line of said) expect(line).toMatch(new RegExp(`${path}|/k\\d\\d|revisions? \\d+`))
  }
})

function saidOf(directory: string): readonly string[] {
  try {
    return verifyStore(directory).findings
  } catch (error) {
    if (!isStorageError(error)) throw error
    return [error.message]
  }
}
