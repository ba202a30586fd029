/** The audit log of a whole control plane, on real files. */
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { AuditEvent } from '../../src/audit/audit.ts'
import { headerOfText } from '../../src/base/header-bytes.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-audit-'))
})
afterEach(() => rm(directory, { recursive: true }))

const admin = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const alice = { username: 'alice', groups: ['system:authenticated'] }

/** What is recorded while `run` runs and the control plane lives. */
async function recorded(
  policy: string | undefined,
  run: (plane: TestControlPlane) => Promise<void>,
): Promise<{ readonly text: string; readonly events: readonly AuditEvent[] }> {
  const path = join(directory, 'audit.log')
  const policyPath = join(directory, 'policy.yaml')
  if (policy !== undefined) await writeFile(policyPath, policy)
  const audit = { path, maxBytes: 1e9, keep: 1, ...(policy === undefined ? {} : { policyPath }) }
  {
    await using plane = await startControlPlane({ audit })
    await run(plane)
  }
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const text = await readFile(path, 'utf8')
  return { text, events: text.split('\n').flatMap((l) => (l === '' ? [] : [JSON.parse(l) as AuditEvent])) }
}

const post = (path: string, body: object, user = admin): [string, RequestInit & { user: typeof admin }] => [
  path,
  { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, user },
]
const everything = `{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: RequestResponse}]}`

test('a change is one line: who, what, from where, what came of it and why it was allowed', async () => {
  let auditId: string | null = null
  const { events } = await recorded(undefined, async (plane) => {
    const answer = await plane.fetch(...post('/api/v1/namespaces', { metadata: { name: 'a' } }))
    auditId = answer.headers.get('audit-id')
  })
  const own = events.filter((e) => e.auditID === auditId)
  expect(own).toEqual([
    {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: auditId,
      stage: 'ResponseComplete',
      requestURI: '/api/v1/namespaces',
      verb: 'create',
      user: admin,
      sourceIPs: ['127.0.0.1'],
      objectRef: { resource: 'namespaces', name: 'a', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string,
      stageTimestamp: expect.stringMatching(/\.\d{6}Z$/) as string,
      annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
    },
  ])
})

test('a refusal says so, with the words that the client got', async () => {
  const { events } = await recorded(undefined, async (plane) => {
    await plane.fetch('/api/v1/namespaces/default/secrets/s', { user: alice })
  })
  expect(events.find((e) => e.user.username === 'alice')).toMatchObject({
    verb: 'get',
    objectRef: { resource: 'secrets', namespace: 'default', name: 's' },
    responseStatus: {
      status: 'Failure',
      reason: 'Forbidden',
      code: 403,
      message: expect.stringMatching(/^secrets "s"/),
    },
    annotations: { 'authorization.k8s.io/decision': 'forbid' },
  })
})

test('what controllers do is there under their own names', async () => {
  const { events } = await recorded(undefined, async (plane) => {
    await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'gone' } })
    await plane.fetch('/api/v1/namespaces/gone', { method: 'DELETE' })
    await expect.poll(async () => (await plane.fetch('/api/v1/namespaces/gone')).status).toBe(404)
  })
  expect(events).toContainEqual(
    expect.objectContaining({
      verb: 'update',
      user: expect.objectContaining({ username: 'system:serviceaccount:kube-system:namespace-controller' }) as object,
      objectRef: expect.objectContaining({ name: 'gone', subresource: 'finalize' }) as object,
    }),
  )
})

test('bodies are there where the policy asks for them, without managed fields where it says so', async () => {
  const policy = `{apiVersion: audit.k8s.io/v1, kind: Policy, omitManagedFields: true, omitStages: [RequestReceived],
    rules: [{level: None, users: [system:apiserver]},
            {level: RequestResponse, resources: [{resources: [configmaps]}]}]}`
  const object = { metadata: { name: 'c', uid: '' }, data: { k: 'v' } }
  const { events } = await recorded(policy, async (plane) => {
    await plane.fetch(...post('/api/v1/namespaces/default/configmaps', object))
    await plane.fetch('/api/v1/namespaces/default/configmaps')
  })
  const [created, listed] = events.filter((e) => e.user.username === 'kubernetes-admin')
  expect(created?.requestObject).toEqual(object)
  expect(created?.responseObject).toMatchObject({ kind: 'ConfigMap', data: { k: 'v' } })
  expect(listed?.responseObject).toMatchObject({ kind: 'ConfigMapList' })
  expect(JSON.stringify([created, listed])).not.toContain('managedFields')
})

