import type { JWTPayload } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OidcIssuerServer, startOidcIssuer } from '../../test/support/oidc-issuer.ts'
import { refusal, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { getJson } from './get-json.ts'
import { OidcAuthenticator } from './oidc.ts'
import { issuerOfFlags, type OidcIssuer } from './oidc-flags.ts'

let issuer: OidcIssuerServer
let clock: FakeClock
let faults: string[]
let reasons: string[]
beforeAll(async () => {
  issuer = await startOidcIssuer()
})
afterAll(() => issuer[Symbol.asyncDispose]())
beforeEach(() => {
  clock = new FakeClock()
  faults = []
  reasons = []
  issuer.callItself = undefined
})

const authenticator = (more: Partial<OidcIssuer> = {}, ca = issuer.ca): OidcAuthenticator =>
  new OidcAuthenticator(
    issuerOfFlags({
      issuerUrl: issuer.url,
      clientId: 'borough',
      usernameClaim: 'sub',
      groupsPrefix: '',
      requiredClaims: new Map(),
      algorithms: ['RS256'],
      ...more,
    }),
    {
      clock,
      getJson: (url) => getJson(url, { ca, timeoutMs: 5000, maxBytes: 100_000 }),
      onFault: (error) => faults.push(error.message),
      onRefused: (error) => reasons.push(error.message),
    },
  )

const inSeconds = (seconds: number): number => Math.floor(clock.now() / 1000) + seconds
const claims = (more: object = {}): JWTPayload => ({ sub: 'jane', aud: 'borough', exp: inSeconds(600), ...more })
const token = (more: object = {}, how: { alg?: 'none'; kid?: string } = {}): Promise<string> =>
  issuer.token(claims(more), how)

describe('whom an ID token names', () => {
  test.each<[string, Partial<OidcIssuer>, object, object]>([
    ['the subject, with the issuer in front', {}, {}, { username: 'ISSUER#jane', groups: [] }],
    ['with a prefix of its own', { usernamePrefix: 'corp:' }, {}, { username: 'corp:jane' }],
    ['without a prefix', { usernamePrefix: '' }, {}, { username: 'jane' }],
    [
      'an email, as it is',
      { usernameClaim: 'email' },
      { email: 'jane@example.com', email_verified: true },
      { username: 'jane@example.com' },
    ],
    [
      'groups, with their prefix',
      { groupsClaim: 'teams', groupsPrefix: 'corp:' },
      { teams: ['a', 'b'] },
      { groups: ['corp:a', 'corp:b'] },
    ],
    ['one group as a text', { groupsClaim: 'teams' }, { teams: 'a' }, { groups: ['a'] }],
    ['no group of the cluster', { groupsClaim: 'teams' }, { teams: ['system:masters', 'a'] }, { groups: ['a'] }],
    ['one audience of several', {}, { aud: ['x', 'borough'] }, { username: 'ISSUER#jane' }],
    ['a name of any script', { usernamePrefix: '' }, { sub: 'ünï→😀' }, { username: 'ünï→😀' }],
    [
      'half a surrogate pair as Go reads it',
      { usernamePrefix: '', groupsClaim: 'teams' },
      { sub: 'a\ud800', teams: ['b\udc00'] },
      { username: 'a\ufffd', groups: ['b\ufffd'] },
    ],
    [
      'with its id as the credential',
      {},
      { jti: 'j1' },
      { extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'] } },
    ],
  ])('%s', async (_, options, more, want) => {
    const user = await authenticator(options).authenticate({ bearerToken: await token(more) })
    expect({ ...user, username: user?.username.replace(issuer.url, 'ISSUER') }).toMatchObject(want)
  })
})

describe('refused', () => {
  test.each<[string, Partial<OidcIssuer>, object]>([
    ['a token for another client', {}, { aud: 'other' }],
    ['a token whose time is over', {}, { exp: 1 }],
    ['a token without an end', {}, { exp: undefined }],
    ['a token that is not good yet', {}, { nbf: 4_000_000_000 }],
    ['a token without the claim that names the user', { usernameClaim: 'email' }, {}],
    ['an email that is not verified', { usernameClaim: 'email' }, { email: 'a@b.c', email_verified: false }],
    ['a required claim that is missing', { requiredClaims: new Map([['tenant', 'a']]) }, {}],
    ['a required claim that differs', { requiredClaims: new Map([['tenant', 'a']]) }, { tenant: 'b' }],
    ['groups that are no texts', { groupsClaim: 'teams' }, { teams: [1] }],
    ['an algorithm that is not asked for', { algorithms: ['ES256'] }, {}],
    ['attack: a name of the cluster itself', { usernamePrefix: '' }, { sub: 'system:admin' }],
  ])('%s', async (_, options, more) => {
    const bearerToken = await token(more)
    expect(await refusal(authenticator(options).authenticate({ bearerToken }))).toEqual(unauthorized)
  })

  test('attack: a token without a signature', async () => {
    const bearerToken = await token({}, { alg: 'none' })
    expect(await refusal(authenticator().authenticate({ bearerToken }))).toEqual(unauthorized)
  })

  test('attack: a token with another payload under a good signature', async () => {
    const [head, , signature] = (await token()).split('.')
    const payload = Buffer.from(JSON.stringify({ iss: issuer.url, ...claims({ sub: 'root' }) })).toString('base64url')
    const bearerToken = `${head}.${payload}.${signature}`
    expect(await refusal(authenticator().authenticate({ bearerToken }))).toEqual(unauthorized)
  })

  test('a token that was good, once its time is over', async () => {
    const bearerToken = await token()
    const own = authenticator()
    expect(await own.authenticate({ bearerToken })).toBeDefined()
    await clock.advance(600_000)
    expect(await refusal(own.authenticate({ bearerToken }))).toEqual(unauthorized)
  })

  test('every token, while the issuer calls itself by another name, and the operator hears why', async () => {
    issuer.callItself = 'https://else.example'
    const bearerToken = await token()
    expect(await refusal(authenticator().authenticate({ bearerToken }))).toEqual(unauthorized)
    expect(faults).toEqual([`${issuer.url} calls itself "https://else.example"`])
  })

  test('attack: many tokens at once, while the issuer fails: the operator hears of it once', async () => {
    issuer.callItself = 'https://else.example'
    const oidc = authenticator()
    const tokens = await Promise.all([1, 2, 3, 4].map((n) => token({ n })))
    const asked = await Promise.allSettled(tokens.map((bearerToken) => oidc.authenticate({ bearerToken })))
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
    expect(faults).toHaveLength(1)
  })

  test('every token for a while after the issuer could not be asked, and it is not asked again', async () => {
    issuer.callItself = 'https://else.example'
    const own = authenticator()
    const bearerToken = await token()
    for (let i = 0; i < 2; i++) expect(await refusal(own.authenticate({ bearerToken }))).toEqual(unauthorized)
    expect(faults).toHaveLength(1)
  })

  test('every token, where the issuer has a certificate that nobody trusts', async () => {
    const other = await startOidcIssuer()
    const bearerToken = await token()
    expect(await refusal(authenticator({}, other.ca).authenticate({ bearerToken }))).toEqual(unauthorized)
    expect(faults).toEqual([expect.stringContaining(issuer.url)])
    await other[Symbol.asyncDispose]()
  })
})

test.each(['not-a-token', 'a.b.c'])('%s is the business of other authenticators', async (bearerToken) => {
  expect(await authenticator().authenticate({ bearerToken })).toBeUndefined()
})

test('keys are fetched once, and again when the issuer has changed them, but not as strangers wish', async () => {
  const own = authenticator()
  issuer.asked.length = 0
  await Promise.all([1, 2, 3].map(async (n) => own.authenticate({ bearerToken: await token({ jti: `${n}` }) })))
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  const unknown = await token({}, { kid: 'made-up' })
  for (let i = 0; i < 3; i++) {
    expect(await refusal(own.authenticate({ bearerToken: unknown }))).toEqual(unauthorized)
  }
  expect(issuer.asked).toHaveLength(2)
  await issuer.rotate()
  await clock.advance(10_000)
  expect(await own.authenticate({ bearerToken: await token() })).toBeDefined()
  expect(issuer.asked).toHaveLength(4)
})

test.each([
  { how: 'under its old name', first: { kid: 'the-key' }, next: { kid: 'the-key' } },
  { how: 'without names', first: { kid: null }, next: { kid: null } },
])('a key that the issuer replaced $how is fetched', async ({ first, next }) => {
  await issuer.rotate(first)
  const own = authenticator()
  expect(await own.authenticate({ bearerToken: await token() })).toBeDefined()
  await issuer.rotate(next)
  const bearerToken = await token()
  expect(await refusal(own.authenticate({ bearerToken }))).toEqual(unauthorized)
  await clock.advance(10_000)
  expect(await own.authenticate({ bearerToken })).toBeDefined()
})

test('a token that does not name its key is good under any of the issuer', async () => {
  await issuer.rotate({ kid: null })
  const own = authenticator()
  const older = await token()
  await issuer.rotate({ kid: null, keep: true })
  for (const bearerToken of [await token(), older]) expect(await own.authenticate({ bearerToken })).toBeDefined()
  await issuer.rotate({ kid: null })
  const unpublished = await token()
  expect(await refusal(own.authenticate({ bearerToken: unpublished }))).toEqual(unauthorized)
})

test('one that does not name its key, and whose time is over, makes nobody ask the issuer for other keys', async () => {
  for (const keep of [false, true]) await issuer.rotate({ kid: null, keep })
  const own = authenticator()
  expect(await own.authenticate({ bearerToken: await token() })).toBeDefined()
  await clock.advance(10_000)
  issuer.asked.length = 0
  expect(await refusal(own.authenticate({ bearerToken: await token({ exp: 1 }) }))).toEqual(unauthorized)
  expect(issuer.asked).toEqual([])
})

test('an issuer whose clock is ahead is believed for five minutes, and no token after its end', async () => {
  const own = authenticator()
  expect(await own.authenticate({ bearerToken: await token({ nbf: inSeconds(299) }) })).toBeDefined()
  const early = await token({ nbf: inSeconds(302) })
  expect(await refusal(own.authenticate({ bearerToken: early }))).toEqual(unauthorized)
  const late = await token({ exp: inSeconds(-1) })
  expect(await refusal(own.authenticate({ bearerToken: late }))).toEqual(unauthorized)
})

test('an ID token is no token for the audiences that a review asks for', async () => {
  const bearerToken = await token()
  expect(await authenticator().authenticate({ bearerToken, audiences: ['borough'] })).toBeUndefined()
  expect(await authenticator().authenticate({ bearerToken })).toBeDefined()
})

describe('an issuer whose documents say nothing', () => {
  const keys = 'https://issuer.example/keys'
  test.each<{ name: string; documents: (url: string) => unknown; fault: string }>([
    { name: 'with an empty one', documents: () => null, fault: 'ISSUER calls itself undefined' },
    {
      name: 'without a place of its keys',
      documents: (url) => ({ issuer: url }),
      fault: 'ISSUER does not say where its keys are',
    },
    {
      name: 'whose keys are to be had by anybody in between',
      documents: (url) => ({ issuer: url, jwks_uri: 'http://issuer.example/keys' }),
      fault: 'ISSUER does not say where its keys are',
    },
    { name: 'whose keys are no list', documents: (url) => ({ issuer: url, jwks_uri: keys, keys: 'x' }), fault: keys },
    { name: 'whose keys are no keys', documents: (url) => ({ issuer: url, jwks_uri: keys, keys: [1] }), fault: keys },
  ])('$name is told of, and no token of it is good', async ({ documents, fault }) => {
    const flags = { issuerUrl: issuer.url, clientId: 'borough', usernameClaim: 'sub', groupsPrefix: '' }
    const own = new OidcAuthenticator(issuerOfFlags({ ...flags, requiredClaims: new Map(), algorithms: ['RS256'] }), {
      ...{ clock, onFault: (error) => faults.push(error.message), onRefused: () => {} },
      getJson: async () => documents(issuer.url),
    })
    expect(await refusal(own.authenticate({ bearerToken: await token() }))).toEqual(unauthorized)
    expect(faults.map((text) => text.replace(issuer.url, 'ISSUER'))).toEqual([expect.stringContaining(fault)])
  })

  test('and one that fails with something that is no error is as good as silent', async () => {
    const flags = { issuerUrl: issuer.url, clientId: 'borough', usernameClaim: 'sub', groupsPrefix: '' }
    const own = new OidcAuthenticator(issuerOfFlags({ ...flags, requiredClaims: new Map(), algorithms: ['RS256'] }), {
      ...{ clock, onFault: (error) => faults.push(error.message), onRefused: () => {} },
      getJson: () => Promise.reject('gone'),
    })
    expect(await refusal(own.authenticate({ bearerToken: await token() }))).toEqual(unauthorized)
    expect(faults).toEqual(['unknown'])
  })
})
