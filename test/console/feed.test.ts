/** What a user may list and not watch is shown for as long as it may be listed. */
import { expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { RestClient } from '../../src/client/rest-client.ts'
import type { Transport } from '../../src/client/transport.ts'
import { startFeed } from '../../src/console/page/feed.ts'
import { startControlPlane } from '../../src/testing/index.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })

test('what may be listed and not watched is shown, listed again, and refused once the right is gone', async () => {
  await using plane = await startControlPlane()
  const { client } = plane
  await client.create({ ...configMaps, resource: 'namespaces' }, { metadata: { name: 'a' } })
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }]
  const role = { namespace: 'a', name: 'lists' }
  await client.create(rbac('roles'), { metadata: role, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'lists' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  await client.create(rbac('rolebindings'), { metadata: role, roleRef, subjects })

  const clock = new FakeClock()
  const { state, stop } = startFeed(plane.clientAs('alice'), clock, { resource: configMaps, namespace: 'a' })
  const names = () => state.value.objects.map(({ metadata }) => metadata.name)
  // A timer is set once the watch was refused; the one of a burst may stand before it.
  const passUntil = (isSo: () => boolean) =>
    expect
      .poll(async () => {
        await clock.advance(1000)
        return isSo()
      })
      .toBe(true)
  await passUntil(() => names().includes('kube-root-ca.crt'))
  await client.create(configMaps, { metadata: { namespace: 'a', name: 'later' } })
  await passUntil(() => names().includes('later'))
  expect(state.value.refused).toBeUndefined()
  await client.delete(rbac('rolebindings'), role)
  await passUntil(() => state.value.refused !== undefined)
  expect(state.value.refused?.message).toBe(
    'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "a"',
  )
  expect(names()).toEqual([])
  // It is given back: the page need not be opened again.
  await client.create(rbac('rolebindings'), { metadata: role, roleRef, subjects })
  await passUntil(() => names().includes('later'))
  expect(state.value.refused).toBeUndefined()
  stop()
})

const failure = (code: number, message: string) => ({ kind: 'Status', status: 'Failure', code, message })

/** Of a watch: nothing, and it is over. */
const ended = { code: 200 }

/** In which form lists and watches were asked for. */
const accepted: string[] = []
const asMetadata = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

/** A server that answers a list, and then a watch, with what the test says; a watch that has no answer stays open. */
function startAnswering(listed: readonly unknown[], watched: readonly unknown[]) {
  const [lists, watches] = [[...listed], [...watched]]
  const asked: string[] = []
  const transport: Transport = {
    async send({ query, headers, signal }) {
      accepted.push(headers['accept'] ?? '')
      const isWatch = query.get('watch') === 'true'
      asked.push(isWatch ? 'watch' : 'list')
      const given = (isWatch ? watches : lists).shift()
      if (given === undefined && isWatch) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      const { code = 200 } = (given ?? {}) as { code?: number }
      const text = given === ended ? '' : JSON.stringify(given)
      return { status: code, header: () => undefined, body: new TextEncoder().encode(text) }
    },
  }
  return { client: new RestClient({ transport, userAgent: 'test' }), asked }
}

const listOf = (...names: string[]) => ({
  metadata: { resourceVersion: '1' },
  items: names.map((name) => ({ metadata: { name, resourceVersion: '1' } })),
})

test.each([
  { name: 'a fault of the server', answer: failure(500, 'the store is on fire'), why: 'the store is on fire' },
  { name: 'too many requests', answer: failure(429, 'ask later'), why: 'ask later' },
  { name: 'objects that are none', answer: { ...listOf(), items: [null] }, why: /null/ },
])('a list that fails by $name says why, and is asked for again', async ({ answer, why }) => {
  const clock = new FakeClock()
  const { client } = startAnswering([answer, listOf('a')], [])
  const { state, stop } = startFeed(client, clock, { resource: configMaps })
  await expect.poll(() => state.value.failing?.message).toEqual(expect.stringMatching(why))
  expect(state.value).toMatchObject({ ready: false, objects: [] })
  await expect
    .poll(async () => {
      await clock.advance(1000)
      return state.value
    })
    .toEqual({ ready: true, objects: [expect.objectContaining({ metadata: { name: 'a', resourceVersion: '1' } })] })
  stop()
})

test('where every watch fails, what is shown is listed again', async () => {
  const clock = new FakeClock()
  const broken = failure(500, 'no watches today')
  const { client, asked } = startAnswering([listOf('a'), listOf('a', 'b')], [broken, broken])
  const { state, stop } = startFeed(client, clock, { resource: configMaps })
  await expect.poll(() => asked).toEqual(['list', 'watch'])
  await expect
    .poll(async () => {
      await clock.advance(1000)
      return state.value.objects.map(({ metadata }) => metadata.name)
    })
    .toEqual(['a', 'b'])
  stop()
})

const secrets = { ...configMaps, resource: 'secrets' }

const noSuchForm = failure(406, 'only the following media types are accepted: application/json')

test('a kind without that form is listed whole, and what its objects hold is not kept', async () => {
  const widget = { metadata: { name: 'w', resourceVersion: '1', managedFields: [] }, spec: { size: 1 } }
  const { client } = startAnswering([noSuchForm, { ...listOf(), items: [widget] }], [])
  const { state, stop } = startFeed(client, new FakeClock(), { resource: configMaps, metadataOnly: true })
  await expect.poll(() => state.value.objects).toEqual([{ metadata: { name: 'w', resourceVersion: '1' } }])
  stop()
})

test('Secrets are not listed whole, whatever a server answers', async () => {
  const { client, asked } = startAnswering([noSuchForm, noSuchForm], [])
  const clock = new FakeClock()
  const { state, stop } = startFeed(client, clock, { resource: secrets, metadataOnly: true })
  await expect.poll(() => state.value.failing?.message).toMatch(/only the following media types/)
  await expect
    .poll(async () => {
      await clock.advance(1000)
      return asked.length
    })
    .toBeGreaterThan(1)
  expect(accepted.slice(-2)).toEqual([asMetadata, asMetadata])
  stop()
})

const often = <T>(value: T): T[] => Array.from({ length: 500 }, () => value)

test.each([
  { name: 'what is no event', watched: 'nonsense', why: /./ },
  { name: 'nothing, and ends', watched: ended, why: 'the server ends each watch at once' },
])('a watch that brings $name is asked for later and later, and said to fail', async ({ watched, why }) => {
  const clock = new FakeClock()
  const { client, asked } = startAnswering([listOf('a')], often(watched))
  const { state, stop } = startFeed(client, clock, { resource: configMaps })
  await expect.poll(() => asked.length).toBe(2)
  await expect
    .poll(async () => {
      await clock.advance(500)
      return state.value.failing?.message
    })
    .toEqual(expect.stringMatching(why))
  // What was listed stays.
  expect(state.value.objects.map(({ metadata }) => metadata.name)).toEqual(['a'])
  const before = asked.length
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(asked.length - before).toBeLessThan(12)
  expect(asked.length - before).toBeGreaterThan(3)
  stop()
})

test('a watch that holds again is not said to fail any more', async () => {
  const clock = new FakeClock()
  const { client } = startAnswering([listOf('a')], ['nonsense', 'nonsense', 'nonsense'])
  const { state, stop } = startFeed(client, clock, { resource: configMaps })
  const failing = (isSo: boolean) =>
    expect
      .poll(async () => {
        await clock.advance(500)
        return state.value.failing !== undefined
      })
      .toBe(isSo)
  await failing(true)
  await failing(false)
  stop()
})
