/** Admission webhooks: a real HTTPS server is asked, a whole control plane asks. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Log } from '../../src/base/log.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install, objectOf } from '../support/definitions.ts'
import { freePort } from '../support/free-port.ts'
import { badRequest, failure, forbidden, invalidObject } from '../support/refusal.ts'
import {
  patchReply,
  type Received,
  startWebhookServer,
  type WebhookServer,
  webhookCertificates,
} from '../support/webhook-server.ts'
import { type Answer, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let server: WebhookServer
let closedPort: number
const passedOver: unknown[] = []

const group = '/apis/admissionregistration.k8s.io/v1'
const places = {
  mutating: `${group}/mutatingwebhookconfigurations`,
  validating: `${group}/validatingwebhookconfigurations`,
}
const maps = '/api/v1/namespaces/team-a/configmaps'
const everyRule = { operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['configmaps'] }

beforeAll(async () => {
  server = await startWebhookServer()
  closedPort = await freePort()
  const log: Log = { ...silentLog, warn: (fields) => void passedOver.push(fields) }
  const serviceAddresses = new Map([['team-a/hooks:8443', { host: '127.0.0.1', port: server.port }]])
  plane = await startControlPlane({ population: false, serviceAddresses, log })
  wire = new Wire(plane)
  for (const name of ['team-a', 'team-b']) await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
beforeEach(async () => {
  for (const place of Object.values(places)) await wire.must('DELETE', place)
  server.received.length = 0
  server.answer = () => ({ allowed: true })
  passedOver.length = 0
})

type Hook = Record<string, unknown>

const hook = (name: string, more: Hook = {}): Hook => ({
  name: `${name}.ex.io`,
  clientConfig: { url: `${server.url}/${name}`, caBundle: server.caBundle },
  rules: [everyRule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
})

const configure = (phase: keyof typeof places, name: string, ...webhooks: Hook[]): Promise<unknown> =>
  wire.must('POST', places[phase], { metadata: { name }, webhooks })

let count = 0
const create = (more: object = {}, query = ''): Promise<Answer> =>
  wire.call('POST', `${maps}${query}`, { metadata: { name: `m-${++count}` }, ...more })

const asked = (): string[] => server.received.map((r) => r.path.replace(/\?.*/, ''))
const lastQuestion = (): Received['review']['request'] => {
  const last = server.received.at(-1)
  if (last === undefined) throw new Error('nobody was asked')
  return last.review.request
}

