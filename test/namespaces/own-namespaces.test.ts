/**
 * My namespaces (`--list-own-namespaces`) through the whole server: what a user's clients see as rights come and go.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, WatchEvent } from '../../src/client/client.ts'
import { clusterRoleBindingsResource, clusterRolesResource, roleBindingsResource } from '../../src/kube/rbac.ts'
import type { KubeList, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { clusterRoleBinding, roleBinding, user } from '../support/fake-rbac-source.ts'
import { send } from '../support/send.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const
const path = '/api/v1/namespaces'

let plane: TestControlPlane
let admin: Client
beforeAll(async () => {
  plane = await startControlPlane({ listOwnNamespaces: true })
  admin = plane.client
})
afterAll(() => plane[Symbol.asyncDispose]())

const person = (username: string) => ({ username, groups: ['system:authenticated'] })
const create = (name: string, labels: Record<string, string> = {}): Promise<KubeObject> =>
  admin.create(namespaces, { metadata: { name, labels } })
/** Whoever may view a namespace may get it. */
const grant = (ns: string, who: string, name = who): Promise<KubeObject> =>
  admin.create(roleBindingsResource, roleBinding(ns, name, 'ClusterRole/view', user(who)))
const revoke = (ns: string, name: string) => admin.delete(roleBindingsResource, { namespace: ns, name })
const namesIn = (list: KubeList): (string | undefined)[] => list.items.map((i) => i.metadata.name)

/** The next `count` events as `TYPE name`. */
async function next(events: AsyncIterator<WatchEvent>, count: number): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = []
  while (seen.length < count) {
    const { value, done } = await events.next()
    if (done) throw new Error(`the watch ended after ${seen.length} events`)
    seen.push(value)
  }
  return seen
}
const told = (events: readonly WatchEvent[]): string[] =>
  events.map(({ type, object }) => (type === 'BOOKMARK' ? type : `${type} ${object.metadata.name}`))

describe('a list', () => {
  test('shows the namespaces that the user may get, as they are, and nothing of the others', async () => {
    const mine = await create('list-mine')
    await create('list-other')
    await grant('list-mine', 'lena')
    const { code, body, text } = await send(plane, path, { user: person('lena') })
    expect(code).toBe(200)
    const list = body as KubeList
    expect(namesIn(list)).toEqual(['list-mine'])
    expect(list.items[0]).toEqual({ ...mine, apiVersion: undefined, kind: undefined })
    expect(Number(list.metadata.resourceVersion)).toBeGreaterThan(Number(mine.metadata.resourceVersion))
    expect(text).not.toContain('list-other')
  })

  test('is a table where a table is asked for, and metadata where that is', async () => {
    await create('list-table')
    await grant('list-table', 'tina')
    const ask = async (accept: string): Promise<unknown> =>
      (await send(plane, path, { user: person('tina'), headers: { accept } })).body
    const table = (await ask('application/json;as=Table;v=v1;g=meta.k8s.io')) as { rows: { cells: unknown[] }[] }
    expect(table.rows.map((row) => row.cells.slice(0, 2))).toEqual([['list-table', 'Active']])
    const partial = (await ask('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io')) as KubeList
    expect(namesIn(partial)).toEqual(['list-table'])
  })

  test('is empty for a user without any', async () => {
    expect(namesIn(await plane.clientAs('nobody-special').list(namespaces))).toEqual([])
  })

  test('obeys selectors within what the user may get', async () => {
    await create('select-a', { tier: 'gold' })
    await create('select-b', { tier: 'tin' })
    await create('select-c', { tier: 'gold' })
    await grant('select-a', 'sara')
    await grant('select-b', 'sara')
    const sara = plane.clientAs('sara')
    expect(namesIn(await sara.list(namespaces, { labelSelector: 'tier=gold' }))).toEqual(['select-a'])
    const byName = (name: string) => sara.list(namespaces, { fieldSelector: `metadata.name=${name}` })
    expect(namesIn(await byName('select-b'))).toEqual(['select-b'])
    expect(namesIn(await byName('select-c'))).toEqual([])
  })

  test('comes in pages without a count of what is left; one gained meanwhile is not shown as it was', async () => {
    for (const name of ['page-1', 'page-2', 'page-3', 'page-4']) await create(name)
    for (const name of ['page-1', 'page-2', 'page-4']) await grant(name, 'paul')
    const paul = plane.clientAs('paul')
    const first = await paul.list(namespaces, { limit: 1 })
    expect(namesIn(first)).toEqual(['page-1'])
    expect(first.metadata.remainingItemCount).toBeUndefined()
    await grant('page-3', 'paul')
    await revoke('page-2', 'paul')
    const rest = await paul.list(namespaces, { limit: 10, continue: first.metadata.continue ?? '' })
    expect(namesIn(rest)).toEqual(['page-4'])
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    const events = paul
      .watch(namespaces, {
        resourceVersion: rest.metadata.resourceVersion ?? '',
        allowWatchBookmarks: true,
        signal: AbortSignal.timeout(30_000),
      })
      [Symbol.asyncIterator]()
    expect(told(await next(events, 4))).toEqual(['ADDED page-3', 'BOOKMARK', 'DELETED page-2', 'BOOKMARK'])
    await events.return?.()
  })

  test('shows all of them to a user who may get any namespace, though not list them', async () => {
    await admin.create(clusterRolesResource, {
      metadata: { name: 'get-any-namespace' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['namespaces'] }],
    })
    await admin.create(clusterRoleBindingsResource, clusterRoleBinding('any', 'get-any-namespace', user('anna')))
    const all = namesIn(await admin.list(namespaces))
    expect(namesIn(await plane.clientAs('anna').list(namespaces))).toEqual(all)
  })
})

