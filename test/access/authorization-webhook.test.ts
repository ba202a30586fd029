/** Somebody beside RBAC who may say yes: a real service over HTTPS, found by its kubeconfig. */
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { loopbackTransport } from '../../src/client/loopback.ts'
import { RestClient } from '../../src/client/rest-client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { failure, refusal } from '../support/refusal.ts'
import { webhookCertificates } from '../support/webhook-server.ts'

interface Review {
  readonly spec: { readonly user: string; readonly resourceAttributes?: Record<string, string> }
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
let service: Server
let folder: string
let asked: Review[]
let asking: Record<string, unknown>
let answer: (review: Review) => unknown
/** Of the service's answer. */
let code: number
/** What the service sends instead of the answered review. */
let sent: string | undefined
let plane: ControlPlane
const clock = new FakeClock()

beforeAll(async () => {
  const { key, cert, ca } = webhookCertificates(['127.0.0.1'])
  service = createServer({ key, cert }, (request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
      asked.push(review)
      const { authorization, accept, 'content-type': type, 'user-agent': agent } = request.headers
      asking = { method: request.method, authorization, accept, type, agent }
      const status = answer(review)
      response.statusCode = request.url === '/authorize' && status !== undefined ? code : 500
      response.end(sent ?? JSON.stringify({ ...review, status }))
    })
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  folder = await mkdtemp(join(tmpdir(), 'borough-authorize-'))
  const kubeconfigPath = join(folder, 'webhook.kubeconfig')
  const server = `https://127.0.0.1:${(service.address() as AddressInfo).port}/authorize`
  await writeFile(
    kubeconfigPath,
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
      users: [{ name: 'borough', user: { token: 't' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'borough' } }],
      'current-context': 'a',
    }),
    { mode: 0o600 },
  )
  plane = await createControlPlane({
    ...defaultConfig,
    clock,
    authorizationWebhook: { kubeconfigPath, allowedForMs: 300_000, deniedForMs: 30_000 },
  })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  service.closeAllConnections()
  service.close()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  asked = []
  code = 200
  sent = undefined
  answer = () => ({ allowed: false })
})

const as = (username: string): RestClient =>
  new RestClient({
    transport: loopbackTransport(plane.serve, { username, groups: ['system:authenticated'] }),
    userAgent: 'test',
  })
const get = (username: string): Promise<KubeObject> =>
  as(username).get(configMaps, { namespace: 'kube-public', name: 'x' })

test('what RBAC does not allow is put to the service, in the words of a SubjectAccessReview', async () => {
  answer = () => ({ allowed: true, reason: 'a friend' })
  expect(await refusal(get('ann'))).toEqual(
    failure({
      message: 'configmaps "x" not found',
      reason: 'NotFound',
      details: { name: 'x', kind: 'configmaps' },
      code: 404,
    }),
  )
  expect(asking).toEqual({
    method: 'POST',
    authorization: 'Bearer t',
    accept: 'application/json',
    type: 'application/json',
    agent: 'borough',
  })
  expect(asked).toEqual([
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: {
        user: 'ann',
        groups: ['system:authenticated'],
        resourceAttributes: {
          namespace: 'kube-public',
          verb: 'get',
          version: 'v1',
          resource: 'configmaps',
          name: 'x',
        },
      },
    },
  ])
})

test('its no is a refusal, with its reason', async () => {
  answer = () => ({ allowed: false, reason: 'no friend' })
  expect(await refusal(get('bob'))).toEqual(
    failure({
      message:
        'configmaps "x" is forbidden: User "bob" cannot get resource "configmaps" in API group "" in the ' +
        'namespace "kube-public": no friend',
      reason: 'Forbidden',
      details: { name: 'x', kind: 'configmaps' },
      code: 403,
    }),
  )
})

