import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Turns } from '../../base/turns.ts'
import type { Namespace } from '../namespaces/types.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { MatchedNamespaces } from './matched-namespaces.ts'
import { Surveys } from './surveys.ts'

const version = (generation: number, wanted: string, annotation = '', name = 't'): Matcher =>
  compileMatcher({
    metadata: { name, uid: 'u', generation, annotations: { annotation } },
    spec: { namespaces: { labelSelector: { matchLabels: { for: wanted } } } },
  })

/** A store of namespaces, each for one of the templates' selectors, and turns that are given by hand. */
class World implements AsyncDisposable {
  readonly namespaces = new Map<string, Namespace>()
  /** Namespaces that hold something of the template. */
  readonly holding = new Set<string>()
  readonly enqueued = new Set<string>()
  readonly done: { readonly version: Matcher; readonly pruned: readonly string[]; readonly counted: number }[] = []
  readonly told: number[] = []
  isStopped = false
  /** Namespaces that were looked at in this turn. */
  looked = 0
  readonly matched = new MatchedNamespaces(
    (of, namespace) => of.selects(namespace),
    () => {},
  )
  readonly surveys: Surveys
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  readonly #soon: (() => void)[] = []
  #now = 0

  constructor(count = 0) {
    for (let i = 0; i < count; i++) this.set(`n${i}`, 'a')
    const turns = new Turns({ now: () => this.#now, soon: (run) => this.#soon.push(run) })
    const namespaces = this.namespaces
    this.surveys = new Surveys({
      turns,
      onError: (error) => {
        throw error
      },
      names: () => namespaces.keys(),
      findNamespace: (name) => namespaces.get(name),
      countAnew: (of) => this.matched.countAnew(of),
      count: (of, namespace) => {
        // A hundred in a millisecond.
        this.#now += 0.01
        this.looked++
        this.matched.count(of, namespace)
      },
      holds: (_, name) => this.holding.has(name),
      mayBeStopped: () => true,
      wouldPrune: (of, namespace) => this.#wouldPrune(of, namespace),
      enqueue: (name) => {
        this.#now += 0.01
        this.looked++
        this.enqueued.add(name)
      },
      onProgress: () => this.told.push(this.surveys.looked('t')),
      onDone: (of, pruned) => {
        this.done.push({ version: of, pruned: [...pruned].sort(), counted: this.matched.counted('t') })
        return this.isStopped
      },
    })
    this.#running = this.surveys.walks.run(this.#stop.signal)
  }

  #wouldPrune(of: Matcher, namespace: Namespace): boolean {
    return this.holding.has(namespace.metadata.name ?? '') && !of.selects(namespace)
  }

  set(name: string, wanted: string): void {
    const namespace = { metadata: { name, labels: { for: wanted } } }
    this.namespaces.set(name, namespace)
    this.matched.namespaceChanged(namespace)
    this.surveys?.changed(name)
  }

  remove(name: string): void {
    this.namespaces.delete(name)
    this.holding.delete(name)
    this.matched.namespaceGone(name)
    this.surveys.changed(name)
  }

  hold(name: string, holds: boolean): void {
    if (holds) this.holding.add(name)
    else this.holding.delete(name)
    this.surveys.changed(name)
  }

  /** What counting all again would give. */
  recount(of: Matcher): World['done'][number] {
    const all = [...this.namespaces.values()]
    const pruned = all.filter((one) => this.#wouldPrune(of, one)).map((one) => one.metadata.name ?? '')
    return { version: of, pruned: pruned.sort(), counted: all.filter((one) => of.selects(one)).length }
  }

  async turn(): Promise<number> {
    this.looked = 0
    for (const run of this.#soon.splice(0)) run()
    await new Promise(setImmediate)
    return this.looked
  }

  /** Until nothing is left to do: the turns that took. */
  async rest(): Promise<number> {
    let turns = 0
    do {
      await this.turn()
      turns++
    } while (this.#soon.length > 0)
    return turns
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.rest()
    await this.#running
  }
}

test('ten thousand namespaces are looked at in slices, and enqueued so, with word of how far it is', async () => {
  await using world = new World(10_000)
  const next = version(2, 'a')
  world.surveys.change(next, version(1, 'a'))
  const looked: number[] = []
  while (world.enqueued.size < 10_000) looked.push(await world.turn())
  // 20,000 of a hundredth of a millisecond, 250 in each.
  expect([looked.length, Math.max(...looked)]).toEqual([80, 251])
  expect(world.told).toEqual(Array.from({ length: 20 }, (_, i) => (i + 1) * 500))
  expect([world.done, world.surveys.isDone(next)]).toEqual([[{ version: next, pruned: [], counted: 10_000 }], true])
})

test('nothing is known of a version before all are looked at, and nothing of one that is replaced', async () => {
  await using world = new World(1000)
  const [first, second] = [version(2, 'a'), version(3, 'b')]
  world.surveys.change(first, version(1, 'a'))
  await world.turn()
  expect([world.surveys.isDone(first), world.done]).toEqual([false, []])
  world.surveys.change(second, first)
  await world.rest()
  expect([world.surveys.isDone(first), world.surveys.isDone(second)]).toEqual([false, true])
  expect(world.done).toEqual([{ version: second, pruned: [], counted: 0 }])
  // Of what the first version, and the one before it, selected, none is forgotten.
  expect(world.enqueued.size).toBe(1000)
})

test('of two templates that change at once each has its look, and so when a namespace changes afterwards', async () => {
  await using world = new World(3)
  const [one, other] = [version(2, 'a'), version(2, 'b', '', 'other')]
  world.isStopped = true
  world.surveys.change(one, undefined)
  world.surveys.change(other, undefined)
  await world.rest()
  expect(world.done.map((done) => done.version)).toEqual([one, other])
  expect(world.enqueued.size).toBe(3)
  world.set('n0', 'b')
  await world.rest()
  expect(world.done.map((done) => done.version)).toEqual([one, other, one, other])
})

test('of a template that never was looked at, what it selected is enqueued when it is gone', async () => {
  await using world = new World(3)
  world.surveys.forget('t', version(1, 'a'))
  await world.rest()
  expect(world.enqueued.size).toBe(3)
})

test('while it is stopped it hears of every change that matters, and of none when it goes on', async () => {
  await using world = new World(3)
  for (const name of ['n0', 'n1', 'n2']) world.holding.add(name)
  world.isStopped = true
  const next = version(2, 'b')
  world.surveys.change(next, version(1, 'a'))
  await world.rest()
  world.remove('n0')
  await world.rest()
  world.isStopped = false
  world.hold('n1', false)
  await world.rest()
  expect(world.done.map(({ pruned }) => pruned)).toEqual([['n0', 'n1', 'n2'], ['n1', 'n2'], ['n2']])
  world.remove('n2')
  await world.rest()
  expect(world.done).toHaveLength(3)
})

test('of a template that is gone, all that it selected or held are enqueued, amid a look as well', async () => {
  await using world = new World(1000)
  world.set('held', 'c')
  world.holding.add('held')
  world.set('later', 'b')
  world.set('other', 'c')
  world.surveys.change(version(2, 'b'), version(1, 'a'))
  await world.turn()
  world.surveys.forget('t', version(2, 'b'))
  await world.rest()
  expect([world.enqueued.size, world.enqueued.has('held'), world.enqueued.has('other')]).toEqual([1002, true, false])
  expect(world.done).toEqual([])
})

test('at a start none is enqueued: another does', async () => {
  await using world = new World(10)
  const there = version(1, 'a')
  world.surveys.begin(there)
  expect([world.surveys.isBegun(there), world.surveys.isBegun(version(1, 'a'))]).toEqual([true, false])
  await world.rest()
  expect([world.enqueued.size, world.done.length]).toEqual([0, 1])
})

test('whatever changes amid the look, it finds what looking at all at once would find', async () => {
  const name = fc.integer({ min: 0, max: 999 }).map((i) => `n${i}`)
  const wanted = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ set: name, to: wanted }) },
    { weight: 2, arbitrary: fc.record({ gone: name }) },
    { weight: 3, arbitrary: fc.record({ hold: name, is: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ edit: wanted, isSpec: fc.boolean() }) },
    { weight: 3, arbitrary: fc.constant('turn' as const) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await using world = new World(600)
      for (let i = 0; i < 600; i += 7) world.holding.add(`n${i}`)
      world.isStopped = true
      let present = version(1, 'a')
      const versions = [present]
      const edit = (to: string, isSpec: boolean): void => {
        const generation = (present.template.metadata.generation ?? 0) + (isSpec ? 1 : 0)
        const next = version(generation, isSpec ? to : versions.at(-1)?.template ? wantedBy(present) : to, `${to}`)
        world.surveys.change(next, present)
        present = next
        versions.push(next)
      }
      edit('b', true)
      for (const one of steps) {
        if (one === 'turn') await world.turn()
        else if ('set' in one) world.set(one.set, one.to)
        else if ('gone' in one) world.remove(one.gone)
        else if ('hold' in one) world.hold(one.hold, one.is && world.namespaces.has(one.hold))
        else edit(one.edit, one.isSpec)
      }
      await world.rest()
      expect(world.done.at(-1)).toEqual(world.recount(present))
      // What changes meanwhile is enqueued by its change, and so is not asked for here.
      const changed = new Set(steps.flatMap((one) => (one === 'turn' || 'edit' in one ? [] : Object.values(one))))
      const missed = [...world.namespaces.values()].filter(
        (one) => versions.some((v) => v.selects(one)) && !world.enqueued.has(one.metadata.name ?? ''),
      )
      expect(missed.filter((one) => !changed.has(one.metadata.name ?? ''))).toEqual([])
    }),
    { numRuns: 60 },
  )
})

const wantedBy = ({ template }: Matcher): string => template.spec?.namespaces?.labelSelector?.matchLabels?.['for'] ?? ''
