/**
 * My namespaces, tried with random histories of namespaces, roles and bindings, against a naive recomputation: at every
 * revision, who is shown what they may get, and nothing else; by lists, pages, watches that were there all along, and
 * watches resumed anywhere.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isExpired } from '../../src/kube/status-error.ts'
import type { UserInfo } from '../../src/kube/user.ts'
import type { ListPage, RegistryEvent } from '../../src/registry/registry.ts'
import {
  end,
  history,
  names,
  namespace,
  snapshot,
  startWorld,
  users,
  type World,
} from '../support/own-namespaces-world.ts'
import { type Fixture, namespaces } from '../support/registry-fixture.ts'

/** Name to revision: what a client holds. */
type State = Map<string, number>
const same = (a: State, b: ReadonlyMap<string, number>): boolean =>
  a.size === b.size && [...a].every(([name, revision]) => b.get(name) === revision)

/** Answers the resourceVersion that a client has after it. */
function take(state: State, event: RegistryEvent): string {
  if (event.type === 'BOOKMARK') return String(event.revision)
  const { name, revision, object } = event.stored
  if (event.type === 'DELETED') state.delete(name)
  else state.set(name, revision)
  return object.metadata.resourceVersion ?? ''
}

/** Reads until `end`, which is made last, comes. */
async function readToEnd(stream: AsyncIterable<readonly RegistryEvent[]>, state: State): Promise<void> {
  for await (const batch of stream) {
    for (const event of batch) {
      take(state, event)
      if (event.type !== 'BOOKMARK' && event.stored.name === end) return
    }
  }
}

const watch = (w: World, who: UserInfo, more: object = {}): ReturnType<Fixture['registry']['watch']> =>
  w.fixture.registry.watch(namespaces, {
    namespace: '',
    view: w.view(who),
    signal: new AbortController().signal,
    ...more,
  })

const list = (w: World, who: UserInfo, more: object = {}): Promise<ListPage> =>
  w.fixture.registry.list(namespaces, { namespace: '', view: w.view(who), ...more })

const stateOf = ({ items }: ListPage): State => new Map(items.map((i) => [i.name, i.revision]))
const finish = (w: World): Promise<void> => w.run({ op: 'put', object: namespace(end) })

/** False = 410: the client would have to list again. */
async function unlessExpired(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (e) {
    if (!isExpired(e)) throw e
    return false
  }
}

const numRuns = 40

test('a list shows, at every revision, the namespaces that the user may get, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      await using w = await startWorld()
      for (const step of steps) {
        await w.run(step)
        const { visible } = snapshot(w)
        for (const who of users) {
          const all = await list(w, who)
          expect(stateOf(all)).toEqual(visible.get(who))
          expect([...stateOf(all).keys()]).toEqual([...(visible.get(who)?.keys() ?? [])])
          for (const name of names) {
            const one = await list(w, who, { fieldSelector: `metadata.name=${name}` })
            expect([...stateOf(one).keys()]).toEqual(visible.get(who)?.has(name) ? [name] : [])
          }
        }
      }
    }),
    { numRuns },
  )
})

test('a watch that is there all along holds, at every revision, what a list would show', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      await using w = await startWorld()
      const watchers = []
      for (const who of users) {
        const stream = await watch(w, who, { allowWatchBookmarks: true })
        watchers.push({ who, events: stream[Symbol.asyncIterator](), state: new Map() as State, rv: '' })
      }
      for (const step of steps) {
        await w.run(step)
        const { visible, revision } = snapshot(w)
        for (const watcher of watchers) {
          const { who, events, state } = watcher
          const want = visible.get(who) ?? new Map()
          // Only as long as something is missing: a watch that has nothing to tell would be waited for in vain.
          while (!same(state, want)) {
            const { value } = (await events.next()) as { value: readonly RegistryEvent[] }
            for (const event of value) {
              if (event.type !== 'BOOKMARK') {
                const { name } = event.stored
                expect(event.type === 'DELETED' || want.has(name), `${event.type} ${name} to ${who.username}`).toBe(
                  true,
                )
                expect(event.type === 'ADDED').toBe(!state.has(name))
              }
              watcher.rv = take(state, event)
            }
            // After what a change of rights brought stands a bookmark: from here nothing is told twice.
            expect(Number(watcher.rv)).toBeGreaterThanOrEqual(revision - 1024)
          }
        }
      }
    }),
    { numRuns },
  )
})

