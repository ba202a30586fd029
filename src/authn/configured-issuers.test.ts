import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JWTPayload } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OidcIssuerServer, startOidcIssuer } from '../../test/support/oidc-issuer.ts'
import { refusal, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import type { UserInfo } from '../kube/user.ts'
import { ConfiguredIssuers } from './configured-issuers.ts'
import { getJson } from './get-json.ts'

let one: OidcIssuerServer
let two: OidcIssuerServer
let folder: string
let path: string
let clock: FakeClock
/** What the operator hears. */
let told: string[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-issuers-'))
  path = join(folder, 'authentication.yaml')
  ;[one, two] = await Promise.all([startOidcIssuer(), startOidcIssuer()])
})
afterAll(async () => {
  await one[Symbol.asyncDispose]()
  await two[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  await rm(path, { force: true })
  clock = new FakeClock()
  told = []
})

interface Jwt {
  readonly issuer?: object
  readonly claimMappings?: object
  readonly [rules: string]: unknown
}

/** One entry for each issuer: right but for what is given. */
const entry = ({ url, ca }: OidcIssuerServer, more: Jwt = {}): object => ({
  claimMappings: { username: { claim: 'sub', prefix: '' }, ...more.claimMappings },
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key.endsWith('Rules'))),
  issuer: { url, audiences: ['borough'], certificateAuthority: ca, ...more.issuer },
})

const write = (fields: object): Promise<void> =>
  writeFile(
    path,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', ...fields }),
  )

type Options = Parameters<typeof ConfiguredIssuers.open>[0]

const open = (more: Partial<Options> = {}): Promise<ConfiguredIssuers> =>
  ConfiguredIssuers.open({
    path,
    clock,
    log: {
      ...silentLog,
      error: ({ error }, message) => told.push(`${message}: ${String(error)}`),
    },
    anonymous: true,
    ownIssuer: 'https://own.example',
    depsOf: ({ ca }) => ({
      clock,
      getJson: (url) => getJson(url, { ...(ca === undefined ? {} : { ca }), timeoutMs: 5000, maxBytes: 100_000 }),
      onFault: (error) => told.push(error.message),
      onRefused: (error) => told.push(error.message),
    }),
    ...more,
  })

const claims = (more: object): JWTPayload => ({
  sub: 'jane',
  aud: 'borough',
  exp: Math.floor(clock.now() / 1000) + 600,
  ...more,
})

/** Whom the first issuer's claims name by these mappings and rules. */
async function userOf(jwt: Jwt, more: object = {}): Promise<UserInfo | undefined> {
  await write({ jwt: [entry(one, jwt)] })
  const issuers = await open()
  return issuers.authenticate({ bearerToken: await one.token(claims(more)) })
}

describe('whom a token names', () => {
  test.each<[string, Jwt, object, object]>([
    [
      'a claim with its prefix',
      { claimMappings: { username: { claim: 'sub', prefix: 'a:' } } },
      {},
      { username: 'a:jane' },
    ],
    [
      'what an expression makes of claims',
      { claimMappings: { username: { expression: 'claims.sub.upperAscii() + "@" + claims.tenant' } } },
      { tenant: 'x' },
      { username: 'JANE@x' },
    ],
    [
      'groups by an expression: one text',
      { claimMappings: { groups: { expression: 'claims.role' } } },
      { role: 'admin' },
      { groups: ['admin'] },
    ],
    [
      'groups by an expression: a list, without what is empty or of the cluster',
      { claimMappings: { groups: { expression: 'claims.roles.split(",").map(r, r.trim())' } } },
      { roles: 'a, ,system:masters,b' },
      { groups: ['a', 'b'] },
    ],
    [
      'no groups where the expression says null',
      { claimMappings: { groups: { expression: 'claims.roles' } } },
      { roles: null },
      { groups: [] },
    ],
    ['a uid by a claim', { claimMappings: { uid: { claim: 'oid' } } }, { oid: 'u1' }, { uid: 'u1' }],
    [
      'a uid by an expression',
      { claimMappings: { uid: { expression: 'string(claims.number)' } } },
      { number: 7 },
      { uid: '7' },
    ],
    [
      'extras, without those that have no value',
      {
        claimMappings: {
          extra: [
            { key: 'acme.io/tenant', valueExpression: 'claims.tenant' },
            { key: 'acme.io/none', valueExpression: 'claims.?none.orValue("")' },
          ],
        },
      },
      { tenant: ['x', 'y'] },
      { extra: { 'acme.io/tenant': ['x', 'y'] } },
    ],
    [
      'one audience of several',
      { issuer: { audiences: ['other', 'borough'], audienceMatchPolicy: 'MatchAny' } },
      {},
      { username: 'jane' },
    ],
    [
      'where all rules hold',
      {
        claimValidationRules: [
          { claim: 'tenant', requiredValue: 'x' },
          { expression: 'claims.exp - claims.iat < 900' },
        ],
        userValidationRules: [{ expression: '!user.username.startsWith("system:")' }, { expression: '!has(user.uid)' }],
      },
      { tenant: 'x', iat: Math.floor(new FakeClock().now() / 1000) },
      { username: 'jane' },
    ],
  ])('%s', async (_, jwt, more, want) => {
    expect(await userOf(jwt, more)).toMatchObject(want)
  })
})

