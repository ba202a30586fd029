import { expect, test } from 'vitest'
import { failure } from '../../../test/support/refusal.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { AuditEvent, AuditLevel, AuditSink } from '../../audit/audit.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { randomIds } from '../../base/ids.ts'
import { Turns } from '../../base/turns.ts'
import { ProtobufCodec } from '../../catalog/protobuf/protobuf-codec.ts'
import { forbidden, unauthorized } from '../../kube/status-error.ts'
import type { Status } from '../../kube/types.ts'
import type { AnswerStream, ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { fetchAdapter } from '../fetch.ts'
import { createPipeline } from '../pipeline.ts'
import { Renderer } from '../respond.ts'
import { answerErrors } from './answer-errors.ts'
import { auditRefusals, auditRequests } from './audit.ts'
import { authenticate } from './authenticate.ts'
import { impersonate } from './impersonate.ts'
import { LateRecords, maxWaitingBytes } from './late-records.ts'
import { recordedBodies } from './recorded-bodies.ts'

const renderer = new Renderer({ protobuf: new ProtobufCodec(), now: () => 0 })
const ok: ApiResponse = { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":1}') }

function audited(
  level: AuditLevel,
  dispatch: (request: ApiRequest) => Promise<ApiResponse> = () => Promise.resolve(ok),
) {
  const events: AuditEvent[] = []
  const sink: AuditSink = {
    record: (event) => void events.push(event),
    recordLine: (text) => void events.push(JSON.parse(text)),
  }
  const reached: string[] = []
  const incidents = { happened: (bound: string, flow: string) => void reached.push(`${bound} ${flow}`) }
  const onFault = (error: unknown): void => expect(error).toBeUndefined()
  const late = new LateRecords({ turns: new Turns(), sink, incidents, onFault })
  const clock = new FakeClock()
  const deps = {
    clock,
    policy: { decide: () => ({ level, omitStages: new Set(['RequestReceived'] as const), omitManagedFields: false }) },
    sink,
    decode: recordedBodies(() => ({ object: {} })),
    late,
  }
  const serve = createPipeline({
    clock,
    ids: randomIds,
    stages: {
      answerErrors: answerErrors(
        () => undefined,
        (status, n) => renderer.status(status, n),
      ),
      auditRefusals: auditRefusals(deps),
      authenticate: authenticate(async ({ bearerToken }) => {
        if (bearerToken !== 'right') throw unauthorized()
        return { username: 'carol', groups: [] }
      }),
      auditRequests: auditRequests(deps),
      impersonate: impersonate(({ headers }) => {
        const username = headers['impersonate-user']
        if (username === 'root') throw forbidden({ group: '', resource: 'users' }, 'root', 'no')
        if (username === undefined) return undefined
        const constraint = username === 'system:node:n' ? { constraint: 'impersonate:arbitrary-node' } : {}
        return { user: { username, groups: [] }, ...constraint }
      }),
    },
    dispatch,
  })
  const send = fetchAdapter(serve)
  const get = (headers: Record<string, string>, path = '/api/v1/pods') =>
    send(new Request(`https://x.test${path}`, { headers: { authorization: 'Bearer right', ...headers } }))
  const post = (body: string, contentType = 'application/json') =>
    send(
      new Request('https://x.test/api/v1/pods', {
        method: 'POST',
        headers: { authorization: 'Bearer right', 'content-type': contentType },
        body,
      }),
    )
  return { events, get, post, late, reached }
}

test('who impersonates and who is impersonated are both named', async () => {
  const { events, get } = audited('Metadata')
  await get({ 'impersonate-user': 'dave' })
  expect(events).toMatchObject([{ user: { username: 'carol' }, impersonatedUser: { username: 'dave' } }])
  expect(events[0]).not.toHaveProperty('authenticationMetadata')
})

test('the verb that allowed a constrained impersonation is named', async () => {
  const { get, events } = audited('Metadata')
  await get({ 'impersonate-user': 'system:node:n' })
  expect(events).toMatchObject([
    {
      impersonatedUser: { username: 'system:node:n' },
      authenticationMetadata: { impersonationConstraint: 'impersonate:arbitrary-node' },
    },
  ])
})

test('attack: an impersonation that is refused stands under the name of who tried', async () => {
  const { events, get } = audited('Metadata')
  expect((await get({ 'impersonate-user': 'root' })).status).toBe(403)
  expect(events).toMatchObject([{ user: { username: 'carol' }, responseStatus: { code: 403 } }])
  expect(events[0]).not.toHaveProperty('impersonatedUser')
})

test('attack: a wrong token is recorded, without the token and without a name', async () => {
  const { events, get } = audited('RequestResponse')
  expect((await get({ authorization: 'Bearer guessed-token' })).status).toBe(401)
  expect(events).toMatchObject([{ stage: 'ResponseStarted', user: {}, responseStatus: { code: 401 } }])
  expect(JSON.stringify(events)).not.toContain('guessed-token')
})

test('a fault of ours is a panic, and tells nothing of what is inside', async () => {
  const { events, get } = audited('Metadata', () => Promise.reject(new Error('password=hunter2')))
  const answer = await get({})
  const fault = (why: string): Status =>
    failure({
      message: `Internal error occurred: ${why}`,
      reason: 'InternalError',
      details: { causes: [{ message: why }] },
      code: 500,
    })
  expect(await answer.json()).toEqual(
    fault(`request ${answer.headers.get('audit-id')} failed; the server's log says why`),
  )
  const { kind: _kind, apiVersion: _apiVersion, ...told } = fault('the request failed; the log of the server says why')
  expect(events).toMatchObject([{ stage: 'Panic', responseStatus: told }])
  expect(JSON.stringify(events)).not.toContain('hunter2')
})

test('attack: a made-up proxy header can add addresses, not hide the peer nor be anything else', async () => {
  const { events, get } = audited('Metadata')
  await get({ 'x-forwarded-for': '10.0.0.1, <script>, 127.0.0.1', 'x-real-ip': '10.0.0.2' })
  expect(events[0]?.sourceIPs).toEqual(['10.0.0.1', '10.0.0.2', '127.0.0.1'])
})

test('a body beyond the limit is left out, and the event says so', async () => {
  const body = Buffer.from(JSON.stringify('x'.repeat(2 ** 20)))
  const { events, get } = audited('RequestResponse', () => Promise.resolve({ ...ok, body }))
  await get({})
  expect(events[0]).not.toHaveProperty('responseObject')
  expect(events[0]?.annotations).toMatchObject({ 'audit.k8s.io/truncated': 'true' })
})

function piecemeal(pieces: readonly Uint8Array[]): AnswerStream {
  async function* made(): AsyncGenerator<Uint8Array> {
    yield* pieces
  }
  const chunks = made()
  return { isAnswer: true, [Symbol.asyncIterator]: () => chunks, [Symbol.asyncDispose]: async () => {} }
}

test('an answer that is made while it is sent is recorded once, when it is whole', async () => {
  const body = piecemeal([Buffer.from('{"a"'), Buffer.from(':2}')])
  const { events, get } = audited('RequestResponse', () => Promise.resolve({ ...ok, body }))
  const answer = await get({})
  expect(events).toEqual([])
  expect(await answer.text()).toBe('{"a":2}')
  expect(events).toMatchObject([{ stage: 'ResponseComplete', responseStatus: { code: 200 }, responseObject: { a: 2 } }])
})

test('of an answer that is made while it is sent no more is kept than may be recorded', async () => {
  const body = piecemeal(Array.from({ length: 20 }, () => Buffer.alloc(2 ** 17, ' ')))
  const { events, get } = audited('RequestResponse', () => Promise.resolve({ ...ok, body }))
  expect(await (await get({})).bytes()).toHaveLength(20 * 2 ** 17)
  expect(events).toHaveLength(1)
  expect(events[0]).not.toHaveProperty('responseObject')
  expect(events[0]?.annotations).toMatchObject({ 'audit.k8s.io/truncated': 'true' })
})

const readThenAnswer = async (request: ApiRequest): Promise<ApiResponse> => {
  await request.body(3 * 1024 * 1024)
  return ok
}

test.each([
  { name: 'JSON', contentType: 'application/json', pair: (i: number) => `"k${i}":[1]` },
  { name: 'YAML', contentType: 'application/yaml', pair: (i: number) => `k${i}: [1]` },
])('attack: a long body of $name is parsed in slices, when its request has been answered', async (given) => {
  const pairs = Array.from({ length: 10_000 }, (_, i) => given.pair(i))
  const body = given.name === 'YAML' ? pairs.join('\n') : `{${pairs.join(',')}}`
  const { events, post, late } = audited('Request', readThenAnswer)
  expect((await post(body, given.contentType)).status).toBe(200)
  expect(events).toEqual([])
  const counter = new TurnCounter()
  await late[Symbol.asyncDispose]()
  counter.stop()
  expect(counter.turns).toBeGreaterThan(1)
  expect(events).toMatchObject([{ stage: 'ResponseComplete', responseStatus: { code: 200 } }])
  expect(events[0]?.requestObject).toEqual(Object.fromEntries(pairs.map((_, i) => [`k${i}`, [1]])))
})

test.each([
  { form: 'JSON', contentType: 'application/json', isLate: false },
  { form: 'YAML', contentType: 'application/yaml', isLate: true },
])('10 KiB of $form, which takes long to parse: $isLate, are parsed when there is time for it', async (given) => {
  const { events, post, late } = audited('Request', readThenAnswer)
  await post(JSON.stringify({ a: 'x'.repeat(10 * 1024) }), given.contentType)
  expect(events).toHaveLength(given.isLate ? 0 : 1)
  await late[Symbol.asyncDispose]()
  expect(events).toHaveLength(1)
})

test('long bodies are recorded whenever they come, as long as not too many wait', async () => {
  const { events, post, late } = audited('Request', readThenAnswer)
  const body = JSON.stringify({ a: 'x'.repeat(1_000_000) })
  const count = Math.ceil(maxWaitingBytes / body.length) + 1
  for (let i = 0; i < count; i++) {
    await post(body)
    await late[Symbol.asyncDispose]()
    expect(events[i]).toHaveProperty('requestObject')
  }
})

test('of a request without a body none is recorded', async () => {
  const { events, post } = audited('Request', readThenAnswer)
  await post('', 'application/yaml')
  expect(events).toHaveLength(1)
  expect(events[0]).not.toHaveProperty('requestObject')
})

test('what goes wrong before it is known who asks is no refusal, and passes as it is', async () => {
  const fault = new Error('a fault')
  const deps = { policy: { decide: () => expect.unreachable() } }
  const handler = auditRefusals(deps as never)(() => Promise.reject(fault))
  await expect(handler({} as ApiRequest, {} as RequestContext)).rejects.toBe(fault)
})

test('attack: so many values as nothing that is meant has are not parsed for the log', async () => {
  const { events, post, late } = audited('Request', readThenAnswer)
  await post(`[${'[],'.repeat(300_000)}[]]`)
  await late[Symbol.asyncDispose]()
  expect(events).toHaveLength(1)
  expect(events[0]).not.toHaveProperty('requestObject')
})

test('attack: so many long bodies wait for the log, and other events say that they lack theirs', async () => {
  const { events, post, late, reached } = audited('Request', readThenAnswer)
  const body = JSON.stringify({ a: 'x'.repeat(1_000_000) })
  const fit = Math.floor(maxWaitingBytes / body.length)
  await Promise.all(Array.from({ length: fit + 3 }, () => post(body)))
  await late[Symbol.asyncDispose]()
  const cut = events.filter(({ annotations }) => annotations?.['audit.k8s.io/truncated'] === 'true')
  expect(events).toHaveLength(fit + 3)
  expect(cut.length).toBeGreaterThan(0)
  expect(cut.every((event) => !('requestObject' in event))).toBe(true)
  expect(reached).toEqual(cut.map(() => 'audit_bodies user carol'))
})

test('at None nothing is recorded', async () => {
  const { events, get } = audited('None')
  await get({})
  await get({ authorization: 'Bearer wrong' })
  expect(events).toEqual([])
})

test('an audit id that could not be a name of ours is not taken over', async () => {
  const { events, get } = audited('Metadata')
  await get({ 'audit-id': 'mine-1' })
  await get({ 'audit-id': 'x'.repeat(65) })
  expect(events[0]?.auditID).toBe('mine-1')
  expect(events[1]?.auditID).toMatch(/^[0-9a-f-]{36}$/)
})