test('a watch resumed at any revision arrives at the list of now; 410 only where every name came or went', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), async (steps, allowWatchBookmarks) => {
      await using w = await startWorld()
      const story = [snapshot(w)]
      for (const step of steps) {
        await w.run(step)
        story.push(snapshot(w))
      }
      await finish(w)
      const last = snapshot(w)
      for (const who of users) {
        for (const [i, { revision, visible }] of story.entries()) {
          const state: State = new Map(visible.get(who))
          const resumed = await unlessExpired(async () =>
            readToEnd(await watch(w, who, { resourceVersion: String(revision), allowWatchBookmarks }), state),
          )
          if (resumed) expect(state).toEqual(last.visible.get(who))
          else
            expect(
              story.slice(i).some((s) => s.everything.has(who)),
              'expired without need',
            ).toBe(true)
        }
      }
    }),
    { numRuns },
  )
})

/** A client that reads `count` events of what is there at once, and goes away. Answers where it would resume. */
async function readSome(stream: AsyncIterable<readonly RegistryEvent[]>, count: number, state: State, rv: string) {
  const events = stream[Symbol.asyncIterator]()
  let left = count
  let resourceVersion = rv
  while (left > 0) {
    const idle = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))
    const next = await Promise.race([events.next(), idle])
    if (next === undefined || next.done) break
    for (const event of next.value.slice(0, left)) resourceVersion = take(state, event)
    left -= next.value.length
  }
  await events.return?.()
  return resourceVersion
}

test('a client that is cut off anywhere and resumes from what it saw last misses and keeps nothing', async () => {
  const cuts = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(history, cuts, fc.boolean(), async (steps, counts, allowWatchBookmarks) => {
      await using w = await startWorld()
      const clients = users.map((who) => ({ who, state: new Map() as State, rv: String(w.fixture.cache.revision) }))
      const perCut = Math.ceil(steps.length / counts.length)
      for (const [i, count] of counts.entries()) {
        for (const step of steps.slice(i * perCut, (i + 1) * perCut)) await w.run(step)
        for (const client of clients) {
          const options = { resourceVersion: client.rv, allowWatchBookmarks }
          const resumed = await unlessExpired(async () => {
            client.rv = await readSome(await watch(w, client.who, options), count, client.state, client.rv)
          })
          if (resumed) continue
          const again = await list(w, client.who)
          client.state = stateOf(again)
          client.rv = String(again.revision)
        }
      }
      await finish(w)
      const { visible } = snapshot(w)
      for (const { who, state, rv } of clients) {
        const resumed = await unlessExpired(async () =>
          readToEnd(await watch(w, who, { resourceVersion: rv, allowWatchBookmarks }), state),
        )
        if (resumed) expect(state).toEqual(visible.get(who))
      }
    }),
    { numRuns },
  )
})

test('pages show what the user could get at the first and still may; a watch from there completes them', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.constantFrom(...users), fc.nat({ max: 20 }), async (steps, who, from) => {
      await using w = await startWorld()
      for (const step of steps.slice(0, from)) await w.run(step)
      const then = snapshot(w).visible.get(who)
      const state: State = new Map()
      const complete = await unlessExpired(async () => {
        let page = await list(w, who, { limit: 1 })
        const { revision } = page
        for (let i = from; ; i += 5) {
          expect(page.remainingItemCount).toBeUndefined()
          expect(page.items.length).toBeLessThanOrEqual(1)
          for (const { name, revision: own } of page.items) {
            expect(then?.get(name)).toBe(own)
            // What was one's own until it went may still be on a page of that time.
            expect(w.naive.mayGet(who, name) || !w.naive.objects.has(`Namespace//${name}`)).toBe(true)
            state.set(name, own)
          }
          if (!page.continue) break
          for (const step of steps.slice(i, i + 5)) await w.run(step)
          page = await list(w, who, { limit: 1, continue: page.continue })
        }
        await finish(w)
        await readToEnd(await watch(w, who, { resourceVersion: String(revision) }), state)
      })
      if (complete) expect(state).toEqual(snapshot(w).visible.get(who))
    }),
    { numRuns: 2 * numRuns },
  )
})
