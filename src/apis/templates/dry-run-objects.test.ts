import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client } from '../../client/client.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject, StatusCause } from '../../kube/types.ts'
import { dryRunObjects, dryRunObjectsMs } from './dry-run-objects.ts'
import type { NamespaceTemplate } from './types.ts'

const never = new AbortController().signal
const configMap = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const template = (...objects: JsonObject[]): NamespaceTemplate => ({
  metadata: { name: 't' },
  spec: { templates: objects },
})

/** What `apply` answers for an object of that name. */
function answering(answer: (object: KubeObject) => Promise<KubeObject>): Client & { readonly applied: KubeObject[] } {
  const applied: KubeObject[] = []
  const kind = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: [] }
  const client = {
    applied,
    discovery: { findKind: () => Promise.resolve(kind) },
    apply(_kind: unknown, object: KubeObject) {
      applied.push(object)
      return answer(object)
    },
  }
  return client as unknown as ReturnType<typeof answering>
}

const failing = (message: string, code: number, reason?: 'Forbidden' | 'Invalid' | 'BadRequest'): StatusError =>
  new StatusError(message, { code, ...(reason === undefined ? {} : { reason }) })

const clock = new FakeClock()

test('the tokens stand for plain names, and the namespace is one that is always there', async () => {
  const client = answering((object) => Promise.resolve(object))
  const given = { ...configMap('of-$(NAMESPACE)'), data: { who: '$(CREATOR)' } }
  expect(await dryRunObjects({ client, clock }, template(given), undefined, never)).toEqual({
    errors: [],
    warnings: [],
  })
  expect(client.applied).toMatchObject([
    { metadata: { namespace: 'default', name: 'of-default' }, data: { who: 'creator' } },
  ])
})

test('what was accepted before is not tried again', async () => {
  const client = answering((object) => Promise.resolve(object))
  await dryRunObjects({ client, clock }, template(configMap('a'), configMap('b')), template(configMap('a')), never)
  expect(client.applied.map((o) => o.metadata.name)).toEqual(['b'])
})

const broken = 'spec.templates[0]: it could not be tried beforehand: '
test.each([
  { name: 'rights', error: failing('configmaps is forbidden', 403, 'Forbidden'), want: [] },
  { name: 'a webhook', error: failing('admission webhook "x" denied the request', 400, 'BadRequest'), want: [] },
  {
    name: 'a policy',
    error: failing("ValidatingAdmissionPolicy 'x' with binding 'y' denied request", 422, 'Invalid'),
    want: [],
  },
  { name: 'a server that is busy', error: failing('too many requests', 429), want: [`${broken}too many requests`] },
  { name: 'a server that fails', error: failing('etcd is down', 500), want: [`${broken}etcd is down`] },
  { name: 'a connection that breaks', error: new Error('socket hang up'), want: [`${broken}socket hang up`] },
])('$name refuses no template', async ({ error, want }) => {
  const client = answering(() => Promise.reject(error))
  const found = await dryRunObjects({ client, clock }, template(configMap('a')), undefined, never)
  expect(found).toEqual({ errors: [], warnings: want })
})

test('an API server without server-side apply can not keep an object of a template', async () => {
  const client = answering(() => Promise.reject(failing('the body of the request was in an unknown format', 415)))
  const { errors } = await dryRunObjects({ client, clock }, template(configMap('a')), undefined, never)
  expect(errors).toEqual([
    {
      type: 'FieldValueForbidden',
      field: 'spec.templates[0]',
      body: "its API server can't apply objects (server-side apply): the body of the request was in an unknown format",
    },
  ])
})

