/** Tokens made by a client that knows the issuer's public key, and nothing else. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { refusal, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { randomIds } from '../base/ids.ts'
import { OidcAuthenticator } from './oidc.ts'
import { issuerOfFlags } from './oidc-flags.ts'
import { ServiceAccountTokens } from './service-account-token.ts'
import { VerificationTurns } from './verification-turns.ts'

const url = 'https://issuer.example'
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one' }
const pem = publicKey.export({ type: 'spki', format: 'pem' })

let clock: FakeClock
let faults: string[]
let keys: unknown[]
beforeEach(() => {
  clock = new FakeClock()
  faults = []
  keys = [jwk]
})

const authenticator = (): OidcAuthenticator =>
  new OidcAuthenticator(
    issuerOfFlags({
      issuerUrl: url,
      clientId: 'borough',
      usernameClaim: 'sub',
      groupsPrefix: '',
      requiredClaims: new Map(),
      algorithms: ['RS256', 'ES256', 'PS256'],
    }),
    {
      clock,
      getJson: async (asked) => (asked.endsWith('/keys') ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }),
      onFault: (error) => faults.push(error.message),
      onRefused: () => undefined,
    },
  )

type Sign = (input: Buffer) => Buffer
const byKey: Sign = (input) => sign('sha256', input, privateKey)
const byStranger: Sign = (input) => sign('sha256', input, stranger.privateKey)
const bySecret: Sign = (input) => createHmac('sha256', pem).update(input).digest()
const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const claims = (more: object = {}): object => ({
  iss: url,
  sub: 'jane',
  aud: 'borough',
  exp: Math.floor(clock.now() / 1000) + 600,
  ...more,
})
const token = (header: unknown, payload: unknown, by: Sign): string => {
  const input = `${part(header)}.${part(payload)}`
  return `${input}.${by(Buffer.from(input)).toString('base64url')}`
}

test('a token of the issuer is taken, so that the others are refused for what is wrong with them', async () => {
  const bearerToken = token({ alg: 'RS256', kid: 'one' }, claims(), byKey)
  expect(await authenticator().authenticate({ bearerToken })).toMatchObject({ username: `${url}#jane` })
})

test.each<[string, () => string]>([
  ['alg none', () => token({ alg: 'none', kid: 'one' }, claims(), () => Buffer.alloc(0))],
  ['alg nOnE', () => token({ alg: 'nOnE', kid: 'one' }, claims(), () => Buffer.alloc(0))],
  ['the public key as a secret', () => token({ alg: 'HS256', kid: 'one' }, claims(), bySecret)],
  ['the public key as a secret under RS256', () => token({ alg: 'RS256', kid: 'one' }, claims(), bySecret)],
  ['another kind of key', () => token({ alg: 'ES256', kid: 'one' }, claims(), byKey)],
  ['another padding', () => token({ alg: 'PS256', kid: 'one' }, claims(), byKey)],
  ['no algorithm', () => token({ kid: 'one' }, claims(), byKey)],
  ['an algorithm that is no text', () => token({ alg: ['RS256'], kid: 'one' }, claims(), byKey)],
  [
    'a key that it brings itself',
    () => token({ alg: 'RS256', jwk: stranger.publicKey.export({ format: 'jwk' }) }, claims(), byStranger),
  ],
  [
    'the address of a key',
    () => token({ alg: 'RS256', jku: 'https://evil.example/keys', x5u: 'file:///etc' }, claims(), byStranger),
  ],
  ['a path as name of its key', () => token({ alg: 'RS256', kid: '../../../../dev/null' }, claims(), byStranger)],
  ['an object as name of its key', () => token({ alg: 'RS256', kid: { $ne: '' } }, claims(), byStranger)],
  ['__proto__ as name of its key', () => token({ alg: 'RS256', kid: '__proto__' }, claims(), byStranger)],
  ['what must be understood', () => token({ alg: 'RS256', kid: 'one', crit: ['x'], x: 1 }, claims(), byKey)],
  [
    'a payload that is not encoded',
    () => token({ alg: 'RS256', kid: 'one', crit: ['b64'], b64: false }, claims(), byKey),
  ],
  ['a header that is null', () => token('null', claims(), byKey)],
  ['a header that is no JSON', () => token('{', claims(), byKey)],
  ['a header that is nested a thousand deep', () => token('['.repeat(1000) + ']'.repeat(1000), claims(), byKey)],
  ['an end that is a text', () => token({ alg: 'RS256', kid: 'one' }, claims({ exp: '9999999999' }), byKey)],
  ['an end that is no number', () => token({ alg: 'RS256', kid: 'one' }, claims({ exp: null }), byKey)],
  ['a beginning that is a text', () => token({ alg: 'RS256', kid: 'one' }, claims({ nbf: '1' }), byKey)],
  ['an audience within an audience', () => token({ alg: 'RS256', kid: 'one' }, claims({ aud: [['borough']] }), byKey)],
  ['an audience that only begins so', () => token({ alg: 'RS256', kid: 'one' }, claims({ aud: 'borough2' }), byKey)],
  ['a name that is an object', () => token({ alg: 'RS256', kid: 'one' }, claims({ sub: { a: 1 } }), byKey)],
  ['an empty signature', () => token({ alg: 'RS256', kid: 'one' }, claims(), () => Buffer.alloc(0))],
  ['a huge signature', () => token({ alg: 'RS256', kid: 'one' }, claims(), () => Buffer.alloc(100_000))],
])('a token with %s is refused, and the operator is not told that the issuer fails', async (_, made) => {
  expect(await refusal(authenticator().authenticate({ bearerToken: made() }))).toEqual(unauthorized)
  expect(faults).toEqual([])
})

test('of a claim that is there twice the last holds, for the issuer too', async () => {
  const twice = (last: string): string => JSON.stringify(claims()).replace('"iss":', `"iss":"${last}","iss":`)
  const header = { alg: 'RS256', kid: 'one' }
  const own = authenticator()
  expect(await own.authenticate({ bearerToken: token(header, twice('https://other'), byKey) })).toBeDefined()
  const other = JSON.stringify(claims()).replace(/}$/, ',"iss":"https://other"}')
  expect(await own.authenticate({ bearerToken: token(header, other, byKey) })).toBeUndefined()
})

test.each<[string, unknown]>([
  ['no key', {}],
  ['half a key', { kty: 'RSA', kid: 'other', e: 'AQAB' }],
  ['a secret', { kty: 'oct', kid: 'other', k: part(String(pem)) }],
])('%s among the keys of an issuer spoils no other', async (_, key) => {
  keys = [key, jwk]
  const bearerToken = token({ alg: 'RS256', kid: 'one' }, claims(), byKey)
  expect(await authenticator().authenticate({ bearerToken })).toBeDefined()
})

test.each([null, 1, 'key', [[]]])(
  '%j among the keys of an issuer is a fault that its operator hears of',
  async (key) => {
    keys = [key, jwk]
    const bearerToken = token({ alg: 'RS256', kid: 'one' }, claims(), byKey)
    expect(await refusal(authenticator().authenticate({ bearerToken }))).toEqual(unauthorized)
    expect(faults).toEqual([`${url}/keys is no set of keys`])
  },
)

const strangerKey = (kid?: string): object => ({
  ...stranger.publicKey.export({ format: 'jwk' }),
  ...(kid === undefined ? {} : { kid }),
})

test.each(['one', undefined])('of the keys of an issuer that are called %s sixteen are tried', async (kid) => {
  const header = { alg: 'RS256', ...(kid === undefined ? {} : { kid }) }
  const own = { ...publicKey.export({ format: 'jwk' }), ...(kid === undefined ? {} : { kid }) }
  keys = [...Array.from({ length: 15 }, () => strangerKey(kid)), own]
  expect(await authenticator().authenticate({ bearerToken: token(header, claims(), byKey) })).toBeDefined()
  keys = [strangerKey(kid), ...keys]
  const bearerToken = token(header, claims(), byKey)
  expect(await refusal(authenticator().authenticate({ bearerToken }))).toEqual(unauthorized)
  expect(faults).toEqual([])
})

test('an issuer with more than 256 keys is a fault that its operator hears of', async () => {
  keys = [...Array.from({ length: 255 }, (_, i) => strangerKey(`k${i}`)), jwk]
  const bearerToken = token({ alg: 'RS256', kid: 'one' }, claims(), byKey)
  expect(await authenticator().authenticate({ bearerToken })).toBeDefined()
  keys = [strangerKey('k255'), ...keys]
  expect(await refusal(authenticator().authenticate({ bearerToken }))).toEqual(unauthorized)
  expect(faults).toEqual([`${url}/keys has 257 keys, and 256 are taken at most`])
})

test('attack: who sends forged tokens has one verified at a time, of an issuer and of our own', async () => {
  const flows = vi.spyOn(VerificationTurns.prototype, 'run')
  const own = new ServiceAccountTokens({
    issuer: url,
    audiences: ['borough'],
    keys: () => [],
    clock,
    ids: randomIds,
    find: () => undefined,
  })
  const bearerToken = token({ alg: 'RS256', kid: 'one' }, claims(), byStranger)
  for (const tried of [authenticator(), own]) {
    const refused = tried.authenticate({ bearerToken, from: 'address 10.0.0.1' })
    expect(await refusal(Promise.resolve(refused))).toEqual(unauthorized)
  }
  expect(flows.mock.calls.map(([flow]) => flow)).toEqual(['address 10.0.0.1', 'address 10.0.0.1'])
  flows.mockRestore()
})