describe('refused, and the operator hears why', () => {
  test.each<[string, Jwt, object, string]>([
    [
      'an expression that fails',
      { claimMappings: { username: { expression: 'claims.nick' } } },
      {},
      "expression 'claims.nick' resulted in error: no such key: nick",
    ],
    [
      'a name that is no text',
      { claimMappings: { username: { expression: 'claims.exp' } } },
      {},
      'the expression of username must return a string',
    ],
    ['an empty name', { claimMappings: { username: { expression: '""' } } }, {}, 'the username is empty'],
    [
      'an empty claim with a prefix',
      { claimMappings: { username: { claim: 'sub', prefix: 'a:' } } },
      { sub: '' },
      'the username is empty',
    ],
    [
      'attack: a name of the cluster by an expression',
      { claimMappings: { username: { expression: '"system:" + claims.sub' } } },
      {},
      'the username begins with system:',
    ],
    [
      'a claim that is not there',
      { claimMappings: { uid: { claim: 'oid' } } },
      {},
      'the claim oid is missing, or no text',
    ],
    [
      'attack: a claim that every object inherits',
      {
        claimMappings: { groups: { claim: 'constructor', prefix: '' } },
        claimValidationRules: [{ claim: 'toString' }],
      },
      {},
      'the required claim toString is missing or differs',
    ],
    [
      'groups that are no texts',
      { claimMappings: { groups: { expression: 'claims.roles' } } },
      { roles: ['a', 1] },
      'the expression of groups must return a string or a list of strings',
    ],
    [
      'a required claim that differs',
      { claimValidationRules: [{ claim: 'tenant', requiredValue: 'x' }] },
      { tenant: 'y' },
      'the required claim tenant is missing or differs',
    ],
    [
      'a rule about claims that does not hold',
      { claimValidationRules: [{ expression: 'claims.tenant == "x"', message: 'tenant must be x' }] },
      { tenant: 'y' },
      'tenant must be x',
    ],
    [
      'a rule about the user that does not hold, without a message',
      {
        userValidationRules: [{ expression: 'user.groups.exists(g, g == "a")' }],
        claimMappings: { groups: { claim: 'g', prefix: '' } },
      },
      { g: ['b'] },
      `the rule 'user.groups.exists(g, g == "a")' does not hold`,
    ],
    [
      'a rule about the user that fails: a user without groups has no such field',
      { userValidationRules: [{ expression: 'user.groups.size() == 0' }] },
      {},
      "expression 'user.groups.size() == 0' resulted in error: no such key: groups",
    ],
    [
      'a rule about what else is known of the user that does not hold',
      {
        userValidationRules: [{ expression: 'user.extra["acme.io/tenant"].exists(t, t == "x")', message: 'not of x' }],
        claimMappings: { extra: [{ key: 'acme.io/tenant', valueExpression: 'claims.tenant' }] },
      },
      { tenant: ['y', 'z'] },
      'not of x',
    ],
    [
      'an email that is not verified',
      { claimMappings: { username: { claim: 'email', prefix: '' } } },
      { email: 'a@b.c', email_verified: 'true' },
      'the email is not verified',
    ],
  ])('%s', async (_, jwt, more, says) => {
    expect(await refusal(userOf(jwt, more))).toEqual(unauthorized)
    expect(told).toEqual([says])
  })

  test('a token is looked at once: its claims do not change', async () => {
    await write({ jwt: [entry(one, { claimValidationRules: [{ expression: 'false' }] })] })
    const issuers = await open()
    const bearerToken = await one.token(claims({}))
    for (let i = 0; i < 3; i++)
      expect(await refusal(issuers.authenticate({ bearerToken }) as never)).toEqual(unauthorized)
    expect(told).toEqual(["the rule 'false' does not hold"])
  })
})