test('what the decoder does not take after the merge is the fault of the object, though the code is 500', async () => {
  const said =
    'failed to convert new object (/amounts; /v1, Kind=ResourceQuota) to proper version: unable to convert ' +
    'unstructured object to /v1, Kind=ResourceQuota: quantities must match the regular expression'
  const client = answering(() => Promise.reject(failing(said, 500)))
  expect(await dryRunObjects({ client, clock }, template(configMap('a')), undefined, never)).toEqual({
    errors: [{ type: 'FieldValueInvalid', field: 'spec.templates[0]', body: said }],
    warnings: [],
  })
})

test('it ends in time, and says what was not tried', async () => {
  const client = answering(
    (object) =>
      new Promise((resolve, reject) => {
        if (object.metadata.name === 'quick') resolve(object)
        else late.signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
  )
  const late = new AbortController()
  const objects = ['quick', ...Array.from({ length: 20 }, (_, i) => `slow${i}`)].map(configMap)
  const trying = dryRunObjects({ client, clock }, template(...objects), undefined, never)
  await clock.advance(dryRunObjectsMs)
  late.abort()
  expect(await trying).toEqual({
    errors: [],
    warnings: ['20 objects were not tried beforehand: there was no time'],
  })
  expect(client.applied).toHaveLength(9)
})

test('each fault of a field is told with its reason, and what names no field is not', async () => {
  const causes = [
    { reason: 'FieldValueRequired', field: 'data', message: 'must be given' },
    { field: 'data.a', message: 'too odd' },
    { field: 'data.b' },
    { field: '', message: 'of a policy' },
    { message: 'of another' },
  ] as StatusCause[]
  const error = new StatusError('no', { code: 422, reason: 'Invalid', details: { causes } })
  const client = answering(() => Promise.reject(error))
  client.get = () => Promise.reject(new StatusError('none', { reason: 'NotFound' }))
  const { errors } = await dryRunObjects({ client, clock }, template(configMap('a')), undefined, never)
  const field = 'spec.templates[0]'
  expect(errors).toEqual([
    { type: 'FieldValueRequired', field: `${field}.data`, body: 'must be given' },
    { type: 'FieldValueInvalid', field: `${field}.data.a`, body: 'too odd' },
    { type: 'FieldValueInvalid', field: `${field}.data.b`, body: '' },
  ])
})

test.each<{ there: string; get: () => Promise<never>; found: unknown }>([
  {
    there: 'that is there',
    get: () => Promise.resolve({ metadata: {} } as never),
    found: { errors: [], warnings: [] },
  },
  {
    there: 'of which it can not be told whether it is there',
    get: () => Promise.reject(new StatusError('it is down', { code: 503 })),
    found: { errors: [], warnings: [`${broken}it is down`] },
  },
])('faults of an object $there say nothing of other namespaces', async ({ get, found }) => {
  const causes = [{ reason: 'FieldValueForbidden' as const, field: 'data', message: 'is immutable' }]
  const error = new StatusError('no', { code: 422, reason: 'Invalid', details: { causes } })
  const client = answering(() => Promise.reject(error))
  client.get = get
  expect(await dryRunObjects({ client, clock }, template(configMap('a')), undefined, never)).toEqual(found)
})

test.each([
  { name: 'an object without a kind', of: { apiVersion: 'v1', metadata: { name: 'a' } } },
  { name: 'one without a version', of: { kind: 'ConfigMap', metadata: { name: 'a' } } },
  { name: 'one without a name', of: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } },
  { name: 'one without metadata', of: { apiVersion: 'v1', kind: 'ConfigMap' } },
])('$name is told of elsewhere, and not tried', async ({ of }) => {
  const client = answering((object) => Promise.resolve(object))
  expect(await dryRunObjects({ client, clock }, template(of as JsonObject), undefined, never)).toEqual({
    errors: [],
    warnings: [],
  })
  expect(client.applied).toEqual([])
})

test('a template without any object has nothing to try', async () => {
  const client = answering((object) => Promise.resolve(object))
  const given = { metadata: { name: 't' } }
  expect(await dryRunObjects({ client, clock }, given, undefined, never)).toEqual({ errors: [], warnings: [] })
})
