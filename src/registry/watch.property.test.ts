/**
 * The promises of `docs/watch-spec.md`, tried with random histories: list@r + watch after r ≡ list@r′, for every
 * selection and every kept revision, from the window and from the store, on the writing process and on another one.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configMap, configMaps, type Fixture, startFixture } from '../../test/support/registry-fixture.ts'
import type { KubeObject } from '../kube/types.ts'
import type { ListQuery, RegistryEvent, StoredObject } from './registry.ts'

interface Step {
  readonly op: 'put' | 'delete' | 'elsewhere'
  readonly namespace: string
  readonly name: string
  readonly app: string
  readonly data: string
}

const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('put', 'put', 'put', 'delete', 'elsewhere'),
  namespace: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('x', 'y', 'z'),
  app: fc.constantFrom('red', 'blue'),
  data: fc.constantFrom('1', '2'),
})

const selections: readonly (Partial<ListQuery> & { readonly namespace: string })[] = [
  { namespace: '' },
  { namespace: 'a' },
  { namespace: '', labelSelector: 'app=red' },
  { namespace: 'b', labelSelector: 'app!=red' },
  { namespace: 'a', fieldSelector: 'metadata.name=x' },
  { namespace: '', fieldSelector: 'metadata.name=y' },
  { namespace: '', visible: (o) => (o as { data?: { k?: string } }).data?.k !== '1' },
]

/** Matches every selection, so that a watcher knows it has seen everything. */
const isEnd = (e: RegistryEvent): boolean => e.type === 'ADDED' && e.stored.object.metadata.labels?.['end'] === 'yes'

async function run(f: Fixture, s: Step): Promise<void> {
  const scope = f.scope(configMaps, s.name, { namespace: s.namespace })
  const object = configMap(s.name, { k: s.data }, { labels: { app: s.app } })
  if (s.op === 'put') await f.registry.update(scope, () => object, { whenMissing: () => object })
  else if (s.op === 'delete') await f.registry.delete(scope, {}).catch(() => undefined)
  else {
    const key = `/registry/pods/${s.namespace}/${s.name}`
    const { entry } = await f.storage.get(key)
    const value = Buffer.from(`{"metadata":{"name":"${s.name}"},"n":${f.cache.revision}}`)
    await f.storage.commit({ guards: [], writes: [{ key, value, expect: entry?.revision ?? 'absent' }] }).done
  }
}

const stateOf = (items: Iterable<StoredObject>): Map<string, number> =>
  new Map([...items].map((s) => [`${s.namespace}/${s.name}`, s.revision]))

/**
 * Ends that would spoil the comparison are put in one at a time: names y and x, so that each name selection sees one.
 */
const ends = [
  { namespace: 'a', name: 'x', app: 'red', data: '2' },
  { namespace: 'b', name: 'y', app: 'blue', data: '2' },
  { namespace: 'a', name: 'end', app: 'red', data: '2' },
]

async function putEnds(f: Fixture): Promise<void> {
  for (const e of ends) {
    const scope = f.scope(configMaps, e.name, { namespace: e.namespace })
    await f.registry.delete(scope, {}).catch(() => undefined)
    const object: KubeObject = configMap(e.name, { k: e.data }, { labels: { app: e.app, end: 'yes' } })
    await f.registry.create({ ...scope, name: '' }, object)
  }
}

function endsSeenBy(selection: (typeof selections)[number]): number {
  return ends.filter(
    (e) =>
      (selection.namespace === '' || selection.namespace === e.namespace) &&
      (selection.labelSelector === undefined || (selection.labelSelector === 'app=red') === (e.app === 'red')) &&
      (selection.fieldSelector === undefined || selection.fieldSelector === `metadata.name=${e.name}`),
  ).length
}

/** Applies events to a listed state, holding them to what a client may rely on. */
function applyEvent(state: Map<string, number>, event: RegistryEvent, last: number): number {
  if (event.type === 'BOOKMARK') return last
  const { stored } = event
  const key = `${stored.namespace}/${stored.name}`
  expect(stored.revision).toBeGreaterThan(last)
  expect(state.has(key)).toBe(event.type !== 'ADDED')
  if (event.type === 'DELETED') state.delete(key)
  else state.set(key, stored.revision)
  return stored.revision
}

async function checkWatch(f: Fixture, selection: (typeof selections)[number], after: number): Promise<void> {
  const at = String(after)
  const then = await f.registry.list(configMaps, { ...selection, resourceVersion: at, resourceVersionMatch: 'Exact' })
  const now = await f.registry.list(configMaps, selection)
  const state = stateOf(then.items)
  let left = endsSeenBy(selection)
  let last = after
  await using stream = await f.registry.watch(configMaps, {
    ...selection,
    resourceVersion: at,
    signal: new AbortController().signal,
  })
  for await (const batch of stream) {
    for (const event of batch) {
      last = applyEvent(state, event, last)
      if (isEnd(event)) left--
    }
    if (left === 0) break
  }
  expect(state).toEqual(stateOf(now.items))
}

test('list at r, then watch after r, arrives at the list of now: for every r, selection and window', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.constantFrom(0, 4, 1000), async (steps, changes) => {
      await using f = await startFixture({ cache: { window: { changes, sizeBytes: 1e9, ageMs: 1e9 } } })
      const cuts = [f.cache.revision]
      for (const s of steps) {
        await run(f, s)
        cuts.push(await f.cache.refresh())
      }
      await putEnds(f)
      await using restarted = await startFixture({ storage: f.storage, clock: f.clock })
      for (const selection of selections) {
        for (const cut of new Set(cuts)) {
          await checkWatch(f, selection, cut)
        }
        await checkWatch(restarted, selection, cuts[Math.floor(cuts.length / 2)] ?? 0)
      }
    }),
    { numRuns: 25 },
  )
})

test('a watcher from the start sees the same as one that lists at the end, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, concurrent) => {
      await using f = await startFixture()
      await using other = await startFixture({ storage: f.storage, clock: f.clock })
      const states = await Promise.all(
        selections.map(async (selection) => {
          const stream = await other.registry.watch(configMaps, {
            ...selection,
            signal: new AbortController().signal,
          })
          return { selection, stream }
        }),
      )
      if (concurrent) await Promise.all(steps.map((s) => run(f, s).catch(() => undefined)))
      else for (const s of steps) await run(f, s)
      await putEnds(f)
      for (const { selection, stream } of states) {
        const state = new Map<string, number>()
        let left = endsSeenBy(selection)
        let last = 0
        for await (const batch of stream) {
          for (const event of batch) {
            last = applyEvent(state, event, last)
            if (isEnd(event)) left--
          }
          if (left === 0) break
        }
        expect(state).toEqual(stateOf((await f.registry.list(configMaps, selection)).items))
      }
    }),
    { numRuns: 40 },
  )
})
