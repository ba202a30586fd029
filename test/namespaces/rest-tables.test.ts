/** The two tables 'REST API' of the Namespaces design document, row by row, and the same rows under `/apis`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { badRequest, failure, faultsIn } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane()
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const names = (items: readonly { metadata: { name?: string } }[]): (string | undefined)[] =>
  items.map((o) => o.metadata.name)

describe('to interact with the Namespace API', () => {
  it('CREATE: POST /api/{version}/namespaces', async () => {
    const { status, body } = await wire.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'created' },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'created' },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  it('LIST: GET /api/{version}/namespaces', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'listed' } })
    const { status, body } = await wire.call('GET', '/api/v1/namespaces')
    expect(status).toBe(200)
    expect(body.kind).toBe('NamespaceList')
    expect(names(body.items)).toEqual(
      expect.arrayContaining(['default', 'kube-node-lease', 'kube-public', 'kube-system', 'listed']),
    )
  })

  it('UPDATE: PUT /api/{version}/namespaces/{namespace}', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'updated' } })
    const { status } = await wire.call('PUT', '/api/v1/namespaces/updated', {
      metadata: { name: 'updated', labels: { team: 'blue' } },
    })
    expect(status).toBe(200)
    const after = await wire.must('GET', '/api/v1/namespaces/updated')
    expect(after.metadata.labels).toMatchObject({ team: 'blue', 'kubernetes.io/metadata.name': 'updated' })
  })

  it('DELETE: DELETE /api/{version}/namespaces/{namespace}', async () => {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'deleted' } })
    const { status, body } = await wire.call('DELETE', '/api/v1/namespaces/deleted')
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } })
    expect(body.metadata.deletionTimestamp).toBeDefined()
    expect(body.metadata.deletionGracePeriodSeconds).toBeUndefined()
  })

  for (const method of ['POST', 'PUT']) {
    it(`FINALIZE: ${method} /api/{version}/namespaces/{namespace}/finalize`, async () => {
      const name = `finalized-by-${method.toLowerCase()}`
      await wire.must('POST', '/api/v1/namespaces', {
        metadata: { name },
        spec: { finalizers: ['ex.io/a', 'kubernetes'] },
      })
      const { status, body } = await wire.call(method, `/api/v1/namespaces/${name}/finalize`, {
        metadata: { name },
        spec: { finalizers: ['kubernetes'] },
      })
      expect(status).toBe(200)
      expect(body.spec).toEqual({ finalizers: ['kubernetes'] })
      expect((await wire.must('GET', `/api/v1/namespaces/${name}`)).spec).toEqual({ finalizers: ['kubernetes'] })
    })
  }

  it('WATCH: GET /api/{version}/watch/namespaces', async () => {
    const seen = await wire.events(
      '/api/v1/watch/namespaces',
      (events) => events.some((e) => e.object.metadata.name === 'watched'),
      () => void wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'watched' } }),
    )
    expect(seen.find((e) => e.object.metadata.name === 'default')?.type).toBe('ADDED')
    expect(seen.find((e) => e.object.metadata.name === 'watched')?.type).toBe('ADDED')
  })
})

interface Served {
  readonly root: string
  readonly resource: string
  readonly kind: string
  readonly body: (name: string, more?: object) => object
}

const served: Served[] = [
  {
    root: '/api/v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    body: (name, more) => ({ metadata: { name }, ...more }),
  },
  {
    root: '/apis/apps/v1',
    resource: 'deployments',
    kind: 'Deployment',
    body: (name) => ({
      metadata: { name },
      spec: {
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      },
    }),
  },
]

describe.each(served)(
  'to interact with content associated with a Namespace, $root',
  ({ root, resource, kind, body }) => {
    const home = `home-${resource}`
    const inHome = `${root}/namespaces/${home}/${resource}`

    beforeAll(() => wire.must('POST', '/api/v1/namespaces', { metadata: { name: home } }))

    it('CREATE: POST {root}/namespaces/{namespace}/{resourceType}/', async () => {
      const { status, body: made } = await wire.call('POST', `${inHome}/`, body('created'))
      expect(status).toBe(201)
      expect(made).toMatchObject({ kind, metadata: { name: 'created', namespace: home } })
    })

    it('GET: GET {root}/namespaces/{namespace}/{resourceType}/{name}', async () => {
      await wire.must('POST', inHome, body('got'))
      const { status, body: got } = await wire.call('GET', `${inHome}/got`)
      expect(status).toBe(200)
      expect(got).toMatchObject({ kind, metadata: { name: 'got', namespace: home } })
    })

    it('UPDATE: PUT {root}/namespaces/{namespace}/{resourceType}/{name}', async () => {
      const made = await wire.must('POST', inHome, body('updated'))
      const next = { ...made, metadata: { ...made.metadata, labels: { v: '2' } } }
      const { status } = await wire.call('PUT', `${inHome}/updated`, next)
      expect(status).toBe(200)
      expect((await wire.must('GET', `${inHome}/updated`)).metadata.labels).toEqual({ v: '2' })
    })

    it('DELETE: DELETE {root}/namespaces/{namespace}/{resourceType}/{name}', async () => {
      await wire.must('POST', inHome, body('deleted'))
      expect(await wire.call('DELETE', `${inHome}/deleted`)).toMatchObject({
        status: 200,
        body: { kind: 'Status', status: 'Success', details: { name: 'deleted', kind: resource } },
      })
      expect((await wire.call('GET', `${inHome}/deleted`)).status).toBe(404)
    })

    it('LIST: GET {root}/namespaces/{namespace}/{resourceType}', async () => {
      await wire.must('POST', inHome, body('listed'))
      await wire.must('POST', `${root}/namespaces/default/${resource}`, body('elsewhere'))
      const { status, body: list } = await wire.call('GET', inHome)
      expect(status).toBe(200)
      expect(list.kind).toBe(`${kind}List`)
      expect(names(list.items)).toContain('listed')
      expect(new Set(list.items.map((o) => o.metadata.namespace))).toEqual(new Set([home]))
    })

    it('WATCH: GET {root}/watch/namespaces/{namespace}/{resourceType}', async () => {
      const seen = await wire.events(
        `${root}/watch/namespaces/${home}/${resource}`,
        (events) => events.some((e) => e.object.metadata.name === 'watched'),
        () =>
          void wire
            .must('POST', `${root}/namespaces/default/${resource}`, body('not-watched'))
            .then(() => wire.must('POST', inHome, body('watched'))),
      )
      expect(new Set(seen.map((e) => e.object.metadata.namespace))).toEqual(new Set([home]))
      expect(seen.at(-1)).toMatchObject({ type: 'ADDED', object: { kind, metadata: { name: 'watched' } } })
    })

    it('WATCH: GET {root}/watch/{resourceType}', async () => {
      const seen = await wire.events(
        `${root}/watch/${resource}`,
        (events) => events.filter((e) => e.object.metadata.name === 'watched-everywhere').length === 2,
        () =>
          void wire
            .must('POST', `${root}/namespaces/default/${resource}`, body('watched-everywhere'))
            .then(() => wire.must('POST', inHome, body('watched-everywhere'))),
      )
      const both = seen.filter((e) => e.object.metadata.name === 'watched-everywhere')
      expect(both.map((e) => [e.type, e.object.metadata.namespace])).toEqual([
        ['ADDED', 'default'],
        ['ADDED', home],
      ])
    })

    it('LIST: GET {root}/list/{resourceType}', async () => {
      await wire.must('POST', inHome, body('in-home'))
      await wire.must('POST', `${root}/namespaces/default/${resource}`, body('in-default'))
      const { status, body: list } = await wire.call('GET', `${root}/list/${resource}`)
      expect(status).toBe(200)
      expect(list.kind).toBe(`${kind}List`)
      expect(names(list.items)).toEqual(expect.arrayContaining(['in-home', 'in-default']))
    })

    it('an empty namespace in the body is filled from the path', async () => {
      const made = await wire.must('POST', inHome, body('filled'))
      expect(made.metadata.namespace).toBe(home)
    })

    it('a namespace in the body that is not the one on the path is refused', async () => {
      const foreign = body('foreign') as { metadata: object }
      const sent = { ...foreign, metadata: { ...foreign.metadata, namespace: 'default' } }
      const refusal = badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      )
      expect((await wire.call('POST', inHome, sent)).body).toEqual(refusal)
      await wire.must('POST', inHome, body('foreign'))
      expect((await wire.call('PUT', `${inHome}/foreign`, sent)).body).toEqual(refusal)
    })
  },
)

describe('the sub-resources of namespaces', () => {
  const definition = (plural: string): object => ({
    metadata: { name: `${plural}.ex.io` },
    spec: {
      group: 'ex.io',
      scope: 'Namespaced',
      names: { plural, kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })

  it.each(['finalize', 'status'])('leave no resource type the name %s', async (plural) => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const { status, body } = await wire.call('POST', path, definition(plural))
    const about = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', name: `${plural}.ex.io` }
    expect(faultsIn({ code: status, body }, about)).toEqual([
      `spec.names.plural: Invalid value: "${plural}": is reserved for a sub-resource of namespaces`,
    ])
  })

  it.each(['GET', 'PATCH', 'DELETE'])('know no %s of finalize', async (method) => {
    expect((await wire.call(method, '/api/v1/namespaces/default/finalize')).body).toEqual(
      failure({
        message: 'the server does not allow this method on the requested resource',
        reason: 'MethodNotAllowed',
        details: {},
        code: 405,
      }),
    )
  })
})
