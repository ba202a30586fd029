/**
 * Runs in a process of its own whose system calls are made to fail: 120 commits one after the other, then a read.
 * Prints one JSON object: the outcome of each commit ('ok' or the code of its error), and how many keys can be read.
 */
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { isStorageError, prefixSpan } from '../../src/storage/storage.ts'

const storage = await SqliteStorage.open({ directory: process.argv[2] ?? '' })
const outcomes: string[] = []
for (let i = 0; i < 120; i++) {
  const write = { key: `/k${i}`, value: new Uint8Array(700), expect: 'absent' as const }
  const outcome = storage.commit({ guards: [], writes: [write] }).done.then(
    (commit) => (commit.ok ? 'ok' : 'refused'),
    (error: unknown) => (isStorageError(error) ? error.code : String(error)),
  )
  outcomes.push(await outcome)
}
const { entries } = await storage.range(prefixSpan('/'))
console.log(JSON.stringify({ outcomes, readable: entries.length }))
// Not closed in order: what the file is worth after its faults is what the test looks at.
process.exit(0)