test('attack: no token can be read from the log, whatever the policy asks for', async () => {
  let token = ''
  const { text, events } = await recorded(everything, async (plane) => {
    const path = '/api/v1/namespaces/default/serviceaccounts/default/token'
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
    token = ((await (await plane.fetch(...post(path, body))).json()) as { status: { token: string } }).status.token
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    const answer = await plane.fetch(...post('/apis/authentication.k8s.io/v1/tokenreviews', review))
    expect(answer.status).toBe(201)
    await plane.fetch('/api', { headers: { authorization: `Bearer ${token}` } })
  })
  expect(token.length).toBeGreaterThan(100)
  expect(text).not.toContain(token)
  const bodies = events.filter((e) => e.objectRef?.resource === 'tokenreviews' && e.stage === 'ResponseComplete')
  expect(bodies[0]?.requestObject).toMatchObject({ spec: { token: '[redacted]' } })
})

test('requests over a socket are recorded with their body and peer', async () => {
  const path = join(directory, 'audit.log')
  const policyPath = join(directory, 'policy.yaml')
  await writeFile(policyPath, everything)
  {
    await using plane = await startControlPlane({ port: 0, audit: { path, policyPath, maxBytes: 1e9, keep: 1 } })
    const config = parse(plane.kubeconfigFor('mallory', ['system:masters'])) as {
      users: { user: Record<string, string> }[]
      clusters: { cluster: Record<string, string> }[]
    }
    const pem = (field: string): Buffer =>
      Buffer.from({ ...config.users[0]?.user, ...config.clusters[0]?.cluster }[field] ?? '', 'base64')
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(`${plane.url}/api/v1/namespaces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        ca: pem('certificate-authority-data'),
        cert: pem('client-certificate-data'),
        key: pem('client-key-data'),
        agent: false,
      })
      sent.once('response', (answer) => answer.resume().once('end', () => resolve(answer.statusCode)))
      sent.once('error', reject)
      sent.end(JSON.stringify({ metadata: { name: 'over-a-socket' } }))
    })
    expect(status).toBe(201)
  }
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line.includes('"mallory"'))
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    stage: 'ResponseComplete',
    user: { username: 'mallory', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: [expect.stringMatching(/127\.0\.0\.1$/)],
    requestObject: { metadata: { name: 'over-a-socket' } },
    responseObject: { kind: 'Namespace' },
  })
})

test('a watch is told of when it begins and when it ends', async () => {
  const { events } = await recorded(everything, async (plane) => {
    const answer = await plane.fetch('/api/v1/namespaces?watch=true&timeoutSeconds=1&resourceVersion=0', {
      headers: { 'audit-id': 'my-watch' },
    })
    await answer.text()
  })
  const stages = events.filter((e) => e.auditID === 'my-watch').map((e) => e.stage)
  expect(stages).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete'])
})

test('a start fails where the log would be open to others, or the policy is wrong', async () => {
  const path = join(directory, 'audit.log')
  await writeFile(path, '')
  await chmod(path, 0o644)
  await expect(startControlPlane({ audit: { path, maxBytes: 1e6, keep: 1 } })).rejects.toThrow(/chmod 600/)
  const policyPath = join(directory, 'policy.yaml')
  await writeFile(policyPath, 'rules: 1')
  await expect(startControlPlane({ audit: { path, policyPath, maxBytes: 1e6, keep: 1 } })).rejects.toThrow(policyPath)
})

test('what controllers apply is recorded whole, though they share objects with the server', async () => {
  const { events } = await recorded(everything, async (plane) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } }
    await plane.fetch(
      ...post('/apis/policy/v1alpha1/namespacetemplates', {
        metadata: { name: 't' },
        spec: { namespaces: { nameSelector: { include: ['team'] } }, templates: [object] },
      }),
    )
    await plane.fetch(...post('/api/v1/namespaces', { metadata: { name: 'team' } }))
  })
  const applied = events.find(
    (e) => e.stage === 'ResponseComplete' && e.verb === 'patch' && e.objectRef?.name === 'one',
  )
  expect(applied?.user.username).toBe('system:serviceaccount:kube-system:namespace-template-controller')
  expect(applied?.requestObject).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } })
  expect(applied?.responseObject).toMatchObject({
    kind: 'ConfigMap',
    data: { a: '1' },
    metadata: { namespace: 'team' },
  })
})

test('a User-Agent beyond ASCII is recorded as the client wrote it', async () => {
  const { events } = await recorded(undefined, async (plane) => {
    await plane.fetch('/api/v1/nodes', { headers: { 'user-agent': headerOfText('kübectl→/1') }, user: admin })
  })
  expect(events.map((e) => e.userAgent)).toContain('kübectl→/1')
})