describe('several issuers', () => {
  test('each is asked about its own tokens, and its keys are good for no other', async () => {
    await write({
      jwt: [entry(one), entry(two, { claimMappings: { username: { claim: 'sub', prefix: 'two:' } } })],
    })
    const issuers = await open()
    const names = await Promise.all(
      [one, two].map(
        async (issuer) => (await issuers.authenticate({ bearerToken: await issuer.token(claims({})) }))?.username,
      ),
    )
    expect(names).toEqual(['jane', 'two:jane'])
    const forged = await one.token(claims({ iss: two.url }))
    expect(await refusal(issuers.authenticate({ bearerToken: forged }) as never)).toEqual(unauthorized)
  })

  test('a token of no issuer that is named is the business of others', async () => {
    await write({ jwt: [entry(one)] })
    const issuers = await open()
    expect(await issuers.authenticate({ bearerToken: await two.token(claims({})) })).toBeUndefined()
    expect(await issuers.authenticate({ bearerToken: 'opaque' })).toBeUndefined()
    expect(issuers.authenticate({})).toBeUndefined()
  })

  test('an issuer that does not answer holds up no token of another', async () => {
    await write({ jwt: [entry(one), entry(two)] })
    const { promise: silence, reject } = Promise.withResolvers<never>()
    const issuers = await open({
      depsOf: ({ url: of, ca = '' }) => ({
        clock,
        getJson: (url) => (of === two.url ? silence : getJson(url, { ca, timeoutMs: 5000, maxBytes: 100_000 })),
        onFault: (error) => told.push(error.message),
        onRefused: (error) => told.push(error.message),
      }),
    })
    const waiting = refusal(issuers.authenticate({ bearerToken: await two.token(claims({})) }) as never)
    expect(await issuers.authenticate({ bearerToken: await one.token(claims({})) })).toMatchObject({ username: 'jane' })
    reject(new Error('two is silent'))
    expect(await waiting).toEqual(unauthorized)
    expect(told).toEqual(['two is silent'])
  })

  test('a key that the issuer does not know holds up no token that a known key has signed', async () => {
    await write({ jwt: [entry(one)] })
    let isSilent = false
    const { promise: silence, reject } = Promise.withResolvers<never>()
    const issuers = await open({
      depsOf: ({ ca = '' }) => ({
        clock,
        getJson: (url) => (isSilent ? silence : getJson(url, { ca, timeoutMs: 5000, maxBytes: 100_000 })),
        onFault: (error) => told.push(error.message),
        onRefused: (error) => told.push(error.message),
      }),
    })
    expect(await issuers.authenticate({ bearerToken: await one.token(claims({})) })).toBeDefined()
    isSilent = true
    await clock.advance(10_000)
    const waiting = refusal(
      issuers.authenticate({ bearerToken: await one.token(claims({}), { kid: 'made-up' }) }) as never,
    )
    const joe = await one.token(claims({ sub: 'joe' }))
    expect(await issuers.authenticate({ bearerToken: joe })).toMatchObject({ username: 'joe' })
    reject(new Error('one is silent'))
    expect(await waiting).toEqual(unauthorized)
  })

  test('keys are looked for where the discovery URL says, which must know the issuer by its own URL', async () => {
    const discoveryURL = `${two.url}/.well-known/openid-configuration`
    await write({ jwt: [entry(one, { issuer: { discoveryURL, certificateAuthority: two.ca } })] })
    const issuers = await open()
    const bearerToken = await one.token(claims({}))
    expect(await refusal(issuers.authenticate({ bearerToken }) as never)).toEqual(unauthorized)
    expect(told).toEqual([`${one.url} calls itself "${two.url}"`])
    two.callItself = one.url
    await clock.advance(10_000)
    // The keys of the second server, under the first one's name.
    const signed = await two.token(claims({ iss: one.url }))
    expect(await issuers.authenticate({ bearerToken: signed })).toMatchObject({ username: 'jane' })
    two.callItself = undefined
  })
})

