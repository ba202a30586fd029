import { createHmac } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { countingIds, testPki } from '../../test/support/identity-fixtures.ts'
import { statusOf, unauthorized } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { KubeObject } from '../kube/types.ts'
import { discoveryDocument, keySet } from './openid-discovery.ts'
import type { ServiceAccountKey } from './service-account-key.ts'
import { ServiceAccountTokens } from './service-account-token.ts'
import type { TokenGrant } from './tokens.ts'

const issuer = 'https://kubernetes.default.svc.cluster.local'
const grant: TokenGrant = {
  namespace: 'ns',
  serviceAccount: { name: 'bot', uid: 'u1' },
  audiences: [],
  expirationSeconds: 3600,
}

describe('a service-account token', () => {
  let clock: FakeClock
  let objects: Map<string, KubeObject>
  let keys: readonly ServiceAccountKey[]
  let tokens: ServiceAccountTokens

  const using = (k: readonly ServiceAccountKey[], rememberedLength?: number): ServiceAccountTokens =>
    new ServiceAccountTokens({
      issuer,
      audiences: [issuer, 'k8s'],
      keys: () => k,
      clock,
      ids: countingIds(),
      find: (resource, namespace, name) => objects.get(`${resource}/${namespace}/${name}`),
      ...(rememberedLength === undefined ? {} : { rememberedLength }),
    })
  const exists = (resource: string, namespace: string, name: string, uid: string, deletionTimestamp?: string): void => {
    const metadata = { name, namespace, uid, ...(deletionTimestamp ? { deletionTimestamp } : {}) }
    objects.set(`${resource}/${namespace}/${name}`, { metadata })
  }
  const outcome = (bearerToken: string, audiences?: string[]): Promise<unknown> =>
    tokens.authenticate({ bearerToken, ...(audiences ? { audiences } : {}) }).then(
      (user) => user?.username,
      (error: unknown) => {
        expect(statusOf(error)).toEqual(unauthorized)
        return 401
      },
    )
  const bot = 'system:serviceaccount:ns:bot'

  beforeEach(async () => {
    clock = new FakeClock()
    keys = (await testPki(clock)).serviceAccountKeys
    objects = new Map()
    exists('serviceaccounts', 'ns', 'bot', 'u1')
    tokens = using(keys)
  })

  test('is a JWT with the claims that others know', async () => {
    const issued = await tokens.issue(grant)
    expect(decodeProtectedHeader(issued.token)).toEqual({ alg: 'ES256', kid: keys[0]?.kid })
    const now = clock.now() / 1000
    expect(decodeJwt(issued.token)).toEqual({
      aud: [issuer, 'k8s'],
      exp: now + 3600,
      iat: now,
      nbf: now,
      iss: issuer,
      jti: 'uid-1',
      sub: bot,
      'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'bot', uid: 'u1' } },
    })
    expect(issued).toMatchObject({ audiences: [issuer, 'k8s'], expirationTimestamp: '2026-01-01T01:00:00Z' })
  })

  test('is the service account with its groups', async () => {
    const { token } = await tokens.issue(grant)
    expect(await tokens.authenticate({ bearerToken: token })).toEqual({
      username: bot,
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=uid-1'] },
    })
  })

  test('bound to a pod names it, and ends with it', async () => {
    const bound = { resource: 'pods', name: 'p', uid: 'pu' } as const
    exists('pods', 'ns', 'p', 'pu')
    const { token } = await tokens.issue({ ...grant, bound })
    expect((await tokens.authenticate({ bearerToken: token }))?.extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': ['pu'],
    })
    exists('pods', 'ns', 'p', 'another')
    expect(await outcome(token)).toBe(401)
    objects.delete('pods/ns/p')
    expect(await outcome(token)).toBe(401)
  })

  test('bound to a node or a secret ends with it', async () => {
    for (const [resource, namespace] of [
      ['nodes', ''],
      ['secrets', 'ns'],
    ] as const) {
      exists(resource, namespace, 'x', 'xu')
      const { token } = await tokens.issue({ ...grant, bound: { resource, name: 'x', uid: 'xu' } })
      expect(await outcome(token)).toBe(bot)
      objects.delete(`${resource}/${namespace}/x`)
      expect(await outcome(token)).toBe(401)
    }
  })

  test('ends at once when its account is deleted, also when it was just used', async () => {
    const { token } = await tokens.issue(grant)
    expect(await outcome(token)).toBe(bot)
    objects.clear()
    expect(await outcome(token)).toBe(401)
    exists('serviceaccounts', 'ns', 'bot', 'u2')
    expect(await outcome(token)).toBe(401)
  })

  test('of an account being deleted is good for a minute more', async () => {
    const { token } = await tokens.issue(grant)
    exists('serviceaccounts', 'ns', 'bot', 'u1', new Date(clock.now()).toISOString())
    await clock.advance(60_000)
    expect(await outcome(token)).toBe(bot)
    await clock.advance(1)
    expect(await outcome(token)).toBe(401)
  })

  test('ends at its time, with a minute for clocks that differ, remembered or not', async () => {
    const { token } = await tokens.issue({ ...grant, expirationSeconds: 600 })
    await clock.advance(659_000)
    expect(await outcome(token)).toBe(bot)
    await clock.advance(1_000)
    expect(await outcome(token)).toBe(401)
    tokens = using(keys)
    expect(await outcome(token)).toBe(401)
  })

  test('is for its audiences alone', async () => {
    const { token } = await tokens.issue({ ...grant, audiences: ['vault'] })
    expect(await outcome(token)).toBe(401)
    expect(await outcome(token, ['vault', 'x'])).toBe(bot)
    expect(tokens.audiencesOf(token)).toEqual(['vault'])
    const { token: ours } = await tokens.issue(grant)
    expect(await outcome(ours, ['vault'])).toBe(401)
  })

  test('stays good when the key that signs is changed, until its key is taken away', async () => {
    const { token } = await tokens.issue(grant)
    const newer = (await testPki(clock)).serviceAccountKeys
    tokens = using([...newer, ...keys])
    expect(await outcome(token)).toBe(bot)
    expect(decodeProtectedHeader((await tokens.issue(grant)).token).kid).toBe(newer[0]?.kid)
    tokens = using(newer)
    expect(await outcome(token)).toBe(401)
  })

  test('that is remembered ends with its key', async () => {
    const { token } = await tokens.issue(grant)
    const held = [...(await testPki(clock)).serviceAccountKeys, ...keys]
    tokens = using(held)
    expect(await outcome(token)).toBe(bot)
    held.splice(-keys.length)
    expect(await outcome(token)).toBe(401)
  })

  test('can not be signed without a private key', async () => {
    const published = keys.map(({ kid, publicKey }) => ({ kid, publicKey }))
    await expect(using(published).issue(grant)).rejects.toThrow('no service-account key can sign')
  })

  test('can be verified by anybody who reads the published keys', async () => {
    const { token } = await tokens.issue(grant)
    const published = createLocalJWKSet(JSON.parse(JSON.stringify(keySet(keys))))
    const { payload } = await jwtVerify(token, published, { issuer, currentDate: new Date(clock.now()) })
    expect(payload.sub).toBe(bot)
    expect(JSON.stringify(keySet(keys))).not.toContain('"d":')
    expect(discoveryDocument(issuer, `${issuer}/openid/v1/jwks`)).toMatchObject({ issuer })
  })

  test('of somebody else is left to others', async () => {
    for (const other of ['opaque', 'a.b.c', '..', `x.${Buffer.from('{"iss":"other"}').toString('base64url')}.y`]) {
      expect(await tokens.authenticate({ bearerToken: other })).toBeUndefined()
    }
    expect(await tokens.authenticate({})).toBeUndefined()
  })

  test('is remembered within a bound', async () => {
    const [a, b] = [await tokens.issue(grant), await tokens.issue(grant)]
    tokens = using(keys, 1.5 * a.token.length)
    expect([await outcome(a.token), await outcome(b.token), await outcome(a.token)]).toEqual([bot, bot, bot])
    expect(tokens.audiencesOf(b.token)).toBeUndefined()
  })

  describe('attack', () => {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

    test('alg none', async () => {
      const [, payload] = (await tokens.issue(grant)).token.split('.')
      expect(await outcome(`${part({ alg: 'none', kid: keys[0]?.kid })}.${payload}.`)).toBe(401)
    })

    test('the public key as HMAC secret', async () => {
      const [, payload] = (await tokens.issue(grant)).token.split('.')
      const pem = keys[0]?.publicKey.export({ type: 'spki', format: 'pem' }) ?? ''
      const head = `${part({ alg: 'HS256', kid: keys[0]?.kid })}.${payload}`
      expect(await outcome(`${head}.${createHmac('sha256', pem).update(head).digest('base64url')}`)).toBe(401)
    })

    test('a changed payload under a true signature', async () => {
      const [header, payload = '', signature] = (await tokens.issue(grant)).token.split('.')
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
      expect(await outcome(`${header}.${part({ ...claims, sub: 'system:serviceaccount:ns:boss' })}.${signature}`)).toBe(
        401,
      )
    })

    test('a stranger’s key, with our kid or its own', async () => {
      const stranger = (await testPki(clock)).serviceAccountKeys[0]
      const { token } = await using([{ ...stranger, kid: keys[0]?.kid } as ServiceAccountKey]).issue(grant)
      expect(await outcome(token)).toBe(401)
      expect(await outcome((await using([stranger as ServiceAccountKey]).issue(grant)).token)).toBe(401)
    })

    test('a subject that is not the account of the claims, or claims that are missing', async () => {
      const sign = async (payload: Record<string, unknown>): Promise<string> => {
        const key = keys[0]
        if (!key?.privateKey) throw new Error('no key')
        const now = clock.now() / 1000
        return new SignJWT({ iss: issuer, aud: issuer, exp: now + 100, ...payload })
          .setProtectedHeader({ alg: 'ES256', kid: key.kid })
          .sign(key.privateKey)
      }
      const claims = { namespace: 'ns', serviceaccount: { name: 'bot', uid: 'u1' } }
      exists('pods', 'ns', 'p', 'pu')
      expect(await outcome(await sign({ sub: bot, 'kubernetes.io': claims }))).toBe(bot)
      expect(await outcome(await sign({ sub: 'system:admin', 'kubernetes.io': claims }))).toBe(401)
      expect(await outcome(await sign({ sub: bot }))).toBe(401)
      expect(
        await outcome(await sign({ sub: bot, 'kubernetes.io': { ...claims, serviceaccount: { name: 'bot' } } })),
      ).toBe(401)
      for (const odd of [
        { namespace: undefined },
        { serviceaccount: null },
        { serviceaccount: { name: 'bot', uid: '' } },
        { pod: { name: 'p' } },
        { pod: 'p' },
        { pod: null },
        { secret: { name: 's' } },
        { node: { name: 'n' } },
        { pod: { name: 'p', uid: 'pu' }, node: { name: 'n', uid: '' } },
        { node: { uid: 'u' } },
      ]) {
        expect(await outcome(await sign({ sub: bot, 'kubernetes.io': { ...claims, ...odd } }))).toBe(401)
      }
      expect(await outcome(await sign({ sub: bot, 'kubernetes.io': claims, exp: undefined }))).toBe(401)
      expect(await outcome(await sign({ sub: bot, 'kubernetes.io': claims, nbf: clock.now() / 1000 + 120 }))).toBe(401)
    })
  })
})
