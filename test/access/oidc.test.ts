/** An ID token through the whole server: who it names, what RBAC lets them do, and that others stay out. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { type OidcIssuerServer, startOidcIssuer } from '../support/oidc-issuer.ts'

let issuer: OidcIssuerServer
let plane: ControlPlane
let folder: string

beforeAll(async () => {
  issuer = await startOidcIssuer()
  folder = await mkdtemp(join(tmpdir(), 'borough-oidc-'))
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, issuer.ca)
  plane = await createControlPlane({
    ...defaultConfig,
    oidc: {
      issuerUrl: issuer.url,
      clientId: 'borough',
      usernameClaim: 'email',
      groupsClaim: 'groups',
      groupsPrefix: 'id:',
      requiredClaims: new Map(),
      algorithms: ['RS256'],
      caFile,
    },
  })
  await plane.client().create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }, {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'id:readers' }],
  } as never)
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function status(method: string, path: string, token: string): Promise<number> {
  const answer = await plane.serve({
    method,
    path,
    query: '',
    headers: { authorization: `Bearer ${token}` },
    headerValues: () => [],
    body: () => Promise.resolve(new Uint8Array()),
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
  })
  return answer.status
}

const expires = (): number => Math.floor(Date.now() / 1000) + 600
const claims = (more: object = {}): Record<string, unknown> => ({
  aud: 'borough',
  exp: expires(),
  email: 'jane@example.com',
  email_verified: true,
  groups: ['readers'],
  ...more,
})

test('a member of a bound group reads, and does not write', async () => {
  const token = await issuer.token(claims())
  expect(await status('GET', '/api/v1/namespaces/default/configmaps', token)).toBe(200)
  expect(await status('DELETE', '/api/v1/namespaces/default/configmaps/x', token)).toBe(403)
})

test('who is in no such group reads nothing', async () => {
  const token = await issuer.token(claims({ groups: ['others'] }))
  expect(await status('GET', '/api/v1/namespaces/default/configmaps', token)).toBe(403)
})

test('a token for somebody else is nobody, also where anonymous requests are allowed', async () => {
  const token = await issuer.token(claims({ aud: 'other' }))
  expect(await status('GET', '/api/v1/namespaces/default/configmaps', token)).toBe(401)
})
