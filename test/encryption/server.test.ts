/** A server with encryption at rest, over SQLite: what lies in its files, and what happens without the right keys. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Log } from '../../src/base/log.ts'
import { silentLog } from '../../src/base/log.ts'
import { sealValue } from '../../src/storage/sealed-value.ts'
import { aesgcm, configurationText, type EntryText, identity, writeConfiguration } from './configurations.ts'
import { foundInFiles, type ServedStore, serveStore, storedAt } from './served-store.ts'

let folder: string
let dataDir: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-encryption-'))
  dataDir = join(folder, 'data')
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

const secrets = '/api/v1/namespaces/default/secrets'
const plain = 'aHVudGVyMi1ieS1hbnktb3RoZXItbmFtZQ=='
const key = '/registry/secrets/default/password'
const noKeyFits = 'it is encrypted, and no provider or key that is configured fits'
const secretEntry = (...providers: readonly object[]): EntryText => ({ resources: ['secrets'], providers })

async function serve(...entries: readonly EntryText[]): Promise<ServedStore> {
  return serveStore(dataDir, { path: await writeConfiguration(folder, ...entries), automaticReload: false })
}

const create = (server: ServedStore, name = 'password') =>
  server.send('POST', secrets, { metadata: { name }, data: { p: plain } })

describe('encryption at rest', () => {
  it('keeps the values of secrets out of the files, and serves them after a restart', async () => {
    {
      await using server = await serve(secretEntry(aesgcm(1)))
      expect((await create(server)).status).toBe(201)
      expect((await server.send('GET', `${secrets}/password`)).body.data).toEqual({ p: plain })
      expect(storedAt(dataDir, key)).toMatch(/^k8s:enc:aesgcm:v1:key1:/)
      expect(storedAt(dataDir, '/registry/namespaces/default')).toMatch(/^\{"metadata"/)
    }
    expect(await foundInFiles(dataDir, plain)).toEqual([])
    await using server = await serve(secretEntry(aesgcm(1)))
    expect((await server.send('GET', `${secrets}/password`)).body.data).toEqual({ p: plain })
    expect((await server.send('GET', secrets)).text).toContain(plain)
    expect((await server.send('GET', '/readyz?verbose')).text).toContain('[+]storage ok\n')
    expect(await server.metrics()).toContain(
      'apiserver_storage_transformation_operations_total{resource="secrets",transformation_type="from_storage",' +
        'transformer_prefix="k8s:enc:aesgcm:v1:",status="OK"} ',
    )
  })

  it('lists what no request read before, after a restart: values, and what no key opens by name', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `s${String(i).padStart(2, '0')}`)
    {
      await using server = await serve(secretEntry(aesgcm(1)))
      for (const name of names) expect((await create(server, name)).status).toBe(201)
    }
    {
      await using server = await serve(secretEntry(aesgcm(2, 1)))
      const { status, text } = await server.send('GET', secrets)
      const { items } = JSON.parse(text) as { items: { metadata: { name: string }; data: object }[] }
      expect({ status, found: items.map(({ metadata, data }) => ({ name: metadata.name, data })) }).toEqual({
        status: 200,
        found: names.map((name) => ({ name, data: { p: plain } })),
      })
    }
    await using server = await serve(secretEntry(aesgcm(2)))
    const { status, body } = await server.send('GET', secrets)
    expect(status).toBe(500)
    expect(body.message).toContain('/registry/secrets/default/s00 at revision ')
    expect(body.message).toContain(`can't be decrypted: ${noKeyFits}`)
  })

  it('is rotated twice: the first key writes, all read, and one that is unused may go', async () => {
    {
      await using server = await serve(secretEntry(identity))
      await create(server, 'zero')
    }
    for (const [keys, name] of [
      [[1], 'one'],
      [[2, 1], 'two'],
      [[3, 2, 1], 'three'],
    ] as const) {
      await using server = await serve(secretEntry(aesgcm(...keys), identity))
      await create(server, name)
      expect((await server.send('GET', secrets)).text.split(plain)).toHaveLength({ one: 3, two: 4, three: 5 }[name])
      expect(storedAt(dataDir, `/registry/secrets/default/${name}`)).toContain(`key${keys[0]}:`)
    }
    await using server = await serve(secretEntry(aesgcm(3, 1), identity))
    const lost = await server.send('GET', `${secrets}/two`)
    expect(lost.status).toBe(500)
    expect(lost.body.reason).toBe('StoreReadError')
    expect(lost.body.message).toMatch(
      new RegExp(`the stored value of /registry/secrets/default/two at revision \\d+ can't be decrypted: ${noKeyFits}`),
    )
    expect((await server.send('GET', `${secrets}/three`)).status).toBe(200)
    expect((await server.send('GET', secrets)).status).toBe(500)
    expect((await server.send('GET', '/api/v1/namespaces')).status).toBe(200)
    expect((await server.send('GET', '/readyz?verbose')).text).toContain('/registry/secrets/default/two')
  })

  it('with another secret under the same name: reads fail, and nothing is lost', async () => {
    {
      await using server = await serve(secretEntry(aesgcm(1)))
      await create(server)
    }
    {
      const wrong = { aesgcm: { keys: [{ name: 'key1', secret: Buffer.alloc(32).toString('base64') }] } }
      await using server = await serve(secretEntry(wrong))
      const answer = await server.send('GET', `${secrets}/password`)
      expect(answer.status).toBe(500)
      expect(answer.body.message).toContain('it does not fit the key, or the place where it lies')
    }
    await using server = await serve(secretEntry(aesgcm(1)))
    expect((await server.send('GET', `${secrets}/password`)).body.data).toEqual({ p: plain })
  })

  it('does not start without its configuration', async () => {
    {
      await using server = await serve(secretEntry(aesgcm(1)))
      await create(server)
    }
    await expect(serveStore(dataDir)).rejects.toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: `${dataDir} holds encrypted values: --encryption-provider-config <file> with their keys`,
      }),
    )
  })

  it('a value that was put under another key is not taken for sound, whatever checksum it has', async () => {
    {
      await using server = await serve(secretEntry(aesgcm(1)))
      await create(server)
      await server.send('POST', secrets, { metadata: { name: 'other' }, data: { p: 'b3RoZXI=' } })
    }
    const database = new DatabaseSync(join(dataDir, 'store', 'state.db'))
    const at = (name: string) =>
      database
        .prepare('SELECT p.revision, l.value FROM present p JOIN log l ON l.revision = p.revision WHERE p.key = ?')
        .get(`/registry/secrets/default/${name}`) as { revision: number; value: Uint8Array }
    const { revision, value } = { ...at('password'), value: at('other').value }
    const header = sealValue({ key, revision }, { position: revision % 1024, timeMs: 0, previous: 0 }, value)
    database.prepare('UPDATE log SET value = ?, header = ? WHERE revision = ?').run(value, header, revision)
    database.close()
    await using server = await serve(secretEntry(aesgcm(1)))
    const answer = await server.send('GET', `${secrets}/password`)
    expect(answer.status).toBe(500)
    expect(answer.body.message).toContain('it does not fit the key, or the place where it lies')
    expect((await server.send('GET', `${secrets}/other`)).status).toBe(200)
  })

  const refused: readonly { readonly name: string; readonly prepare: (path: string) => Promise<void>; says: RegExp }[] =
    [
      {
        name: 'that every user may read',
        prepare: (path) => chmod(path, 0o644),
        says: /^\S+ holds a secret and is open to every user \(mode 644\): run: chmod o= /,
      },
      {
        name: 'that is cut off',
        prepare: (path) => writeFile(path, configurationText(secretEntry(aesgcm(1))).slice(0, 90)),
        says: /^the encryption configuration \S+ can't be used: it is not YAML, or has a key twice$/,
      },
      { name: 'that is empty', prepare: (path) => writeFile(path, ''), says: /can't be used: it is empty$/ },
      {
        name: 'that is not there',
        prepare: (path) => rm(path),
        says: /^can't read the encryption configuration \S+ \(ENOENT\)$/,
      },
    ]
  it.each(refused)('a configuration $name prevents the start', async ({ prepare, says }) => {
    const path = await writeConfiguration(folder, secretEntry(aesgcm(1)))
    await prepare(path)
    await expect(serveStore(dataDir, { path, automaticReload: false })).rejects.toThrow(
      expect.objectContaining({ name: 'EncryptionConfigurationError', message: expect.stringMatching(says) as string }),
    )
    await rm(path, { force: true })
    // What was opened was closed: the store can be served.
    await using server = await serve(secretEntry(aesgcm(1)))
    expect((await create(server)).status).toBe(201)
  })

  it('takes a changed configuration without a restart, and goes on with what was if it can not be used', async () => {
    const clock = new FakeClock()
    const told: string[] = []
    const log: Log = { ...silentLog, error: (_fields, message) => void told.push(message) }
    const path = await writeConfiguration(folder, secretEntry(aesgcm(1)))
    await using server = await serveStore(dataDir, { path, automaticReload: true }, { clock, log })
    await create(server, 'one')
    await writeConfiguration(folder, secretEntry(aesgcm(2, 1)))
    // The file is read in real time; the clock only says when.
    await clock.advance(60_000)
    await expect
      .poll(async () => {
        await clock.advance(60_000)
        return await server.metrics()
      })
      .toContain('apiserver_encryption_config_controller_automatic_reloads_total{status="success"} 1')
    await create(server, 'two')
    expect(storedAt(dataDir, '/registry/secrets/default/one')).toContain('key1:')
    expect(storedAt(dataDir, '/registry/secrets/default/two')).toContain('key2:')
    await writeFile(path, 'kind: Nothing')
    await expect
      .poll(async () => {
        await clock.advance(60_000)
        return told
      })
      .toContain('the encryption configuration was not taken; what was goes on')
    await create(server, 'three')
    expect(storedAt(dataDir, '/registry/secrets/default/three')).toContain('key2:')
    expect((await server.send('GET', secrets)).status).toBe(200)
  })
})