describe('what a webhook is asked', () => {
  it('is the object as it would be stored, who wants it, and how', async () => {
    await configure('validating', 'all', hook('check', { timeoutSeconds: 3 }))
    const made = await new Wire(plane, { username: 'alice', groups: ['system:masters'], uid: 'u-1' }).call(
      'POST',
      maps,
      {
        metadata: { generateName: 'g-' },
        data: { k: 'v' },
      },
    )
    expect(made.status).toBe(201)
    const [received] = server.received
    expect(received?.path).toBe('/check?timeout=3s')
    expect(received?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json, */*',
      'user-agent': 'kube-apiserver-admission',
    })
    const { metadata, ...rest } = received?.review.request.object ?? { metadata: {} }
    expect(rest).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } })
    expect(metadata).toMatchObject({ name: made.body.metadata.name, uid: made.body.metadata.uid, namespace: 'team-a' })
    expect(received?.review).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
        requestResource: { group: '', version: 'v1', resource: 'configmaps' },
        name: made.body.metadata.name,
        namespace: 'team-a',
        operation: 'CREATE',
        userInfo: { username: 'alice', uid: 'u-1', groups: ['system:masters'] },
        object: expect.anything(),
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      },
    })
  })

  it('holds the object before and after a change, and only that before a deletion', async () => {
    const made = await create({ data: { k: '1' } })
    const { name } = made.body.metadata
    await configure('validating', 'all', hook('check'))
    await wire.must('PATCH', `${maps}/${name}`, { data: { k: '2' } }, 'application/merge-patch+json')
    expect(lastQuestion()).toMatchObject({
      operation: 'UPDATE',
      oldObject: { kind: 'ConfigMap', data: { k: '1' } },
      object: { kind: 'ConfigMap', data: { k: '2' } },
      options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
    })
    await wire.must('DELETE', `${maps}/${name}`, { propagationPolicy: 'Background' })
    expect(lastQuestion()).toMatchObject({
      operation: 'DELETE',
      name,
      object: null,
      oldObject: { data: { k: '2' } },
      options: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
    })
  })

  it('is asked in v1beta1 where that comes first', async () => {
    await configure('validating', 'all', hook('check', { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }))
    server.answer = () => ({ uid: 'not checked in this version', allowed: true })
    expect((await create()).status).toBe(201)
    expect(server.received[0]?.review.apiVersion).toBe('admission.k8s.io/v1beta1')
  })

  it('comes to a Service where the operator said it is, under its own name', async () => {
    const service = { namespace: 'team-a', name: 'hooks', port: 8443, path: '/by-service' }
    await configure('validating', 'all', hook('check', { clientConfig: { service, caBundle: server.caBundle } }))
    expect((await create()).status).toBe(201)
    expect(server.received[0]?.path).toBe('/by-service?timeout=10s')
    expect(server.received[0]?.headers['host']).toBe('hooks.team-a.svc:8443')
  })

  it('comes to a webhook whose own certificate is the caBundle, as controller-runtime configures it', async () => {
    const clientConfig = { url: `${server.url}/check`, caBundle: server.certificate }
    await configure('validating', 'all', hook('check', { clientConfig }))
    expect((await create()).status).toBe(201)
    expect(asked()).toEqual(['/check'])
  })

  const paths = [
    { given: '//check', want: '/check' },
    { given: '/a//b/', want: '/a/b' },
    { given: '/', want: '/' },
    { given: '', want: '/' },
  ]
  it.each(paths)('is asked at $want where the configuration says "$given"', async ({ given, want }) => {
    const clientConfig = { url: `${server.url}${given}`, caBundle: server.caBundle }
    await configure('validating', 'all', hook('check', { clientConfig }))
    expect((await create()).status).toBe(201)
    expect(asked()).toEqual([want])
  })

  it('comes to a Service by its EndpointSlices', async () => {
    const at = '/api/v1/namespaces/team-b/services'
    await wire.must('POST', at, { metadata: { name: 'hooks' }, spec: { ports: [{ port: 443, targetPort: 1 }] } })
    await wire.must('POST', '/apis/discovery.k8s.io/v1/namespaces/team-b/endpointslices', {
      metadata: { name: 'hooks-1', labels: { 'kubernetes.io/service-name': 'hooks' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['127.0.0.1'] }, { addresses: ['127.0.0.9'], conditions: { ready: false } }],
      ports: [{ name: '', port: server.port }],
    })
    const service = { namespace: 'team-b', name: 'hooks' }
    await configure('validating', 'all', hook('check', { clientConfig: { service, caBundle: server.caBundle } }))
    const answer = await create()
    // The server's certificate is for another namespace: the name that is checked is that of the Service.
    expect(answer.body.message).toContain('certificate is valid for')
    expect(answer.body.message).toContain('not hooks.team-b.svc')
  })
})

describe('a refusal', () => {
  const refusing = async (status?: object): Promise<Answer> => {
    await configure('validating', 'all', hook('check'))
    server.answer = () => ({ allowed: false, ...(status === undefined ? {} : { status }) })
    return create()
  }
  const table = [
    {
      name: 'with a message',
      status: { message: 'no!', reason: 'Because' },
      want: ': no!',
      code: 400,
      reason: 'Because',
    },
    {
      name: 'with a reason alone',
      status: { reason: 'Forbidden' },
      want: ': Forbidden',
      code: 400,
      reason: 'Forbidden',
    },
    { name: 'with nothing', status: undefined, want: ' without explanation', code: 400, reason: undefined },
    { name: 'with a code of its own', status: { code: 422, message: 'x' }, want: ': x', code: 422, reason: undefined },
    {
      name: 'with a code that is none',
      status: { code: 200, message: 'x' },
      want: ': x',
      code: 400,
      reason: undefined,
    },
  ]
  it.each(table)('$name says who refused', async ({ status, want, code, reason }) => {
    const { status: got, body } = await refusing(status)
    expect(got).toBe(code)
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `admission webhook "check.ex.io" denied the request${want}`,
      ...(reason === undefined ? {} : { reason }),
      code,
    })
  })

  it('keeps its details', async () => {
    const details = { causes: [{ reason: 'R', message: 'm', field: 'data.k' }] }
    expect((await refusing({ message: 'x', details })).body).toEqual(
      failure({
        message: 'admission webhook "check.ex.io" denied the request: x',
        details: { causes: [{ reason: 'R', message: 'm', field: 'data.k' }] },
        code: 400,
      }),
    )
  })

  it('of several is the first in the order of the configurations, and all are asked', async () => {
    await configure('validating', 'b', hook('second'))
    await configure('validating', 'a', hook('first'), hook('third'))
    server.answer = (_, path) => ({ allowed: path === '/first', status: { message: path } })
    expect((await create()).body).toEqual(
      failure({ message: 'admission webhook "third.ex.io" denied the request: /third', code: 400 }),
    )
    expect(asked().sort()).toEqual(['/first', '/second', '/third'])
  })

  it('stops every kind of change, and leaves everything as it was', async () => {
    const { name } = (await create({ data: { k: '1' } })).body.metadata
    await configure('validating', 'all', hook('check'))
    server.answer = () => ({ allowed: false })
    const at = `${maps}/${name}`
    const answers = [
      await wire.call('PUT', at, { metadata: { name }, data: { k: '2' } }),
      await wire.call('PATCH', at, { data: { k: '2' } }, 'application/merge-patch+json'),
      await wire.call('PATCH', at, [{ op: 'add', path: '/data/k', value: '2' }], 'application/json-patch+json'),
      await wire.call(
        'PATCH',
        `${at}?fieldManager=m&force=true`,
        { apiVersion: 'v1', kind: 'ConfigMap', data: { k: '2' } },
        'application/apply-patch+yaml',
      ),
      await wire.call('DELETE', at),
      await wire.call('DELETE', maps),
    ]
    expect(answers.map((a) => a.status)).toEqual([400, 400, 400, 400, 400, 400])
    expect((await wire.must('GET', at))['data']).toEqual({ k: '1' })
  })
})

describe('a webhook that can not be asked', () => {
  const failed = (why: string) => ({
    status: 500,
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'InternalError',
      message: `Internal error occurred: failed calling webhook "check.ex.io": ${why}`,
      details: { causes: [{ message: `failed calling webhook "check.ex.io": ${why}` }] },
      code: 500,
    },
  })
  const outcome = async (more: Hook): Promise<{ status: number; body: unknown }> => {
    await configure('validating', 'all', hook('check', more))
    const { status, body } = await create()
    return { status, body }
  }
  const call = 'failed to call webhook: '

  it('says that nobody listens', async () => {
    const url = `https://127.0.0.1:${closedPort}/p`
    expect(await outcome({ clientConfig: { url, caBundle: server.caBundle } })).toEqual(
      failed(`${call}Post "${url}?timeout=10s": dial tcp 127.0.0.1:${closedPort}: connect: connection refused`),
    )
  })

  it('says that its authority is not known', async () => {
    const url = `${server.url}/p`
    expect(await outcome({ clientConfig: { url } })).toEqual(
      failed(
        `${call}Post "${url}?timeout=10s": tls: failed to verify certificate: x509: certificate signed by ` +
          'unknown authority',
      ),
    )
    expect(server.received).toEqual([])
  })

  it('says the same of a caBundle that holds the certificate of another webhook', async () => {
    const { cert } = webhookCertificates(['127.0.0.1'])
    const clientConfig = { url: `${server.url}/p`, caBundle: Buffer.from(cert).toString('base64') }
    expect((await outcome({ clientConfig })).body).toMatchObject({
      message: expect.stringMatching(/x509: certificate signed by unknown authority$/) as string,
    })
    expect(server.received).toEqual([])
  })

  it('says that there is no such Service', async () => {
    const service = { namespace: 'team-a', name: 'nobody' }
    expect(await outcome({ clientConfig: { service } })).toEqual(
      failed(`${call}Post "https://nobody.team-a.svc:443/?timeout=10s": service "nobody" not found`),
    )
  })

  it('says that it took too long', async () => {
    let answer: () => void = () => {}
    server.answer = () => new Promise((resolve) => (answer = () => resolve({ allowed: true })))
    const began = performance.now()
    expect(await outcome({ timeoutSeconds: 1 })).toEqual(
      failed(`${call}Post "${server.url}/check?timeout=1s": context deadline exceeded`),
    )
    expect(performance.now() - began).toBeGreaterThan(900)
    answer()
  })

  it('is not asked at all once its client has waited long enough', async () => {
    await configure('validating', 'all', hook('check', { failurePolicy: 'Ignore' }))
    const { body } = await create({}, '?timeout=1ns')
    expect(body).toEqual(
      failure({
        message: 'Timeout: request did not complete within requested timeout',
        reason: 'Timeout',
        details: {},
        code: 504,
      }),
    )
  })

  it('does not hold a request longer than its client waits, whatever its policy', async () => {
    let answer: () => void = () => {}
    server.answer = () => new Promise((resolve) => (answer = () => resolve({ allowed: true })))
    await configure('validating', 'all', hook('check', { failurePolicy: 'Ignore' }))
    const { status, body } = await create({}, '?timeout=1s')
    expect(server.received[0]?.path).toBe('/check?timeout=1s')
    expect(status).toBe(504)
    expect(body).toEqual(
      failure({
        message: 'Timeout: request did not complete within requested timeout',
        reason: 'Timeout',
        details: {},
        code: 504,
      }),
    )
    answer()
  })

  const answers = [
    {
      name: 'fails',
      raw: { status: 500, body: '' },
      why: `${call}an error on the server ("unknown") has prevented the request from succeeding`,
    },
    {
      name: 'fails with words',
      raw: { status: 500, body: 'boom\n' },
      why: `${call}an error on the server ("boom") has prevented the request from succeeding`,
    },
    {
      name: 'is elsewhere',
      raw: { status: 404, body: 'no' },
      why: `${call}the server could not find the requested resource`,
    },
    {
      name: 'answers a Status',
      raw: { status: 503, body: '{"kind":"Status","message":"tired"}' },
      why: `${call}tired`,
    },
    {
      name: 'answers no review',
      raw: { status: 200, body: '{}' },
      why: 'received invalid webhook response: webhook response was absent',
    },
    {
      name: 'answers another kind',
      raw: { status: 200, body: '{"kind":"X","apiVersion":"v1","response":{"uid":"?"}}' },
      why: /^received invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "\?"$/,
    },
  ]
  it.each(answers)('says that it $name', async ({ raw, why }) => {
    server.answer = () => ({ raw })
    const { status, body } = await outcome({})
    expect(status).toBe(500)
    const { details } = body as Answer['body']
    const prefix = 'failed calling webhook "check.ex.io": '
    expect(details?.causes?.[0]?.message?.slice(prefix.length)).toMatch(
      typeof why === 'string' ? new RegExp(`^${why.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) : why,
    )
  })

  it('says that a validating webhook may not patch', async () => {
    server.answer = () => patchReply({ op: 'add', path: '/data', value: {} })
    expect(await outcome({})).toEqual(
      failed('received invalid webhook response: validating webhook may not return response.patch'),
    )
  })

  it('is passed over if its policy is Ignore; that is logged', async () => {
    const url = `https://127.0.0.1:${closedPort}/p`
    const { status } = await outcome({ clientConfig: { url }, failurePolicy: 'Ignore' })
    expect(status).toBe(201)
    expect(passedOver).toMatchObject([{ webhook: 'check.ex.io', configuration: 'all' }])
  })

  it('is no obstacle for its own configuration', async () => {
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }
    const clientConfig = { url: `https://127.0.0.1:${closedPort}/p` }
    for (const phase of ['mutating', 'validating'] as const) {
      await configure(phase, 'all', hook('check', { rules: [everything], clientConfig }))
    }
    expect((await create()).status).toBe(500)
    for (const place of Object.values(places)) {
      await wire.must('PATCH', `${place}/all`, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json')
      await wire.must('DELETE', `${place}/all`)
    }
    expect((await create()).status).toBe(201)
  })
})

describe('owners that are named twice', () => {
  type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string }
  const existing = async (): Promise<string> => `${maps}/${(await create()).body.metadata.name}`
  const none = ''
  const onTheWay = ' after mutating admission happens'

  it.each([
    {
      name: 'by a create, are named once, and the client is told',
      act: (metadata: object) => create({ metadata: { name: `twice-${++count}`, ...metadata } }),
      when: none,
    },
    {
      name: 'by an update, as well',
      act: async (metadata: object) => {
        const at = await existing()
        return wire.call('PUT', at, { metadata: { name: at.split('/').at(-1), ...metadata } })
      },
      when: none,
    },
    {
      name: 'by a patch, count as named on the way',
      act: async (metadata: object) =>
        wire.call('PATCH', await existing(), { metadata }, 'application/merge-patch+json'),
      when: onTheWay,
    },
    {
      name: 'by a webhook, are named on the way',
      act: async ({ ownerReferences }: { ownerReferences: readonly Owner[] }) => {
        await configure('mutating', 'all', hook('change'))
        server.answer = () => patchReply({ op: 'add', path: '/metadata/ownerReferences', value: ownerReferences })
        return create()
      },
      when: onTheWay,
    },
  ])('$name', async ({ act, when }) => {
    const { metadata } = await wire.must('GET', '/api/v1/namespaces/team-a')
    const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'team-a', uid: metadata.uid ?? '' }
    const { body, headers } = await act({ ownerReferences: [owner, owner] })
    expect([body.metadata.ownerReferences, headers.get('warning')]).toEqual([
      [owner],
      `299 - ".metadata.ownerReferences contains duplicate entries${when}; API server dedups owner ` +
        'references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; ' +
        `duplicate UID(s) observed: ${owner.uid}"`,
    ])
  })
})

describe('which requests concern a webhook', () => {
  const questions = async (rules: object[], more: Hook, act: () => Promise<unknown>): Promise<string[]> => {
    await configure('validating', 'all', hook('check', { rules, ...more }))
    await act()
    return server.received.map(({ review: { request: r } }) =>
      [r.operation, r.resource.version, r.resource.resource, r.subResource].filter(Boolean).join(' '),
    )
  }
  const rule = (...resources: string[]) => ({ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources })
  const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })

  it('is said by rules: a resource without its sub-resources', async () => {
    const act = async (): Promise<void> => {
      await wire.must('POST', '/api/v1/namespaces/team-a/pods', pod('p1'))
      const status = { status: { phase: 'Running' } }
      await wire.must('PATCH', '/api/v1/namespaces/team-a/pods/p1/status', status, 'application/merge-patch+json')
    }
    expect(await questions([rule('pods')], {}, act)).toEqual(['CREATE v1 pods'])
  })

  it('is said by rules: all of its sub-resources, or one of every resource', async () => {
    const status = { status: { phase: 'Running' } }
    const act = async (): Promise<void> => {
      await wire.must('POST', '/api/v1/namespaces/team-a/pods', pod('p2'))
      await wire.must('PATCH', '/api/v1/namespaces/team-a/pods/p2/status', status, 'application/merge-patch+json')
    }
    expect(await questions([rule('*/status')], {}, act)).toEqual(['UPDATE v1 pods status'])
  })

  it('is said by rules: operations and scope', async () => {
    const cluster = { ...rule('*'), operations: ['CREATE'], scope: 'Cluster' }
    const act = async (): Promise<void> => {
      await create()
      await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'scoped' } })
      await wire.must(
        'PATCH',
        '/api/v1/namespaces/scoped',
        { metadata: { labels: { a: 'b' } } },
        'application/merge-patch+json',
      )
    }
    expect(await questions([cluster], {}, act)).toEqual(['CREATE v1 namespaces'])
  })

  it('is each object of a deleted collection, told by oldObject alone', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'emptied' } })
    const at = '/api/v1/namespaces/emptied/secrets'
    for (const name of ['a', 'b']) await wire.must('POST', at, { metadata: { name } })
    await questions([rule('secrets')], {}, () => wire.must('DELETE', at))
    const seen = server.received.map(({ review: { request: r } }) => [r.operation, r.name, r.oldObject?.metadata?.name])
    expect(seen.sort()).toEqual([
      ['DELETE', undefined, 'a'],
      ['DELETE', undefined, 'b'],
    ])
  })

  it('is nobody where a deleted collection is empty', async () => {
    const act = (): Promise<unknown> => wire.must('DELETE', '/api/v1/namespaces/emptied/secrets')
    expect(await questions([rule('secrets')], {}, act)).toEqual([])
  })

  it('is the binding of a pod whose name stands in the body', async () => {
    await wire.must('POST', '/api/v1/namespaces/team-a/pods', pod('to-bind'))
    const body = { metadata: { name: 'to-bind' }, target: { kind: 'Node', name: 'n' } }
    const act = (): Promise<unknown> => wire.must('POST', '/api/v1/namespaces/team-a/bindings', body)
    await questions([rule('bindings')], {}, act)
    expect(lastQuestion()).toMatchObject({ name: 'to-bind', object: { metadata: { namespace: 'team-a' } } })
  })

  it('is a connection to a pod, before anything else is said of it', async () => {
    await wire.must('POST', '/api/v1/namespaces/team-a/pods', pod('p3'))
    const rules = [{ ...rule('pods/attach'), operations: ['CONNECT'] }]
    await configure('validating', 'all', hook('check', { rules }))
    server.answer = () => ({ allowed: false, status: { message: "attaching to pod 'p3' is not allowed" } })
    const at = '/api/v1/namespaces/team-a/pods/p3'
    const refused = await wire.call('POST', `${at}/attach?stdout=true&container=c`)
    expect(refused.body.message).toBe(
      `admission webhook "check.ex.io" denied the request: attaching to pod 'p3' is not allowed`,
    )
    expect(lastQuestion()).toMatchObject({
      operation: 'CONNECT',
      kind: { group: '', version: 'v1', kind: 'PodAttachOptions' },
      subResource: 'attach',
      name: 'p3',
      object: { kind: 'PodAttachOptions', apiVersion: 'v1', stdout: true, container: 'c' },
      options: null,
    })
    expect((await wire.call('POST', `${at}/exec?command=ls`)).status).toBe(501)
  })

  it('is a connection that a mutating webhook patches', async () => {
    await wire.must('POST', '/api/v1/namespaces/team-a/pods', pod('p5'))
    const rules = [{ ...rule('pods/exec'), operations: ['CONNECT'] }]
    await configure('mutating', 'all', hook('change', { rules }))
    server.answer = () => patchReply({ op: 'add', path: '/x', value: 1 })
    expect((await wire.call('POST', '/api/v1/namespaces/team-a/pods/p5/exec?command=ls')).status).toBe(501)
  })

  it('is an eviction, but not the deletion that it leads to', async () => {
    const act = async (): Promise<void> => {
      await wire.must('POST', '/api/v1/namespaces/team-a/pods', pod('p4'))
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p4', namespace: 'team-a' } }
      await wire.must('POST', '/api/v1/namespaces/team-a/pods/p4/eviction', eviction)
    }
    const seen = await questions([{ ...rule('pods', 'pods/eviction'), operations: ['*'] }], {}, act)
    expect(seen).toEqual(['CREATE v1 pods', 'CREATE v1 pods eviction'])
    expect(lastQuestion()).toMatchObject({
      kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      object: { kind: 'Eviction', apiVersion: 'policy/v1' },
      name: 'p4',
    })
  })

  it('are those of namespaces with the right labels', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'spared', labels: { skip: 'yes' } } })
    const namespaceSelector = { matchExpressions: [{ key: 'skip', operator: 'NotIn', values: ['yes'] }] }
    const act = async (): Promise<void> => {
      await create()
      await wire.must('POST', '/api/v1/namespaces/spared/configmaps', { metadata: { name: 'm' } })
      // Its own labels, as they will be, decide about a namespace.
      await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'spared-too', labels: { skip: 'yes' } } })
      const metadata = { generateName: 'spared-', labels: { skip: 'yes' } }
      await wire.must('POST', '/api/v1/namespaces', { metadata })
      await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'not-spared' } })
    }
    const rules = [rule('configmaps', 'namespaces')]
    expect(await questions(rules, { namespaceSelector }, act)).toEqual(['CREATE v1 configmaps', 'CREATE v1 namespaces'])
    expect(lastQuestion()).toMatchObject({ name: 'not-spared', namespace: 'not-spared' })
  })

  it('can not be told in a namespace that is not there: connections are not refused before', async () => {
    const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] }]
    await configure('validating', 'all', hook('check', { rules, namespaceSelector: { matchLabels: { a: 'b' } } }))
    expect((await wire.call('POST', '/api/v1/namespaces/nowhere/pods/p/exec?command=ls')).body).toEqual(
      failure({
        message: 'namespaces "nowhere" not found',
        reason: 'NotFound',
        details: { name: 'nowhere', kind: 'namespaces' },
        code: 404,
      }),
    )
  })

  it('are those about objects with the right labels, before or after', async () => {
    const { name } = (await create({ metadata: { name: 'labelled', labels: { watch: 'me' } } })).body.metadata
    const act = async (): Promise<void> => {
      await create()
      await wire.must('PATCH', `${maps}/${name}`, { metadata: { labels: null } }, 'application/merge-patch+json')
      await wire.must('PATCH', `${maps}/${name}`, { data: { a: 'b' } }, 'application/merge-patch+json')
    }
    const objectSelector = { matchLabels: { watch: 'me' } }
    expect(await questions([rule('configmaps')], { objectSelector }, act)).toEqual(['UPDATE v1 configmaps'])
  })

  it('can be asked about another version of the same thing', async () => {
    const rules = [
      {
        operations: ['CREATE'],
        apiGroups: ['autoscaling'],
        apiVersions: ['v1'],
        resources: ['horizontalpodautoscalers'],
      },
    ]
    const at = '/apis/autoscaling/v2/namespaces/team-a/horizontalpodautoscalers'
    const autoscaler = (name: string) => ({
      metadata: { name },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        ],
      },
    })
    const seen = await questions(rules, {}, () => wire.must('POST', at, autoscaler('h1')))
    expect(seen).toEqual(['CREATE v1 horizontalpodautoscalers'])
    expect(lastQuestion()).toMatchObject({
      kind: { version: 'v1' },
      requestKind: { version: 'v2' },
      requestResource: { version: 'v2' },
      object: { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70 } },
    })
    await wire.must(
      'PATCH',
      `${places.validating}/all`,
      [{ op: 'add', path: '/webhooks/0/matchPolicy', value: 'Exact' }],
      'application/json-patch+json',
    )
    server.received.length = 0
    await wire.must('POST', at, autoscaler('h2'))
    expect(server.received).toEqual([])
  })

  it('through its scale sees a Scale', async () => {
    const labels = { app: 'd' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const at = '/apis/apps/v1/namespaces/team-a/deployments'
    await wire.must('POST', at, { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } })
    await configure('mutating', 'all', hook('check', { rules: [rule('deployments/scale')] }))
    server.answer = () => patchReply({ op: 'replace', path: '/spec/replicas', value: 2 })
    const scaled = await wire.must('PATCH', `${at}/d/scale`, { spec: { replicas: 9 } }, 'application/merge-patch+json')
    expect(lastQuestion()).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      object: { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 9 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    })
    expect(scaled.spec).toEqual({ replicas: 2 })
    expect((await wire.must('GET', `${at}/d`)).spec).toMatchObject({ replicas: 2 })
  })

  it('is in force, and out of force, when its write is answered', async () => {
    for (let i = 0; i < 5; i++) {
      await configure('validating', 'brief', hook('check'))
      await create()
      await wire.must('DELETE', `${places.validating}/brief`)
      await create()
    }
    expect(server.received).toHaveLength(5)
  })
})

