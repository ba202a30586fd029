import { execFileSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { FakeClock } from '../base/fake-clock.ts'
import { PrivateFileError, readPrivateFile, writePrivateFile } from '../base/private-files.ts'
import { addressBytes } from '../base/x509-certificate.ts'
import { kubeconfigYaml } from '../client/kubeconfig.ts'
import { openCertificateAuthority, openPki, type Pki, rotateServiceAccountKey } from './open-pki.ts'
import { directoryPkiStore, memoryPkiStore, type PkiStore } from './pki-store.ts'
import { servingNames } from './serving-names.ts'

const dayMs = 86_400_000
const names = servingNames({ listenHosts: ['127.0.0.1'], hostName: 'box', addresses: [] })

describe('a new PKI', () => {
  test('has a CA, a serving certificate that covers every name, and one service-account key', async () => {
    const clock = new FakeClock()
    const pki = await openPki(memoryPkiStore(), { clock, names: [...names, '10.1.2.3', 'fd00::12:0'] })
    const ca = new X509Certificate(pki.caCert)
    const server = new X509Certificate(pki.serving.cert)
    expect(ca.ca).toBe(true)
    expect(ca.verify(ca.publicKey)).toBe(true)
    expect(server.ca).toBe(false)
    expect(server.checkIssued(ca) && server.verify(ca.publicKey)).toBe(true)
    expect(server.checkPrivateKey(createPrivateKey(pki.serving.key))).toBe(true)
    for (const name of ['localhost', 'box', 'kubernetes', 'kubernetes.default.svc']) {
      expect(server.checkHost(name)).toBe(name)
    }
    for (const ip of ['127.0.0.1', '::1', '10.1.2.3', 'fd00::12:0']) expect(server.checkIP(ip)).toBe(ip)
    expect(server.checkHost('elsewhere')).toBeUndefined()
    expect(pki.serviceAccountKeys).toHaveLength(1)
    expect(pki.serviceAccountKeys[0]?.kid).toMatch(/^[\w-]{43}$/)
  })

  test('made while the clock was a day ahead locks nobody out once that is set right', async () => {
    const clock = new FakeClock()
    const setRightMs = clock.now() - dayMs
    const pki = await openPki(memoryPkiStore(), { clock, names })
    const client = pki.mintClientCertificate({ user: 'admin', groups: ['system:masters'], durationMs: 365 * dayMs })
    for (const cert of [pki.caCert, pki.serving.cert, client.cert]) {
      expect(new X509Certificate(cert).validFromDate.getTime()).toBeLessThan(setRightMs)
    }
  })

  test('is made in well under 60 ms of work', async () => {
    const clock = new FakeClock()
    const took: number[] = []
    for (let i = 0; i < 5; i++) {
      const start = process.cpuUsage()
      await openPki(memoryPkiStore(), { clock, names })
      const { user, system } = process.cpuUsage(start)
      took.push((user + system) / 1000)
    }
    expect(Math.min(...took)).toBeLessThan(60)
  })
})

describe('opened again', () => {
  async function reopened(change: {
    readonly afterMs?: number
    readonly names?: readonly string[]
    readonly files?: Record<string, string>
  }): Promise<{ readonly first: Pki; readonly second: Pki }> {
    const clock = new FakeClock()
    const store = memoryPkiStore()
    const first = await openPki(store, { clock, names })
    await clock.advance(change.afterMs ?? 0)
    await store.write(new Map(Object.entries(change.files ?? {})))
    return { first, second: await openPki(store, { clock, names: change.names ?? names }) }
  }

  test.each([
    { name: 'nothing changes while everything holds', change: { afterMs: 100 * dayMs }, reissued: false },
    {
      name: 'a new listen address reissues the serving certificate',
      change: { names: [...names, '10.0.0.9'] },
      reissued: true,
    },
    { name: 'a new host name reissues it', change: { names: [...names, 'other'] }, reissued: true },
    { name: 'fewer names do not', change: { names: ['localhost'] }, reissued: false },
    { name: 'an approaching end reissues it', change: { afterMs: 306 * dayMs }, reissued: true },
    { name: 'a damaged one is replaced', change: { files: { 'server.crt': 'rubbish' } }, reissued: true },
  ])('$name', async ({ change, reissued }) => {
    const { first, second } = await reopened(change)
    expect(second.caCert).toBe(first.caCert)
    expect(second.serviceAccountKeys[0]?.kid).toBe(first.serviceAccountKeys[0]?.kid)
    expect(second.serving.cert !== first.serving.cert).toBe(reissued)
    const server = new X509Certificate(second.serving.cert)
    expect(server.checkPrivateKey(createPrivateKey(second.serving.key))).toBe(true)
  })

  test('a foreign CA means a new serving certificate', async () => {
    const clock = new FakeClock()
    const store = memoryPkiStore()
    const first = await openPki(store, { clock, names })
    const other = memoryPkiStore()
    await openPki(other, { clock, names })
    const foreign = await other.read()
    await store.write(new Map([...foreign].filter(([name]) => name.startsWith('ca.'))))
    const second = await openPki(store, { clock, names })
    expect(second.serving.cert).not.toBe(first.serving.cert)
    expect(new X509Certificate(second.serving.cert).verify(new X509Certificate(second.caCert).publicKey)).toBe(true)
  })

  test('after a rotation the new service-account key signs and the old one still verifies', async () => {
    const clock = new FakeClock()
    const store = memoryPkiStore()
    const first = await openPki(store, { clock, names })
    await clock.advance(dayMs)
    const kid = await rotateServiceAccountKey(store, clock)
    const second = await openPki(store, { clock, names })
    expect(second.serviceAccountKeys.map((k) => k.kid)).toEqual([kid, first.serviceAccountKeys[0]?.kid])
  })

  test('a service-account key whose private half was removed only verifies', async () => {
    const clock = new FakeClock()
    const store = memoryPkiStore()
    const first = await openPki(store, { clock, names })
    const files = await store.read()
    const retired: PkiStore = {
      place: 'memory',
      read: async () => new Map([...files].filter(([name]) => !/^sa-.*key$/.test(name))),
      write: async () => true,
    }
    const keys = (await openPki(retired, { clock, names })).serviceAccountKeys
    expect(keys).toHaveLength(2)
    expect(keys[0]?.privateKey).toBeDefined()
    expect(keys[1]?.kid).toBe(first.serviceAccountKeys[0]?.kid)
    expect(keys[1]?.privateKey).toBeUndefined()
  })

  test.each([
    { name: 'half a CA', files: { 'ca.key': undefined }, want: 'has ca.crt but not ca.key' },
    { name: 'a damaged CA', files: { 'ca.crt': 'rubbish' }, want: 'ca.crt is not a certificate in PEM' },
    { name: 'a damaged CA key', files: { 'ca.key': 'rubbish' }, want: 'ca.key is not a private key in PEM' },
  ])('$name is refused in one line', async ({ files, want }) => {
    const clock = new FakeClock()
    const store = memoryPkiStore()
    await openPki(store, { clock, names })
    const all = { ...Object.fromEntries(await store.read()), ...files }
    const damaged: PkiStore = {
      place: '/data/pki',
      read: async () => new Map(Object.entries(all).filter((e): e is [string, string] => e[1] !== undefined)),
      write: async () => true,
    }
    const refusal = await openPki(damaged, { clock, names }).catch((e: unknown) => e)
    expect(refusal).toBeInstanceOf(PrivateFileError)
    expect(String(refusal)).toContain(want)
    expect(String(refusal)).not.toContain('\n')
  })

  test('an expired CA is refused in one line', async () => {
    await expect(reopened({ afterMs: 3651 * dayMs })).rejects.toThrow('ca.crt expired on')
  })
})

describe('a client certificate', () => {
  test('carries user and groups, whatever is in their names', async () => {
    const clock = new FakeClock()
    const pki = await openPki(memoryPkiStore(), { clock, names })
    const { cert } = pki.mintClientCertificate({ user: 'jörg, CN=root', groups: ['a', 'b+c'], durationMs: dayMs })
    const parsed = new X509Certificate(cert)
    expect(parsed.toLegacyObject().subject).toMatchObject({ CN: 'jörg, CN=root', O: ['a', 'b+c'] })
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(parsed.validToDate.getTime()).toBe(clock.now() + dayMs)
  })

  test('ends with the CA at the latest', async () => {
    const pki = await openPki(memoryPkiStore(), { clock: new FakeClock(), names })
    const { cert } = pki.mintClientCertificate({ user: 'u', groups: [], durationMs: 100_000 * dayMs })
    expect(new X509Certificate(cert).validTo).toBe(new X509Certificate(pki.caCert).validTo)
  })

  test('is refused without a user or a duration', async () => {
    const pki = await openPki(memoryPkiStore(), { clock: new FakeClock(), names })
    expect(() => pki.mintClientCertificate({ user: '', groups: [], durationMs: dayMs })).toThrow(RangeError)
    expect(() => pki.mintClientCertificate({ user: 'u', groups: [], durationMs: Number.NaN })).toThrow(RangeError)
  })

  test('is accepted in a TLS handshake by a server that trusts the CA, and a stranger is not', async () => {
    const clock = new FakeClock(Date.now())
    const pki = await openPki(memoryPkiStore(), { clock, names })
    const stranger = await openPki(memoryPkiStore(), { clock, names })
    const seen: { authorized: boolean; user: string }[] = []
    const server = createServer(
      { ...pki.serving, ca: pki.caCert, requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.3' },
      (socket: TLSSocket) => {
        const certificate = socket.getPeerX509Certificate()
        seen.push({ authorized: socket.authorized, user: String(certificate?.toLegacyObject().subject.CN) })
        socket.end()
      },
    )
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address ? address.port : 0)
      })
    })
    for (const issuer of [pki, stranger]) {
      const credential = issuer.mintClientCertificate({ user: 'dev1', groups: ['devs'], durationMs: dayMs })
      await new Promise<void>((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', ca: pki.caCert, ...credential })
        socket.on('error', reject).on('close', () => resolve())
        socket.resume()
      })
    }
    await new Promise((resolve) => server.close(resolve))
    expect(seen).toEqual([
      { authorized: true, user: 'dev1' },
      { authorized: false, user: 'dev1' },
    ])
  })
})

