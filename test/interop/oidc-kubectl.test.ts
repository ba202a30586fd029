/** ID tokens of a real issuer, given by kubectl to a server that reads an AuthenticationConfiguration. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { type OidcIssuerServer, startOidcIssuer } from '../support/oidc-issuer.ts'
import { BoroughProcess } from './borough-process.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

let people: OidcIssuerServer
let builds: OidcIssuerServer
let server: BoroughProcess
let folder: string

const file = (): string => join(folder, 'authentication.yaml')

/** @param username an expression: how people are called */
function configure(username: string): Promise<void> {
  const issuer = ({ url, ca }: OidcIssuerServer): object => ({ url, audiences: ['borough'], certificateAuthority: ca })
  const groups = { expression: 'claims.teams.map(t, "team-" + t)' }
  const jwt = [
    { issuer: issuer(people), claimMappings: { username: { expression: username }, groups } },
    { issuer: issuer(builds), claimMappings: { username: { claim: 'sub', prefix: 'ci:' } } },
  ]
  const versioned = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration' }
  return writeFile(file(), JSON.stringify({ ...versioned, jwt }))
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-oidc-'))
  ;[people, builds] = await Promise.all([startOidcIssuer(), startOidcIssuer()])
  await configure('claims.name')
  server = await BoroughProcess.start(['--authentication-config', file()])
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await people[Symbol.asyncDispose]()
  await builds[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const review = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview","metadata":{}}'
const soonS = (): number => Math.floor(Date.now() / 1000) + 600

interface Who {
  readonly username?: string
  readonly groups?: readonly string[]
  /** Where it is refused. */
  readonly refused?: string
}

describeEachKubectl((kubectl) => {
  test('each issuer says who one is, by keys that change and mappings that are edited', async () => {
    await configure('claims.name')
    const admin = parse(await server.adminKubeconfig()) as { users: { user: object }[] }
    const who = async (token: string): Promise<Who> => {
      const config = JSON.stringify({ ...admin, users: admin.users.map((each) => ({ ...each, user: { token } })) })
      await using session = await KubectlSession.open(kubectl, config)
      const ran = await session.run(['create', '-f', '-', '-o', 'json', '--validate=false'], { input: review })
      if (ran.code !== 0) return { refused: ran.stderr }
      const { status } = JSON.parse(ran.stdout) as { status: { userInfo: Who } }
      return { username: status.userInfo.username ?? '', groups: status.userInfo.groups ?? [] }
    }
    const ann = (): Promise<string> =>
      people.token({ sub: '1', aud: 'borough', exp: soonS(), name: 'ann', teams: ['a', 'b'] })
    const isCalled = (name: string): Promise<boolean> =>
      vi.waitUntil(async () => (await who(await ann())).username === name, { timeout: 60_000, interval: 100 })
    await isCalled('ann')
    expect((await who(await ann())).groups).toEqual(['team-a', 'team-b', 'system:authenticated'])
    const robot = await builds.token({ sub: 'main', aud: 'borough', exp: soonS() })
    expect((await who(robot)).username).toBe('ci:main')
    expect((await who(await builds.token({ sub: 'main', aud: 'other', exp: soonS() }))).refused).toMatch(
      /Unauthorized|logged in|provide credentials/,
    )

    // Not sent before: an answer about a token is remembered for some seconds.
    const before = await people.token({ sub: '1', aud: 'borough', exp: soonS(), name: 'ann', teams: [], jti: 'before' })
    await people.rotate()
    // Not at once: keys are fetched again for an unknown one only when they have been there for some seconds.
    await isCalled('ann')
    expect((await who(before)).refused).toMatch(/Unauthorized|logged in|provide credentials/)

    await configure('"person:" + claims.name')
    await isCalled('person:ann')
  })
})
