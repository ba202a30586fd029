/** Certificates that change while a server runs, over sockets. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type PeerCertificate } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type Server, serve } from '../../src/app/serve.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { generateKeyPair, issueCertificate, type KeyPair, privateKeyPem } from '../../src/base/x509-certificate.ts'
import { openRemote } from '../../src/client/remote.ts'
import type { TlsMaterial } from '../../src/http/node/listen.ts'
import { followServingTls, readServingTls } from '../../src/http/node/serving-tls.ts'
import { openKeys } from '../../src/pki/pki.ts'

const dayMs = 86_400_000
const minuteMs = 60_000

interface Authority {
  readonly name: string
  readonly key: KeyPair
  readonly cert: string
}

let folder: string
let clock: FakeClock
let logged: { readonly fields: object; readonly message: string }[]
let server: Server | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-tls-'))
  // TLS libraries look at the real time.
  clock = new FakeClock(Math.floor(Date.now() / 1000) * 1000)
  logged = []
  server = undefined
})

afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const path = (name: string): string => join(folder, name)
const write = (name: string, text: string): Promise<void> => writeFile(path(name), text, { mode: 0o600 })

function authority(name: string): Authority {
  const key = generateKeyPair()
  const subject = { commonName: name }
  const cert = issueCertificate({
    subject,
    publicKey: key.publicKey,
    issuer: { subject, key },
    notBeforeMs: clock.now() - dayMs,
    notAfterMs: clock.now() + 400 * dayMs,
    usage: 'authority',
  })
  return { name, key, cert }
}

function issued(
  by: Authority,
  commonName: string,
  usage: 'server' | 'client',
  goodForMs: number = 300 * dayMs,
): { cert: string; key: string } {
  const key = generateKeyPair()
  const cert = issueCertificate({
    subject: { commonName, organizations: usage === 'client' ? ['system:masters'] : [] },
    publicKey: key.publicKey,
    issuer: { subject: { commonName: by.name }, key: by.key },
    notBeforeMs: clock.now() - dayMs,
    notAfterMs: clock.now() + goodForMs,
    usage,
    ...(usage === 'server' ? { names: ['127.0.0.1', 'localhost'] } : {}),
  })
  return { cert, key: privateKeyPem(key.privateKey) }
}

async function start(config: Partial<Config>): Promise<Server> {
  const record = (fields: object, message: string): void => void logged.push({ fields, message })
  const log = { ...defaultConfig.log, error: record }
  server = await serve({ ...defaultConfig, clock, log, listen: { host: '127.0.0.1', port: 0 }, ...config })
  return server
}

const shown = ({ port }: Server): Promise<PeerCertificate> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    }).once('error', reject)
  })

const statusFor = ({ port }: Server, identity: { readonly cert: string; readonly key: string }): Promise<number> =>
  new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port, path: '/api/v1/namespaces', rejectUnauthorized: false, agent: false }
    request({ ...where, ...identity }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .once('error', reject)
      .end()
  })

async function namespacesBy(kubeconfig: string): Promise<readonly (string | undefined)[]> {
  await write('kubeconfig', kubeconfig)
  const { client } = openRemote({ kubeconfigPath: path('kubeconfig'), userAgent: 'test' })
  const { items } = await client.list({ group: '', version: 'v1', resource: 'namespaces' })
  return items.map(({ metadata }) => metadata.name)
}

const tlsFiles = (): NonNullable<Config['tlsFiles']> => ({ certFile: path('tls.crt'), keyFile: path('tls.key') })

/** Files are read on other threads, which no clock of ours moves. */
async function passes(holds: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 200; round++) {
    await clock.advance(minuteMs)
    if (await holds()) return
  }
  throw new Error('it never held')
}

