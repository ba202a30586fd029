import { beforeEach, describe, expect, it } from 'vitest'
import { decodeGnostic } from '../../../test/support/gnostic-decoder.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { sliceMs, Turns } from '../../base/turns.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { OpenapiDocuments } from './openapi-documents.ts'

const spec: Schema = {
  type: 'object',
  required: ['size'],
  properties: new Map<string, Schema>([
    ['size', { type: 'integer', format: 'int32', description: 'How big.', minimum: 1, maximum: 0.5, default: 3 }],
    ['port', { type: 'intOrString' }],
    ['free', { type: 'object', preserveUnknownFields: true, properties: new Map([['a', { type: 'string' }]]) }],
    ['maybe', { type: 'string', nullable: true, enum: ['a', 'b'] }],
    [
      'parts',
      {
        type: 'array',
        listType: 'map',
        listMapKeys: ['name'],
        items: { type: 'object', properties: new Map([['name', { type: 'string' }]]) },
      },
    ],
    ['open', { type: 'object', additionalProperties: true }],
  ]),
}
const widgets: ResourceType = {
  group: 'ex.io',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  listKind: 'WidgetList',
  singular: 'widget',
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: [],
  categories: [],
  subresources: new Map([
    [
      'scale',
      {
        name: 'scale',
        verbs: ['get', 'patch', 'update'],
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      },
    ],
  ]),
  schema: { type: 'object', description: 'A widget.', properties: new Map([['spec', spec]]) },
  storageName: 'widgets.ex.io',
  stored: true,
  custom: true,
}

const clock = new FakeClock()
let catalog = loadCatalog()
let openapi: OpenapiDocuments
/** Every look at it costs half a slice. */
let elapsedMs = 0
const turns = new Turns({ now: () => (elapsedMs += sliceMs / 2) })
beforeEach(() => {
  catalog = loadCatalog()
  elapsedMs = 0
  openapi = new OpenapiDocuments({ types: catalog.types, catalog, clock, turns, version: 'v1.36.3+borough.test' })
})

async function ask(
  path: string,
  query = '',
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<ApiResponse> {
  const handler = openapi.find(path)
  if (!handler) throw new Error(`OpenAPI has no ${path}`)
  return handler({ method, path, query, headers } as unknown as ApiRequest, {} as RequestContext)
}
const bytesOf = (response: ApiResponse): Uint8Array => {
  if (!(response.body instanceof Uint8Array)) throw new Error('want a whole body')
  return response.body
}
async function get(path: string): Promise<JsonObject> {
  const response = await ask(path)
  expect(response.status).toBe(200)
  return JSON.parse(Buffer.from(bytesOf(response)).toString()) as JsonObject
}
async function index(): Promise<Record<string, string>> {
  const { paths } = (await get('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> }
  return Object.fromEntries(Object.entries(paths).map(([group, { serverRelativeURL }]) => [group, serverRelativeURL]))
}

/** The value at a path of keys. */
function at(value: JsonValue | undefined, ...keys: readonly (string | number)[]): JsonValue | undefined {
  let here = value
  for (const key of keys) {
    if (typeof here !== 'object' || here === null) return undefined
    here = Array.isArray(here) ? here[Number(key)] : here[key]
  }
  return here
}

function* references(value: JsonValue): Iterable<string> {
  if (Array.isArray(value)) for (const item of value) yield* references(item)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (key === '$ref' && typeof item === 'string') yield item
      else yield* references(item)
    }
  }
}

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const
function operationsIn(document: JsonObject): { path: string; method: string; operation: JsonObject }[] {
  return Object.entries(document['paths'] as Record<string, JsonObject>).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] as JsonObject }] : [])),
  )
}
const parameterNames = (operation: JsonObject): unknown[] =>
  ((operation['parameters'] ?? []) as JsonObject[]).map((p) => p['name'])

const core = '/openapi/v3/api/v1'
const schemas = ['components', 'schemas'] as const

