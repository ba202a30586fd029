/**
 * What upstream's end-to-end tests of server-side apply and of field validation ask of a cluster, under their names.
 * @see test/e2e/apimachinery/apply.go and field_validation.go of Kubernetes
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install, objectOf } from '../support/definitions.ts'
import { failure } from '../support/refusal.ts'
import { type Answered, send } from '../support/send.ts'

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
})
afterAll(() => plane[Symbol.asyncDispose]())

const core = '/api/v1/namespaces/default'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const merge = 'application/merge-patch+json'

const apply = (path: string, manager: string, body: unknown, query = ''): Promise<Answered> =>
  send(plane, `${path}?fieldManager=${manager}${query}`, {
    method: 'PATCH',
    body,
    type: 'application/apply-patch+yaml',
  })
const patch = (path: string, body: unknown): Promise<Answered> =>
  send(plane, path, { method: 'PATCH', body, type: merge })
const read = async (path: string): Promise<KubeObject> => objectIn(await send(plane, path))

/** @throws Error with what was said instead */
function objectIn({ code, body, text }: Answered): KubeObject {
  if (code >= 300) throw new Error(text)
  return body as KubeObject
}
const statusIn = ({ body }: Answered): Status => body as Status
const specOf = (answer: Answered): JsonObject => objectIn(answer)['spec'] as JsonObject

const container = (more: object = {}): object => ({ name: 'nginx', image: 'nginx:1.14', ...more })
const deployment = (name: string, spec: object = {}, podSpec: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: 'nginx' } },
  spec: {
    selector: { matchLabels: { app: 'nginx' } },
    template: { metadata: { labels: { app: 'nginx' } }, spec: { containers: [container()], ...podSpec } },
    ...spec,
  },
})

