/** Backups, restores and reencryption of a store that is encrypted, in SQLite. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  backUpInto,
  copyStore,
  openCopyEncryption,
  type Place,
  reencryptAt,
  sourceAt,
  type TargetPlace,
  targetAt,
} from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { snapshotOf } from '../../src/storage/open-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { aesgcm, identity, kms, writeConfiguration } from './configurations.ts'
import { KmsPlugin } from './kms-plugin.ts'
import { foundInFiles, type ServedStore, serveStore, storedAt } from './served-store.ts'

let folder: string
let dataDir: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-encrypted-copies-'))
  dataDir = join(folder, 'data')
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

const noKeyFits = 'it is encrypted, and no provider or key that is configured fits'
const secrets = '/api/v1/namespaces/default/secrets'
const plain = 'aHVudGVyMi1ieS1hbnktb3RoZXItbmFtZQ=='
const clockAndLog = { clock: systemClock, log: silentLog }
const configuration = async (...providers: readonly object[]) => ({
  path: await writeConfiguration(folder, { resources: ['secrets'], providers }),
  automaticReload: false,
})
const serve = async (providers: readonly object[], at = dataDir): Promise<ServedStore> =>
  serveStore(at, await configuration(...providers))
const create = (server: ServedStore, name: string) =>
  server.send('POST', secrets, { metadata: { name }, data: { p: plain } })

async function copy(from: Place, to: TargetPlace, ...providers: readonly object[]): Promise<void> {
  using encryption =
    providers.length === 0 ? undefined : await openCopyEncryption(await configuration(...providers), clockAndLog)
  const options = encryption === undefined ? clockAndLog : { ...clockAndLog, encryption }
  const source = sourceAt(from, options)
  await using target = await targetAt(to, options)
  await copyStore(source, target, () => undefined)
}

async function reencrypt(...providers: readonly object[]) {
  const choice = await configuration(...providers)
  const open = (storage: Storage) => Encryption.open({ choice, storage, ...clockAndLog })
  return await reencryptAt({ dataDir }, clockAndLog, open, () => undefined)
}

const keyInBackup = async (file: string): Promise<string> => {
  const line = (await readFile(file, 'utf8')).split('\n').find((each) => each.includes('/borough/pki/ca.key')) ?? '{}'
  const { value = '', base64 = '' } = JSON.parse(line) as { value?: string; base64?: string }
  return value === '' ? Buffer.from(base64, 'base64').toString('latin1') : value
}

describe('copies of an encrypted store', () => {
  it('a backup holds no value and no key in clear, and its restore is served with the same keys', async () => {
    {
      await using server = await serve([aesgcm(1)])
      await create(server, 's')
    }
    const file = join(folder, 'backup')
    await copy({ dataDir }, { file }, aesgcm(1))
    expect(await readFile(file, 'utf8')).not.toContain(plain)
    expect(await keyInBackup(file)).toMatch(/^k8s:enc:aesgcm:v1:key1:/)
    const restored = join(folder, 'restored')
    await expect(copy({ file }, { dataDir: restored })).rejects.toThrow(
      '/borough/pki/ca.crt is encrypted, and here it is a file: --encryption-provider-config <file> with its key',
    )
    await expect(copy({ file }, { dataDir: restored }, aesgcm(2))).rejects.toThrow(
      "/borough/pki/ca.crt can't be decrypted: it is encrypted, and no provider or key that is configured fits",
    )
    // Nothing of what was refused is in its way.
    await copy({ file }, { dataDir: restored }, aesgcm(2, 1))
    await using server = await serve([aesgcm(1)], restored)
    expect((await server.send('GET', `${secrets}/s`)).body.data).toEqual({ p: plain })
    expect(await readFile(join(restored, 'pki', 'ca.key'), 'utf8')).toContain('PRIVATE KEY')
    expect(await readFile(join(restored, 'pki', 'ca.key'))).toEqual(await readFile(join(dataDir, 'pki', 'ca.key')))
  })

  it('a backup that would hold keys in clear beside encrypted values is refused', async () => {
    {
      await using server = await serve([aesgcm(1)])
      await create(server, 's')
    }
    const file = join(folder, 'backup')
    await expect(copy({ dataDir }, { file })).rejects.toThrow(
      `${dataDir} is encrypted, and its keys are not: --encryption-provider-config <file>`,
    )
    await expect(readFile(file)).rejects.toThrow('ENOENT')
  })

  it('with a KMS plugin', async () => {
    await using plugin = await KmsPlugin.start(folder)
    const provider = kms(plugin.endpoint)
    {
      await using server = await serve([provider])
      await create(server, 's')
    }
    const file = join(folder, 'backup')
    await copy({ dataDir }, { file }, provider)
    expect(await keyInBackup(file)).toMatch(/^k8s:enc:kms:v2:test:/)
    const restored = join(folder, 'restored')
    await copy({ file }, { dataDir: restored }, provider)
    await using server = await serve([provider], restored)
    expect((await server.send('GET', `${secrets}/s`)).body.data).toEqual({ p: plain })
  })
})

describe('reencryption', () => {
  it('leaves nothing of what was there before in the files, though the log waits for the next backup', async () => {
    {
      await using server = await serveStore(dataDir)
      await create(server, 'a')
    }
    const set = join(folder, 'set')
    await mkdir(set, { mode: 0o700 })
    await backUpInto(set, dataDir, clockAndLog)
    {
      await using server = await serveStore(dataDir)
      const changed = { metadata: { name: 'a' }, data: { p: plain, q: 'eA==' } }
      expect((await server.send('PUT', `${secrets}/a`, changed)).status).toBe(200)
    }
    expect(await foundInFiles(dataDir, plain)).not.toEqual([])
    await reencrypt(aesgcm(1), identity)
    expect(await foundInFiles(dataDir, plain)).toEqual([])
  })

  it('is not done while a backup reads the store: what was there before is still in its files', async () => {
    {
      await using server = await serveStore(dataDir)
      await create(server, 'a')
    }
    {
      using reader = await snapshotOf(dataDir)
      await expect(reencrypt(aesgcm(1), identity)).rejects.toThrow(
        `${join(dataDir, 'store', 'state.db')} is read by another process (a backup, or storage verify): what was ` +
          'there before is still in it. Do this again when that has ended',
      )
      expect(reader.size).toBeGreaterThan(0)
    }
    expect(await foundInFiles(dataDir, plain)).not.toEqual([])
    expect(await reencrypt(aesgcm(1), identity)).toMatchObject({ rewritten: 0, unreadable: [] })
    expect(await foundInFiles(dataDir, plain)).toEqual([])
  })

  it('begins: nothing of what was in clear is left in the files', async () => {
    {
      await using server = await serveStore(dataDir)
      for (const name of ['a', 'b']) await create(server, name)
      await server.send('DELETE', `${secrets}/b`)
      await create(server, 'c')
    }
    expect(await foundInFiles(dataDir, plain)).not.toEqual([])
    const first = await reencrypt(aesgcm(1), identity)
    expect(first.unreadable).toEqual([])
    // Two secrets, and what the server keeps for itself.
    expect(first.rewritten).toBeGreaterThanOrEqual(2)
    expect(first.encrypted).toBe(first.rewritten)
    expect(await foundInFiles(dataDir, plain)).toEqual([])
    const second = await reencrypt(aesgcm(1), identity)
    expect(second).toEqual({ ...first, entries: second.entries, rewritten: 0 })
    await using server = await serve([aesgcm(1)])
    expect((await server.send('GET', `${secrets}/a`)).body.data).toEqual({ p: plain })
    expect((await server.send('GET', `${secrets}/c`)).status).toBe(200)
    expect((await server.send('GET', '/readyz')).status).toBe(200)
  })

  it('rotates: afterwards the old key may go', async () => {
    {
      await using server = await serve([aesgcm(1)])
      await create(server, 'a')
    }
    expect((await reencrypt(aesgcm(2, 1))).unreadable).toEqual([])
    await using server = await serve([aesgcm(2)])
    expect((await server.send('GET', `${secrets}/a`)).body.data).toEqual({ p: plain })
  })

  it('ends: a server needs no configuration any more', async () => {
    {
      await using server = await serve([aesgcm(1)])
      await create(server, 'a')
    }
    expect(await reencrypt(identity, aesgcm(1))).toMatchObject({ encrypted: 0, unreadable: [] })
    await using server = await serveStore(dataDir)
    expect((await server.send('GET', `${secrets}/a`)).body.data).toEqual({ p: plain })
    expect(storedAt(dataDir, '/registry/secrets/default/a')).toMatch(/^\{"metadata"/)
  })

  it('names what no key fits, leaves it as it is, and does not call the store bare', async () => {
    {
      await using server = await serve([aesgcm(1)])
      await create(server, 'a')
    }
    const { unreadable } = await reencrypt(identity, aesgcm(2))
    expect(unreadable).toContainEqual(
      expect.stringMatching(new RegExp(`^/registry/secrets/default/a at revision \\d+: ${noKeyFits}$`)),
    )
    await expect(serveStore(dataDir)).rejects.toThrow('holds encrypted values')
    await using server = await serve([aesgcm(1)])
    expect((await server.send('GET', `${secrets}/a`)).body.data).toEqual({ p: plain })
  })

  it('is not done under a server', async () => {
    await using server = await serve([aesgcm(1)])
    await create(server, 'a')
    await expect(reencrypt(aesgcm(2, 1))).rejects.toThrow(/in use by another|locked|another process/)
    expect((await server.send('GET', `${secrets}/a`)).status).toBe(200)
  })

  it('leaves a file that is no configuration alone', async () => {
    {
      await using server = await serve([aesgcm(1)])
      await create(server, 'a')
    }
    const choice = await configuration(aesgcm(1))
    await writeFile(choice.path, 'kind: Nothing')
    const open = (storage: Storage) => Encryption.open({ choice, storage, ...clockAndLog })
    await expect(reencryptAt({ dataDir }, clockAndLog, open, () => undefined)).rejects.toThrow(
      "can't be used: it is no EncryptionConfiguration of apiserver.config.k8s.io/v1",
    )
  })
})