describe('a mutating webhook', () => {
  it('changes what is stored; each sees what those before it made', async () => {
    await configure('mutating', 'b', hook('second'))
    await configure('mutating', 'a', hook('first'))
    server.answer = (q, path) =>
      patchReply({ op: 'add', path: `/data/${path.slice(1)}`, value: JSON.stringify(q.object?.['data']) })
    const made = await create({ data: { start: 'yes' } })
    expect(made.body['data']).toEqual({
      start: 'yes',
      first: '{"start":"yes"}',
      second: '{"start":"yes","first":"{\\"start\\":\\"yes\\"}"}',
    })
    expect((await wire.must('GET', `${maps}/${made.body.metadata.name}`))['data']).toEqual(made.body['data'])
  })

  it('owns nothing, and what it changes belongs to nobody new', async () => {
    await configure('mutating', 'a', hook('first'))
    server.answer = () => patchReply({ op: 'add', path: '/data/added', value: 'yes' })
    const made = await create({ data: { own: 'yes' } }, '?fieldManager=me')
    expect(made.body['data']).toEqual({ own: 'yes', added: 'yes' })
    const owned = { manager: 'me', operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:own': {} } } }
    expect(made.body.metadata.managedFields).toEqual([expect.objectContaining(owned)])
    server.answer = () => patchReply({ op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'x' }] })
    const broken = await create({ data: { own: 'yes' } }, '?fieldManager=me')
    expect(broken.body.metadata.managedFields).toEqual([expect.objectContaining(owned)])
    expect(broken.headers.get('warning')).toContain('.metadata.managedFields was in an invalid state after admission')
  })

  it('is followed by defaults, and its work is validated', async () => {
    await configure('mutating', 'a', hook('first', { rules: [{ ...everyRule, resources: ['pods'] }] }))
    server.answer = () =>
      patchReply({ op: 'add', path: '/spec/initContainers', value: [{ name: 'w', image: 'webhook' }] })
    const at = '/api/v1/namespaces/team-a/pods'
    const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    const made = await wire.must('POST', at, pod('defaulted'))
    expect(made.spec?.['initContainers']).toMatchObject([
      { name: 'w', image: 'webhook', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' },
    ])
    server.answer = () => patchReply({ op: 'add', path: '/spec/restartPolicy', value: 'Sometimes' })
    expect((await wire.call('POST', at, pod('invalid'))).body).toEqual(
      invalidObject({ kind: 'Pod', name: 'invalid' }, [
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
      ]),
    )
    server.answer = () => patchReply({ op: 'add', path: '/spec/bogus', value: 1 })
    expect((await wire.must('POST', at, pod('dropped'))).spec).not.toHaveProperty('bogus')
  })

  it('of a custom resource is followed by pruning', async () => {
    await install(
      plane,
      definition({ schema: objectOf({ data: objectOf({ a: { type: 'string' }, b: { type: 'string' } }) }) }),
    )
    await configure(
      'mutating',
      'a',
      hook('first', { rules: [{ ...everyRule, apiGroups: ['ex.io'], resources: ['widgets'] }] }),
    )
    server.answer = () =>
      patchReply({ op: 'add', path: '/data/b', value: 'webhook' }, { op: 'add', path: '/data/c', value: 'unknown' })
    const at = '/apis/ex.io/v1/namespaces/team-a/widgets'
    const made = await wire.must('POST', at, {
      apiVersion: 'ex.io/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      data: { a: 'x' },
    })
    expect(made['data']).toEqual({ a: 'x', b: 'webhook' })
  })

  it('of a custom resource works while the stored version moves', async () => {
    const schema = { openAPIV3Schema: objectOf({ data: { type: 'object', additionalProperties: { type: 'string' } } }) }
    const version = (name: string, storage: boolean) => ({ name, served: true, storage, schema })
    const versions = [version('v1', true), version('v2', false)]
    await install(plane, definition({ plural: 'movers', kind: 'Mover', versions }))
    const rules = [
      { operations: ['CREATE', 'UPDATE'], apiGroups: ['ex.io'], apiVersions: ['v1'], resources: ['movers'] },
    ]
    await configure('mutating', 'a', hook('first', { rules }))
    server.answer = (q) => {
      const data = q.object?.['data'] as Record<string, string> | undefined
      const at = `by-${q.operation.toLowerCase()}`
      return data === undefined
        ? { allowed: true }
        : patchReply({ op: 'add', path: `/data/${at}`, value: q.resource.version })
    }
    const at = (v: string) => `/apis/ex.io/${v}/namespaces/team-a/movers`
    const mover = { apiVersion: 'ex.io/v2', kind: 'Mover', metadata: { name: 'm' }, data: { own: 'yes' } }
    expect((await wire.must('POST', at('v2'), mover))['data']).toEqual({ own: 'yes', 'by-create': 'v1' })
    expect(lastQuestion()).toMatchObject({
      requestResource: { version: 'v2' },
      object: { apiVersion: 'ex.io/v1', kind: 'Mover' },
    })
    const moved = [version('v1', false), version('v2', true)]
    const place = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/movers.ex.io'
    await wire.must('PATCH', place, { spec: { versions: moved } }, 'application/merge-patch+json')
    const changed = await wire.must('PATCH', `${at('v2')}/m`, { data: { own: 'more' } }, 'application/merge-patch+json')
    expect(changed).toMatchObject({ apiVersion: 'ex.io/v2' })
    expect(changed['data']).toEqual({ own: 'more', 'by-create': 'v1', 'by-update': 'v1' })
    expect(lastQuestion()).toMatchObject({ oldObject: { apiVersion: 'ex.io/v1' }, object: { apiVersion: 'ex.io/v1' } })
    expect((await wire.must('GET', `${at('v1')}/m`))['data']).toEqual(changed['data'])
  })

  const internal = (why: string): Status =>
    failure({
      message: `Internal error occurred: ${why}`,
      reason: 'InternalError',
      details: { causes: [{ message: why }] },
      code: 500,
    })
  const failed = 'failed calling webhook "first.ex.io":'
  const faults = [
    {
      name: 'a patch that does not apply',
      reply: patchReply({ op: 'remove', path: '/nothing' }),
      policy: 'Ignore',
      want: internal("error in remove for path: '/nothing': Unable to remove nonexistent key: nothing: missing value"),
    },
    {
      name: 'a patch that leaves something of the wrong type',
      reply: patchReply({ op: 'add', path: '/data', value: 7 }),
      policy: 'Ignore',
      want: internal('json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string'),
    },
    {
      name: 'a patch without its type',
      reply: { allowed: true, patch: 'W10=' },
      policy: 'Fail',
      want: internal(
        `${failed} received invalid webhook response: webhook returned response.patch but not response.patchType`,
      ),
    },
    {
      name: 'a type without its patch',
      reply: { allowed: true, patchType: 'JSONPatch' },
      policy: 'Fail',
      want: internal(
        `${failed} received invalid webhook response: webhook returned response.patchType but not response.patch`,
      ),
    },
    {
      name: 'a patch that is no JSON',
      reply: { allowed: true, patchType: 'JSONPatch', patch: 'e30x' },
      policy: 'Fail',
      want: internal(
        `${failed} received undecodable patch in webhook response: invalid character '1' after top-level value`,
      ),
    },
    {
      name: 'a type nobody knows',
      reply: { allowed: true, patchType: 'Merge', patch: 'e30=' },
      policy: 'Fail',
      want: internal(`${failed} unsupported patch type "Merge"`),
    },
    {
      name: 'a change of its namespace',
      reply: patchReply({ op: 'replace', path: '/metadata/namespace', value: 'team-b' }),
      policy: 'Fail',
      want: badRequest('the namespace of the provided object does not match the namespace sent on the request'),
    },
    {
      name: 'to make a list of the object',
      reply: patchReply({ op: 'replace', path: '', value: [] }),
      policy: 'Fail',
      want: internal(
        `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ` +
          `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string ` +
          `"json:\\"kind,omitempty\\"" }`,
      ),
    },
    {
      name: 'to take away its name',
      reply: patchReply({ op: 'remove', path: '/metadata' }),
      policy: 'Fail',
      want: invalidObject({ kind: 'ConfigMap', name: '' }, [
        'metadata.name: Required value: name or generateName is required',
      ]),
    },
  ]
  it.each(faults)('is refused $name', async ({ reply, policy, want }) => {
    await configure('mutating', 'a', hook('first', { failurePolicy: policy }))
    server.answer = () => reply
    expect((await create()).body).toEqual(want)
  })

  it('refuses as a validating one does', async () => {
    await configure('mutating', 'a', hook('first'))
    server.answer = () => ({ allowed: false, status: { message: 'no', reason: 'Forbidden', code: 403 } })
    expect((await create()).body).toEqual(
      failure({ message: 'admission webhook "first.ex.io" denied the request: no', reason: 'Forbidden', code: 403 }),
    )
  })

  it('has nothing to change about a deletion', async () => {
    const { name } = (await create()).body.metadata
    await configure('mutating', 'a', hook('first'))
    server.answer = () => patchReply({ op: 'add', path: '/x', value: 1 })
    expect((await wire.call('DELETE', `${maps}/${name}`)).body).toEqual(
      failure({
        message:
          'Internal error occurred: admission webhook "first.ex.io" attempted to modify the object, which is ' +
          'not supported for this operation',
        reason: 'InternalError',
        details: {
          causes: [
            {
              message:
                'admission webhook "first.ex.io" attempted to modify the object, which is not supported for ' +
                'this operation',
            },
          ],
        },
        code: 500,
      }),
    )
  })

  it('is asked again, once, if it wants to and somebody changed the object after it', async () => {
    await configure(
      'mutating',
      'a',
      hook('willing', { reinvocationPolicy: 'IfNeeded' }),
      hook('unwilling'),
      hook('changing'),
      hook('last', { reinvocationPolicy: 'IfNeeded' }),
    )
    server.answer = (q, path) =>
      path === '/changing' || (path === '/willing' && q.object?.['data'] !== undefined)
        ? patchReply({ op: 'add', path: '/data', value: { [`by-${path.slice(1)}`]: 'yes' } })
        : { allowed: true }
    const made = await create()
    expect(asked()).toEqual(['/willing', '/unwilling', '/changing', '/last', '/willing', '/last'])
    expect(made.body['data']).toEqual({ 'by-willing': 'yes' })
  })

  it('is not asked again if nothing changed', async () => {
    await configure('mutating', 'a', hook('willing', { reinvocationPolicy: 'IfNeeded' }), hook('other'))
    await create()
    expect(asked()).toEqual(['/willing', '/other'])
  })

  it('comes before limits are checked, and before the creator of a namespace is recorded', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'limited' } })
    const limits = [{ type: 'Container', max: { cpu: '1' } }]
    await wire.must('POST', '/api/v1/namespaces/limited/limitranges', { metadata: { name: 'l' }, spec: { limits } })
    const rules = [{ ...everyRule, operations: ['CREATE'], resources: ['pods', 'namespaces'] }]
    await configure('mutating', 'a', hook('first', { rules }))
    server.answer = (q) =>
      q.kind.kind === 'Pod'
        ? patchReply({ op: 'add', path: '/spec/containers/0/resources', value: { limits: { cpu: '2' } } })
        : patchReply({ op: 'add', path: '/metadata/annotations', value: { 'authorization.k8s.io/creator': 'mallory' } })
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const refused = await wire.call('POST', '/api/v1/namespaces/limited/pods', pod)
    expect(refused.body.message).toContain('maximum cpu usage per Container is 1, but limit is 2')
    const made = await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'mine' } })
    expect(Object.values(made.metadata.annotations ?? {})).not.toContain('mallory')
  })
})