describe('ServerSideApply', () => {
  const created = [
    {
      resource: 'pods',
      body: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'test-pod' },
        spec: { containers: [{ name: 'test-container', image: 'test-image' }] },
      },
      fields: {
        'f:spec': { 'f:containers': { 'k:{"name":"test-container"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
      },
    },
    {
      resource: 'services',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'test-svc' },
        spec: { ports: [{ port: 8080, protocol: 'UDP' }] },
      },
      fields: {
        'f:spec': { 'f:ports': { 'k:{"port":8080,"protocol":"UDP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} } } },
      },
    },
  ]
  it.each(created)(
    'should create an applied object if it does not already exist: $resource',
    async ({ resource, body, fields }) => {
      const at = `${core}/${resource}/${body.metadata.name}`
      expect((await apply(at, 'apply_test', body)).code).toBe(201)
      await read(at)
      const again = objectIn(await apply(at, 'apply_test_2', body))
      const applied = (again.metadata.managedFields ?? []).filter((m) => m.operation === 'Apply')
      expect(applied.map((m) => [m.manager, m.fieldsV1])).toEqual([
        ['apply_test', fields],
        ['apply_test_2', fields],
      ])
    },
  )

  it('should work for subresources', async () => {
    const at = `${core}/pods/with-status`
    const head = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'with-status' } }
    objectIn(await apply(at, 'apply_test', { ...head, spec: { containers: [container()] } }))
    const status = { ...head, status: { conditions: [{ type: 'MyStatus', status: 'True' }] } }
    const conditions = async (): Promise<unknown[]> =>
      (((await read(at))['status'] as { conditions?: { type: string }[] }).conditions ?? []).map((c) => c.type)
    objectIn(await apply(at, 'apply_test2', status))
    expect(await conditions(), 'only through the endpoint of the status').not.toContain('MyStatus')
    objectIn(await apply(`${at}/status`, 'apply_test2', status))
    expect(await conditions()).toContain('MyStatus')
  })

  it('should remove a field if it is owned but removed in the apply request', async () => {
    const at = `${deployments}/unset`
    const ports = { containers: [container({ ports: [{ containerPort: 80, protocol: 'TCP' }] })] }
    objectIn(await apply(at, 'apply_test', deployment('unset', { replicas: 3 }, ports)))
    objectIn(await apply(at, 'apply_test', deployment('unset', { replicas: 3 })))
    expect(JSON.stringify((await read(at))['spec'])).not.toContain('containerPort')
  })

  it('should not remove a field if an owner unsets it but other managers still have ownership of it', async () => {
    const at = `${deployments}/shared`
    for (const owner of ['shared_owner_1', 'shared_owner_2']) {
      objectIn(await apply(at, owner, deployment('shared', { replicas: 3 }, { hostname: 'test-hostname' })))
    }
    const spec = specOf(await apply(at, 'shared_owner_1', deployment('shared')))
    expect(spec).toMatchObject({ replicas: 3, template: { spec: { hostname: 'test-hostname' } } })
  })

  it('should ignore conflict errors if force apply is used', async () => {
    const at = `${deployments}/forced`
    const config = deployment('forced', { replicas: 3 })
    objectIn(await apply(at, 'apply_test', config))
    objectIn(await patch(at, { spec: { replicas: 5 } }))
    const refused = statusIn(await apply(at, 'apply_test', config))
    expect(refused).toEqual(
      failure({
        message: 'Apply failed with 1 conflict: conflict with "unknown" using apps/v1: .spec.replicas',
        reason: 'Conflict',
        details: {
          causes: [
            {
              reason: 'FieldManagerConflict',
              message: 'conflict with "unknown" using apps/v1',
              field: '.spec.replicas',
            },
          ],
        },
        code: 409,
      }),
    )
    expect(refused.details?.causes).toEqual([
      { reason: 'FieldManagerConflict', message: expect.any(String) as string, field: '.spec.replicas' },
    ])
    expect(specOf(await apply(at, 'apply_test', config, '&force=true'))).toMatchObject({ replicas: 3 })
  })

  it('should give up ownership of a field if forced applied by a controller', async () => {
    const at = `${deployments}/given-up`
    objectIn(await apply(at, 'test_applier', deployment('given-up', { replicas: 3 })))
    const live = await read(at)
    const next = { ...live, spec: { ...(live['spec'] as object), replicas: 4 } }
    objectIn(await send(plane, `${at}?fieldManager=controller`, { method: 'PUT', body: next }))
    expect(specOf(await apply(at, 'test_applier', deployment('given-up')))).toMatchObject({ replicas: 4 })
  })

  it('should work for CRDs', async () => {
    const port = objectOf(
      { containerPort: { type: 'integer', format: 'int32' }, name: { type: 'string' }, protocol: { type: 'string' } },
      { required: ['containerPort', 'protocol'] },
    )
    const ports = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      items: port,
    }
    const schema = {
      openAPIV3Schema: objectOf({
        spec: objectOf(
          {
            cronSpec: { type: 'string', pattern: '^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$' },
            ports,
            atomicList: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
          },
          { 'x-kubernetes-preserve-unknown-fields': true },
        ),
      }),
    }
    const versions = ['v1beta1', 'v1'].map((name, i) => ({ name, served: true, storage: i === 0, schema }))
    await install(plane, definition({ plural: 'noxus', kind: 'Noxu', scope: 'Cluster', versions }))
    const at = (version: string, name = 'mytest'): string => `/apis/ex.io/${version}/noxus/${name}`
    const yaml = (version: string, more = '', portName = 'x', number = 80): string =>
      [
        `apiVersion: ex.io/${version}`,
        'kind: Noxu',
        'metadata:',
        '  name: mytest',
        ...(more === '' ? [] : ['  finalizers:', `  - ${more}`]),
        'spec:',
        ...(portName === 'y' ? [] : ['  cronSpec: "* * * * */5"', '  replicas: 1']),
        '  ports:',
        `  - name: "${portName}"`,
        `    containerPort: ${number}`,
        '    protocol: TCP',
      ].join('\n')
    const whole = yaml('v1beta1', 'test-finalizer')

    const made = objectIn(await apply(at('v1beta1'), 'apply_test', whole))
    expect(made.metadata.finalizers).toEqual(['test-finalizer'])
    expect(made['spec']).toMatchObject({ replicas: 1, ports: [{ containerPort: 80 }] })

    // Another version of it, without the finalizer: that goes, because it was the same manager's.
    const other = objectIn(await apply(at('v1'), 'apply_test', yaml('v1')))
    expect(other['spec']).toMatchObject({ replicas: 1, ports: [{ containerPort: 80 }] })
    expect(other.metadata.finalizers).toBeUndefined()

    const both = ['test-finalizer', 'another-one']
    const added = objectIn(await patch(at('v1beta1'), { metadata: { finalizers: both } }))
    expect(added.metadata.finalizers).toEqual(both)
    const again = objectIn(await apply(at('v1beta1'), 'apply_test', whole))
    expect(again.metadata.finalizers?.toSorted()).toEqual(both.toSorted())

    expect(specOf(await patch(at('v1beta1'), { spec: { replicas: 5 } }))).toMatchObject({ replicas: 5 })
    const refused = statusIn(await apply(at('v1beta1'), 'apply_test', whole))
    expect(refused.details?.causes).toHaveLength(1)
    expect(specOf(await apply(at('v1beta1'), 'apply_test', whole, '&force=true'))).toMatchObject({ replicas: 1 })

    const edited = statusIn(await apply(at('v1beta1'), 'apply_test_2', yaml('v1beta1', '', 'y')))
    expect(edited.details?.causes).toHaveLength(1)
    const more = specOf(await apply(at('v1beta1'), 'apply_test_2', yaml('v1beta1', '', 'y', 8080)))
    expect(more['ports']).toHaveLength(2)

    const missing = { apiVersion: 'ex.io/v1beta1', kind: 'Noxu', metadata: { name: 'should-not-exist' } }
    const put = await send(plane, at('v1beta1', 'should-not-exist'), { method: 'PUT', body: missing })
    expect(statusIn(put)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'noxus.ex.io "should-not-exist" not found',
      reason: 'NotFound',
      details: { name: 'should-not-exist', group: 'ex.io', kind: 'noxus' },
      code: 404,
    })

    const list = (item: string): object => ({
      apiVersion: 'ex.io/v1beta1',
      kind: 'Noxu',
      metadata: { name: 'atomic' },
      spec: { atomicList: [item] },
    })
    objectIn(await apply(at('v1beta1', 'atomic'), 'apply_test', list('item1')))
    const replaced = specOf(await apply(at('v1beta1', 'atomic'), 'apply_test_2', list('item2'), '&force=true'))
    expect(replaced['atomicList']).toEqual(['item2'])
  })
})

