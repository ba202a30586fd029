/** Two issuers of one file through the whole server: whom they name, what they may do, and who needs no credentials. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { type OidcIssuerServer, startOidcIssuer } from '../support/oidc-issuer.ts'
import { failure } from '../support/refusal.ts'

let people: OidcIssuerServer
let builds: OidcIssuerServer
let plane: ControlPlane
let folder: string

beforeAll(async () => {
  ;[people, builds] = await Promise.all([startOidcIssuer(), startOidcIssuer()])
  folder = await mkdtemp(join(tmpdir(), 'borough-authentication-'))
  const authenticationConfigFile = join(folder, 'authentication.yaml')
  const issuerOf = ({ url, ca }: OidcIssuerServer): object => ({
    url,
    audiences: ['borough'],
    certificateAuthority: ca,
  })
  await writeFile(
    authenticationConfigFile,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1beta1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: issuerOf(people),
          claimMappings: {
            username: { expression: 'claims.name' },
            groups: { expression: 'claims.teams.map(t, "team-" + t)' },
            uid: { claim: 'sub' },
            extra: [{ key: 'example.com/site', valueExpression: 'claims.site' }],
          },
          userValidationRules: [{ expression: 'user.groups.size() > 0', message: 'only members of a team' }],
        },
        { issuer: issuerOf(builds), claimMappings: { username: { claim: 'sub', prefix: 'ci:' } } },
      ],
      anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
    }),
  )
  plane = await createControlPlane({ ...defaultConfig, authenticationConfigFile })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await people[Symbol.asyncDispose]()
  await builds[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function ask(method: string, path: string, token?: string, body: object = {}): Promise<Answer> {
  const answer = await plane.serve({
    method,
    path,
    query: '',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    headerValues: () => [],
    body: () => Promise.resolve(Buffer.from(JSON.stringify(body))),
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
  })
  const text = Buffer.from(answer.body as Uint8Array).toString()
  return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text }
}

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const whoami = (token?: string): Promise<Answer> =>
  ask('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', token, review)

const claims = (more: object): Record<string, unknown> => ({
  aud: 'borough',
  exp: Math.floor(Date.now() / 1000) + 600,
  ...more,
})
const jane = { name: 'jane', sub: 'u-1', teams: ['a'], site: 'north' }
const unauthorized = {
  status: 401,
  body: failure({ message: 'Unauthorized', reason: 'Unauthorized', code: 401 }),
}

test('expressions make a user of claims', async () => {
  const { status, body } = await whoami(await people.token(claims(jane)))
  expect(status).toBe(201)
  expect(body).toMatchObject({
    status: {
      userInfo: {
        username: 'jane',
        uid: 'u-1',
        groups: ['team-a', 'system:authenticated'],
        extra: { 'example.com/site': ['north'] },
      },
    },
  })
})

test('each issuer names its users by its own mappings', async () => {
  const { body } = await whoami(await builds.token(claims({ sub: 'release' })))
  expect(body).toMatchObject({ status: { userInfo: { username: 'ci:release', groups: ['system:authenticated'] } } })
})

describe('refused', () => {
  test.each<[string, () => Promise<string>]>([
    ['a user whom a rule keeps out', () => people.token(claims({ ...jane, teams: [] }))],
    ['a token for another client', () => builds.token(claims({ sub: 'release', aud: 'other' }))],
    [
      'attack: a token of one issuer in the name of the other',
      () => builds.token(claims({ ...jane, iss: people.url })),
    ],
    [
      'attack: the administrators of the cluster as a user',
      () => people.token(claims({ ...jane, name: 'system:admin' })),
    ],
  ])('%s', async (_, token) => {
    expect(await whoami(await token())).toEqual(unauthorized)
  })

  test('requests without credentials, but for the paths that need none', async () => {
    expect(await ask('GET', '/version')).toEqual(unauthorized)
    expect(await ask('GET', '/livez/ping')).toEqual(unauthorized)
    expect((await ask('GET', '/livez')).status).toBe(200)
  })
})

test('groups of the cluster are left out, wherever they come from', async () => {
  const { body } = await whoami(await builds.token(claims({ sub: 'release', groups: ['system:masters'] })))
  expect(body).toMatchObject({ status: { userInfo: { groups: ['system:authenticated'] } } })
})