describe('on disk', () => {
  const clock = new FakeClock(Date.now())
  let home: string
  let directory: string
  const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
  const open = (): Promise<Pki> => openPki(directoryPkiStore(directory), { clock, names })

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'pki-'))
    directory = join(home, 'data', 'pki')
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  test('whoever asks hears of a key that another process adds, without looking again and again', async () => {
    await open()
    const end = new AbortController()
    const changes = directoryPkiStore(directory).changes?.(end.signal)[Symbol.asyncIterator]()
    await changes?.next()
    const told = changes?.next()
    const kid = await rotateServiceAccountKey(directoryPkiStore(directory), clock)
    expect(await told).toMatchObject({ done: false })
    expect((await open()).serviceAccountKeys.map((key) => key.kid)).toContain(kid)
    end.abort()
    while ((await changes?.next())?.done === false);
  })

  test('everything is for the owner alone, and nothing temporary is left', async () => {
    await open()
    const files = await readdir(directory)
    expect(files.filter((f) => !f.startsWith('sa-')).sort()).toEqual(['ca.crt', 'ca.key', 'server.crt', 'server.key'])
    expect(files.filter((f) => f.startsWith('sa-')).map((f) => f.slice(-4))).toEqual(['.crt', '.key'])
    expect(await mode(directory)).toBe(0o700)
    expect(await mode(join(home, 'data'))).toBe(0o700)
    for (const file of files) expect(await mode(join(directory, file))).toBe(0o600)
  })

  test('a second start reads the same', async () => {
    const first = await open()
    const second = await open()
    expect(second.caCert).toBe(first.caCert)
    expect(second.serving).toEqual(first.serving)
  })

  test('a key or a directory that is open to others is refused with the remedy', async () => {
    await open()
    await chmod(join(directory, 'ca.key'), 0o640)
    await expect(open()).rejects.toThrow(
      `${directory}/ca.key is open to other users (mode 640): run: chmod 600 ${directory}/ca.key`,
    )
    await chmod(join(directory, 'ca.key'), 0o600)
    await chmod(directory, 0o755)
    await expect(open()).rejects.toThrow(`run: chmod 700 ${directory}`)
  })

  test('a first start that was killed half way is completed by the next', async () => {
    const { caCert } = await open()
    const key = await readPrivateFile(join(directory, 'ca.key'))
    for (const file of await readdir(directory)) if (file.endsWith('.crt')) await rm(join(directory, file))
    const second = await open()
    expect(await readPrivateFile(join(directory, 'ca.key'))).toBe(key)
    expect(new X509Certificate(second.caCert).publicKey.equals(new X509Certificate(caCert).publicKey)).toBe(true)
    expect(new X509Certificate(second.serving.cert).verify(new X509Certificate(caCert).publicKey)).toBe(true)
    expect(second.serviceAccountKeys).toHaveLength(1)
  })

  test('a directory that can not be written is refused', async () => {
    await writeFile(join(home, 'data'), '')
    await expect(writePrivateFile(join(home, 'data', 'f'), 'x')).rejects.toThrow(PrivateFileError)
  })

  test('a path that is no directory is refused', async () => {
    await writeFile(join(home, 'data'), '')
    await expect(open()).rejects.toThrow(PrivateFileError)
  })

  test('the CA alone can be opened, and is missed where there is none', async () => {
    await expect(openCertificateAuthority(directoryPkiStore(directory), clock)).rejects.toThrow(
      "start 'borough up' first",
    )
    const { caCert } = await open()
    const authority = await openCertificateAuthority(directoryPkiStore(directory), clock)
    expect(authority.caCert).toBe(caCert)
  })

  test('a private file is replaced whole', async () => {
    const path = join(home, 'f')
    await writePrivateFile(path, 'one')
    await writePrivateFile(path, 'two')
    expect(await readPrivateFile(path)).toBe('two')
    expect(await readdir(home)).toEqual(['f'])
  })

  const openssl = ((): boolean => {
    try {
      execFileSync('openssl', ['version'], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })()

  test.skipIf(!openssl)('openssl, where there is one, finds every certificate sound and strict', async () => {
    const pki = await open()
    const client = pki.mintClientCertificate({ user: 'dev1', groups: ['devs'], durationMs: dayMs })
    await writeFile(join(home, 'client.crt'), client.cert)
    const verify = (purpose: string, file: string): string =>
      execFileSync('openssl', ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', `${directory}/ca.crt`, file], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    expect(verify('sslserver', `${directory}/server.crt`)).toContain('server.crt: OK')
    expect(verify('sslclient', `${home}/client.crt`)).toContain('client.crt: OK')
    expect(() => verify('sslclient', `${directory}/server.crt`)).toThrow()
  })
})

describe('servingNames', () => {
  test('a wildcard stands for the addresses of the machine', () => {
    for (const wildcard of ['0.0.0.0', '::', '']) {
      const all = servingNames({ listenHosts: [wildcard], hostName: 'Box', addresses: ['10.0.0.5', 'fe80::1%eth0'] })
      expect(all).toEqual(expect.arrayContaining(['localhost', '127.0.0.1', '::1', 'box', '10.0.0.5']))
      expect(all).not.toContain(wildcard)
      expect(all).not.toContain('fe80::1%eth0')
    }
  })

  test('what is no host name is left out', () => {
    const odd = servingNames({
      listenHosts: [],
      hostName: 'a b',
      addresses: [],
      extra: ['x..y', '*.ex.io', 'ok.ex.io'],
    })
    expect(odd).toContain('ok.ex.io')
    for (const name of ['a b', 'x..y', '*.ex.io']) expect(odd).not.toContain(name)
  })
})

test.each([
  ['1.2.3.4', '01020304'],
  ['::', '0'.repeat(32)],
  ['::1', `${'0'.repeat(31)}1`],
  ['fe80::', `fe80${'0'.repeat(28)}`],
  ['2001:db8::a:b', '20010db80000000000000000000a000b'],
  ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
  ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
  ['fe80::1%eth0', undefined],
  ['localhost', undefined],
])('addressBytes(%s)', (text, want) => {
  expect(addressBytes(text)?.toString('hex')).toBe(want)
})

describe('kubeconfigYaml', () => {
  test('with a certificate', () => {
    const text = kubeconfigYaml({
      server: 'https://[::1]:6443',
      caCert: 'CA',
      credential: { cert: 'CERT', key: 'KEY' },
      userName: 'system:admin "x"',
      clusterName: 'on',
      namespace: '1',
    })
    const context = { name: 'on', context: { cluster: 'on', namespace: '1', user: 'system:admin "x"' } }
    expect(parse(text, { version: '1.1' })).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'on', cluster: { 'certificate-authority-data': 'Q0E=', server: 'https://[::1]:6443' } }],
      users: [{ name: 'system:admin "x"', user: { 'client-certificate-data': 'Q0VSVA==', 'client-key-data': 'S0VZ' } }],
      contexts: [context],
      'current-context': 'on',
    })
  })

  test('with a token', () => {
    const text = kubeconfigYaml({ server: 'https://127.0.0.1:6443', caCert: 'CA', credential: { token: '1e3' } })
    expect(parse(text)).toMatchObject({
      users: [{ name: 'admin', user: { token: '1e3' } }],
      'current-context': 'borough',
    })
  })
})
