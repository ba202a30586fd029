/**
 * Runs in a process of its own, on a disk that can't be read as long as argv[3] exists: opens the store in argv[2],
 * reads a key before, while and after that, and prints as JSON what it got, and what the store says of itself.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { damageOf } from '../../src/storage/damaged-value.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan } from '../../src/storage/storage.ts'

const [directory = '', trigger = ''] = process.argv.slice(2)
const storage = await SqliteStorage.open({ directory })
const told = (value: Uint8Array | undefined): string => (value && damageOf(value)) ?? `${value?.byteLength} bytes`
const get = (key: string): Promise<string> =>
  storage.get(key).then(
    ({ entry }) => told(entry?.value),
    (error: Error) => error.message,
  )
const list = (): Promise<string[]> =>
  storage.range(prefixSpan('/')).then(
    ({ entries }) => entries.map(({ value }) => told(value)),
    (error: Error) => [error.message],
  )
const before = await get('/a')
writeFileSync(trigger, '')
const during = [await get('/b'), await list()]
const condition = storage.condition()
rmSync(trigger)
const after = [await get('/b'), await list(), storage.condition()?.warnings]
console.log(JSON.stringify({ before, during, condition, after }))
process.exit(0)