describe('--tls-cert-file and --tls-private-key-file', () => {
  test('are what is shown, and shown anew after they were replaced', async () => {
    const ca = authority('operators')
    const first = issued(ca, 'first', 'server')
    await write('tls.crt', first.cert)
    await write('tls.key', first.key)
    const running = await start({ tlsFiles: tlsFiles() })
    expect((await shown(running)).subject.CN).toBe('first')
    const second = issued(ca, 'second', 'server')
    await write('tls.key', second.key)
    // Between the two writes nothing changes.
    await passes(async () => logged.length > 0)
    expect(logged).toEqual([
      {
        fields: {
          error: `--tls-private-key-file ${path('tls.key')} is not the key of --tls-cert-file ${path('tls.crt')}`,
        },
        message: 'certificates could not be read again; the ones known stay',
      },
    ])
    expect((await shown(running)).subject.CN).toBe('first')
    await write('tls.crt', second.cert)
    await passes(async () => (await shown(running)).subject.CN === 'second')
    expect(logged).toHaveLength(1)
  })

  test('stay what is shown where those that replace them are over', async () => {
    const ca = authority('operators')
    const first = issued(ca, 'first', 'server')
    await write('tls.crt', first.cert)
    await write('tls.key', first.key)
    const running = await start({ tlsFiles: tlsFiles() })
    const over = issued(ca, 'over', 'server', -minuteMs)
    await write('tls.key', over.key)
    await write('tls.crt', over.cert)
    const ended = new Date(clock.now() - minuteMs).toISOString().replace('.000Z', 'Z')
    const error = `the certificate that is there now ended at ${ended}`
    await passes(async () => logged.some(({ fields }) => 'error' in fields && fields.error === error))
    expect((await shown(running)).subject.CN).toBe('first')
  })

  test("are followed by the administrator's kubeconfig, to a certificate of another authority too", async () => {
    const [first, second] = ['first', 'second'].map((name) => issued(authority(name), name, 'server'))
    if (!first || !second) throw new Error('both were issued')
    await write('tls.crt', first.cert)
    await write('tls.key', first.key)
    const told: string[] = []
    const config = { ...defaultConfig, clock, listen: { host: '127.0.0.1', port: 0 }, tlsFiles: tlsFiles() }
    server = await serve(config, undefined, (kubeconfig) => void told.push(kubeconfig))
    const running = server
    await write('tls.key', second.key)
    await write('tls.crt', second.cert)
    await passes(async () => (await shown(running)).subject.CN === 'second')
    expect(told).toHaveLength(1)
    await expect(namespacesBy(running.adminKubeconfig)).rejects.toThrow(/certificate/)
    expect(await namespacesBy(told[0] ?? '')).toContain('default')
  })

  test.each([
    { name: 'no certificate', files: { 'tls.crt': 'none' }, says: /^--tls-cert-file .*tls\.crt: .*PEM/i },
    { name: 'no file', files: {}, says: /^--tls-cert-file .*tls\.crt: ENOENT/ },
    { name: 'no key', files: { 'tls.key': 'none' }, says: /^--tls-private-key-file .*tls\.key: / },
  ])('refuse to start with $name', async ({ files, name, says }) => {
    const good = issued(authority('operators'), 'first', 'server')
    const all = { 'tls.crt': good.cert, 'tls.key': good.key, ...files }
    for (const [file, text] of Object.entries(all)) {
      if (name !== 'no file' || file !== 'tls.crt') await write(file, text)
    }
    await expect(start({ tlsFiles: tlsFiles() })).rejects.toThrow(says)
  })

  test('refuse to start with an intermediate that is none, and tell of it once while running', async () => {
    const good = issued(authority('operators'), 'first', 'server')
    const broken = `${good.cert.trim()}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`
    await write('tls.key', good.key)
    await write('tls.crt', broken)
    await expect(start({ tlsFiles: tlsFiles() })).rejects.toThrow(`--tls-cert-file ${path('tls.crt')}: `)
    await write('tls.crt', good.cert)
    const running = await start({ tlsFiles: tlsFiles() })
    await write('tls.crt', broken)
    let looks = 0
    await passes(async () => ++looks > 3 && logged.length > 0)
    expect(logged).toHaveLength(1)
    await write('tls.crt', good.cert)
    expect((await shown(running)).subject.CN).toBe('first')
  })

  test.each([
    ['PKCS #8', { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }],
    ['SEC1', { type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' }],
  ] as const)('refuse a key with a passphrase, of %s', async (_, encoding) => {
    const good = issued(authority('operators'), 'first', 'server')
    await write('tls.crt', good.cert)
    await write('tls.key', createPrivateKey(good.key).export(encoding))
    await expect(start({ tlsFiles: tlsFiles() })).rejects.toThrow(
      `--tls-private-key-file ${path('tls.key')}: a key with a passphrase can't be used`,
    )
  })

  test('refuse a key that every user may read', async () => {
    const good = issued(authority('operators'), 'first', 'server')
    await write('tls.crt', good.cert)
    await writeFile(path('tls.key'), good.key, { mode: 0o644 })
    await expect(start({ tlsFiles: tlsFiles() })).rejects.toThrow(
      `--tls-private-key-file ${path('tls.key')}: ${path('tls.key')} holds a secret and is open to every user`,
    )
  })
})

test("the server's own certificate is made anew before it ends, without a restart", async () => {
  // Of the keys; nothing waits on it, so it can jump.
  const ageing = new FakeClock()
  const options = { clock: ageing, log: silentLog, storage: { engine: 'memory' as const }, extraNames: [] }
  const keys = await openKeys(options, new Promise(() => {}))
  const sources = {
    clock,
    log: defaultConfig.log,
    ownCredential: () => keys.serving(),
    clientAuthorities: async () => keys.pki.caCert,
  }
  const first = await readServingTls(sources)
  const set: TlsMaterial[] = []
  const stop = new AbortController()
  const following = followServingTls(sources, first, [{ setTls: (tls) => void set.push(tls) }], stop.signal)
  // It is good for 365 days, and made anew 60 days before.
  await ageing.advance(304 * dayMs)
  await clock.advance(2 * minuteMs)
  expect(set).toEqual([])
  await ageing.advance(2 * dayMs)
  await clock.advance(2 * minuteMs)
  expect(set.map(({ cert }) => new X509Certificate(cert).validFromDate)).toEqual([new Date(ageing.now() - 2 * dayMs)])
  expect(set[0]?.clientCa).toBe(first.clientCa)
  stop.abort()
  await following
})

describe('--client-ca-file', () => {
  test('vouches for clients beside the own authority, as it is now', async () => {
    const [old, young] = [authority('old'), authority('young')]
    await write('clients.crt', old.cert)
    const running = await start({ clientCaFile: path('clients.crt') })
    const own = running.plane.pki.mintClientCertificate({ user: 'a', groups: ['system:masters'], durationMs: dayMs })
    const [ofOld, ofYoung] = [issued(old, 'b', 'client'), issued(young, 'c', 'client')]
    const seen = async (): Promise<number[]> => [
      await statusFor(running, own),
      await statusFor(running, ofOld),
      await statusFor(running, ofYoung),
    ]
    expect(await seen()).toEqual([200, 200, 401])
    await write('clients.crt', young.cert)
    await passes(async () => (await statusFor(running, ofYoung)) === 200)
    expect(await seen()).toEqual([200, 401, 200])
    const trust = await running.plane
      .client()
      .get(
        { group: '', version: 'v1', resource: 'configmaps' },
        { namespace: 'kube-system', name: 'extension-apiserver-authentication' },
      )
    expect(trust['data']).toEqual({ 'client-ca-file': `${running.plane.pki.caCert}\n${young.cert.trim()}\n` })
  })

  test('is followed while the certificate that is shown is broken', async () => {
    const [old, young] = [authority('old'), authority('young')]
    const shownFirst = issued(authority('operators'), 'first', 'server')
    await write('tls.crt', shownFirst.cert)
    await write('tls.key', shownFirst.key)
    await write('clients.crt', old.cert)
    const running = await start({ clientCaFile: path('clients.crt'), tlsFiles: tlsFiles() })
    const [ofOld, ofYoung] = [issued(old, 'b', 'client'), issued(young, 'c', 'client')]
    expect(await statusFor(running, ofOld)).toBe(200)
    await write('tls.crt', 'broken')
    await write('clients.crt', young.cert)
    await passes(async () => (await statusFor(running, ofYoung)) === 200)
    expect(await statusFor(running, ofOld)).toBe(401)
    expect((await shown(running)).subject.CN).toBe('first')
    expect(logged).toHaveLength(1)
    await write('tls.crt', shownFirst.cert)
    await write('clients.crt', 'broken')
    await passes(async () => logged.length === 2)
    expect(await statusFor(running, ofYoung)).toBe(200)
  })

  test.each([
    { name: 'that is not there', text: undefined, says: /^--client-ca-file .*clients\.crt: ENOENT/ },
    { name: 'without a certificate', text: 'none', says: /^--client-ca-file .*clients\.crt: it holds no certificate$/ },
  ])('a file $name is refused at the start', async ({ text, says }) => {
    if (text !== undefined) await write('clients.crt', text)
    await expect(start({ clientCaFile: path('clients.crt') })).rejects.toThrow(says)
  })
})