describe('dry runs, warnings and races', () => {
  it('a dry run is told to the webhook, and refused where it could do harm', async () => {
    await configure('validating', 'all', hook('check', { sideEffects: 'NoneOnDryRun' }))
    expect((await create({}, '?dryRun=All')).status).toBe(201)
    expect(lastQuestion()).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } })
  })

  it('warnings reach the client, from those who allow and from those who refuse', async () => {
    await configure('validating', 'all', hook('check'))
    server.answer = () => ({ allowed: false, warnings: ['mind "this"', 'and that'] })
    const { headers } = await create()
    expect(headers.get('warning')).toBe('299 - "mind \\"this\\"", 299 - "and that"')
  })

  it('what was admitted is what is written: a lost race asks again', async () => {
    const { name } = (await create({ data: { n: '0' } })).body.metadata
    await configure('mutating', 'a', hook('stamp', { rules: [{ ...everyRule, operations: ['UPDATE'] }] }))
    let asks = 0
    server.answer = async (q) => {
      const n = String((q.oldObject?.['data'] as { n: string }).n)
      if (++asks === 1) {
        // Somebody else writes while this webhook thinks; it lets them pass.
        await wire.must('PATCH', `${maps}/${name}`, { data: { n: '1' } }, 'application/merge-patch+json')
      }
      return patchReply({ op: 'add', path: '/data/seen', value: n })
    }
    const patched = await wire.must(
      'PATCH',
      `${maps}/${name}`,
      { data: { mine: 'yes' } },
      'application/merge-patch+json',
    )
    expect(patched['data']).toEqual({ n: '1', mine: 'yes', seen: '1' })
    expect(asks).toBe(3)
  })

  it('a thousand requests that concern nobody ask nobody', async () => {
    await configure('validating', 'all', hook('check', { rules: [{ ...everyRule, resources: ['secrets'] }] }))
    await Promise.all(Array.from({ length: 1000 }, () => create()))
    expect(server.received).toEqual([])
  })

  it('calls are counted', async () => {
    // A name of its own: counting begins half a second after the start, and others may have been refused since.
    await configure('validating', 'all', hook('counted'))
    await (await plane.fetch('/metrics')).text()
    server.answer = () => ({ allowed: false, status: { code: 403 } })
    await create()
    const text = await (await plane.fetch('/metrics')).text()
    expect(text).toContain(
      'apiserver_admission_webhook_rejection_count{name="counted.ex.io",type="validating",' +
        'operation="CREATE",error_type="no_error",rejection_code="403"} ' +
        '1',
    )
    expect(text).toContain('apiserver_admission_webhook_admission_duration_seconds_count{name="counted.ex.io"')
  })
})

