/** What creators may do with a namespace before anything gives them rights in it, and what they learn of names. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Client } from '../../src/client/client.ts'
import { clusterRoleBindingsResource, clusterRolesResource, type PolicyRule } from '../../src/kube/rbac.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, group, user } from '../support/fake-rbac-source.ts'
import { failure, forbidden } from '../support/refusal.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { type Answer, Wire } from '../support/wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}
const path = '/api/v1/namespaces'
const authenticated = 'system:authenticated'

let plane: TestControlPlane
let admin: Client
let wire: Wire
const clock = new FakeClock()

async function grant(name: string, ...rules: PolicyRule[]): Promise<void> {
  await admin.create(clusterRolesResource, clusterRole(name, ...rules))
  await admin.create(clusterRoleBindingsResource, clusterRoleBinding(name, name, user(name)))
}

beforeAll(async () => {
  plane = await startControlPlane({ clock })
  admin = plane.client
  wire = new Wire(plane)
  await admin.create(configurations, { metadata: { name: 'slow' }, initializers: [{ name: 'slow.ex.io' }] })
  await grant('creator', allow('create', '', 'namespaces'))
  await grant('stranger', allow('get', '', 'pods'))
  await grant('patcher', allow('create,patch', '', 'namespaces'))
  await admin.create(
    clusterRoleBindingsResource,
    clusterRoleBinding(
      'others',
      'creator',
      user('other'),
      user('system:anonymous'),
      group('system:serviceaccounts:ci'),
    ),
  )
})
afterAll(() => plane[Symbol.asyncDispose]())

let count = 0
/** A namespace that waits for an initializer that never acts. */
async function waiting(by: Wire = wire.as('creator')): Promise<string> {
  const name = `waiting-${++count}`
  await by.must('POST', `${path}?includeUninitialized=true`, { metadata: { name } })
  return name
}
const finish = async (name: string): Promise<void> => {
  await admin.patch(namespaces, { name }, { spec: { initializers: { pending: [] } } })
}
const cannot = (who: string, verb: string, name: string): unknown =>
  forbidden(
    { kind: 'namespaces', name },
    `User "${who}" cannot ${verb} resource "namespaces" in API group "" in the namespace "${name}"`,
  )
const named = (name: string): string => `fieldSelector=metadata.name%3D${name}`

