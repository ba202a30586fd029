/**
 * A server on SQLite that is upgraded from the version before and rolled back on the same data directory, killed or
 * stopped between, under recorded load: what each acknowledged is there for the other, and watches go on.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { type Change, prefixSpan } from '../../src/storage/storage.ts'
import { BoroughProcess, type Version } from '../interop/borough-process.ts'
import { main } from '../interop/serving-process.ts'
import { recovered } from './faults.ts'
import { clientOf } from './kubeconfig-client.ts'
import { previousVersion } from './previous-version.ts'
import { RecordedLoad, randomFrom, recordedSpans } from './recorded-load.ts'

const seed = Number(process.env['BOROUGH_SEED'] ?? 20_261_124)
const writesEach = 60
const previous = previousVersion()
const newer: Version = { program: main, flags: [] }

/** All that its log holds: it is kept for longer than the test takes. */
async function changesOf(dataDir: string): Promise<readonly Change[]> {
  await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
  const found: Change[] = []
  const revision = await storage.currentRevision()
  const stop = new AbortController()
  const from = await storage.compactedRevision()
  for await (const batch of storage.watch(prefixSpan('/registry/'), from, stop.signal)) {
    if (batch.type === 'changes') {
      for (const change of batch.changes)
        if (recordedSpans.some((span) => change.key.startsWith(span))) found.push(change)
    } else if (batch.revision >= revision) break
  }
  return found
}

const name = `a store${previous.program === undefined ? ` (skipped: ${previous.why})` : ''}`
describe.skipIf(previous.program === undefined)(name, () => {
  const older: Version = { program: previous.program ?? '', flags: [] }
  let server: BoroughProcess
  let load: RecordedLoad
  let changes: readonly Change[] = []

  beforeAll(async () => {
    server = await BoroughProcess.start(['--log-level=error', '--history-age=1h'], undefined, older)
    const clients = [clientOf(await server.adminKubeconfig(), server)]
    load = new RecordedLoad({ clients, changes: () => changes, keys: 5, contenders: 6, random: randomFrom(seed) })
    await load.start()
  }, 240_000)
  afterAll(() => server?.[Symbol.asyncDispose](), 60_000)

  it('upgraded and rolled back, twice, stopped and killed, it has all that both acknowledged', {
    timeout: 600_000,
  }, async () => {
    await load.acknowledges(writesEach)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      for (const version of [newer, older]) {
        await server.end(signal)
        server.version = version
        await server.start()
        await recovered([clientOf(await server.adminKubeconfig(), server)])
        await load.acknowledges(writesEach)
      }
    }
    const { problems, ...counts } = await load.finish(async () => {
      await server.end('SIGTERM')
      changes = await changesOf(server.dataDir)
    })
    console.log(`checked: ${JSON.stringify(counts)}, seed ${seed}`)
    expect(problems.slice(0, 20)).toEqual([])
    expect(counts.acknowledged).toBeGreaterThan(5 * writesEach - 1)
  })
})
