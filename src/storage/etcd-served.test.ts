/** What a data directory remembers of its etcd. With a real one: `test/replicas/emptied.etcd.test.ts`. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { rememberServed, requireServed, ServedNotes } from './etcd-served.ts'
import { MemoryStorage } from './memory/memory-storage.ts'

const name = 'etcd at 10.0.0.1:2379'

let dataDir: string
let storage: MemoryStorage
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-served-'))
  storage = new MemoryStorage()
  const writes = [{ key: '/registry/a', value: Buffer.from('{}'), expect: 'absent' as const }]
  await storage.commit({ guards: [], writes }).done
})
afterEach(async () => {
  await storage[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true })
})

const noted = (): Promise<string> => readFile(join(dataDir, 'etcd-served'), 'utf8')

it('one that ends before what was served is refused, naming what is missing', async () => {
  await rememberServed(dataDir, name, 9215)
  await expect(requireServed(storage, dataDir, name)).rejects.toThrow(
    `${name} ends at revision 2047, and ${dataDir} has served it up to 9215: what was written between is missing, as ` +
      'after a restore from a snapshot, or where it was filled anew. Serve what is left with --accept-loss, once',
  )
})

it('one that has come as far or further, another one, and one of which no revision is known are served', async () => {
  for (const revision of [2047, 1023]) {
    await rememberServed(dataDir, name, revision)
    await requireServed(storage, dataDir, name)
  }
  await rememberServed(dataDir, 'etcd at 10.0.0.2:2379', 9215)
  await requireServed(storage, dataDir, name)
  for (const text of [`${name}\n`, `${name}\nx\n`]) {
    await writeFile(join(dataDir, 'etcd-served'), text, { mode: 0o600 })
    await requireServed(storage, dataDir, name)
  }
})

it('is noted each minute, and at the end', async () => {
  const clock = new FakeClock()
  let revision = 2047
  const notes = new ServedNotes({ dataDir, name, revision: () => revision, clock, log: silentLog })
  revision = 3071
  await clock.advance(60_000)
  await expect.poll(noted).toBe(`${name}\n3071\n`)
  revision = 4095
  await notes[Symbol.asyncDispose]()
  expect(await noted()).toBe(`${name}\n4095\n`)
})
