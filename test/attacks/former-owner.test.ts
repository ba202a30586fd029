/** What the owner of a namespace keeps of it when it is gone, and another user makes one of the same name. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roleBindingsResource, rolesResource } from '../../src/kube/rbac.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, role, roleBinding, user } from '../support/fake-rbac-source.ts'
import { failure } from '../support/refusal.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { Wire, type WireEvent } from '../support/wire.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })

let plane: TestControlPlane
let dora: Wire
let warden: Wire

beforeAll(async () => {
  plane = await startControlPlane()
  dora = new Wire(plane).as('dora')
  warden = new Wire(plane).as('warden')
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
  const everything = allow('get,list,watch', '', 'secrets,namespaces')
  await plane.client.create({ ...rbac, resource: 'clusterroles' }, clusterRole('warden', everything))
  await plane.client.create(
    { ...rbac, resource: 'clusterrolebindings' },
    clusterRoleBinding('warden', 'warden', user('warden')),
  )
})
afterAll(() => plane[Symbol.asyncDispose]())

/** With rights of dora in it. */
async function make(name: string): Promise<void> {
  const { client } = plane
  await client.create(core('namespaces'), { metadata: { name } })
  await client.create(rolesResource, role(name, 'reader', allow('get,list,watch', '', 'secrets,namespaces')))
  await client.create(roleBindingsResource, roleBinding(name, 'reader', 'Role/reader', user('dora')))
  await client.create(core('secrets'), { metadata: { name: 'old', namespace: name } })
}

async function remove(name: string): Promise<void> {
  await plane.client.delete(core('namespaces'), { name })
  await waitFor(plane.client, core('namespaces'), { name }, isGone)
}

async function makeAgain(name: string): Promise<void> {
  await plane.client.create(core('namespaces'), { metadata: { name } })
  await plane.client.create(core('secrets'), { metadata: { name: 'new', namespace: name } })
}

const told = (events: readonly WireEvent[]): unknown[] =>
  events.map(({ type, object: { metadata } }) => `${type} ${metadata.name}`)
const never = (): boolean => false

describe('attack: the former owner of a namespace left a watch open', () => {
  test.each([
    { what: 'content', path: (n: string) => `/api/v1/namespaces/${n}/secrets?watch=true` },
    { what: 'content, in the legacy way', path: (n: string) => `/api/v1/watch/namespaces/${n}/secrets` },
    {
      what: 'an object',
      path: (n: string) => `/api/v1/namespaces/${n}/secrets?watch=true&fieldSelector=metadata.name%3Dold`,
    },
  ])('of $what', async ({ what, path }) => {
    const name = `content-${what.length}`
    await make(name)
    const seen = await dora.events(path(name), never, async () => {
      await remove(name)
      await makeAgain(name)
    })
    expect(told(seen)).toEqual(['ADDED old', 'DELETED old'])
  })

  test.each([
    { how: 'by its path', path: '/api/v1/watch/namespaces/named' },
    { how: 'by its name', path: '/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Dnamed' },
  ])('of the namespace itself, $how', async ({ path }) => {
    await make('named')
    const seen = await dora.events(path, never, async () => {
      await remove('named')
      await makeAgain('named')
    })
    expect(told(seen).slice(-1)).toEqual(['DELETED named'])
    expect(new Set(seen.map(({ object }) => object.metadata.uid)).size).toBe(1)
    await remove('named')
  })

  test('that was opened when the namespace was gone already', async () => {
    await make('between')
    await remove('between')
    const seen = await dora.events('/api/v1/namespaces/between/secrets?watch=true', never, () => makeAgain('between'))
    expect(told(seen)).toEqual([])
  })
})

test('a watch by a right that does not come from the namespace goes on into the next of that name', async () => {
  await make('watched')
  const isNew = (seen: readonly WireEvent[]): boolean => told(seen).includes('ADDED new')
  const seen = await warden.events('/api/v1/namespaces/watched/secrets?watch=true', isNew, async () => {
    await remove('watched')
    await makeAgain('watched')
  })
  expect(told(seen)).toEqual(['ADDED old', 'DELETED old', 'ADDED new'])
})

describe('attack: the owner of a namespace reads what the one before held under its name', () => {
  /** `at`: when the secret `old` was in the namespace that went; eve may read secrets in the one of now. */
  async function takenOver(name: string): Promise<{ readonly at: string; readonly eve: Wire }> {
    await make(name)
    const { metadata } = await plane.client.get(core('secrets'), { name: 'old', namespace: name })
    await remove(name)
    await makeAgain(name)
    await plane.client.create(rolesResource, role(name, 'reader', allow('get,list,watch', '', 'secrets')))
    await plane.client.create(roleBindingsResource, roleBinding(name, 'reader', 'Role/reader', user('eve')))
    return { at: metadata.resourceVersion ?? '', eve: new Wire(plane).as('eve') }
  }

  test('not by a list of that time', async () => {
    const { at, eve } = await takenOver('list-then')
    const query = `resourceVersion=${at}&resourceVersionMatch=Exact`
    const answer = await eve.call('GET', `/api/v1/namespaces/list-then/secrets?${query}`)
    expect(answer.body).toEqual(
      failure({
        message: 'The resourceVersion for the provided list is too old.',
        reason: 'Expired',
        code: 410,
      }),
    )
    // A user who may read all namespaces sees what there was in all of them.
    const all = await warden.must('GET', `/api/v1/secrets?${query}`)
    const names = all.items.filter((item) => item.metadata.namespace === 'list-then').map((item) => item.metadata.name)
    expect(names).toEqual(['old'])
  })

  test('not by a watch from that time', async () => {
    const { at, eve } = await takenOver('watch-then')
    const events = await eve.events(`/api/v1/namespaces/watch-then/secrets?watch=true&resourceVersion=${at}`, never)
    const message = expect.stringMatching(/^too old resource version: \d+ \(\d+\)$/) as string
    expect(events).toEqual([{ type: 'ERROR', object: failure({ message, reason: 'Expired', code: 410 }) }])
  })

  test('but what was there since the namespace is this one is read as it was', async () => {
    await make('mine-then')
    const { metadata } = await plane.client.get(core('secrets'), { name: 'old', namespace: 'mine-then' })
    await plane.client.delete(core('secrets'), { name: 'old', namespace: 'mine-then' })
    const labelled = { metadata: { labels: { touched: 'yes' } } }
    await new Wire(plane).must('PATCH', '/api/v1/namespaces/mine-then', labelled, 'application/merge-patch+json')
    const query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
    const answer = await dora.call('GET', `/api/v1/namespaces/mine-then/secrets?${query}`)
    expect([answer.status, answer.body]).toMatchObject([200, { items: [{ metadata: { name: 'old' } }] }])
  })
})