test('a yes holds for five minutes, a no for thirty seconds', async () => {
  answer = ({ spec }) => ({ allowed: spec.user === 'yes' })
  const both = async (): Promise<string[]> => {
    asked = []
    expect(await refusal(get('yes'))).toEqual(
      failure({
        message: 'configmaps "x" not found',
        reason: 'NotFound',
        details: { name: 'x', kind: 'configmaps' },
        code: 404,
      }),
    )
    expect(await refusal(get('no'))).toEqual(
      failure({
        message:
          'configmaps "x" is forbidden: User "no" cannot get resource "configmaps" in API group "" in the ' +
          'namespace "kube-public"',
        reason: 'Forbidden',
        details: { name: 'x', kind: 'configmaps' },
        code: 403,
      }),
    )
    return asked.map(({ spec }) => spec.user)
  }
  expect(await both()).toEqual(['yes', 'no'])
  expect(await both()).toEqual([])
  await clock.advance(30_000)
  expect(await both()).toEqual(['no'])
  await clock.advance(270_000)
  expect(await both()).toEqual(['yes', 'no'])
})

test('while it can not be asked, nobody gets more than RBAC gives, and hears why', async () => {
  answer = () => undefined
  const status = await refusal(get('eve'))
  const why = status.details?.causes?.[0]?.message ?? ''
  expect(why).toMatch(/^the authorization webhook did not answer: https:.* answered 500$/)
  expect(status).toEqual(
    failure({
      message: `Internal error occurred: ${why}`,
      reason: 'InternalError',
      details: { causes: [{ message: why }] },
      code: 500,
    }),
  )
  expect(await refusal(plane.client().get(configMaps, { namespace: 'kube-public', name: 'x' }))).toEqual(
    failure({
      message: 'configmaps "x" not found',
      reason: 'NotFound',
      details: { name: 'x', kind: 'configmaps' },
      code: 404,
    }),
  )
})

test('an answer of more than a megabyte is none', async () => {
  answer = () => ({ allowed: true, reason: 'x'.repeat(1024 * 1024) })
  const { message } = await refusal(get('vera'))
  expect(message).toMatch(
    /^Internal error occurred: the authorization webhook did not answer: https:.* answered too much$/,
  )
})

test('an answer of exactly a megabyte counts', async () => {
  answer = () => ({ allowed: true })
  sent = JSON.stringify({ status: { allowed: false, reason: 'long' } }).padEnd(1024 * 1024)
  expect((await refusal(get('walter'))).message).toMatch(/ in the namespace "kube-public": long$/)
})

test.each([
  { code: 201, want: 'counts' },
  { code: 299, want: 'counts' },
  { code: 300, want: 'is none' },
])('an answer with code $code $want', async ({ code: given, want }) => {
  answer = () => ({ allowed: true })
  code = given
  const { message } = await refusal(get(`user-${given}`))
  if (want === 'counts') expect(message).toBe('configmaps "x" not found')
  else
    expect(message).toMatch(
      /^Internal error occurred: the authorization webhook did not answer: https:.* answered 300$/,
    )
})

test('a kubeconfig with a credential that others may read is refused at the start', async () => {
  const open = join(folder, 'open.kubeconfig')
  await writeFile(open, await readFile(join(folder, 'webhook.kubeconfig')), { mode: 0o644 })
  await chmod(open, 0o644)
  const authorizationWebhook = { kubeconfigPath: open, allowedForMs: 1, deniedForMs: 1 }
  await expect(createControlPlane({ ...defaultConfig, clock, authorizationWebhook })).rejects.toThrow(open)
})

test('access reviews say what it says', async () => {
  answer = () => ({ allowed: true, reason: 'a friend' })
  const review = await as('kim').create(
    { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' },
    { metadata: {}, spec: { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'default' } } } as never,
  )
  expect(review['status']).toEqual({ allowed: true, reason: 'a friend' })
})

test.each([
  {
    name: 'no status',
    given: null,
    why: 'the authorization webhook answered no SubjectAccessReview with a status',
  },
  {
    name: 'a status that decides nothing',
    given: { reason: 'hm' },
    why: 'the authorization webhook answered no SubjectAccessReview with a status',
  },
  {
    name: 'both',
    given: { allowed: true, denied: true },
    why: 'webhook subject access review returned both allow and deny response',
  },
])('an answer with $name is none', async ({ given, why }) => {
  answer = () => given
  expect(await refusal(get('mallory'))).toEqual(
    failure({
      message: `Internal error occurred: ${why}`,
      reason: 'InternalError',
      details: { causes: [{ message: why }] },
      code: 500,
    }),
  )
})
