import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { failure, invalidObject, refusal, statusOf } from '../../test/support/refusal.ts'
import {
  configMap,
  configMaps,
  type Fixture,
  namespaces,
  pods,
  startFixture,
} from '../../test/support/registry-fixture.ts'
import { findStatusError } from '../kube/status-error.ts'
import { TypedVersion } from '../watch/stored-object.ts'
import type { ListPage, ListQuery } from './registry.ts'

const names = (page: ListPage): string[] => page.items.map((i) => `${i.namespace}/${i.name}`)

async function fill(f: Fixture, places: readonly string[]): Promise<void> {
  for (const place of places) {
    const [namespace = '', name = ''] = place.split('/')
    await f.registry.create(f.scope(configMaps, '', { namespace }), configMap(name, {}, { labels: { app: name } }))
  }
}

/** All pages, one after the other. */
async function pages(f: Fixture, query: ListQuery, between?: () => Promise<unknown>): Promise<ListPage[]> {
  const all = [await f.registry.list(configMaps, query)]
  for (let last = all[0]; last?.continue; last = all[all.length - 1]) {
    await between?.()
    all.push(await f.registry.list(configMaps, { ...query, continue: last.continue }))
  }
  return all
}

test('items come in key order, which is not the order of namespaces', async () => {
  await using f = await startFixture()
  await fill(f, ['a/z', 'a-b/x', 'a/a', 'b/m'])
  const page = await f.registry.list(configMaps, { namespace: '' })
  expect(names(page)).toEqual(['a-b/x', 'a/a', 'a/z', 'b/m'])
  const { entries } = await f.storage.range({ start: '/registry/configmaps/', end: '/registry/configmaps0' })
  expect(entries.map((e) => e.key.slice('/registry/configmaps/'.length))).toEqual(names(page))
})

test('one namespace is just that, and an empty list has a revision', async () => {
  await using f = await startFixture()
  const empty = await f.registry.list(configMaps, { namespace: 'a' })
  expect(empty.items).toEqual([])
  expect(empty.revision).toBeGreaterThan(0)
  await fill(f, ['a/x', 'ab/x', 'a-b/x'])
  expect(names(await f.registry.list(configMaps, { namespace: 'a' }))).toEqual(['a/x'])
})

test('selectors and visibility decide together', async () => {
  await using f = await startFixture()
  await fill(f, ['a/x', 'a/y', 'b/x'])
  const list = async (query: ListQuery): Promise<string[]> => names(await f.registry.list(configMaps, query))
  expect(await list({ namespace: '', labelSelector: 'app=x' })).toEqual(['a/x', 'b/x'])
  expect(await list({ namespace: '', labelSelector: 'app in (x,y),app!=x' })).toEqual(['a/y'])
  expect(await list({ namespace: '', fieldSelector: 'metadata.namespace=a,metadata.name!=x' })).toEqual(['a/y'])
  expect(await list({ namespace: 'a', fieldSelector: 'metadata.name=y' })).toEqual(['a/y'])
  expect(await list({ namespace: 'a', fieldSelector: 'metadata.namespace=b' })).toEqual([])
  expect(await list({ namespace: '', visible: (o) => o.metadata.name === 'y' })).toEqual(['a/y'])
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'n' } })
  const active = await f.registry.list(namespaces, { namespace: '', fieldSelector: 'status.phase=Active' })
  expect(active.items).toHaveLength(1)
})

test('pages keep the revision of the first one while the world moves on', async () => {
  await using f = await startFixture()
  await fill(f, ['a/1', 'a/2', 'a/3', 'b/1', 'b/2'])
  let n = 0
  const all = await pages(f, { namespace: '', limit: 2 }, async () => {
    await f.registry.delete(f.scope(configMaps, ['3', '2', '1'][n] ?? '', { namespace: n === 0 ? 'a' : 'b' }), {})
    await fill(f, [`a/new${n++}`])
  })
  expect(all.map(names)).toEqual([['a/1', 'a/2'], ['a/3', 'b/1'], ['b/2']])
  expect(new Set(all.map((p) => p.revision)).size).toBe(1)
})

test('remainingItemCount is told without selectors only', async () => {
  await using f = await startFixture()
  await fill(f, ['a/1', 'a/2', 'a/3', 'b/1', 'b/2'])
  expect((await pages(f, { namespace: '', limit: 2 })).map((p) => p.remainingItemCount)).toEqual([3, 1, undefined])
  expect((await pages(f, { namespace: 'a', limit: 2 })).map((p) => p.remainingItemCount)).toEqual([1, undefined])
  const selected = await f.registry.list(configMaps, { namespace: '', limit: 1, labelSelector: 'app' })
  expect(selected.continue).toBeDefined()
  expect(selected).not.toHaveProperty('remainingItemCount')
})

