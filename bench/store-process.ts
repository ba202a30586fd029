/** Raw writes of the embedded store in a process of their own. */
import { once } from 'node:events'
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'
import { measureStore, type StoreLoad } from './store.ts'

const [{ load, directory }] = (await once(process, 'message')) as [{ load: StoreLoad; directory: string }]
const storage = await SqliteStorage.open({ directory })
const before = process.cpuUsage()
const run = await measureStore(storage, load)
const { user, system } = process.cpuUsage(before)
await storage[Symbol.asyncDispose]()
process.send?.({ ...run, serverMs: (user + system) / 1000 / run.transactions })
process.disconnect?.()
