/** As a server with `--backup-dir`: a full backup, one of what changed, and another full one that ends the first. */
import { BackupSchedule } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { openServerStorage } from '../../src/encryption/server-storage.ts'

const [dataDir = '', folder = ''] = process.argv.slice(2)
const hourMs = 3_600_000
const parts = { clock: systemClock, log: silentLog }

/** What a schedule does at its start: one backup. */
async function backUp(fullEveryMs: number): Promise<void> {
  const plan = { folder, everyMs: hourMs, fullEveryMs, keep: 1 }
  await using schedule = new BackupSchedule({ plan, dataDir, ...parts, options: async () => parts })
  schedule.start()
}

await using storage = await openServerStorage({ storage: { engine: 'sqlite' }, dataDir, ...parts })
await backUp(hourMs)
for (let i = 100; i < 110; i++) {
  const value = Buffer.from(`{"metadata":{"name":"c${i}"}}`)
  // There already, where an earlier run came so far.
  await storage.commit({ guards: [], writes: [{ key: `/registry/configmaps/default/c${i}`, value, expect: 'absent' }] })
    .done
}
await backUp(hourMs)
await backUp(0)
