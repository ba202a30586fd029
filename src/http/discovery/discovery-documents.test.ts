import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { failure, refusal } from '../../../test/support/refusal.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { ProtobufCodec } from '../../catalog/protobuf/protobuf-codec.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { contentTypes } from '../negotiate.ts'
import { DiscoveryDocuments } from './discovery-documents.ts'

const catalog = loadCatalog()
const codec = new ProtobufCodec()
const discovery = new DiscoveryDocuments({
  types: catalog.types,
  serverAddress: () => '10.0.0.1:6443',
  render: (value, kind, n) => ({
    status: 200,
    headers: { 'content-type': contentTypes[n.format] },
    body: n.format === 'protobuf' ? codec.encode(value, kind) : Buffer.from(JSON.stringify(value, undefined, 2)),
  }),
})

const widgets: ResourceType = {
  group: 'ex.io',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  listKind: 'WidgetList',
  singular: 'widget',
  namespaced: true,
  verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: ['wd'],
  categories: [],
  subresources: new Map(),
  schema: { type: 'object' },
  storageName: 'widgets.ex.io',
  stored: true,
  custom: true,
}

async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<ApiResponse> {
  const handler = discovery.find(path)
  if (!handler) throw new Error(`discovery has no ${path}`)
  return handler({ method, path, query: '', headers } as unknown as ApiRequest, {} as RequestContext)
}
const bytesOf = (response: ApiResponse): Uint8Array => {
  if (!(response.body instanceof Uint8Array)) throw new Error('want a whole body')
  return response.body
}
const textOf = (response: ApiResponse): string => Buffer.from(bytesOf(response)).toString()
async function get(path: string, headers?: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await ask(path, headers)
  expect(response.status).toBe(200)
  return JSON.parse(textOf(response)) as Record<string, unknown>
}

interface Resource {
  readonly name: string
  readonly [field: string]: unknown
}
const resourcesOf = async (path: string): Promise<readonly Resource[]> => (await get(path))['resources'] as Resource[]
const find = (resources: readonly Resource[], name: string): Resource | undefined =>
  resources.find((r) => r.name === name)

