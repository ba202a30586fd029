/**
 * Attempts to be taken for somebody else, or to reach by a trick of spelling what one may not. Each names the attack.
 */
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKeyPair, issueCertificate, type KeyPair, privateKeyPem } from '../../src/base/x509-certificate.ts'
import { type BesiegedServer, bearer, doraToken, startBesieged, treasure } from './besieged-server.ts'

const dayMs = 86_400_000
const secretsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets/db`
const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const review = '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}'

let world: BesiegedServer
beforeAll(async () => {
  world = await startBesieged()
}, 120_000)
afterAll(() => world[Symbol.asyncDispose]())

test('the guard is awake: dora reads what is hers and not what is theirs', async () => {
  expect((await world.send(secretsOf('mine'), { headers: bearer(doraToken) })).code).toBe(200)
  expect((await world.send(secretsOf('theirs'), { headers: bearer(doraToken) })).code).toBe(403)
})

describe('attack: certificates', () => {
  const root = { commonName: 'root', organizations: ['system:masters'] }

  interface Forged {
    readonly issuer?: KeyPair
    readonly issuerName?: string
    readonly fromMs?: number
    readonly toMs?: number
    readonly usage?: 'server' | 'client'
  }

  function forge(given: Forged): { cert: string; key: string } {
    const key = generateKeyPair()
    const { subject } = new X509Certificate(world.server.plane.pki.caCert)
    const commonName = given.issuerName ?? /CN=(.*)/.exec(subject)?.[1] ?? ''
    const cert = issueCertificate({
      subject: root,
      publicKey: key.publicKey,
      issuer: { subject: { commonName }, key: given.issuer ?? world.authority },
      notBeforeMs: Date.now() + (given.fromMs ?? -dayMs),
      notAfterMs: Date.now() + (given.toMs ?? dayMs),
      usage: given.usage ?? 'client',
    })
    return { cert, key: privateKeyPem(key.privateKey) }
  }

  test('the true one, made the same way, is let in: what follows is refused for what is wrong with it', async () => {
    expect((await world.send(secretsOf('theirs'), { certificate: forge({}) })).code).toBe(200)
  })

  test.each<{ name: string; forged: () => Forged }>([
    { name: 'expired a minute ago', forged: () => ({ toMs: -60_000 }) },
    { name: 'not valid before a minute from now', forged: () => ({ fromMs: 60_000 }) },
    { name: 'of another authority', forged: () => ({ issuer: generateKeyPair(), issuerName: 'somebody' }) },
    { name: 'of another authority of the same name', forged: () => ({ issuer: generateKeyPair() }) },
    { name: 'a server’s', forged: () => ({ usage: 'server' }) },
  ])('one that is $name', async ({ forged }) => {
    const { code, text } = await world.send(secretsOf('theirs'), { certificate: forge(forged()) })
    expect({ code, text: text.includes(treasure) }).toEqual({ code: 401, text: false })
  })

  test('one signed by a certificate for clients, which is no authority', async () => {
    const dora = forge({})
    const key = generateKeyPair()
    const cert = issueCertificate({
      subject: root,
      publicKey: key.publicKey,
      issuer: { subject: root, key: { privateKey: createPrivateKey(dora.key), publicKey: createPublicKey(dora.cert) } },
      notBeforeMs: Date.now() - dayMs,
      notAfterMs: Date.now() + dayMs,
      usage: 'client',
    })
    const chain = { cert: `${cert}\n${dora.cert}`, key: privateKeyPem(key.privateKey) }
    expect((await world.send(secretsOf('theirs'), { certificate: chain })).code).toBe(401)
  })
})

describe('attack: tokens', () => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const accountToken = async (audiences: string[] = []): Promise<string> => {
    const path = '/api/v1/namespaces/theirs/serviceaccounts/default/token'
    const body = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: { audiences } }
    const answer = (await world.server.plane.client().request('POST', path, body)) as { status: { token: string } }
    return answer.status.token
  }
  const userOf = async (token: string): Promise<string | number> => {
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    const { code, text } = await world.send(whoami, { method: 'POST', headers, body: review })
    return code === 201
      ? (JSON.parse(text) as { status: { userInfo: { username: string } } }).status.userInfo.username
      : code
  }
  const keySet = async (): Promise<{ kid: string; pem: string }> => {
    const { text } = await world.send('/openid/v1/jwks', { headers: bearer(await accountToken()) })
    const [jwk] = (JSON.parse(text) as { keys: [{ kid: string }] }).keys
    return {
      kid: jwk.kid,
      pem: createPublicKey({ key: jwk as never, format: 'jwk' })
        .export({ type: 'spki', format: 'pem' })
        .toString(),
    }
  }
  /** Claims of a true token, as of somebody mightier. */
  const claimsOf = async (more: object = {}): Promise<Record<string, unknown>> => ({
    ...(JSON.parse(Buffer.from((await accountToken()).split('.')[1] ?? '', 'base64url').toString()) as object),
    ...more,
  })

  test('the true one is let in', async () => {
    expect(await userOf(await accountToken())).toBe('system:serviceaccount:theirs:default')
  })

  test('alg: none, in any spelling', async () => {
    const { kid } = await keySet()
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      expect(await userOf(`${part({ alg, kid })}.${part(await claimsOf())}.`)).toBe(401)
    }
  })

  test('confused key: the public key as the secret of an HMAC', async () => {
    const { kid, pem } = await keySet()
    for (const secret of [pem, pem.trim(), pem.replaceAll('\n', '')]) {
      const head = `${part({ alg: 'HS256', kid, typ: 'JWT' })}.${part(await claimsOf())}`
      expect(await userOf(`${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`)).toBe(401)
    }
  })

  test('a key that the token brings along, in its header or by a URL', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = await exportJWK(publicKey)
    const claims = await claimsOf()
    for (const header of [
      { jwk },
      { jku: 'https://evil.test/jwks' },
      { x5u: 'https://evil.test/cert' },
      { kid: '../ca' },
    ]) {
      const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', ...header } as never).sign(privateKey)
      expect(await userOf(token)).toBe(401)
    }
  })

  test('one for another audience', async () => {
    expect(await userOf(await accountToken(['vault']))).toBe(401)
  })

  test('one that names two issuers’ claims: a changed payload under a true signature', async () => {
    const [header, , signature] = (await accountToken()).split('.')
    const claims = await claimsOf({ sub: 'system:serviceaccount:kube-system:namespace-controller' })
    expect(await userOf(`${header}.${part(claims)}.${signature}`)).toBe(401)
  })

  test('one of an account that is gone', async () => {
    const client = world.server.plane.client()
    const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' }
    await client.create(accounts, { metadata: { namespace: 'theirs', name: 'brief' } })
    const path = '/api/v1/namespaces/theirs/serviceaccounts/brief/token'
    const body = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} }
    const { status } = (await client.request('POST', path, body)) as { status: { token: string } }
    expect(await userOf(status.token)).toBe('system:serviceaccount:theirs:brief')
    await client.delete(accounts, { namespace: 'theirs', name: 'brief' })
    expect(await userOf(status.token)).toBe(401)
    await client.create(accounts, { metadata: { namespace: 'theirs', name: 'brief' } })
    expect(await userOf(status.token)).toBe(401)
  })

  test('one of the token file with something before or behind it', async () => {
    for (const token of [
      `${doraToken}x`,
      doraToken.slice(0, -1),
      `${doraToken},${doraToken}`,
      `x ${doraToken}`,
      `"${doraToken}"`,
    ]) {
      expect(await userOf(token)).toBe(401)
    }
  })

  test('a wrong one is no anonymous caller', async () => {
    expect((await world.send('/version', { headers: bearer('wrong') })).code).toBe(401)
    expect((await world.send('/version')).code).toBe(200)
  })
})

describe('attack: paths that authorization reads one way and the server another', () => {
  const tricks: readonly { name: string; path: string }[] = [
    { name: 'two slashes before', path: `/${secretsOf('theirs')}` },
    { name: 'two slashes inside', path: '/api/v1/namespaces/theirs//secrets/db' },
    { name: 'two slashes in place of a namespace', path: '/api/v1/namespaces//secrets' },
    { name: 'an encoded slash that goes up', path: '/api/v1/namespaces/mine%2F..%2Ftheirs/secrets/db' },
    {
      name: 'an encoded slash in the resource',
      path: '/api/v1/namespaces/mine/secrets%2F..%2F..%2Ftheirs%2Fsecrets%2Fdb',
    },
    { name: 'encoded twice', path: '/api/v1/namespaces/mine%252F..%252Ftheirs/secrets/db' },
    { name: 'dots that go up', path: '/api/v1/namespaces/mine/../theirs/secrets/db' },
    { name: 'dots that go up, encoded', path: '/api/v1/namespaces/mine/%2e%2e/theirs/secrets/db' },
    { name: 'dots behind a resource', path: '/api/v1/namespaces/mine/secrets/../../theirs/secrets/db' },
    { name: 'dots out of a path that is open to all', path: `/healthz/..${secretsOf('theirs')}` },
    { name: 'dots out of discovery', path: '/api/v1/../v1/namespaces/theirs/secrets/db' },
    { name: 'one dot', path: '/api/v1/namespaces/./theirs/secrets/db' },
    { name: 'letters encoded for nothing', path: '/api/v1/namespaces/%74heirs/secrets/db' },
    { name: 'another case of the prefix', path: '/API/v1/namespaces/theirs/secrets/db' },
    { name: 'another case of the resource', path: '/api/v1/namespaces/theirs/Secrets/db' },
    { name: 'another case of the namespace', path: '/api/v1/namespaces/THEIRS/secrets/db' },
    { name: 'another case of the word namespaces', path: '/api/v1/NAMESPACES/theirs/secrets/db' },
    { name: 'a trailing dot on the namespace', path: '/api/v1/namespaces/theirs./secrets/db' },
    { name: 'a trailing dot on the name', path: '/api/v1/namespaces/theirs/secrets/db.' },
    { name: 'a trailing slash', path: `${secretsOf('theirs')}/` },
    { name: 'a trailing encoded slash', path: `${secretsOf('theirs')}%2F` },
    { name: 'a trailing blank', path: `${secretsOf('theirs')}%20` },
    { name: 'a NUL behind the name', path: `${secretsOf('theirs')}%00` },
    { name: 'a semicolon', path: '/api/v1/namespaces/mine;/../theirs/secrets/db' },
    { name: 'a backslash', path: '/api/v1/namespaces/mine\\..\\theirs/secrets/db' },
    { name: 'an encoded backslash', path: '/api/v1/namespaces/mine%5c..%5ctheirs/secrets/db' },
    { name: 'overlong UTF-8', path: '/api/v1/namespaces/mine%c0%af..%c0%aftheirs/secrets/db' },
    { name: 'the legacy watch path', path: '/api/v1/watch/namespaces/theirs/secrets/db' },
    { name: 'the legacy list path', path: '/api/v1/list/secrets' },
    { name: 'the word watch twice', path: '/api/v1/watch/watch/namespaces/theirs/secrets' },
    { name: 'all namespaces, selecting the own one', path: '/api/v1/secrets?fieldSelector=metadata.namespace%3Dmine' },
    {
      name: 'the own namespace, selecting another',
      path: '/api/v1/namespaces/mine/secrets?fieldSelector=metadata.namespace%3Dtheirs',
    },
    {
      name: 'a name that is allowed, and two more by selector',
      path: '/api/v1/secrets?fieldSelector=metadata.name%3Ddb',
    },
    { name: 'the namespace in the query', path: '/api/v1/namespaces/mine/secrets?namespace=theirs' },
    { name: 'an absolute URL in the request line', path: `http://127.0.0.1${secretsOf('theirs')}` },
    { name: 'a query that begins early', path: '/api/v1/namespaces/mine/secrets/db?/../../../theirs/secrets/db' },
    { name: 'a fragment', path: `/api/v1/namespaces/mine/secrets#${secretsOf('theirs')}` },
    { name: 'the core group by name', path: '/apis/core/v1/namespaces/theirs/secrets/db' },
    { name: 'the core group without one', path: '/apis//v1/namespaces/theirs/secrets/db' },
    { name: 'a sub-resource that is none', path: `${secretsOf('theirs')}/status` },
    { name: 'another version', path: '/api/v2/namespaces/theirs/secrets/db' },
    { name: 'export', path: '/api/v1/namespaces/mine/secrets/db?export=true&namespace=theirs' },
  ]

  test.each(tricks)('$name', async ({ path }) => {
    for (const headers of [bearer(doraToken), {}]) {
      const { text } = await world.send(path, { headers })
      expect(text).not.toContain(treasure)
    }
  })

  test.each(tricks)('$name, to delete', async ({ path }) => {
    await world.send(path, { method: 'DELETE', headers: bearer(doraToken) })
    const secrets = { group: '', version: 'v1', resource: 'secrets' }
    const kept = await world.server.plane.client().list(secrets, { namespace: 'theirs' })
    expect(kept.items.map((item) => item.metadata.name)).toEqual(['db'])
  })

  test('any mixture of them', async () => {
    const pieces = [
      'namespaces',
      'mine',
      'theirs',
      'secrets',
      'db',
      '..',
      '.',
      '',
      '%2e%2e',
      '%2F',
      'api',
      'v1',
      'Secrets',
      'theirs.',
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 9 }), async (parts) => {
        const path = `/api/v1/${parts.join('/')}`
        const { text } = await world.send(path, { headers: bearer(doraToken) })
        expect(text).not.toContain(treasure)
      }),
      { numRuns: 60, examples: [[['namespaces', 'mine', '..', 'theirs', 'secrets', 'db']]] },
    )
  })
})