test('a token is what upstream makes of it', async () => {
  await using f = await startFixture()
  await fill(f, ['a/1', 'a/2', 'b/1'])
  const read = (page: ListPage): unknown => JSON.parse(Buffer.from(page.continue ?? '', 'base64url').toString())
  const across = await f.registry.list(configMaps, { namespace: '', limit: 1 })
  expect(read(across)).toEqual({ v: 'meta.k8s.io/v1', rv: across.revision, start: 'a/1\0' })
  expect(across.continue).not.toContain('=')
  expect(read(await f.registry.list(configMaps, { namespace: 'a', limit: 1 }))).toMatchObject({ start: '1\0' })
})

const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const badTokens = [
  { name: 'not base64', given: '!!', want: 'illegal base64 data' },
  {
    name: 'not JSON',
    given: Buffer.from('nope').toString('base64url'),
    want: "invalid character 'o' in literal null (expecting 'u')",
  },
  { name: 'a number', given: token(5), want: 'not an object' },
  {
    name: 'another version',
    given: token({ v: 'meta.k8s.io/v2', rv: 1, start: 'a\0' }),
    want: 'server does not recognize this encoded version meta.k8s.io/v2',
  },
  {
    name: 'revision 0',
    given: token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a\0' }),
    want: 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
  },
  {
    name: 'no start',
    given: token({ v: 'meta.k8s.io/v1', rv: 1 }),
    want: 'encoded start key empty (version meta.k8s.io/v1)',
  },
  {
    name: 'a way out',
    given: token({ v: 'meta.k8s.io/v1', rv: 1, start: '../a\0' }),
    want: '../a',
  },
]
for (const { name, given, want } of badTokens) {
  test(`bad token: ${name}`, async () => {
    await using f = await startFixture()
    expect(await refusal(f.registry.list(configMaps, { namespace: '', continue: given }))).toEqual(
      failure({
        message: `invalid continue token: continue key is not valid: ${want}`,
        reason: 'BadRequest',
        code: 400,
      }),
    )
  })
}

test('a token of forgotten history is 410, with a token to go on inconsistently', async () => {
  await using f = await startFixture()
  await fill(f, ['a/1', 'a/2', 'a/3'])
  const first = await f.registry.list(configMaps, { namespace: '', limit: 1 })
  await fill(f, ['a/4'])
  await using g = await startFixture({ storage: f.storage, clock: f.clock })
  await f.storage.compact(f.cache.revision)
  const refused = await g.registry.list(configMaps, { namespace: '', continue: first.continue ?? '' }).catch((e) => e)
  expect(statusOf(refused)).toEqual({
    ...failure({
      message:
        'The provided continue parameter is too old to display a consistent list result. You can start a new ' +
        'list without the continue parameter, or use the continue token in this response to retrieve the ' +
        'remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
        'objects that were created, modified, or deleted between the time the first chunk was returned and ' +
        'now may show up in the list.',
      reason: 'Expired',
      code: 410,
    }),
    metadata: { continue: expect.stringMatching(/^[\w-]+$/) },
  })
  const rest = await g.registry.list(configMaps, {
    namespace: '',
    limit: 2,
    continue: findStatusError(refused)?.continueToken ?? '',
  })
  expect(names(rest)).toEqual(['a/2', 'a/3'])
  expect(names(await g.registry.list(configMaps, { namespace: '', continue: rest.continue ?? '' }))).toEqual(['a/4'])
})