describe('while a namespace initializes', () => {
  test('its creator may get it', async () => {
    const name = await waiting()
    const found = await wire.as('creator').must('GET', `${path}/${name}`)
    expect(found).toMatchObject({ metadata: { name }, status: { phase: 'Initializing' } })
  })

  test('its creator may list and watch it by its name', async () => {
    const name = await waiting()
    const { items, metadata } = await wire.as('creator').must('GET', `${path}?${named(name)}`)
    expect(items.map((o) => o.metadata.name)).toEqual([name])
    const since = `resourceVersion=${metadata.resourceVersion}`
    for (const watch of [`${path}?watch=true&${since}&${named(name)}`, `/api/v1/watch/namespaces/${name}?${since}`]) {
      const events = await wire.as('creator').events(
        watch,
        (seen) => seen.length > 0,
        async () => {
          await admin.patch(namespaces, { name }, { metadata: { labels: { step: `${++count}` } } })
        },
      )
      expect(events.map((e) => [e.type, e.object.metadata.name])).toEqual([['MODIFIED', name]])
    }
  })

  test('its creator may delete it, and sees it go', async () => {
    const name = await waiting()
    const creator = wire.as('creator')
    await creator.must('DELETE', `${path}/${name}`)
    await waitFor(admin, namespaces, { name }, isGone)
    expect((await creator.call('GET', `${path}/${name}`)).status).toBe(404)
    expect((await creator.must('GET', `${path}?${named(name)}`)).items).toEqual([])
    // Deleting it again is told as it is told anybody who may not.
    expect((await creator.call('DELETE', `${path}/${name}`)).body).toEqual(cannot('creator', 'delete', name))
    await clock.advance(60_000)
    expect((await creator.call('GET', `${path}?${named(name)}`)).status).toBe(403)
  })

  test('the name that its creator may still read is nobody’s when another has it', async () => {
    const name = await waiting()
    await wire.as('creator').must('DELETE', `${path}/${name}`)
    await waitFor(admin, namespaces, { name }, isGone)
    await wire.as('other').must('POST', `${path}?includeUninitialized=true`, { metadata: { name } })
    expect((await wire.as('creator').call('GET', `${path}/${name}`)).body).toEqual(cannot('creator', 'get', name))
    expect((await wire.as('creator').call('GET', `${path}?${named(name)}`)).status).toBe(403)
  })

  test('a review says so', async () => {
    const name = await waiting()
    const review = async (who: string, verb: string): Promise<unknown> => {
      const spec = { resourceAttributes: { verb, resource: 'namespaces', namespace: name, name } }
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
      const asked = await wire.as(who).must('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body)
      return asked.status
    }
    expect(await review('creator', 'delete')).toEqual({
      allowed: true,
      reason: `user created namespace "${name}", which is being initialized`,
    })
    expect(await review('creator', 'patch')).toMatchObject({ allowed: false })
    expect(await review('other', 'get')).toMatchObject({ allowed: false })
  })

  test('a service account is a creator like any other', async () => {
    const account = wire.as('system:serviceaccount:ci:robot', ['system:serviceaccounts', 'system:serviceaccounts:ci'])
    const theirs = await waiting(account)
    expect((await account.call('DELETE', `${path}/${theirs}`)).status).toBe(200)
  })

  test.each([
    ['PUT', ''],
    ['PATCH', ''],
    ['PUT', '/status'],
    ['PUT', '/finalize'],
    ['GET', '/status'],
    ['GET', '/configmaps'],
    ['GET', '/secrets/x'],
    ['DELETE', '/configmaps'],
  ])('its creator may do no more: %s namespaces/x%s', async (method, rest) => {
    const name = await waiting()
    const body = method === 'PUT' || method === 'PATCH' ? { metadata: { name, labels: { a: 'b' } } } : undefined
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    expect((await wire.as('creator').call(method, `${path}/${name}${rest}`, body, type)).status).toBe(403)
  })

  test.each([
    ['GET', path],
    ['GET', `${path}?watch=true`],
    ['GET', `/api/v1/watch/namespaces`],
    ['DELETE', path],
    ['DELETE', `${path}?fieldSelector=metadata.name%3Dwaiting-1`],
    ['GET', `${path}?fieldSelector=metadata.name!%3Dx`],
  ])('nor with all of them: %s %s', async (method, at) => {
    expect((await wire.as('creator').call(method, at)).status).toBe(403)
  })

  test.each([
    ['another creator', 'other', [authenticated]],
    ['one who may nothing', 'stranger', [authenticated]],
    ['one who says so in annotations of another', 'Creator', [authenticated]],
    ['an anonymous caller', 'system:anonymous', ['system:unauthenticated']],
  ])('others may not get it: %s', async (_name, username, groups) => {
    const name = await waiting()
    const as = new Wire(plane, { username, groups })
    for (const at of [`${path}/${name}`, `${path}?${named(name)}`, `/api/v1/watch/namespaces/${name}`]) {
      expect((await as.call('GET', at)).status, at).toBe(403)
    }
    expect((await as.call('DELETE', `${path}/${name}`)).status).toBe(403)
  })

  test('an anonymous creator is nobody: every caller without credentials has that name', async () => {
    const anonymous = new Wire(plane, { username: 'system:anonymous', groups: ['system:unauthenticated'] })
    const name = await waiting(anonymous)
    expect((await anonymous.call('GET', `${path}/${name}`)).status).toBe(403)
  })

  test('afterwards RBAC says', async () => {
    const name = await waiting()
    const creator = wire.as('creator')
    expect((await creator.call('GET', `${path}/${name}`)).status).toBe(200)
    await finish(name)
    for (const method of ['GET', 'DELETE']) {
      const verb = method === 'GET' ? 'get' : 'delete'
      expect((await creator.call(method, `${path}/${name}`)).body).toEqual(cannot('creator', verb, name))
    }
    expect((await creator.call('GET', `${path}?${named(name)}`)).status).toBe(403)
  })
})

describe('a name that is free', () => {
  const get = (who: string, name: string, query = ''): Promise<Answer> =>
    wire.as(who).call('GET', `${path}/${name}${query}`)

  test('is not found, to who may create namespaces', async () => {
    const notFound = failure({
      message: 'namespaces "free" not found',
      reason: 'NotFound',
      details: { name: 'free', kind: 'namespaces' },
      code: 404,
    })
    expect((await get('creator', 'free')).body).toEqual(notFound)
    expect((await get('creator', 'free', '?resourceVersion=0')).body).toEqual(notFound)
  })

  test('is forbidden to others, and so is one that is taken, to all', async () => {
    expect((await get('stranger', 'free')).body).toEqual(cannot('stranger', 'get', 'free'))
    for (const name of ['default', 'kube-system']) {
      expect((await get('creator', name)).body).toEqual(cannot('creator', 'get', name))
      expect((await get('stranger', name)).body).toEqual(cannot('stranger', 'get', name))
    }
    const theirs = await waiting(wire.as('other'))
    expect((await get('creator', theirs)).body).toEqual(cannot('creator', 'get', theirs))
  })

  test.each([
    ['DELETE', `${path}/free`],
    ['PUT', `${path}/free`],
    ['GET', `${path}/free/status`],
    ['GET', `${path}/free/configmaps`],
    ['GET', `${path}/free/configmaps/x`],
    ['GET', `${path}?fieldSelector=metadata.name%3Dfree`],
    ['GET', `/api/v1/watch/namespaces/free`],
  ])('is asked about by a get alone: %s %s is refused', async (method, at) => {
    const body = method === 'PUT' ? { metadata: { name: 'free' } } : undefined
    expect((await wire.as('creator').call(method, at, body)).status).toBe(403)
  })

  const applied = (who: string, name: string): Promise<Answer> => {
    const config = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    const query = '?fieldManager=kubectl&includeUninitialized=true'
    return wire.as(who).call('PATCH', `${path}/${name}${query}`, config, 'application/apply-patch+yaml')
  }

  test('can be applied by the server with both verbs; with create alone the refusal says what it takes', async () => {
    for (const name of ['free', 'default']) {
      expect((await applied('creator', name)).body).toEqual(
        forbidden(
          { kind: 'namespaces', name },
          `User "creator" cannot patch resource "namespaces" in API group "" in the namespace "${name}": ` +
            `server-side apply takes "patch" besides "create"; ` +
            `kubectl create, and apply without --server-side, create with "create" alone`,
        ),
      )
    }
    expect((await applied('stranger', 'free')).body).toEqual(cannot('stranger', 'patch', 'free'))
    const merged = await wire.as('creator').call('PATCH', `${path}/free`, {}, 'application/merge-patch+json')
    expect(merged.body).toEqual(cannot('creator', 'patch', 'free'))
    expect((await applied('patcher', 'free')).status).toBe(201)
  })

  test('is not found by what a namespace was called that just went', async () => {
    await admin.create(namespaces, { metadata: { name: 'gone' }, spec: { initializers: { pending: [] } } } as never)
    expect((await get('creator', 'gone')).status).toBe(403)
    await admin.delete(namespaces, { name: 'gone' })
    await waitFor(admin, namespaces, { name: 'gone' }, isGone)
    expect((await get('creator', 'gone')).status).toBe(404)
    expect((await get('stranger', 'gone')).status).toBe(403)
  })
})

test('with lists of one’s own namespaces, a creator’s shows it as long as it may get it', async () => {
  await using own = await startControlPlane({ listOwnNamespaces: true })
  await own.client.create(configurations, { metadata: { name: 'slow' }, initializers: [{ name: 'slow.ex.io' }] })
  await own.client.create(clusterRolesResource, clusterRole('creator', allow('create', '', 'namespaces')))
  await own.client.create(clusterRoleBindingsResource, clusterRoleBinding('creator', 'creator', user('creator')))
  const creator = new Wire(own).as('creator')
  const listed = async (by = creator): Promise<unknown[]> =>
    (await by.must('GET', path)).items.map((o) => o.metadata.name)
  expect(await listed()).toEqual([])
  const events = await creator.events(
    `${path}?watch=true`,
    (seen) => seen.some(({ type }) => type === 'DELETED'),
    async () => {
      await creator.must('POST', `${path}?includeUninitialized=true`, { metadata: { name: 'mine' } })
      expect(await listed()).toEqual(['mine'])
      expect(await listed(new Wire(own).as('other'))).toEqual([])
      await own.client.patch(namespaces, { name: 'mine' }, { spec: { initializers: { pending: [] } } })
      expect(await listed()).toEqual([])
    },
  )
  expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
    ['ADDED', 'mine'],
    ['DELETED', 'mine'],
  ])
})
