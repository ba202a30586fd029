/** Back in time over a rotation: backups from before a key went, and what a restore of them needs. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  backUpInto,
  copyStore,
  openCopyEncryption,
  openReadingEncryption,
  type RestorePoint,
  reencryptAt,
  sourceAt,
  targetAt,
  verifyStoreAt,
} from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { Encryption, type EncryptionChoice } from '../../src/encryption/encryption.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { aesgcm, writeConfiguration } from './configurations.ts'
import { type ServedStore, serveStore } from './served-store.ts'

const options = { clock: systemClock, log: silentLog }
const secrets = '/api/v1/namespaces/default/secrets'

let folder: string
let dataDir: string
let set: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-rotated-'))
  dataDir = join(folder, 'data')
  set = join(folder, 'set')
  await mkdir(set, { mode: 0o700 })
})
afterEach(() => rm(folder, { recursive: true }))

const choose = async (...keys: readonly number[]): Promise<EncryptionChoice> => ({
  path: await writeConfiguration(folder, { resources: ['secrets'], providers: [aesgcm(...keys)] }),
  automaticReload: false,
})

/** Answers its revision. */
async function create(server: ServedStore, name: string): Promise<number> {
  const { text } = await server.send('POST', secrets, { metadata: { name }, stringData: { name } })
  return Number((JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion)
}

async function backUp(...keys: readonly number[]): Promise<boolean> {
  using encryption = await openCopyEncryption(await choose(...keys), options)
  return (await backUpInto(set, dataDir, { ...options, encryption })).full
}

async function reencrypt(...keys: readonly number[]): Promise<void> {
  const choice = await choose(...keys)
  const open = (storage: Storage): Promise<Encryption> => Encryption.open({ choice, storage, ...options })
  expect(await reencryptAt({ dataDir }, options, open, () => undefined)).toMatchObject({ unreadable: [] })
}

async function restored(name: string, point: RestorePoint, ...keys: readonly number[]): Promise<string> {
  using encryption = await openCopyEncryption(await choose(...keys), options)
  const to = join(folder, name)
  await using target = await targetAt({ dataDir: to }, { ...options, encryption })
  await copyStore(sourceAt({ folder: set, point }, { ...options, encryption }), target, () => undefined)
  return to
}

async function secretsIn(at: string, ...keys: readonly number[]): Promise<Record<string, string>> {
  await using server = await serveStore(at, await choose(...keys))
  const { items } = JSON.parse((await server.send('GET', secrets)).text) as {
    items: readonly { metadata: { name: string }; data: { name: string } }[]
  }
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, atob(data.name)]))
}

it('any moment before and after a rotation is restored with the keys of its time', { timeout: 60_000 }, async () => {
  let second: number
  let between: number
  {
    await using server = await serveStore(dataDir, await choose(1))
    await create(server, 'first')
    expect(await backUp(1)).toBe(true)
  }
  {
    await using server = await serveStore(dataDir, await choose(2, 1))
    second = await create(server, 'second')
    between = await nextMillisecond()
    await server.send('DELETE', `${secrets}/first`)
    expect(await backUp(2, 1)).toBe(false)
  }
  await reencrypt(2, 1)
  {
    await using server = await serveStore(dataDir, await choose(2))
    await create(server, 'third')
    expect(await backUp(2)).toBe(true)
    await create(server, 'fourth')
    expect(await backUp(2)).toBe(false)
  }
  expect(await readdir(set)).toHaveLength(4)

  expect(await secretsIn(await restored('newest', undefined, 2), 2)).toEqual(named('second', 'third', 'fourth'))
  for (const [name, point] of [
    ['revision', { revision: second }],
    ['time', { timeMs: between }],
  ] as const) {
    expect(await secretsIn(await restored(name, point, 2, 1), 2, 1)).toEqual(named('first', 'second'))
  }

  // Without the older key all is there as it was written, and what no key opens is named.
  const lacking = await restored('lacking', { revision: second }, 2)
  using reading = await openReadingEncryption(await choose(2), options)
  const { findings, unopened } = await verifyStoreAt({ dataDir: lacking }, { ...options, encryption: reading })
  expect(findings).toEqual([])
  expect(unopened?.map(({ key }) => key)).toContain('/registry/secrets/default/first')
  expect(await secretsIn(lacking, 2, 1)).toEqual(named('first', 'second'))
})

const named = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]))

/** Of the clock: what is written from here on is of a later one. */
async function nextMillisecond(): Promise<number> {
  const now = Date.now()
  while (Date.now() === now) await setImmediate()
  return now
}