const combinations: { name: string; given: Partial<ListQuery>; want: object }[] = [
  {
    name: 'a match without a version',
    given: { resourceVersionMatch: 'Exact' },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ]),
  },
  {
    name: 'a match with a token',
    given: { resourceVersion: '1', resourceVersionMatch: 'Exact', continue: 'x' },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ]),
  },
  {
    name: 'an unknown match',
    given: { resourceVersion: '1', resourceVersionMatch: 'Maybe' },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Unsupported value: "Maybe": supported values: "Exact", "NotOlderThan", ""',
    ]),
  },
  {
    name: 'Exact at 0',
    given: { resourceVersion: '0', resourceVersionMatch: 'Exact' },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ]),
  },
  {
    name: 'a version with a token',
    given: { resourceVersion: '5', continue: 'x' },
    want: failure({
      message: 'specifying resource version is not allowed when using continue',
      reason: 'BadRequest',
      code: 400,
    }),
  },
  {
    name: 'a version that is no number',
    given: { resourceVersion: 'abc' },
    want: failure({
      message:
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": ' +
        'invalid syntax',
      reason: 'BadRequest',
      code: 400,
    }),
  },
  {
    name: 'an unknown field',
    given: { fieldSelector: 'spec.x=1' },
    want: failure({
      message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
      reason: 'BadRequest',
      code: 400,
    }),
  },
  {
    name: 'a label selector that does not parse',
    given: { labelSelector: 'a=b=c' },
    want: failure({ message: "found '=', expected: ',' or 'end of string'", reason: 'BadRequest', code: 400 }),
  },
]
for (const { name, given, want } of combinations) {
  test(`refused: ${name}`, async () => {
    await using f = await startFixture()
    expect(await refusal(f.registry.list(configMaps, { namespace: '', ...given }))).toEqual(want)
  })
}

test('a version says how old the list may be', async () => {
  await using f = await startFixture()
  await fill(f, ['a/1'])
  const then = String((await f.registry.list(configMaps, { namespace: '' })).revision)
  await fill(f, ['a/2', 'a/3'])
  const list = async (query: Partial<ListQuery>): Promise<string[]> =>
    names(await f.registry.list(configMaps, { namespace: '', ...query }))
  expect(await list({ resourceVersion: then })).toHaveLength(3)
  expect(await list({ resourceVersion: then, resourceVersionMatch: 'NotOlderThan', limit: 2 })).toHaveLength(2)
  expect(await list({ resourceVersion: then, resourceVersionMatch: 'Exact' })).toEqual(['a/1'])
  expect(await list({ resourceVersion: then, limit: 5 })).toEqual(['a/1'])
  expect(await list({ resourceVersion: '0', limit: 1 })).toHaveLength(3)
})

test('a version within a commit shows the whole commit, and watching from there repeats nothing', async () => {
  for (const changes of [0, 1000]) {
    await using f = await startFixture({ cache: { window: { changes, sizeBytes: 1e9, ageMs: 1e9 } } })
    const writes = ['x', 'y'].map((name) => ({
      key: `/registry/configmaps/a/${name}`,
      value: Buffer.from(`{"metadata":{"name":"${name}","namespace":"a"}}`),
      expect: 'absent' as const,
    }))
    const commit = await f.storage.commit({ guards: [], writes }).done
    if (!commit.ok) throw new Error('lost')
    await fill(f, ['a/z'])
    const page = await f.registry.list(configMaps, {
      namespace: 'a',
      resourceVersion: String(commit.revision),
      resourceVersionMatch: 'Exact',
    })
    expect(names(page)).toEqual(['a/x', 'a/y'])
    expect(page.revision).toBeGreaterThanOrEqual(commit.revision + 1)
    await using stream = await f.registry.watch(configMaps, {
      namespace: 'a',
      resourceVersion: String(page.revision),
      signal: new AbortController().signal,
    })
    for await (const [event] of stream) {
      expect(event).toMatchObject({ type: 'ADDED', stored: { name: 'z' } })
      break
    }
  }
})

test('a version that nobody has seen yet is waited for, three seconds', async () => {
  await using f = await startFixture()
  const asked = f.registry.list(configMaps, { namespace: '', resourceVersion: '999999999' }).catch((e) => e)
  for (let i = 0; i < 20; i++) await Promise.resolve()
  await f.clock.advance(3000)
  expect(statusOf(await asked)).toEqual(
    failure({
      message: `Timeout: Too large resource version: 999999999, current: ${f.cache.revision}`,
      reason: 'Timeout',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
      code: 504,
    }),
  )
  const soon = f.registry.get(configMaps, 'a', 'x', { resourceVersion: String(f.cache.revision + 1024) })
  await fill(f, ['a/x'])
  expect((await soon).name).toBe('x')
})

test('a consistent read on one process sees what another has just acknowledged', async () => {
  await using a = await startFixture()
  await using b = await startFixture({ storage: a.storage, clock: a.clock })
  await fill(a, ['a/1'])
  expect((await b.registry.get(configMaps, 'a', '1')).name).toBe('1')
  await fill(a, ['a/2'])
  expect(names(await b.registry.list(configMaps, { namespace: '' }))).toEqual(['a/1', 'a/2'])
})

