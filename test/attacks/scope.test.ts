/** Cluster-scoped types addressed as if they were content of a namespace in which the caller is `cluster-admin`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleBindingsResource } from '../../src/kube/rbac.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { roleBinding, user } from '../support/fake-rbac-source.ts'
import { send } from '../support/send.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const notFound = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'the server could not find the requested resource',
  reason: 'NotFound',
  details: {},
  code: 404,
}
const dora = { username: 'dora', groups: ['system:authenticated'] }
const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }

interface Served {
  readonly prefix: string
  readonly resource: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

let plane: TestControlPlane
let served: readonly Served[]

beforeAll(async () => {
  plane = await startControlPlane()
  for (const name of ['mine', 'theirs']) await plane.client.create(namespaces, { metadata: { name } })
  await install(plane, definition({ group: 'sky.io', scope: 'Cluster', plural: 'moons', kind: 'Moon' }))
  await install(plane, definition({ group: 'sky.io', plural: 'comets', kind: 'Comet' }))
  await plane.client.create(
    roleBindingsResource,
    roleBinding('mine', 'dora', 'ClusterRole/cluster-admin', user('dora')),
  )
  served = await discover()
})
afterAll(() => plane[Symbol.asyncDispose]())

/** Everything that discovery shows, sub-resources included. */
async function discover(): Promise<Served[]> {
  const groups = (await send(plane, '/apis')).body as { groups: { versions: { groupVersion: string }[] }[] }
  const versions = groups.groups.flatMap((group) => group.versions.map((version) => `/apis/${version.groupVersion}`))
  const found: Served[] = []
  for (const prefix of ['/api/v1', ...versions]) {
    const list = (await send(plane, prefix)).body as {
      resources: { name: string; namespaced: boolean; verbs: string[] }[]
    }
    for (const { name, namespaced, verbs } of list.resources) found.push({ prefix, resource: name, namespaced, verbs })
  }
  return found
}

const clusterScoped = (): Served[] => served.filter(({ namespaced }) => !namespaced)

/** Every form in which the resource could be named below the caller's own namespace, with each method. */
function forms({ prefix, resource }: Served, scope: string): { method: string; path: string }[] {
  const [type, subresource] = resource.split('/') as [string, string?]
  const below = subresource === undefined ? '' : `/${subresource}`
  const paths = [
    `${prefix}/namespaces/${scope}/${type}${below === '' ? '' : `/theirs${below}`}`,
    `${prefix}/namespaces/${scope}/${type}/theirs${below}`,
    `${prefix}/namespaces/${scope}/${type}/${scope || 'mine'}${below}`,
    `${prefix}/watch/namespaces/${scope}/${type}${below === '' ? '' : `/theirs${below}`}`,
    `${prefix}/watch/namespaces/${scope}/${type}/theirs${below}`,
    `${prefix}/namespaces/${scope}/${type.replace(/^./, (c) => `%${c.charCodeAt(0).toString(16)}`)}/theirs${below}`,
  ]
  return paths.flatMap((path) => ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ method, path })))
}

const bodyOf = (method: string): object => (method === 'GET' || method === 'DELETE' ? {} : { body: {} })

describe('attack: a cluster-scoped type under a namespace', () => {
  test('cluster-admin by RoleBinding in one namespace finds no route, for any type, form and method', async () => {
    let tried = 0
    for (const resource of clusterScoped()) {
      for (const { method, path } of forms(resource, 'mine')) {
        const { code, body } = await send(plane, path, { method, user: dora, ...bodyOf(method) })
        expect([method, path, code, body]).toEqual([method, path, 404, notFound])
        tried++
      }
    }
    expect(tried).toBeGreaterThan(1000)
  })

  test('a cluster administrator finds no route either', async () => {
    for (const resource of clusterScoped()) {
      for (const { method, path } of forms(resource, 'mine')) {
        const { code, body } = await send(plane, path, { method, ...bodyOf(method) })
        expect([method, path, code, body]).toEqual([method, path, 404, notFound])
      }
    }
  })

  test('an anonymous caller is refused as for everything else', async () => {
    for (const resource of clusterScoped()) {
      for (const { method, path } of forms(resource, 'mine')) {
        const { code } = await send(plane, path, { method, user: anonymous, ...bodyOf(method) })
        expect([method, path, code]).toEqual([method, path, 403])
      }
    }
  })

  test('with an empty namespace there is no route either', async () => {
    for (const resource of clusterScoped()) {
      for (const { method, path } of forms(resource, '')) {
        const { code } = await send(plane, path, { method, ...bodyOf(method) })
        expect([method, path, code]).toEqual([method, path, 404])
      }
    }
  })

  test('nothing was created, changed or deleted by all that', async () => {
    const list = await plane.client.list(namespaces)
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['mine', 'theirs']))
    expect(list.items.some(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(false)
  })

  test('content of the namespace is served where it belongs, and nowhere else', async () => {
    for (const [path, code] of [
      ['/apis/sky.io/v1/namespaces/mine/comets', 200],
      ['/apis/sky.io/v1/namespaces/theirs/comets', 403],
      ['/apis/sky.io/v1/namespaces/mine/moons', 404],
      ['/apis/sky.io/v1/moons', 403],
      ['/api/v1/namespaces/mine', 200],
      ['/api/v1/namespaces/theirs', 403],
      ['/api/v1/namespaces', 403],
    ] as const) {
      expect([path, (await send(plane, path, { user: dora })).code]).toEqual([path, code])
    }
  })
})

test('POST of finalize is authorized as the update that it is', async () => {
  const path = '/api/v1/namespaces/theirs/finalize'
  const { code, body } = await send(plane, path, { method: 'POST', user: dora, body: {} })
  expect([code, (body as { message: string }).message]).toEqual([
    403,
    'namespaces "theirs" is forbidden: User "dora" cannot update resource "namespaces/finalize" in API group ' +
      '"" in the namespace "theirs"',
  ])
})