describe('FieldValidation', () => {
  const strict = '&fieldValidation=Strict'
  const createRaw = (text: string): Promise<Answered> =>
    send(plane, `${deployments}?fieldManager=field_validation_mgr${strict}`, { method: 'POST', body: text })

  it('should detect unknown and duplicate fields of a typed object', async () => {
    const text = JSON.stringify(deployment('my-dep', { unknownField: 'foo', replicas: 2 }))
    const refused = statusIn(await createRaw(text.replace('"replicas":2', '"replicas":2,"replicas":3')))
    expect(refused).toEqual(
      failure({
        message:
          'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown ' +
          'field "spec.unknownField", duplicate field "spec.replicas"',
        reason: 'BadRequest',
        code: 400,
      }),
    )
    expect(refused.message).toContain(
      'strict decoding error: unknown field "spec.unknownField", duplicate field "spec.replicas"',
    )
  })

  it('should detect unknown metadata fields of a typed object', async () => {
    const text = JSON.stringify(deployment('my-dep')).replace('"name":"my-dep"', '"name":"my-dep","unknownMeta":"foo"')
    const refused = statusIn(await createRaw(text))
    expect(refused.message).toContain('strict decoding error: unknown field "metadata.unknownMeta"')
  })

  describe('of custom resources', () => {
    const withSchema = '/apis/ex.io/v1/strictly/mytest'
    const without = '/apis/ex.io/v1/loosely/mytest'
    beforeAll(async () => {
      const cronSpec = { type: 'string', pattern: '^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$' }
      const template = objectOf(
        { metadata: objectOf({ name: { type: 'string' } }), spec: objectOf({}) },
        { 'x-kubernetes-embedded-resource': true },
      )
      const keeping = { 'x-kubernetes-preserve-unknown-fields': true }
      const schema = objectOf({
        spec: objectOf({ foo: { type: 'string' }, cronSpec }),
        kept: objectOf({ foo: { type: 'string' }, cronSpec, template }, keeping),
      })
      await Promise.all([
        install(plane, definition({ plural: 'strictly', kind: 'Strict', scope: 'Cluster', schema })),
        install(plane, definition({ plural: 'loosely', kind: 'Loose', scope: 'Cluster' })),
      ])
    })

    const yaml = (kind: string, ...lines: string[]): string =>
      [`apiVersion: ex.io/v1`, `kind: ${kind}`, 'metadata:', '  name: mytest', ...lines].join('\n')
    const strictly = (path: string, text: string): Promise<Answered> =>
      apply(path, 'field_validation_mgr', text, strict)

    it('should create/apply a valid CR for CRD with validation schema', async () => {
      const text = yaml('Strict', 'spec:', '  foo: foo1', '  cronSpec: "* * * * */5"')
      expect((await strictly(withSchema, text)).code).toBe(201)
    })

    it('should create/apply a CR with unknown fields for CRD with no validation schema', async () => {
      const text = yaml('Loose', 'spec:', '  unknown: uk1', '  cronSpec: "* * * * */5"')
      expect((await strictly(without, text)).code).toBe(201)
    })

    it('should create/apply an invalid CR with extra properties for CRD with validation schema', async () => {
      const refused = await strictly(withSchema, yaml('Strict', 'unknownField: unknown', 'spec:', '  foo: foo1'))
      expect(statusIn(refused)).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message:
          'failed to create typed patch object (/mytest; ex.io/v1, Kind=Strict): .unknownField: field not ' +
          'declared in schema',
        code: 500,
      })
    })

    it('should detect unknown metadata fields in both the root and embedded object of a CR', async () => {
      const inside = ['kept:', '  template:', '    apiVersion: foo/v1', '    kind: Sub', '    metadata:']
      const embedded = await strictly(
        withSchema,
        yaml('Strict', ...inside, '      unknownSubMeta: unknown', '      name: a'),
      )
      expect(statusIn(embedded).message).toContain(
        '.kept.template.metadata.unknownSubMeta: field not declared in schema',
      )
      const root = await strictly(withSchema, yaml('Strict', '  unknownMeta: unknown', 'spec:', '  foo: foo1'))
      expect(statusIn(root).message).toContain('.metadata.unknownMeta: field not declared in schema')
    })

    it('should detect duplicates in a CR when preserving unknown fields', async () => {
      const refused = await strictly(
        withSchema,
        yaml('Strict', 'kept:', '  unknown: uk1', '  foo: foo1', '  foo: foo2', '  cronSpec: "* * * * */5"'),
      )
      expect(statusIn(refused)).toEqual(
        failure({
          message:
            'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 8: ' +
            'key "foo" already set in map',
          reason: 'BadRequest',
          code: 400,
        }),
      )
      expect(statusIn(refused).message).toContain('line 8: key "foo" already set in map')
    })
  })
})