describe('attack: headers', () => {
  const theirs = secretsOf('theirs')
  test.each<{ name: string; headers: Record<string, string | string[]>; code?: number }>([
    {
      name: 'those of a front proxy, by who is none',
      headers: { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' },
      code: 403,
    },
    {
      name: 'those of other proxies',
      headers: {
        'x-forwarded-user': 'root',
        'x-original-url': '/healthz',
        'x-rewrite-url': '/healthz',
        'x-forwarded-for': '127.0.0.1',
        'x-real-ip': '::1',
      },
      code: 403,
    },
    {
      name: 'another method by a header',
      headers: { ...bearer(doraToken), 'x-http-method-override': 'POST', 'x-method-override': 'DELETE' },
      code: 403,
    },
    { name: 'two credentials in one header', headers: { authorization: `Bearer ${doraToken}, Bearer x` }, code: 401 },
    { name: 'a scheme that is not known', headers: { authorization: 'Basic cm9vdDpyb290' }, code: 403 },
    {
      name: 'impersonation without any right',
      headers: { ...bearer(doraToken), 'impersonate-user': 'root', 'impersonate-group': 'system:masters' },
      code: 403,
    },
    { name: 'impersonation by an anonymous caller', headers: { 'impersonate-user': 'root' }, code: 403 },
    {
      name: 'impersonation of a group alone',
      headers: { ...bearer(doraToken), 'impersonate-group': 'system:masters' },
      code: 400,
    },
    {
      name: 'impersonation of two users at once',
      headers: { ...bearer(doraToken), 'impersonate-user': ['dora', 'root'] },
      code: 403,
    },
    {
      name: 'impersonation of an account of another namespace, with the right to the own ones',
      headers: { ...bearer(doraToken), 'impersonate-user': 'system:serviceaccount:kube-system:namespace-controller' },
      code: 403,
    },
    {
      name: 'impersonation of an own account, with a group of one’s choice',
      headers: {
        ...bearer(doraToken),
        'impersonate-user': 'system:serviceaccount:mine:default',
        'impersonate-group': 'system:masters',
      },
      code: 403,
    },
    {
      name: 'impersonation of an own account, with a uid of one’s choice',
      headers: {
        ...bearer(doraToken),
        'impersonate-user': 'system:serviceaccount:mine:default',
        'impersonate-uid': '0',
      },
      code: 403,
    },
    {
      name: 'impersonation of an own account, with extra of one’s choice',
      headers: {
        ...bearer(doraToken),
        'impersonate-user': 'system:serviceaccount:mine:default',
        'impersonate-extra-scopes': 'all',
      },
      code: 403,
    },
    {
      name: 'an account name with one part too many',
      headers: { ...bearer(doraToken), 'impersonate-user': 'system:serviceaccount:mine:default:x' },
      code: 403,
    },
    {
      name: 'underscores for hyphens',
      headers: { ...bearer(doraToken), impersonate_user: 'root', impersonate_group: 'system:masters' },
      code: 403,
    },
  ])('$name', async ({ headers, code }) => {
    const answer = await world.send(theirs, { headers })
    expect(answer.text).not.toContain(treasure)
    expect(answer.code).toBe(code)
  })

  test('what dora may: to be an account of her own namespace, which may not read theirs either', async () => {
    const headers = {
      ...bearer(doraToken),
      'impersonate-user': 'system:serviceaccount:mine:default',
      'content-type': 'application/json',
    }
    const { text } = await world.send(whoami, { method: 'POST', headers, body: review })
    expect(text).toContain('"username":"system:serviceaccount:mine:default"')
    expect((await world.send(theirs, { headers })).code).toBe(403)
  })

  const smuggled = `GET ${theirs} HTTP/1.1\r\nHost: x\r\nImpersonate-User: root\r\n\r\n`
  test.each<{ name: string; bytes: string }>([
    {
      name: 'a length and chunks at once',
      bytes:
        `POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length + 5}\r\nTransfer-Encoding: ` +
        `chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    },
    {
      name: 'chunks, spelled so that one side misses it',
      bytes:
        `POST /version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: ` +
        `5\r\n\r\n0\r\n\r\n${smuggled}`,
    },
    {
      name: 'two lengths',
      bytes:
        `POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: ` +
        `${smuggled.length}\r\n\r\n${smuggled}`,
    },
    {
      name: 'a blank before the colon',
      bytes: `GET ${theirs} HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer ${doraToken}\r\nConnection: close\r\n\r\n`,
    },
    {
      name: 'a header folded over two lines',
      bytes: `GET ${theirs} HTTP/1.1\r\nHost: x\r\nImpersonate-User:\r\n root\r\nConnection: close\r\n\r\n`,
    },
    {
      name: 'a bare line feed between headers',
      bytes: `GET ${theirs} HTTP/1.1\r\nHost: x\r\nX: a\nImpersonate-User: root\r\nConnection: close\r\n\r\n`,
    },
  ])('request smuggling: $name', async ({ bytes }) => {
    const text = await world.sendBytes(bytes)
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(text).not.toContain('HTTP/1.1 200')
    expect(text).not.toContain(treasure)
  })
})