describe('attacks', () => {
  test('attack: anonymous callers, who hold no right, are refused as ever', async () => {
    const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
    expect((await send(plane, path, { user: anonymous })).code).toBe(403)
  })

  test.each([
    { name: 'another kind that is not namespaced', path: '/api/v1/nodes' },
    { name: 'content of all namespaces', path: '/api/v1/configmaps' },
    { name: 'a collection that does not exist', path: '/apis/example.com/v1/namespaces' },
    { name: 'deletion of all of them', path, method: 'DELETE' },
    { name: 'one by name', path: `${path}/kube-system` },
  ])('attack: the way to lists of own namespaces leads to nothing else: $name', async ({ path: asked, ...more }) => {
    const { code } = await send(plane, asked, { user: person('lena'), ...more })
    expect(code).toBe(403)
  })

  test('attack: a field selector, an old revision, the legacy paths show no other namespace', async () => {
    await create('hidden')
    const { metadata } = await admin.list(namespaces)
    for (const query of [
      `${path}?fieldSelector=metadata.name%3Dhidden`,
      `${path}?fieldSelector=status.phase%3DActive`,
      `${path}?resourceVersion=0`,
      `${path}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`,
      `${path}?includeUninitialized=true`,
      '/api/v1/list/namespaces',
    ]) {
      const { code, text } = await send(plane, query, { user: person('mallory') })
      expect(code).toBe(200)
      expect(text).not.toContain('hidden')
    }
  })

  test('attack: a watch begun with nothing to see tells nothing of others', async () => {
    const events = plane
      .clientAs('mallory')
      .watch(namespaces, { signal: AbortSignal.timeout(30_000) })
      [Symbol.asyncIterator]()
    const first = next(events, 1)
    await create('hidden-2')
    await admin.patch(namespaces, { name: 'hidden-2' }, { metadata: { labels: { a: 'b' } } })
    await admin.delete(namespaces, { name: 'hidden-2' })
    await create('mallory-own')
    await grant('mallory-own', 'mallory')
    expect(told(await first)).toEqual(['ADDED mallory-own'])
    await events.return?.()
  })

  test('attack: a namespace that somebody makes anew under the name of one of mine is not mine', async () => {
    await create('reborn')
    await grant('reborn', 'rita')
    const rita = plane.clientAs('rita')
    const events = rita
      .watch(namespaces, { allowWatchBookmarks: true, signal: AbortSignal.timeout(30_000) })
      [Symbol.asyncIterator]()
    expect(told(await next(events, 1))).toEqual(['ADDED reborn'])
    await admin.delete(namespaces, { name: 'reborn' })
    let last = ''
    while (last !== 'DELETED reborn') {
      ;[last = ''] = told(await next(events, 1))
      expect(['MODIFIED reborn', 'DELETED reborn']).toContain(last)
    }
    await create('reborn', { secret: 'yes' })
    await create('rita-2')
    await grant('rita-2', 'rita')
    expect(told(await next(events, 2))).toEqual(['ADDED rita-2', 'BOOKMARK'])
    expect(namesIn(await rita.list(namespaces))).toEqual(['rita-2'])
    await events.return?.()
  })
})