describe('OpenAPI documents are whole', () => {
  it('every reference leads to a definition, in version 2 and in each document of version 3', async () => {
    catalog.types.change({ add: [widgets] })
    let count = 0
    const check = (document: JsonObject): void => {
      for (const reference of references(document)) {
        expect(at(document, ...reference.slice(2).split('/')), reference).toBeTypeOf('object')
        count++
      }
    }
    check(await get('/openapi/v2'))
    for (const group of Object.keys(await index())) check(await get(`/openapi/v3/${group}`))
    expect(count).toBeGreaterThan(3000)
  })

  it('every served kind has a definition that names it', async () => {
    const definitions = Object.values((await get('/openapi/v2'))['definitions'] as Record<string, JsonObject>)
    const named = new Set(
      definitions
        .flatMap((d) => (d['x-kubernetes-group-version-kind'] ?? []) as object[])
        .map((k) => JSON.stringify(k)),
    )
    for (const { group, version, kind, listKind, verbs } of catalog.types.all()) {
      expect(named).toContain(JSON.stringify({ group, kind, version }))
      if (verbs.includes('list')) expect(named).toContain(JSON.stringify({ group, kind: listKind, version }))
    }
  })

  it('names of operations are unique', async () => {
    const ids = operationsIn(await get('/openapi/v2')).map(({ operation }) => operation['operationId'])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThan(500)
  })

  it('every PATCH takes dryRun and fieldValidation: by this clients see that the server knows them', async () => {
    for (const document of [await get('/openapi/v2'), await get(core)]) {
      const patches = operationsIn(document).filter(({ method }) => method === 'patch')
      expect(patches.length).toBeGreaterThan(20)
      for (const { operation } of patches) {
        expect(parameterNames(operation)).toEqual(expect.arrayContaining(['dryRun', 'fieldValidation', 'force']))
        expect(operation['x-kubernetes-action']).toBe('patch')
      }
    }
  })
})

describe('operations', () => {
  const cases: readonly { name: string; path: string; method: string; want: object }[] = [
    {
      name: 'listing a cluster-wide kind',
      path: '/api/v1/namespaces',
      method: 'get',
      want: { operationId: 'listCoreV1Namespace', 'x-kubernetes-action': 'list', tags: ['core_v1'] },
    },
    {
      name: 'listing over all namespaces',
      path: '/api/v1/pods',
      method: 'get',
      want: { operationId: 'listCoreV1PodForAllNamespaces' },
    },
    {
      name: 'creating in a namespace',
      path: '/api/v1/namespaces/{namespace}/pods',
      method: 'post',
      want: {
        operationId: 'createCoreV1NamespacedPod',
        'x-kubernetes-group-version-kind': { group: '', kind: 'Pod', version: 'v1' },
      },
    },
    {
      name: 'deleting many',
      path: '/api/v1/namespaces/{namespace}/pods',
      method: 'delete',
      want: { operationId: 'deleteCoreV1CollectionNamespacedPod', 'x-kubernetes-action': 'deletecollection' },
    },
    {
      name: 'a sub-resource',
      path: '/api/v1/namespaces/{name}/finalize',
      method: 'put',
      want: { operationId: 'replaceCoreV1NamespaceFinalize', 'x-kubernetes-action': 'put' },
    },
    {
      name: 'a sub-resource whose kind lives elsewhere',
      path: '/api/v1/namespaces/{namespace}/pods/{name}/eviction',
      method: 'post',
      want: {
        operationId: 'createCoreV1NamespacedPodEviction',
        'x-kubernetes-group-version-kind': { group: 'policy', kind: 'Eviction', version: 'v1' },
      },
    },
  ]
  it.each(cases)('$name', async ({ path, method, want }) => {
    expect(at(await get(core), 'paths', path, method)).toMatchObject(want)
  })

  it('a namespace can be removed, namespaces can not', async () => {
    const document = await get(core)
    expect(at(document, 'paths', '/api/v1/namespaces', 'delete')).toBeUndefined()
    expect(at(document, 'paths', '/api/v1/namespaces/{name}', 'delete')).toBeDefined()
  })

  it('groups stand in the names of their operations as upstream puts them there', async () => {
    const document = await get('/openapi/v3/apis/rbac.authorization.k8s.io/v1')
    expect(at(document, 'paths', '/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}', 'get', 'operationId')).toBe(
      'readRbacAuthorizationV1ClusterRole',
    )
  })
})

