import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { derOf, selfSignedClientCertificate, testPki } from '../../test/support/identity-fixtures.ts'
import { statusOf, thrown, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { StatusError } from '../kube/status-error.ts'
import { authenticatorChain } from './authenticator-chain.ts'
import type { Authenticator, Credentials } from './authn.ts'
import { ClientCertificateAuthenticator } from './client-certificate.ts'
import { TokenFileAuthenticator, TokenFileError } from './token-file.ts'

const takes = (token: string, username: string, groups: string[] = []): Authenticator => ({
  authenticate: async (c) => (c.bearerToken === token ? { username, groups } : undefined),
})
const refuses = (token: string): Authenticator => ({
  async authenticate(c) {
    if (c.bearerToken === token) throw new StatusError('Unauthorized', { reason: 'Unauthorized' })
    return undefined
  },
})

describe('the chain', () => {
  const members = [
    refuses('bad'),
    takes('a', 'alice', ['devs']),
    takes('bad', 'mallory'),
    takes('s', 'x', ['system:authenticated']),
  ]
  const cases: readonly { name: string; anonymous?: boolean; when: Credentials; want: object }[] = [
    {
      name: 'a good token is the user, who is authenticated',
      when: { bearerToken: 'a' },
      want: { username: 'alice', groups: ['devs', 'system:authenticated'] },
    },
    {
      name: 'system:authenticated is not added twice',
      when: { bearerToken: 's' },
      want: { username: 'x', groups: ['system:authenticated'] },
    },
    {
      name: 'no credential is anonymous, and not system:authenticated',
      when: {},
      want: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    },
    { name: 'no credential is 401 where anonymous is off', anonymous: false, when: {}, want: unauthorized },
    { name: 'an unknown token is 401 even where anonymous is on', when: { bearerToken: 'zzz' }, want: unauthorized },
    {
      name: 'a rejected certificate is 401 even where anonymous is on',
      when: { clientCertificateRejected: true },
      want: unauthorized,
    },
    {
      name: 'a rejected certificate beside a good token does no harm',
      when: { clientCertificateRejected: true, bearerToken: 'a' },
      want: { username: 'alice', groups: ['devs', 'system:authenticated'] },
    },
    {
      name: 'a later authenticator may take what an earlier one refused',
      when: { bearerToken: 'bad' },
      want: { username: 'mallory', groups: ['system:authenticated'] },
    },
  ]
  test.each(cases)('$name', async ({ anonymous = true, when, want }) => {
    const asked = async (): Promise<unknown> =>
      authenticatorChain(members, { allowsAnonymous: () => anonymous }).authenticate(when)
    const outcome = await asked().catch(statusOf)
    expect(outcome).toEqual(want)
  })

  test('a fault is not taken for a wrong credential', async () => {
    const broken: Authenticator = { authenticate: () => Promise.reject(new Error('disk')) }
    await expect(
      authenticatorChain([broken, takes('a', 'alice')], { allowsAnonymous: () => true }).authenticate({}),
    ).rejects.toThrow('disk')
  })
})

describe('a client certificate', () => {
  const dayMs = 86_400_000

  test('is its common name, its organizations and its fingerprint', async () => {
    const clock = new FakeClock()
    const pki = await testPki(clock)
    const { cert } = pki.mintClientCertificate({
      user: 'a\nO=system:masters',
      groups: ['b\nO=x', 'c, O=y'],
      durationMs: dayMs,
    })
    const user = new ClientCertificateAuthenticator(clock).authenticate({ clientCertificate: derOf(cert) })
    expect(user).toEqual({
      username: 'a\nO=system:masters',
      groups: ['b\nO=x', 'c, O=y'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    })
  })

  test('ends when its time ends, also on a connection that stays open', async () => {
    const clock = new FakeClock()
    const pki = await testPki(clock)
    const clientCertificate = derOf(pki.mintClientCertificate({ user: 'a', groups: [], durationMs: dayMs }).cert)
    const authenticator = new ClientCertificateAuthenticator(clock)
    expect(authenticator.authenticate({ clientCertificate })).toMatchObject({ username: 'a' })
    await clock.advance(dayMs + 1)
    expect(thrown(() => authenticator.authenticate({ clientCertificate }))).toEqual(unauthorized)
  })

  test('is not good before its time', async () => {
    const pki = await testPki(new FakeClock())
    const clientCertificate = derOf(pki.mintClientCertificate({ user: 'a', groups: [], durationMs: dayMs }).cert)
    const earlier = new ClientCertificateAuthenticator(new FakeClock(Date.UTC(2020, 0, 1)))
    expect(thrown(() => earlier.authenticate({ clientCertificate }))).toEqual(unauthorized)
  })

  test('attack: the certificate of a server is no identity', async () => {
    const clock = new FakeClock()
    const pki = await testPki(clock)
    const authenticator = new ClientCertificateAuthenticator(clock)
    expect(thrown(() => authenticator.authenticate({ clientCertificate: derOf(pki.serving.cert) }))).toEqual(
      unauthorized,
    )
  })

  test('attack: rubbish in place of a certificate is refused', async () => {
    const authenticator = new ClientCertificateAuthenticator(new FakeClock())
    expect(thrown(() => authenticator.authenticate({ clientCertificate: Buffer.from('x') }))).toEqual(unauthorized)
  })

  test('one without a common name is nobody', async () => {
    const clock = new FakeClock()
    const cert = selfSignedClientCertificate(clock, { commonName: '', organizations: ['system:masters'] })
    const authenticator = new ClientCertificateAuthenticator(clock)
    expect(authenticator.authenticate({ clientCertificate: derOf(cert) })).toBeUndefined()
  })
})

describe('the token file', () => {
  let directory: string
  let path: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tokens-'))
    path = join(directory, 'tokens.csv')
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))

  const clock = new FakeClock()
  const errors: TokenFileError[] = []
  const open = async (text: string): Promise<TokenFileAuthenticator> => {
    errors.length = 0
    await writeFile(path, text, { mode: 0o600 })
    return TokenFileAuthenticator.open(path, { clock, onReloadError: (e) => errors.push(e) })
  }

  test('has users, uids and groups', async () => {
    const file = await open(
      't1,alice,1,"devs,ops"\r\n\r\n"t,2",b"",2\nt3,carl,,solo\nt4,dora,4,\n'.replace('b""', '"b""ob"'),
    )
    expect(await file.authenticate({ bearerToken: 't1' })).toEqual({
      username: 'alice',
      uid: '1',
      groups: ['devs', 'ops'],
    })
    expect(await file.authenticate({ bearerToken: 't,2' })).toEqual({ username: 'b"ob', uid: '2', groups: [] })
    expect(await file.authenticate({ bearerToken: 't3' })).toEqual({ username: 'carl', groups: ['solo'] })
    expect(await file.authenticate({ bearerToken: 't4' })).toEqual({ username: 'dora', uid: '4', groups: [] })
    expect(await file.authenticate({ bearerToken: 't' })).toBeUndefined()
    expect(await file.authenticate({ bearerToken: '' })).toBeUndefined()
    expect(await file.authenticate({})).toBeUndefined()
  })

  test('is read again after it has changed', async () => {
    const file = await open('secret1,alice,1\n')
    await writeFile(path, 'secret2,alice,1\nsecret3,bob,2\n')
    await clock.advance(1000)
    expect(await file.authenticate({ bearerToken: 'secret1' })).toBeUndefined()
    expect(await file.authenticate({ bearerToken: 'secret3' })).toMatchObject({ username: 'bob' })
  })

  test('that every user can read is refused; a group may read it', async () => {
    const file = await open('secret1,alice,1\n')
    const refused = `${path} holds a secret and is open to every user (mode 644): run: chmod o= ${path}`
    for (const mode of [0o644, 0o602, 0o601]) {
      await chmod(path, mode)
      await expect(TokenFileAuthenticator.open(path, { clock, onReloadError: () => {} })).rejects.toThrow(/chmod o=/)
    }
    await chmod(path, 0o640)
    await TokenFileAuthenticator.open(path, { clock, onReloadError: () => {} })

    // While it is in use: told once, and what was read before holds.
    await writeFile(path, 'secret1,alice,1\nsecret2,bob,2\n')
    await chmod(path, 0o644)
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000)
      expect(await file.authenticate({ bearerToken: 'secret1' })).toMatchObject({ username: 'alice' })
    }
    expect(await file.authenticate({ bearerToken: 'secret2' })).toBeUndefined()
    expect(errors.map((e) => e.message)).toEqual([refused])
    await chmod(path, 0o600)
    await clock.advance(1000)
    expect(await file.authenticate({ bearerToken: 'secret2' })).toMatchObject({ username: 'bob' })
  })

  test('that is not UTF-8 is refused', async () => {
    await writeFile(path, Buffer.from('t\xf6k\xe9n,alice,1\n', 'latin1'), { mode: 0o600 })
    const opening = TokenFileAuthenticator.open(path, { clock, onReloadError: () => {} })
    await expect(opening).rejects.toThrow(`the token file ${path} is not UTF-8`)
  })

  test('that has become wrong or vanished keeps what was read and is reported once', async () => {
    const file = await open('secret1,alice,1\n')
    await writeFile(path, 'secret1,alice,1\nsecret2\n')
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000)
      expect(await file.authenticate({ bearerToken: 'secret1' })).toMatchObject({ username: 'alice' })
    }
    expect(errors.map((e) => e.message)).toEqual([`${path}, line 2: expected token,user,uid[,"group1,group2"]`])
    await rm(path)
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000)
      expect(await file.authenticate({ bearerToken: 'secret1' })).toMatchObject({ username: 'alice' })
    }
    expect(errors[1]?.message).toBe(`can't read the token file ${path} (ENOENT)`)
    expect(errors).toHaveLength(2)
    await writeFile(path, 'secret2,alice,1\n', { mode: 0o600 })
    await clock.advance(1000)
    expect(await file.authenticate({ bearerToken: 'secret2' })).toMatchObject({ username: 'alice' })
  })

  test.each([
    { name: 'a line with too few fields', given: 'a,b,c\nhush,x\n', want: 'line 2: expected' },
    { name: 'an empty token', given: ',user,1\n', want: 'line 1: expected' },
    { name: 'an empty user', given: 'hush,,1\n', want: 'line 1: expected' },
    { name: 'the same token twice', given: 'hush,a,1\nhush,b,2\n', want: 'line 2: this token stands above already' },
    { name: 'a stray quote', given: 'hu"sh,a,1\n', want: 'line 1: not CSV' },
    { name: 'an open quote', given: 'x,a,1\nhush,"a,1\n', want: 'line 2: not CSV' },
  ])('is refused in one line that shows no token: $name', async ({ given, want }) => {
    const refusal = await open(given).catch((e: unknown) => e)
    expect(refusal).toBeInstanceOf(TokenFileError)
    expect(String(refusal)).toContain(want)
    expect(String(refusal)).not.toMatch(/hush|\n/)
  })

  test('that does not exist is refused', async () => {
    const opening = TokenFileAuthenticator.open(join(directory, 'none'), { clock, onReloadError: () => undefined })
    await expect(opening).rejects.toThrow(`can't read the token file ${directory}/none (ENOENT)`)
  })
})
