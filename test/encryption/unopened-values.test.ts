/**
 * `borough storage verify` and `repair` on values that no key opens: apart from damage, never given up unasked. And
 * what copies say that take them along.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { main } from '../interop/serving-process.ts'
import { aesgcm, identity, kms, secretOf, writeConfiguration } from './configurations.ts'
import { KmsPlugin } from './kms-plugin.ts'
import { serveStore } from './served-store.ts'

interface Result {
  readonly code: number
  readonly out: string
  readonly err: string
}

const secrets = '/api/v1/namespaces/default/secrets'
const keyOf = (name: string): string => `/registry/secrets/default/${name}`
/** Another secret under the name of the first. */
const wrongKey1 = { aesgcm: { keys: [{ name: 'key1', secret: secretOf(9) }] } }
let folder: string
let dataDir: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-unopened-'))
  dataDir = join(folder, 'data')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const configuration = (...providers: readonly object[]): Promise<string> =>
  writeConfiguration(folder, { resources: ['secrets'], providers })

/** On the store. */
const borough = (providers: readonly object[], ...args: string[]): Promise<Result> =>
  execute(providers, ...args, '--data-dir', dataDir)

/** `providers`: none, without a configuration. */
async function execute(providers: readonly object[], ...args: string[]): Promise<Result> {
  const config = providers.length === 0 ? [] : ['--encryption-provider-config', await configuration(...providers)]
  return await new Promise((resolve) => {
    execFile(process.execPath, [main, ...args, '--quiet', ...config], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

const serve = async (...providers: readonly object[]) =>
  await serveStore(dataDir, { path: await configuration(...providers), automaticReload: false })

/** A server with these providers writes these secrets, each a new one or a new version. */
async function write(providers: readonly object[], values: Readonly<Record<string, string>>): Promise<void> {
  await using server = await serve(...providers)
  for (const [name, value] of Object.entries(values)) {
    const body = { metadata: { name }, data: { p: Buffer.from(value).toString('base64') } }
    const made = await server.send('POST', secrets, body)
    const status = made.status === 409 ? (await server.send('PUT', `${secrets}/${name}`, body)).status : made.status
    expect([200, 201]).toContain(status)
  }
}

async function valueOf(name: string, ...providers: readonly object[]): Promise<string | undefined> {
  await using server = await serve(...providers)
  const { p } = (await server.send('GET', `${secrets}/${name}`)).body.data ?? {}
  return p === undefined ? undefined : Buffer.from(p, 'base64').toString()
}

const noKeyFits = 'it is encrypted, and no provider or key that is configured fits'
const line = (name: string, made: string, reason: string): RegExp =>
  new RegExp(`^the stored value of ${keyOf(name)} at revision \\d+, of ${made}, can't be decrypted: ${reason}$`, 'm')

describe('verify', () => {
  it('says what is encrypted and with which key, without one', async () => {
    await write([aesgcm(1)], { a: '1', b: '2' })
    await write([aesgcm(2, 1)], { c: '3' })
    const { code, out } = await borough([], 'storage', 'verify')
    expect(out).toMatch(
      /\(encrypted: \d+ with aesgcm key1, \d+ with aesgcm key2; not opened, for want of --encryption-provider-config\)/,
    )
    expect(out).toContain('all is sound')
    expect(code).toBe(0)
  })

  it('says that all can be opened', async () => {
    await write([aesgcm(1)], { a: '1' })
    const { code, out } = await borough([aesgcm(2, 1)], 'storage', 'verify')
    expect(out).toMatch(/\(encrypted: \d+ with aesgcm key1\).*: all is sound\n$/)
    expect(code).toBe(0)
  })

  it('names what no key opens apart from damage, while the store is served', async () => {
    await write([aesgcm(1)], { lost: '1', damaged: '2' })
    const database = new DatabaseSync(join(dataDir, 'store', 'state.db'))
    database.prepare("UPDATE log SET value = CAST('x' AS BLOB) WHERE key = ?").run(keyOf('damaged'))
    database.close()
    await using server = await serve(aesgcm(2, 1))
    expect((await server.send('POST', secrets, { metadata: { name: 'kept' } })).status).toBe(201)
    const { code, out } = await borough([aesgcm(2)], 'storage', 'verify')
    expect(out).toMatch(line('lost', 'aesgcm key key1', noKeyFits))
    expect(out).toMatch(new RegExp(`^the stored value of ${keyOf('damaged')} at revision \\d+ is damaged`, 'm'))
    expect(out).not.toContain(keyOf('kept'))
    expect(out).toMatch(/: 1 findings, \d+ entries that no key opens\n$/)
    expect(out).toContain('\nto read what is not lost: add its key to the configuration, behind those that are there\n')
    expect(code).toBe(1)
    const { findings, unopened } = JSON.parse((await borough([aesgcm(2)], 'storage', 'verify', '-o', 'json')).out)
    expect(findings).toEqual([expect.stringContaining(keyOf('damaged'))])
    expect(unopened).toContainEqual({
      key: keyOf('lost'),
      revision: expect.any(Number),
      encryptedWith: { provider: 'aesgcm', name: 'key1' },
      reason: noKeyFits,
      needs: 'key',
    })
  })

  it('names a value under the name of another key, and one in clear that must not be', async () => {
    await write([identity, aesgcm(1)], { clear: '1' })
    await write([aesgcm(1), identity], { lost: '1' })
    const { code, out } = await borough([wrongKey1], 'storage', 'verify')
    expect(out).toMatch(line('lost', 'aesgcm key key1', 'it does not fit the key, or the place where it lies'))
    expect(out).toMatch(
      new RegExp(`${keyOf('clear')} at revision \\d+ can't be decrypted: it is not encrypted, and must`),
    )
    expect(code).toBe(1)
  })

  it('names what a plugin has no key for, and what it is away for', async () => {
    await using plugin = await KmsPlugin.start(folder)
    const provider = kms(plugin.endpoint)
    await write([provider], { first: '1' })
    plugin.keyId = '2'
    await write([provider], { second: '2' })
    plugin.forgotten.add('1')
    const forgotten = await borough([provider], 'storage', 'verify')
    expect(forgotten.out).toMatch(line('first', 'KMS provider test with key 1', '.*key 1 is gone'))
    expect(forgotten.out).not.toContain(`${keyOf('second')} at`)
    await plugin.stop()
    const asked = plugin.calls.length
    const away = await borough([provider], 'storage', 'verify', '-o', 'json')
    expect(plugin.calls.length).toBe(asked)
    expect(away.code).toBe(1)
    const { unopened } = JSON.parse(away.out) as { unopened: { key: string; needs: string }[] }
    for (const name of ['first', 'second']) {
      expect(unopened).toContainEqual(expect.objectContaining({ key: keyOf(name), needs: 'plugin' }))
    }
  })

  it('asks a plugin that does not answer once', async () => {
    await using plugin = await KmsPlugin.start(folder)
    const provider = kms(plugin.endpoint, 'test', '300ms')
    await write([provider], { a: '1', b: '2', c: '3' })
    plugin.instead.set('Decrypt', () => undefined)
    const before = plugin.calls.length
    expect((await borough([provider], 'storage', 'verify')).out).toMatch(/: \d+ entries that no key opens\n$/)
    expect(plugin.calls.slice(before)).toEqual(['Decrypt'])
  })
})

describe('a copy', () => {
  const toldOf = (made: string, reason: string, then: string): RegExp =>
    new RegExp(
      `; verified, sha256 [0-9a-f]{64}\\n\\d+ entries ${made}, the first of them \\S+, can't be decrypted: ` +
        `${reason}; copied as they are: ${then}\\n$`,
    )
  const addKey = 'add its key to the configuration, behind those that are there'

  it('that is restored says which key is missing, and for how many values', async () => {
    await write([aesgcm(1)], { a: '1', b: '2' })
    await write([aesgcm(2, 1)], { c: '3' })
    const file = join(folder, 'monday')
    // A backup is good for whatever has the keys.
    const backup = await borough([aesgcm(2)], 'backup', '--to', file)
    expect(backup).toMatchObject({ code: 0, err: '' })
    expect(backup.out).toMatch(toldOf('encrypted with aesgcm key1', noKeyFits, addKey))

    dataDir = join(folder, 'whole')
    const whole = await borough([aesgcm(2, 1)], 'restore', '--from', file)
    expect(whole).toMatchObject({ code: 0, err: '' })
    expect(whole.out).toMatch(/ entries \(encrypted: \d+ with aesgcm key1, \d+ with aesgcm key2\), .*; verified, .*\n$/)
    dataDir = join(folder, 'lacking')
    const lacking = await borough([aesgcm(2)], 'restore', '--from', file, '-o', 'json')
    expect(lacking).toMatchObject({ code: 1, err: '' })
    const { encrypted, unopened } = JSON.parse(lacking.out)
    const key1 = { provider: 'aesgcm', name: 'key1' }
    const { entries } = encrypted.find(({ name }: { name: string }) => name === 'key1')
    expect(entries).toBeGreaterThanOrEqual(2)
    expect(unopened).toEqual([
      { encryptedWith: key1, entries, reason: noKeyFits, needs: 'key', first: expect.any(String) },
    ])
    expect(await valueOf('c', aesgcm(2))).toBe('3')
    expect(await valueOf('a', aesgcm(2, 1))).toBe('1')
  })

  it('from store to store says so, and what waits for a plugin or for identity', async () => {
    await using plugin = await KmsPlugin.start(folder)
    const provider = kms(plugin.endpoint)
    await write([identity], { clear: '1' })
    plugin.keyId = '2'
    await write([provider, identity], { sealed: '2' })
    const copyTo = (name: string, ...providers: readonly object[]): Promise<Result> =>
      execute(providers, 'storage', 'copy', '--from', `sqlite:${dataDir}`, '--to', `sqlite:${join(folder, name)}`)
    const clear = await copyTo('clear', provider)
    expect(clear.code).toBe(1)
    const mustBe = 'it is not encrypted, and must be'
    expect(clear.out).toMatch(toldOf('in clear', mustBe, 'add provider identity to the configuration'))
    plugin.keyId = '3'
    plugin.forgotten.add('2')
    const sealed = await copyTo('sealed', provider, identity)
    expect(sealed.code).toBe(1)
    expect(sealed.out).toMatch(
      / encrypted with kms test key 2, the first of them \S+, can't be decrypted: .*key 2 is gone/,
    )
  })
})

describe('repair', () => {
  it('offers the newest version before that can be opened, and brings it back', async () => {
    await write([aesgcm(1)], { s: 'first' })
    await write([aesgcm(1)], { s: 'second' })
    await write([aesgcm(2, 1)], { s: 'third' })
    await write([aesgcm(3, 2, 1)], { s: 'fourth' })
    const { out } = await borough([aesgcm(1)], 'storage', 'repair')
    expect(out).toMatch(line('s', 'aesgcm key key3', noKeyFits))
    const opens = 'add its key to the configuration, behind those that are there'
    expect(out).toMatch(new RegExp(`${noKeyFits}\n {2}${opens}\n {2}--key ${keyOf('s')} --with previous `))
    expect(out).toMatch(new RegExp(`--key ${keyOf('s')} --with previous {4}\\(revision \\d+\\)\n.*--with removal\n`))
    expect((await borough([aesgcm(1)], 'storage', 'repair', '--key', keyOf('s'), '--with', 'previous')).code).toBe(1)
    const repair = ['storage', 'repair', '--key', keyOf('s'), '--with', 'previous', '--yes']
    expect(await borough([], ...repair)).toMatchObject({ code: 1, err: `borough: ${keyOf('s')} is not damaged\n` })
    expect(await borough([aesgcm(1, 2, 3)], ...repair)).toMatchObject({
      code: 1,
      err: `borough: ${keyOf('s')} is not damaged, and can be decrypted\n`,
    })
    expect(await borough([aesgcm(1)], ...repair)).toMatchObject({ code: 0, err: '' })
    expect(await valueOf('s', aesgcm(1))).toBe('second')
  })

  it('takes the value of a backup that can be opened, of the end or of an earlier moment', async () => {
    const set = join(folder, 'set')
    const file = join(folder, 'monday')
    await mkdir(set, { mode: 0o700 })
    await write([aesgcm(1)], { s: 'first' })
    expect(await borough([aesgcm(1)], 'backup', '--incremental', '--to', set, '-o', 'json')).toMatchObject({ code: 0 })
    const { revision } = JSON.parse((await borough([aesgcm(1)], 'backup', '--to', file, '-o', 'json')).out)
    await write([aesgcm(2, 1)], { s: 'second' })
    // What can't be opened is kept as it is: its key may be found.
    expect(await borough([aesgcm(1)], 'backup', '--incremental', '--to', set)).toMatchObject({ code: 0, err: '' })
    const offered = async (...from: string[]): Promise<boolean> =>
      (await borough([aesgcm(1)], 'storage', 'repair', '--from', ...from)).out.includes(`${keyOf('s')} --with backup`)
    expect(await offered(set)).toBe(false)
    expect(await offered(set, '--to', String(revision))).toBe(true)
    expect(await offered(file)).toBe(true)
    const repair = ['storage', 'repair', '--key', keyOf('s'), '--with', 'backup', '--yes', '--from', set]
    expect(await borough([aesgcm(1)], ...repair)).toMatchObject({
      code: 1,
      err: `borough: ${set} does not have ${keyOf('s')}, or can't be decrypted there either\n`,
    })
    expect(await borough([aesgcm(1)], ...repair, '--to', String(revision))).toMatchObject({ code: 0, err: '' })
    expect(await valueOf('s', aesgcm(1))).toBe('first')
  })

  it('a restore of a backup with such values is served, and they can be read when their key is back', async () => {
    const set = join(folder, 'set')
    await mkdir(set, { mode: 0o700 })
    await write([aesgcm(1)], { s: 'first' })
    expect(await borough([aesgcm(2)], 'backup', '--incremental', '--to', set)).toMatchObject({ code: 0, err: '' })
    await write([aesgcm(1)], { t: 'second' })
    expect(await borough([aesgcm(2)], 'backup', '--incremental', '--to', set)).toMatchObject({ code: 0, err: '' })
    dataDir = join(folder, 'restored')
    expect(await borough([aesgcm(2)], 'restore', '--from', set)).toMatchObject({ code: 1, err: '' })
    const { out } = await borough([aesgcm(2)], 'storage', 'verify')
    for (const name of ['s', 't']) expect(out).toMatch(line(name, 'aesgcm key key1', noKeyFits))
    expect(await valueOf('s', aesgcm(2, 1))).toBe('first')
    expect(await valueOf('t', aesgcm(2, 1))).toBe('second')
  })

  it('removes what no key opens, when it is told to', async () => {
    await write([aesgcm(1)], { s: 'first' })
    const repair = ['storage', 'repair', '--key', keyOf('s'), '--with', 'removal', '--yes']
    expect(await borough([aesgcm(2)], ...repair)).toMatchObject({ code: 0, err: '' })
    expect((await borough([aesgcm(2, 1)], 'storage', 'verify')).code).toBe(0)
    expect(await valueOf('s', aesgcm(2, 1))).toBeUndefined()
  })

  it('leaves alone what is not lost: of a plugin that is away, and what is in clear', async () => {
    await using plugin = await KmsPlugin.start(folder)
    const provider = kms(plugin.endpoint)
    await write([identity], { clear: '1' })
    await write([provider, identity], { sealed: '2' })
    await plugin.stop()
    const { out } = await borough([provider], 'storage', 'repair')
    expect(out).toMatch(new RegExp(`${keyOf('sealed')} at .*\n {2}it can be read when that plugin answers\n`))
    expect(out).toMatch(new RegExp(`${keyOf('clear')} at .*\n {2}add provider identity to the configuration\n`))
    for (const name of ['sealed', 'clear']) {
      const { code, err } = await borough(
        [provider],
        'storage',
        'repair',
        '--key',
        keyOf(name),
        '--with',
        'removal',
        '--yes',
      )
      expect(err).toMatch(/It is not lost: /)
      expect(code).toBe(1)
    }
    await plugin.start()
    expect(await valueOf('sealed', provider, identity)).toBe('2')
  })
})
