/** A dry run of whatever writes: answered as if it were done, and the store stays at its revision. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { send } from '../support/send.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

const core = '/api/v1/namespaces/default'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const widgets = '/apis/ex.io/v1/namespaces/default/widgets'

beforeAll(async () => {
  plane = await startControlPlane({
    population: false,
    // So that nothing else moves the revision.
    controllers: (name) => name === 'customresourcedefinition-controller',
  })
  wire = new Wire(plane)
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } }
  await wire.must('POST', `${core}/configmaps`, { metadata: { name: 'a' }, data: { k: 'v' } })
  await wire.must('POST', `${core}/pods`, { metadata: { name: 'p' }, spec: template.spec })
  await wire.must('POST', deployments, {
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  })
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const revision = async (): Promise<unknown> => (await wire.must('GET', `${core}/configmaps`)).metadata.resourceVersion

interface Row {
  readonly name: string
  readonly given: string
  readonly body?: unknown
  readonly type?: string
  readonly code: number
  /** Of the answer. */
  readonly want: object
}

const map = (data: object): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })
const rows: readonly Row[] = [
  {
    name: 'create',
    given: `POST ${core}/configmaps`,
    body: { metadata: { name: 'b' } },
    code: 201,
    want: { kind: 'ConfigMap' },
  },
  {
    name: 'create with a generated name',
    given: `POST ${core}/configmaps`,
    body: { metadata: { generateName: 'x-' } },
    code: 201,
    want: { metadata: { name: expect.stringMatching(/^x-/) as string } },
  },
  {
    name: 'create of a copy of what is there, with its resourceVersion,',
    given: `POST ${core}/configmaps`,
    body: { metadata: { name: 'copy', resourceVersion: '5' } },
    code: 201,
    want: { metadata: { name: 'copy' } },
  },
  {
    name: 'create of a namespace',
    given: 'POST /api/v1/namespaces',
    body: { metadata: { name: 'n' } },
    code: 201,
    want: { kind: 'Namespace' },
  },
  { name: 'update', given: `PUT ${core}/configmaps/a`, body: map({ k: 'w' }), code: 200, want: { data: { k: 'w' } } },
  {
    name: 'a JSON patch',
    given: `PATCH ${core}/configmaps/a`,
    body: [{ op: 'replace', path: '/data/k', value: 'w' }],
    type: 'application/json-patch+json',
    code: 200,
    want: { data: { k: 'w' } },
  },
  {
    name: 'a merge patch',
    given: `PATCH ${core}/configmaps/a`,
    body: { data: { k: 'w' } },
    type: 'application/merge-patch+json',
    code: 200,
    want: { data: { k: 'w' } },
  },
  {
    name: 'a strategic merge patch',
    given: `PATCH ${core}/configmaps/a`,
    body: { data: { k: 'w' } },
    type: 'application/strategic-merge-patch+json',
    code: 200,
    want: { data: { k: 'w' } },
  },
  {
    name: 'an apply',
    given: `PATCH ${core}/configmaps/a?fieldManager=m&force=true`,
    body: map({ k: 'w' }),
    type: 'application/apply-patch+yaml',
    code: 200,
    want: { data: { k: 'w' } },
  },
  {
    name: 'an apply that creates',
    given: `PATCH ${core}/configmaps/new?fieldManager=m`,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } },
    type: 'application/apply-patch+yaml',
    code: 201,
    want: { metadata: { name: 'new' } },
  },
  {
    name: 'a patch of a status',
    given: `PATCH ${core}/pods/p/status`,
    body: { status: { phase: 'Running' } },
    type: 'application/merge-patch+json',
    code: 200,
    want: { status: { phase: 'Running' } },
  },
  {
    name: 'a patch of a scale',
    given: `PATCH ${deployments}/d/scale`,
    body: { spec: { replicas: 5 } },
    type: 'application/merge-patch+json',
    code: 200,
    want: { spec: { replicas: 5 } },
  },
  {
    name: 'a binding',
    given: `POST ${core}/pods/p/binding`,
    body: { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
    code: 201,
    want: { status: 'Success' },
  },
  {
    name: 'an eviction',
    given: `POST ${core}/pods/p/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } },
    code: 201,
    want: { status: 'Success' },
  },
  {
    name: 'a token',
    given: `POST ${core}/serviceaccounts/default/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    code: 201,
    want: { kind: 'TokenRequest' },
  },
  {
    name: 'the end of a namespace',
    given: 'PUT /api/v1/namespaces/team-a/finalize',
    body: { metadata: { name: 'team-a' }, spec: { finalizers: ['kubernetes', 'ex.io/x'] } },
    code: 200,
    want: { spec: { finalizers: ['kubernetes', 'ex.io/x'] } },
  },
  {
    name: 'delete',
    given: `DELETE ${core}/configmaps/a`,
    code: 200,
    want: { status: 'Success', details: { name: 'a' } },
  },
  {
    name: 'delete in the foreground',
    given: `DELETE ${deployments}/d?propagationPolicy=Foreground`,
    code: 200,
    want: { metadata: { finalizers: ['foregroundDeletion'] } },
  },
  {
    name: 'delete of a namespace',
    given: 'DELETE /api/v1/namespaces/team-a',
    code: 200,
    want: { status: { phase: 'Terminating' } },
  },
  { name: 'delete of a collection', given: `DELETE ${core}/configmaps`, code: 200, want: { kind: 'ConfigMapList' } },
]

describe('a dry run', () => {
  it.each(rows)('of $name', async ({ given, body, type, code, want }) => {
    const [method = '', path = ''] = given.split(' ')
    const before = await revision()
    const answer = await send(plane, `${path}${path.includes('?') ? '&' : '?'}dryRun=All`, {
      method,
      ...(body === undefined ? {} : { body }),
      ...(type === undefined ? {} : { type }),
    })
    expect(answer.code, answer.text).toBe(code)
    expect(answer.body).toMatchObject(want)
    expect(await revision()).toBe(before)
  })

  it('asked for in the body of a DELETE', async () => {
    const before = await revision()
    const answer = await send(plane, `${core}/configmaps/a`, { method: 'DELETE', body: { dryRun: ['All'] } })
    expect(answer.code).toBe(200)
    expect(await revision()).toBe(before)
  })

  it('of a custom resource', async () => {
    await install(plane, definition())
    const before = await revision()
    const body = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } }
    expect((await send(plane, `${widgets}?dryRun=All`, { method: 'POST', body })).code).toBe(201)
    expect((await send(plane, `${widgets}/w`)).code).toBe(404)
    expect(await revision()).toBe(before)
  })
})