describe('definitions', () => {
  it('tell how lists merge', async () => {
    expect(at(await get(core), ...schemas, 'io.k8s.api.core.v1.Container', 'properties', 'ports')).toMatchObject({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
      items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' }], default: {} },
    })
  })

  it('of version 2 hold references beside texts, those of version 3 wrap them', async () => {
    const v2 = at(await get('/openapi/v2'), 'definitions', 'io.k8s.api.core.v1.ObjectFieldSelector')
    expect(at(v2, 'required')).toEqual(['fieldPath'])
    const strategy = ['io.k8s.api.apps.v1.DeploymentSpec', 'properties', 'strategy'] as const
    expect(at(await get('/openapi/v2'), 'definitions', ...strategy)).toEqual({
      $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy',
      'x-kubernetes-patch-strategy': 'retainKeys',
    })
    expect(at(await get('/openapi/v3/apis/apps/v1'), ...schemas, ...strategy)).toEqual({
      allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
      default: {},
      'x-kubernetes-patch-strategy': 'retainKeys',
    })
  })

  it('name quantities, times and numbers-or-text', async () => {
    const names = { quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity' }
    const document = await get(core)
    expect(at(document, ...schemas, names.quantity)).toMatchObject({ oneOf: [{ type: 'string' }, { type: 'number' }] })
    expect(at(await get('/openapi/v2'), 'definitions', names.quantity)).toMatchObject({ type: 'string' })
    expect(
      at(
        document,
        ...schemas,
        'io.k8s.api.core.v1.ResourceRequirements',
        'properties',
        'limits',
        'additionalProperties',
        '$ref',
      ),
    ).toBe(`#/components/schemas/${names.quantity}`)
    expect(JSON.stringify(at(document, ...schemas, 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'))).toContain(
      'meta.v1.Time',
    )
  })

  it('know the initializers of a namespace', async () => {
    expect(
      JSON.stringify(at(await get(core), ...schemas, 'io.k8s.api.core.v1.NamespaceSpec', 'properties', 'initializers')),
    ).toContain('dev.borough.api.core.v1.Initializers')
  })
})

describe('custom resources', () => {
  it('are written out, with the metadata every object has', async () => {
    catalog.types.change({ add: [widgets] })
    const document = await get('/openapi/v3/apis/ex.io/v1')
    expect(at(document, ...schemas, 'io.ex.v1.Widget')).toMatchObject({
      description: 'A widget.',
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'ex.io', kind: 'Widget', version: 'v1' }],
      properties: {
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: {
          required: ['size'],
          properties: {
            size: { type: 'integer', format: 'int32', description: 'How big.', minimum: 1, default: 3 },
            port: { 'x-kubernetes-int-or-string': true },
            free: {
              type: 'object',
              'x-kubernetes-preserve-unknown-fields': true,
              properties: { a: { type: 'string' } },
            },
            maybe: { type: 'string', nullable: true, enum: ['a', 'b'] },
            parts: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
            open: { additionalProperties: true },
          },
        },
      },
    })
    const patch = at(document, 'paths', '/apis/ex.io/v1/namespaces/{namespace}/widgets/{name}', 'patch')
    expect(Object.keys(at(patch, 'requestBody', 'content') as object)).not.toContain(
      'application/strategic-merge-patch+json',
    )
    expect(at(document, 'paths', '/apis/ex.io/v1/namespaces/{namespace}/widgets/{name}/scale', 'get')).toBeDefined()
  })

  it('lose in version 2 what kubectl trips over', async () => {
    catalog.types.change({ add: [widgets] })
    const properties = at(
      await get('/openapi/v2'),
      'definitions',
      'io.ex.v1.Widget',
      'properties',
      'spec',
      'properties',
    )
    expect(at(properties, 'free')).toEqual({ 'x-kubernetes-preserve-unknown-fields': true })
    expect(at(properties, 'maybe')).toEqual({ enum: ['a', 'b'] })
  })

  it('change no document but their own', async () => {
    const before = await index()
    catalog.types.change({ add: [widgets] })
    const { 'apis/ex.io/v1': own, ...others } = await index()
    expect(own).toMatch(/^\/openapi\/v3\/apis\/ex\.io\/v1\?hash=[0-9A-F]{128}$/)
    expect(others).toEqual(before)
    catalog.types.change({ remove: [widgets] })
    expect(await index()).toEqual(before)
    expect(openapi.find('/openapi/v3/apis/ex.io/v1')).toBeUndefined()
  })
})

describe('caching', () => {
  it('a document asked for by its hash may be kept for ever', async () => {
    const url = (await index())['api/v1'] ?? ''
    const [path = '', query] = url.split('?')
    const response = await ask(path, query)
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'public, immutable', vary: 'Accept' } })
    expect(Date.parse(String(response.headers['expires']))).toBeGreaterThan(clock.now() + 364 * 24 * 3600 * 1000)
    expect(response.headers['etag']).toBe(`"${query?.slice('hash='.length)}"`)
  })

  it('a wrong hash leads to the right one', async () => {
    const response = await ask(core, 'hash=ABC')
    expect(response).toMatchObject({ status: 301, headers: { location: (await index())['api/v1'] } })
  })

  it('without a hash nothing is promised', async () => {
    expect((await ask(core)).headers['cache-control']).toBeUndefined()
  })

  it.each(['/openapi/v2', '/openapi/v3', core])('%s is not sent again to who has it', async (path) => {
    const { etag } = (await ask(path)).headers
    const again = await ask(path, '', { 'if-none-match': String(etag) })
    expect({ status: again.status, size: bytesOf(again).length }).toEqual({ status: 304, size: 0 })
  })
})