const aggregated = (version: string): Record<string, string> => ({
  accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`,
})

describe('classic discovery', () => {
  it('/api lists the core versions and has no apiVersion', async () => {
    expect(await get('/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    })
  })

  it('/apis lists the other groups by priority, each with its preferred version first', async () => {
    const { kind, apiVersion, groups } = (await get('/apis/')) as {
      kind: string
      apiVersion: string
      groups: { name: string; versions: { version: string }[]; preferredVersion: object }[]
    }
    expect({ kind, apiVersion }).toEqual({ kind: 'APIGroupList', apiVersion: 'v1' })
    expect(groups.map((g) => g.name).slice(0, 3)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io'])
    expect(groups.find((g) => g.name === 'autoscaling')).toEqual({
      name: 'autoscaling',
      versions: [
        { groupVersion: 'autoscaling/v2', version: 'v2' },
        { groupVersion: 'autoscaling/v1', version: 'v1' },
      ],
      preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
    })
    expect(groups.some((g) => g.name === '')).toBe(false)
  })

  it('/apis/{group} is one of them', async () => {
    expect(await get('/apis/apps')).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'apps',
      versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
      preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
    })
  })

  it('the core list of resources has no apiVersion, the others have', async () => {
    expect(Object.keys(await get('/api/v1'))).toEqual(['kind', 'groupVersion', 'resources'])
    expect(await get('/apis/apps/v1')).toMatchObject({ apiVersion: 'v1', groupVersion: 'apps/v1' })
  })

  it('namespaces have their short name, no deletecollection, and update as the one verb of finalize', async () => {
    const core = await resourcesOf('/api/v1')
    expect(find(core, 'namespaces')).toEqual({
      name: 'namespaces',
      singularName: 'namespace',
      namespaced: false,
      kind: 'Namespace',
      verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['ns'],
      storageVersionHash: createHash('sha256').update('/v1/Namespace').digest().subarray(0, 8).toString('base64'),
    })
    expect(find(core, 'namespaces/finalize')).toEqual({
      name: 'namespaces/finalize',
      singularName: '',
      namespaced: false,
      kind: 'Namespace',
      verbs: ['update'],
    })
    expect(find(core, 'namespaces/status')?.['verbs']).toEqual(['get', 'patch', 'update'])
  })

  it('group and version stand only where the kind lives elsewhere', async () => {
    const core = await resourcesOf('/api/v1')
    expect(find(core, 'pods/eviction')).toMatchObject({ group: 'policy', version: 'v1', kind: 'Eviction' })
    expect(find(core, 'serviceaccounts/token')).toMatchObject({
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'TokenRequest',
    })
    expect(find(core, 'pods/status')).not.toHaveProperty('version')
    expect(find(await resourcesOf('/apis/apps/v1'), 'deployments/scale')).toMatchObject({
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    })
  })

  it('resources are listed by name, each before what is below it', async () => {
    const names = (await resourcesOf('/api/v1')).map((r) => r.name)
    expect(names).toEqual(names.toSorted((a, b) => (a.replace('/', ' ') < b.replace('/', ' ') ? -1 : 1)))
  })

  it('review kinds have one verb and no storage version', async () => {
    const resources = await resourcesOf('/apis/authorization.k8s.io/v1')
    expect(find(resources, 'selfsubjectaccessreviews')).toEqual({
      name: 'selfsubjectaccessreviews',
      singularName: 'selfsubjectaccessreview',
      namespaced: false,
      kind: 'SelfSubjectAccessReview',
      verbs: ['create'],
    })
  })

  it('protobuf is spoken where it is asked for', async () => {
    const response = await ask('/apis', { accept: 'application/vnd.kubernetes.protobuf,application/json' })
    expect(response.headers['content-type']).toBe('application/vnd.kubernetes.protobuf')
    const { object } = codec.decode(bytesOf(response))
    expect(object).toMatchObject({ kind: 'APIGroupList', groups: expect.arrayContaining([]) })
    expect((object['groups'] as unknown[]).length).toBe(((await get('/apis'))['groups'] as unknown[]).length)
  })
})

describe('aggregated discovery', () => {
  it.each(['v2', 'v2beta1'])('of %s holds every group with its resources', async (version) => {
    const response = await ask('/apis', aggregated(version))
    expect(response.headers).toMatchObject({
      'content-type': `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
      vary: 'Accept',
      'cache-control': 'public',
    })
    const body = JSON.parse(textOf(response)) as {
      items: { metadata: object; versions: { resources: Resource[] }[] }[]
    }
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}` })
    const apps = body.items.find((item) => (item.metadata as { name?: string }).name === 'apps')
    expect(apps?.versions[0]).toMatchObject({ version: 'v1', freshness: 'Current' })
    expect(apps?.versions[0]?.resources.find((r) => r['resource'] === 'deployments')).toEqual({
      resource: 'deployments',
      responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get', 'patch', 'update'],
        },
        {
          subresource: 'status',
          responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    })
  })

  it('of /api holds the core group without a name, its kinds with an empty group', async () => {
    const body = JSON.parse(textOf(await ask('/api', aggregated('v2')))) as {
      items: { metadata: object; versions: { resources: { resource: string; responseKind: object }[] }[] }[]
    }
    expect(body.items.map((item) => item.metadata)).toEqual([{}])
    expect(body.items[0]?.versions[0]?.resources.find((r) => r.resource === 'pods')?.responseKind).toEqual({
      group: '',
      version: 'v1',
      kind: 'Pod',
    })
  })

  it('says exactly what classic discovery says', async () => {
    const body = JSON.parse(textOf(await ask('/apis', aggregated('v2')))) as {
      items: {
        metadata: { name: string }
        versions: {
          version: string
          resources: { resource: string; verbs: string[]; subresources?: { subresource: string; verbs: string[] }[] }[]
        }[]
      }[]
    }
    for (const item of body.items) {
      for (const { version, resources } of item.versions) {
        const flat = resources.flatMap((r) => [
          [r.resource, r.verbs],
          ...(r.subresources ?? []).map((s) => [`${r.resource}/${s.subresource}`, s.verbs]),
        ])
        const classic = await resourcesOf(`/apis/${item.metadata.name}/${version}`)
        expect(flat).toEqual(classic.map((r) => [r.name, r['verbs']]))
      }
    }
    expect(body.items.length).toBeGreaterThan(15)
  })

  it('is not sent again to who has it', async () => {
    const { etag } = (await ask('/apis', aggregated('v2'))).headers
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/)
    const again = await ask('/apis', { ...aggregated('v2'), 'if-none-match': String(etag) })
    expect(again.status).toBe(304)
    expect(textOf(again)).toBe('')
  })

  const choices: readonly { name: string; accept: string; want: string }[] = [
    { name: 'no Accept means classic', accept: '', want: 'APIGroupList' },
    {
      name: 'parameters in any order, others ignored',
      accept: 'application/json; as=APIGroupDiscoveryList; profile=nopeer; v=v2; g=apidiscovery.k8s.io',
      want: 'APIGroupDiscoveryList',
    },
    {
      name: 'a plain document that stands first wins',
      accept: 'application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      want: 'APIGroupList',
    },
    {
      name: 'an unknown version falls through to the next wish',
      accept: 'application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json',
      want: 'APIGroupList',
    },
  ]
  it.each(choices)('$name', async ({ accept, want }) => {
    expect(await get('/apis', accept ? { accept } : {})).toMatchObject({ kind: want })
  })
})

describe('what is not served', () => {
  const plain: readonly { name: string; path: string }[] = [
    { name: 'an unknown group', path: '/apis/nope' },
    { name: 'a version of an unknown group', path: '/apis/nope/v1' },
  ]
  it.each(plain)('$name is a plain 404', async ({ path }) => {
    const response = await ask(path)
    expect({ status: response.status, text: textOf(response) }).toEqual({ status: 404, text: '404 page not found\n' })
    expect(response.headers['content-type']).toMatch(/^text\/plain/)
  })

  it.each(['/apis/apps/v9', '/api/v9'])('%s, a version of a built-in group, is a Status 404', async (path) => {
    expect(await refusal(ask(path))).toEqual(
      failure({
        message: 'the server could not find the requested resource',
        reason: 'NotFound',
        details: {},
        code: 404,
      }),
    )
  })

  it.each(['POST', 'DELETE', 'OPTIONS'])('%s is not allowed', async (method) => {
    expect(await refusal(ask('/apis', {}, method))).toEqual(
      failure({
        message: 'the server does not allow this method on the requested resource',
        reason: 'MethodNotAllowed',
        details: {},
        code: 405,
      }),
    )
  })

  it('paths of resources are not discovery', () => {
    expect(discovery.find('/api/v1/pods')).toBeUndefined()
    expect(discovery.find('/apis/apps/v1/deployments')).toBeUndefined()
    expect(discovery.find('/version')).toBeUndefined()
  })
})

describe('custom resources', () => {
  it('appear and vanish with their definition, in the order of verbs they have upstream', async () => {
    const before = (await ask('/apis', aggregated('v2'))).headers['etag']
    catalog.types.change({ add: [widgets] })
    expect(discovery.paths()).toContain('/apis/ex.io/v1')
    expect(find(await resourcesOf('/apis/ex.io/v1'), 'widgets')).toMatchObject({
      singularName: 'widget',
      shortNames: ['wd'],
      verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    })
    expect((await ask('/apis/ex.io/v2')).status).toBe(404)
    expect((await ask('/apis', aggregated('v2'))).headers['etag']).not.toBe(before)
    catalog.types.change({ remove: [widgets] })
    expect((await ask('/apis/ex.io')).status).toBe(404)
    expect((await ask('/apis', aggregated('v2'))).headers['etag']).toBe(before)
  })
})
