/** Runs in a process of its own, to be killed: opens the store in argv[2], of whatever format, and compacts it. */
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'

await using storage = await SqliteStorage.open({ directory: process.argv[2] ?? '' })
await storage.compact(await storage.currentRevision())