describe('the file', () => {
  test('is read again within a second of a change', async () => {
    await write({ jwt: [entry(one)] })
    const issuers = await open()
    const bearerToken = await two.token(claims({}))
    expect(await issuers.authenticate({ bearerToken })).toBeUndefined()
    await write({ jwt: [entry(one), entry(two)] })
    expect(await issuers.authenticate({ bearerToken })).toBeUndefined()
    await clock.advance(1000)
    expect(await issuers.authenticate({ bearerToken })).toMatchObject({ username: 'jane' })
    await write({ jwt: [] })
    await clock.advance(1000)
    expect(await issuers.authenticate({ bearerToken })).toBeUndefined()
    expect(told).toEqual([])
  })

  const still = 'the authentication configuration could not be read again; what it said before still holds'
  test.each<[string, () => Promise<void>, () => string]>([
    [
      'is wrong',
      () => write({ jwt: [{}] }),
      () => `the authentication configuration ${path} can't be used: [jwt[0].issuer.url: `,
    ],
    ['is gone', () => rm(path), () => `can't read the authentication configuration ${path} (ENOENT)`],
  ])('changes nothing where it %s, which is told once', async (_, spoil, says) => {
    await write({ jwt: [entry(one)] })
    const issuers = await open()
    await spoil()
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000)
      const bearerToken = await one.token(claims({ jti: `${i}` }))
      expect(await issuers.authenticate({ bearerToken })).toMatchObject({ username: 'jane' })
    }
    expect(told).toEqual([expect.stringContaining(`${still}: ${says()}`)])
  })

  test.each<[string, object | undefined, boolean, string | undefined, boolean]>([
    ['nothing, and flags yes', undefined, true, '/api', true],
    ['nothing, and flags no', undefined, false, '/api', false],
    ['no', { enabled: false }, true, '/livez', false],
    ['yes', { enabled: true }, true, '/api', true],
    ['some paths, and one of them', { enabled: true, conditions: [{ path: '/livez' }] }, true, '/livez', true],
    ['some paths, and one below', { enabled: true, conditions: [{ path: '/livez' }] }, true, '/livez/ping', false],
    ['some paths, and no path', { enabled: true, conditions: [{ path: '/livez' }] }, true, undefined, false],
  ])('says of requests without credentials: %s', async (_, anonymous, flag, asked, want) => {
    await write(anonymous === undefined ? {} : { anonymous })
    const issuers = await open({ anonymous: flag })
    expect(issuers.allowsAnonymous(asked === undefined ? {} : { path: asked })).toBe(want)
  })

  test('follows a change for requests without credentials too, which wait for none', async () => {
    await write({ anonymous: { enabled: true } })
    const issuers = await open()
    await write({ anonymous: { enabled: false } })
    await clock.advance(1000)
    expect(issuers.authenticate({})).toBeUndefined()
    await issuers.authenticate({ bearerToken: 'opaque' })
    expect(issuers.allowsAnonymous({ path: '/api' })).toBe(false)
  })

  test('may not say what --no-anonymous-auth says', async () => {
    await write({ anonymous: { enabled: true } })
    await expect(open({ anonymous: false })).rejects.toThrow(
      expect.objectContaining({
        name: 'AuthenticationConfigurationError',
        message: `--no-anonymous-auth can't be set while ${path} has the field anonymous`,
      }),
    )
  })

  test('must be there at the start', async () => {
    await expect(open()).rejects.toThrow(`can't read the authentication configuration ${path} (ENOENT)`)
  })
})