describe('a watch', () => {
  test('adds what the user comes to see at its own resourceVersion; a bookmark moves on; a loss deletes', async () => {
    const early = await create('watch-early')
    const wanda = plane.clientAs('wanda')
    const { metadata } = await wanda.list(namespaces)
    const events = wanda
      .watch(namespaces, {
        resourceVersion: metadata.resourceVersion ?? '',
        allowWatchBookmarks: true,
        signal: AbortSignal.timeout(30_000),
      })
      [Symbol.asyncIterator]()
    const binding = await grant('watch-early', 'wanda')
    const [added, bookmark] = await next(events, 2)
    expect(added?.type).toBe('ADDED')
    expect(added?.object).toEqual(early)
    expect(bookmark?.type).toBe('BOOKMARK')
    expect(bookmark?.object.metadata.resourceVersion).toBe(binding.metadata.resourceVersion)
    const relabelled = await admin.patch(namespaces, { name: 'watch-early' }, { metadata: { labels: { a: 'b' } } })
    const [modified] = await next(events, 1)
    expect(modified).toEqual({ type: 'MODIFIED', object: relabelled })
    await revoke('watch-early', 'wanda')
    const [deleted, after] = await next(events, 2)
    expect(deleted).toEqual({ type: 'DELETED', object: relabelled })
    expect(Number(after?.object.metadata.resourceVersion)).toBeGreaterThan(Number(relabelled.metadata.resourceVersion))
    await events.return?.()
  })

  test('begins with the own namespaces and says where they end, for informers of today', async () => {
    await create('stream-1')
    await create('stream-2')
    await grant('stream-1', 'ingo')
    const events = plane
      .clientAs('ingo')
      .watch(namespaces, { sendInitialEvents: true, allowWatchBookmarks: true, signal: AbortSignal.timeout(30_000) })
      [Symbol.asyncIterator]()
    const [added, mark] = await next(events, 2)
    expect(added?.object.metadata.name).toBe('stream-1')
    expect(mark?.type).toBe('BOOKMARK')
    expect(mark?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
    await events.return?.()
  })

  test('shows the owner of a namespace that it goes, though the right goes first', async () => {
    await create('owned')
    await grant('owned', 'olga')
    const events = plane
      .clientAs('olga')
      .watch(namespaces, { signal: AbortSignal.timeout(30_000) })
      [Symbol.asyncIterator]()
    expect(told(await next(events, 1))).toEqual(['ADDED owned'])
    await admin.delete(namespaces, { name: 'owned' })
    const seen: string[] = []
    while (!seen.includes('DELETED owned')) seen.push(...told(await next(events, 1)))
    expect(new Set(seen)).toEqual(new Set(['MODIFIED owned', 'DELETED owned']))
    await events.return?.()
  })

  test('begun before everything came into view is told 410 when resumed, and lists again', async () => {
    const gina = plane.clientAs('gina')
    const { metadata } = await gina.list(namespaces)
    await admin.create(clusterRoleBindingsResource, clusterRoleBinding('gina', 'view', user('gina')))
    await admin.delete(clusterRoleBindingsResource, { name: 'gina' })
    const events = gina
      .watch(namespaces, { resourceVersion: metadata.resourceVersion ?? '', signal: AbortSignal.timeout(30_000) })
      [Symbol.asyncIterator]()
    await expect(events.next()).rejects.toMatchObject({ reason: 'Expired', code: 410 })
  })
})

test('without the flag such a user is refused', async () => {
  await using plain = await startControlPlane()
  await expect(plain.clientAs('lena').list(namespaces)).rejects.toMatchObject({
    code: 403,
    message:
      'namespaces is forbidden: User "lena" cannot list resource "namespaces" in API group "" at the cluster scope',
  })
})