test('pagination of any size, from the cache or from history, adds up to one list', async () => {
  const place = fc.tuple(
    fc.constantFrom('a', 'a-b', 'a0', 'ab', 'b'),
    fc.constantFrom('x', 'x-1', 'x.y', 'y', 'z', '0'),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(place, { maxLength: 20, selector: (p) => p.join('/') }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      fc.constantFrom(undefined, 'app in (x,y)', 'app!=z'),
      fc.constantFrom('', 'a', 'a-b'),
      fc.constantFrom(0, 1000),
      async (places, limit, disturb, labelSelector, namespace, changes) => {
        await using f = await startFixture({ cache: { window: { changes, sizeBytes: 1e9, ageMs: 1e9 } } })
        await fill(
          f,
          places.map((p) => p.join('/')),
        )
        const query = { namespace, ...(labelSelector ? { labelSelector } : {}) }
        const whole = await f.registry.list(configMaps, query)
        let n = 0
        const parts = await pages(f, { ...query, limit }, async () => {
          if (!disturb) return
          const gone = whole.items[n * 2]
          if (gone) await f.registry.delete(f.scope(configMaps, gone.name, { namespace: gone.namespace }), {})
          await fill(f, [`${n % 2 ? 'a' : 'zz'}/new${n++}`])
        })
        expect(parts.flatMap(names)).toEqual(names(whole))
        expect(parts.every((p) => p.items.length <= limit)).toBe(true)
        expect(parts.flatMap((p) => p.items.map((i) => i.revision))).toEqual(whole.items.map((i) => i.revision))
        // What is said to remain is what comes.
        let left = whole.items.length
        for (const p of parts) {
          left -= p.items.length
          if (p.remainingItemCount !== undefined) expect(p.remainingItemCount).toBe(left)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('contentOf counts what a namespace holds', async () => {
  await using f = await startFixture()
  await fill(f, ['a/1', 'a/2', 'b/1'])
  await f.registry.create(f.scope(pods, '', { namespace: 'a' }), { metadata: { name: 'p' } })
  const content = (namespace: string): string[] =>
    f.lister.contentOf(namespace).map((c) => `${c.type.resource}=${c.count}`)
  expect(content('a').sort()).toEqual(['configmaps=2', 'pods=1'])
  await f.registry.deleteCollection(f.scope(configMaps, '', { namespace: 'a' }), { namespace: 'a' }, {})
  expect(content('a')).toEqual(['pods=1'])
  expect(content('none')).toEqual([])
})

test('a reader that leaves is waited for no longer, and its list goes no further', async () => {
  await using f = await startFixture()
  await fill(f, ['a/x'])
  const leaving = new AbortController()
  const asked = refusal(
    f.registry.list(configMaps, { namespace: '', resourceVersion: '999999999', signal: leaving.signal }),
  )
  leaving.abort()
  expect(await asked).toMatchObject({ code: 504 })
  expect(await refusal(f.registry.list(configMaps, { namespace: '', signal: leaving.signal }))).toEqual(
    failure({ message: 'Timeout: the client left before its request was answered', reason: 'Timeout', code: 504 }),
  )
})

test('attack: pages of a past since which more has changed than is undone at once come from the store', async () => {
  await using f = await startFixture()
  await fill(
    f,
    Array.from({ length: 3 }, (_, i) => `a/${i}`),
  )
  const first = await f.registry.list(configMaps, { namespace: 'a', limit: 1 })
  const next = { namespace: 'a', limit: 1, continue: first.continue ?? '' }
  expect((await f.registry.list(configMaps, next)).remainingItemCount).toBe(1)
  const { range } = f.storage
  let asked = 0
  f.storage.range = (...args) => {
    asked++
    return range.apply(f.storage, args)
  }
  await fill(
    f,
    Array.from({ length: 1000 }, (_, i) => `a/0-${i}`),
  )
  expect(names(await f.registry.list(configMaps, next))).toEqual(['a/1'])
  expect(asked).toBe(0)
  await fill(f, ['a/1-more'])
  expect(names(await f.registry.list(configMaps, next))).toEqual(['a/1'])
  expect(asked).toBe(1)
})

test.each(['k', 'k in (a,b)', 'k>3', 'k=a'])(
  'attack: with the selector %s no object without it is parsed',
  async (labelSelector) => {
    await using f = await startFixture()
    await fill(f, ['a/0', 'a/1'])
    const read = vi.spyOn(TypedVersion.prototype, 'metadata', 'get')
    expect((await f.registry.list(configMaps, { namespace: 'a', labelSelector })).items).toEqual([])
    expect(read).not.toHaveBeenCalled()
    read.mockRestore()
    expect((await f.registry.list(configMaps, { namespace: 'a', labelSelector: `!k` })).items).toHaveLength(2)
  },
)