describe('match conditions', () => {
  const conditions = (...expressions: string[]): Hook => ({
    matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
  })
  const notLease = '!(request.resource.resource == "leases")'

  it('must all hold', async () => {
    await configure('validating', 'all', hook('check', conditions(notLease, 'object.metadata.name.endsWith("-yes")')))
    await create({ metadata: { name: 'asked-yes' } })
    await create({ metadata: { name: 'asked-no' } })
    expect(server.received.map((r) => r.review.request.name)).toEqual(['asked-yes'])
  })

  it('see the old object, the user, and what the user may do', async () => {
    const { name } = (await create({ data: { k: '1' } })).body.metadata
    await configure(
      'validating',
      'all',
      hook('change', conditions('oldObject == null || object.data.k != oldObject.data.k')),
      hook('user', conditions('request.userInfo.username != "nobody"')),
      hook('right', conditions('authorizer.group("").resource("secrets").check("get").allowed()')),
      hook('none', conditions('!authorizer.requestResource.check("breakglass").allowed()')),
    )
    await wire.must('PATCH', `${maps}/${name}`, { metadata: { labels: { a: 'b' } } }, 'application/merge-patch+json')
    expect(asked().sort()).toEqual(['/right', '/user'])
  })

  it('that fail are a refusal, or no question, as the failure policy says', async () => {
    const broken = conditions('object.data.missing == "x"')
    await configure('validating', 'all', hook('check', broken))
    const refused = await create()
    const why = `expression 'object.data.missing == "x"' resulted in error: no such key: data`
    expect(refused.body).toEqual(forbidden({ kind: 'configmaps', name: `m-${count}` }, why))
    await wire.must('DELETE', places.validating)
    await configure('validating', 'all', hook('check', { ...broken, failurePolicy: 'Ignore' }))
    expect((await create()).status).toBe(201)
    expect(server.received).toEqual([])
  })

  it('one that is false outweighs one that fails', async () => {
    await configure('mutating', 'all', hook('check', conditions('object.data.missing == "x"', 'false')))
    expect((await create()).status).toBe(201)
    expect(server.received).toEqual([])
  })

  it('are checked before they are stored', async () => {
    const answer = await wire.call('POST', places.validating, {
      metadata: { name: 'c' },
      webhooks: [
        hook('check', {
          matchConditions: [
            { name: 'a', expression: 'object.x ==' },
            { name: 'a', expression: '"text"' },
            { name: '', expression: ' ' },
          ],
        }),
      ],
    })
    expect(answer.status).toBe(422)
    const said = answer.body.details?.causes?.map((c) => [c.field, c.message]) ?? []
    const at = 'webhooks[0].matchConditions'
    expect(said).toEqual([
      [
        `${at}[0].expression`,
        expect.stringMatching(/^Invalid value: "object.x ==": compilation failed: ERROR: <input>:1:12: Syntax error/),
      ],
      [`${at}[1].expression`, 'Invalid value: "\\"text\\"": must evaluate to bool but got string'],
      [`${at}[1].name`, 'Duplicate value: "a"'],
      [`${at}[2].expression`, 'Required value'],
      [`${at}[2].name`, 'Required value'],
    ])
  })
})