describe('negotiation', () => {
  const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
  const cases: readonly { name: string; path: string; accept: string; want: string | 406 }[] = [
    { name: 'JSON if nothing is asked for', path: '/openapi/v2', accept: '', want: 'application/json' },
    { name: 'JSON for anything', path: '/openapi/v2', accept: '*/*', want: 'application/json' },
    { name: 'protobuf by its name', path: '/openapi/v2', accept: protobuf, want: protobuf },
    {
      name: 'protobuf by its old name',
      path: '/openapi/v2',
      accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      want: protobuf,
    },
    { name: 'nothing else', path: '/openapi/v2', accept: 'text/html', want: 406 },
    { name: 'version 3 in JSON', path: core, accept: 'application/json, */*', want: 'application/json' },
    { name: 'and in nothing else', path: core, accept: 'application/xml', want: 406 },
  ]
  it.each(cases)('$name', async ({ path, accept, want }) => {
    const response = await ask(path, '', accept ? { accept } : {})
    if (want === 406) expect(response.status).toBe(406)
    else expect(response).toMatchObject({ status: 200, headers: { 'content-type': want } })
  })

  it('the protobuf says exactly what the JSON says', async () => {
    catalog.types.change({ add: [widgets] })
    const response = await ask('/openapi/v2', '', { accept: protobuf })
    expect(decodeGnostic(bytesOf(response))).toEqual(await get('/openapi/v2'))
  })

  it('other methods are not allowed', async () => {
    await expect(ask('/openapi/v2', '', {}, 'POST')).rejects.toMatchObject({ code: 405 })
  })
})

describe('a document holds nobody up while it is made', () => {
  it.each([
    { name: 'version 2', path: 'openapi/v2', accept: 'application/json', atLeast: 500 },
    {
      name: 'version 2 as protobuf',
      path: 'openapi/v2',
      accept: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      atLeast: 1000,
    },
    { name: 'version 3 of a group', path: 'openapi/v3/apis/apps/v1', accept: 'application/json', atLeast: 100 },
  ])('$name is made in slices, and once for all who ask', async ({ path, accept, atLeast }) => {
    const counter = new TurnCounter()
    const [one, other] = await Promise.all([ask(path, '', { accept }), ask(path, '', { accept })])
    counter.stop()
    expect(counter.turns).toBeGreaterThanOrEqual(atLeast)
    expect(one.body).toBe(other.body)
    expect(await ask(path, '', { accept })).toEqual(one)
  })

  it('who asks after types have changed is not given what was begun before', async () => {
    const before = ask('openapi/v2')
    catalog.types.change({ add: [widgets] })
    const after = await ask('openapi/v2')
    expect(bytesOf(await before)).not.toEqual(bytesOf(after))
    expect(Buffer.from(bytesOf(after)).toString()).toContain('/widgets')
    expect((await ask('openapi/v2')).body).toBe(after.body)
  })
})
