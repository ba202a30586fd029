/**
 * Runs in a process of its own: commits one after the other to the store in argv[2], keys that begin with argv[3], as
 * many as argv[4] says, and writes the key of each that is acknowledged on a line of stdout. Then it is killed.
 */
import { writeSync } from 'node:fs'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { isStorageError } from '../../src/storage/storage.ts'

const [directory = '', prefix = '/', count = '10'] = process.argv.slice(2)
const storage = await SqliteStorage.open({ directory })
for (let i = 0; i < Number(count); i++) {
  const key = `${prefix}${i}`
  const writes = [{ key, value: Buffer.from(`value of ${key}`.padEnd(600)), expect: 'absent' as const }]
  try {
    if ((await storage.commit({ guards: [], writes }).done).ok) writeSync(1, `${key}\n`)
  } catch (error) {
    if (!isStorageError(error)) throw error
    writeSync(2, `${error.code} ${error.message}\n`)
  }
}
process.kill(process.pid, 'SIGKILL')
