/** Lists by label answer the same with indices as without, whatever is written meanwhile, at every revision asked. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configMap, configMaps, type Fixture, startFixture } from '../../test/support/registry-fixture.ts'
import { Turns } from '../base/turns.ts'
import { objectKey } from '../kube/object-key.ts'
import { encodeStored } from '../kube/stored-form.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { watchState } from '../watch/open-watch.ts'
import { defaultSessionLimits } from '../watch/watch-session.ts'
import type { ListPage, ListQuery } from './registry.ts'
import { selectionOf } from './selection.ts'

type Labels = Readonly<Record<string, string>>

type Step =
  | { readonly do: 'put'; readonly namespace: string; readonly name: string; readonly labels: Labels }
  | { readonly do: 'delete'; readonly namespace: string; readonly name: string }
  | {
      readonly do: 'list'
      readonly namespace: string
      readonly labelSelector: string
      readonly limit: number
      /** Lists what was there so many revisions ago. */
      readonly ago: number
    }
  | { readonly do: 'nextPage' }

const value = fc.constantFrom('a', 'b', '', 'longer-than-others')
const labels = fc.dictionary(fc.constantFrom('k', 'x/k', 'kk'), value, { maxKeys: 3 })
const namespace = fc.constantFrom('one', 'two')
const name = fc.integer({ min: 0, max: 12 }).map((n) => `o${n}`)
const key = fc.constantFrom('k', 'x/k', 'kk')
const requirement = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(key, value).map(([k, v]) => `${k}=${v}`) },
  fc.tuple(key, value, value).map(([k, a, b]) => `${k} in (${a},${b})`),
  fc.tuple(key, value).map(([k, v]) => `${k}!=${v}`),
  key.map((k) => `!${k}`),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), namespace, name, labels }) },
  fc.record({ do: fc.constant('delete' as const), namespace, name }),
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      namespace: fc.constantFrom('', 'one', 'two'),
      labelSelector: fc.array(requirement, { minLength: 1, maxLength: 2 }).map((r) => r.join(',')),
      limit: fc.constantFrom(0, 0, 1, 3),
      ago: fc.constantFrom(0, 0, 1, 4),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('nextPage' as const) }) },
)

/** Two caches of one store: one that makes an index as soon as it can, and one that makes none. */
class Pair implements AsyncDisposable {
  readonly #storage: MemoryStorage
  readonly #indexed: Fixture
  readonly #plain: Fixture
  readonly #revisions = [0]
  #pages: { readonly query: ListQuery; readonly token: string } | undefined

  private constructor(storage: MemoryStorage, indexed: Fixture, plain: Fixture) {
    this.#storage = storage
    this.#indexed = indexed
    this.#plain = plain
  }

  static async start(): Promise<Pair> {
    const storage = new MemoryStorage()
    const open = (indexedFrom: number): Promise<Fixture> => startFixture({ storage, cache: { indexedFrom } })
    return new Pair(storage, await open(1), await open(Number.POSITIVE_INFINITY))
  }

  get hasIndex(): boolean {
    return this.#indexed.cache.type('configmaps').labelIndexBytes > 0
  }

  async write(namespace: string, name: string, labels: Labels | undefined): Promise<void> {
    const at = objectKey('configmaps', namespace, name)
    const { entry } = await this.#storage.get(at)
    const metadata = { namespace, uid: `${namespace}-${name}`, ...(labels === undefined ? {} : { labels }) }
    // What a part of it says of labels is not what it has.
    const object = { ...configMap(name, {}, metadata), spec: { metadata: { labels: { k: 'a' } } } }
    const write = { key: at, expect: entry?.revision ?? ('absent' as const), value: labels && encodeStored(object) }
    if (labels === undefined && entry === undefined) return
    const commit = await this.#storage.commit({ guards: [], writes: [write] }).done
    if (commit.ok) this.#revisions.push(commit.revision)
  }

  async list({ namespace, labelSelector, limit, ago }: Extract<Step, { do: 'list' }>): Promise<void> {
    const revision = this.#revisions.at(-1 - ago) ?? 0
    const at = ago > 0 && revision > 0 ? { resourceVersion: String(revision), resourceVersionMatch: 'Exact' } : {}
    const query = { namespace, labelSelector, limit, ...at } as ListQuery
    this.#remember(query, await this.#compare(query))
    await this.#compareWatch(namespace, labelSelector)
  }

  async nextPage(): Promise<void> {
    if (this.#pages === undefined) return
    const { namespace, labelSelector, limit } = this.#pages.query as Required<ListQuery>
    const query = { namespace, labelSelector, limit, continue: this.#pages.token }
    this.#remember(query, await this.#compare(query))
  }

  #remember(query: ListQuery, page: ListPage): void {
    this.#pages = page.continue === undefined ? undefined : { query, token: page.continue }
  }

  async #compare(query: ListQuery): Promise<ListPage> {
    const page = await this.#indexed.registry.list(configMaps, query)
    expect(shown(page)).toEqual(shown(await this.#plain.registry.list(configMaps, query)))
    return page
  }

  async #compareWatch(namespace: string, labelSelector: string): Promise<void> {
    const stop = new AbortController()
    const initial = async ({ cache }: Fixture): Promise<unknown> => {
      await cache.refresh()
      const selection = selectionOf(configMaps, {}, { namespace, labelSelector })
      const how = { bookmarks: true, limits: defaultSessionLimits, turns: new Turns(), signal: stop.signal }
      const seen: unknown[] = []
      for await (const events of watchState(cache, { ...selection, ...how, type: configMaps }, true)) {
        for (const event of events) seen.push('stored' in event ? event.stored.name : event.type)
        if (seen.at(-1) === 'BOOKMARK') return seen
      }
      return seen
    }
    expect(await initial(this.#indexed)).toEqual(await initial(this.#plain))
    stop.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#indexed[Symbol.asyncDispose]()
    await this.#plain[Symbol.asyncDispose]()
    await this.#storage[Symbol.asyncDispose]()
  }
}

const shown = ({ items, continue: token, revision, remainingItemCount }: ListPage): unknown => ({
  items: items.map(({ namespace, name, revision: of }) => [namespace, name, of]),
  token,
  revision,
  remainingItemCount,
})

async function take(pair: Pair, one: Step): Promise<void> {
  if (one.do === 'put') await pair.write(one.namespace, one.name, one.labels)
  else if (one.do === 'delete') await pair.write(one.namespace, one.name, undefined)
  else if (one.do === 'list') await pair.list(one)
  else await pair.nextPage()
}

test('a list by label answers with an index what it answers without', async () => {
  let indexed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      await using pair = await Pair.start()
      for (const one of steps) await take(pair, one)
      if (pair.hasIndex) indexed++
    }),
    { numRuns: 60 },
  )
  expect(indexed).toBeGreaterThan(30)
})

test('what changes while an index is made in steps is in it', async () => {
  await using pair = await Pair.start()
  for (let i = 0; i < 700; i++) await pair.write('one', `n${String(i).padStart(4, '0')}`, { k: String(i % 70) })
  const list = { do: 'list', namespace: '', labelSelector: 'k=7', limit: 0, ago: 0 } as const
  for (let i = 0; i < 120; i++) {
    const place = `n${String((i * 97) % 700).padStart(4, '0')}`
    await pair.write('one', place, i % 5 === 0 ? undefined : { k: i % 2 === 0 ? '7' : '8' })
    await pair.list(list)
    // The steps rest meanwhile.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(pair.hasIndex).toBe(true)
})
