/** What holds for any objects, configurations and managers. The oracle looks values up by path and knows no sets. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { workload, workloadSchema } from '../../../test/support/apply-fixtures.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { applyConfiguration } from './apply-configuration.ts'
import { pathsOf } from './field-set.ts'
import { type OwnedFields, ownedBy } from './ownership.ts'
import type { PathElement } from './path-element.ts'
import { trackUpdate } from './track-update.ts'

const now = '2026-01-01T00:00:00Z'
const type = { schema: workloadSchema, apiVersion: 'apps/v1', kind: 'Workload', now }

const optional = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>

const word = fc.constantFrom('a', 'b', 'c')
const words = fc.dictionary(word, word, { maxKeys: 3 })
const set = fc.uniqueArray(word, { maxLength: 3 })
const keyedBy = (name: string, key: fc.Arbitrary<JsonValue>, rest: fc.Arbitrary<object>): fc.Arbitrary<object[]> =>
  fc.uniqueArray(
    fc.tuple(key, rest).map(([value, fields]) => ({ [name]: value, ...fields })),
    { maxLength: 3, selector: (item) => JSON.stringify((item as JsonObject)[name]) },
  )
const ports = keyedBy('containerPort', fc.constantFrom(80, 443), optional({ name: word }))
const env = keyedBy('name', word, optional({ value: word }))
const containers = keyedBy(
  'name',
  word,
  optional({
    image: word,
    command: fc.array(word, { maxLength: 2 }),
    env,
    ports,
    resources: optional({ limits: words }),
  }),
)
const body = optional({
  metadata: optional({ labels: words, finalizers: set }),
  spec: optional({
    replicas: fc.integer({ min: 0, max: 2 }),
    selector: optional({ matchLabels: words }),
    template: optional({ labels: words, containers }),
    zones: set,
    hosts: fc.array(word, { maxLength: 2 }),
  }),
})
const arbObject: fc.Arbitrary<KubeObject> = body.map((fields) => workload(fields))
const arbManager = fc.constantFrom('m1', 'm2', 'm3')

const apply = (live: KubeObject | undefined, manager: string, config: KubeObject, force = false): KubeObject =>
  applyConfiguration({ ...type, live, manager, config, force })

const update = (live: KubeObject | undefined, manager: string, next: KubeObject): KubeObject =>
  trackUpdate({
    ...type,
    live,
    manager,
    next: live?.metadata.managedFields
      ? { ...next, metadata: { ...next.metadata, managedFields: live.metadata.managedFields } }
      : next,
  })

interface Write {
  readonly apply: boolean
  readonly manager: string
  readonly object: KubeObject
}
const arbWrites = fc.array(fc.record({ apply: fc.boolean(), manager: arbManager, object: arbObject }), { maxLength: 5 })

/** Any object that several managers have written. */
function written(writes: readonly Write[]): KubeObject {
  let live = update(undefined, 'creator', workload({ spec: { paused: true } }))
  for (const write of writes) {
    live = write.apply ? apply(live, write.manager, write.object, true) : update(live, write.manager, write.object)
  }
  return live
}

function lookUp(value: unknown, path: readonly PathElement[]): unknown {
  let found: unknown = value
  for (const element of path) {
    const content = element.slice(2)
    if (element.startsWith('f:')) found = (found as JsonObject | undefined)?.[content]
    else if (!Array.isArray(found)) return undefined
    else if (element.startsWith('v:')) found = found.find((item) => JSON.stringify(item) === content)
    else found = found.find((item) => Object.entries(JSON.parse(content)).every(([k, v]) => (item[k] ?? 'TCP') === v))
    if (found === null || found === undefined) return undefined
  }
  return found
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Values with list items in one order, without managedFields. */
function normal(object: KubeObject): unknown {
  const sortLists = (value: unknown): unknown => {
    if (Array.isArray(value))
      return value.map(sortLists).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([k, v]) => [k, sortLists(v)]),
    )
  }
  return sortLists(withoutManagers(object))
}

const ownership = (object: KubeObject): unknown =>
  ownedBy(object)
    .map(({ time: _, ...owned }) => JSON.stringify(owned))
    .sort()

/** Deals the leaves of a value out to two hands; structs, keyed items and their keys go to both. */
function deal(value: JsonValue, coin: () => boolean): [JsonValue | undefined, JsonValue | undefined] {
  const hands: [JsonObject, JsonObject] = [{}, {}]
  if (Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)) {
    const items = value.map((item) => deal(item, coin))
    return [items.map(([left]) => left as JsonValue), items.map(([, right]) => right as JsonValue)]
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return coin() ? [value, undefined] : [undefined, value]
  }
  const keys = new Set(['containerPort', 'name'])
  for (const [name, part] of Object.entries(value)) {
    const parts = keys.has(name) ? [part, part] : name === 'selector' ? dealWhole(part, coin) : deal(part, coin)
    for (const i of [0, 1] as const) {
      const dealt = parts[i]
      if (dealt !== undefined) hands[i][name] = dealt
    }
  }
  return hands
}

const dealWhole = (value: JsonValue, coin: () => boolean): [JsonValue | undefined, JsonValue | undefined] =>
  coin() ? [value, undefined] : [undefined, value]

describe('apply', () => {
  it('does nothing the second time', () => {
    fc.assert(
      fc.property(arbWrites, arbManager, arbObject, (writes, manager, config) => {
        const once = apply(written(writes), manager, config, true)
        const twice = apply(once, manager, config)
        // What no manager owns is claimed first.
        if (once.metadata.managedFields === undefined) expect(withoutManagers(twice)).toEqual(withoutManagers(once))
        else expect(twice).toBe(once)
        expect(apply(twice, manager, config)).toBe(twice)
      }),
      { numRuns: 150 },
    )
  })

  // Seed 7: an empty set is a field for a comparison and none for a configuration, as upstream has both.
  it('of an empty set that nobody owns has it claimed once, and owns nothing', () => {
    const config = workload({ metadata: { finalizers: [] } })
    const once = apply(written([{ apply: false, manager: 'm1', object: workload() }]), 'm1', config, true)
    expect(ownedBy(once)).toEqual([])
    const twice = apply(once, 'm1', config)
    expect(ownedBy(twice)).toMatchObject([
      { manager: 'before-first-apply', operation: 'Update', fields: { 'f:metadata': { 'f:finalizers': {} } } },
    ])
    expect(apply(twice, 'm1', config)).toBe(twice)
  })

  it('makes everything it says so, and owns it', () => {
    fc.assert(
      fc.property(arbWrites, arbManager, arbObject, (writes, manager, config) => {
        const result = apply(written(writes), manager, config, true)
        const mine = ownedBy(result, manager).find((m) => m.operation === 'Apply')
        for (const path of pathsOf(mine?.fields ?? {})) {
          const said = lookUp(config, path)
          if (typeof said !== 'object') expect(lookUp(result, path)).toEqual(said)
        }
        // Laying it over what it made changes nothing, by any manager.
        expect(normal(apply(result, 'another', config))).toEqual(normal(result))
      }),
      { numRuns: 150 },
    )
  })

  it('of disjoint fields by two managers commutes', () => {
    fc.assert(
      fc.property(arbObject, fc.infiniteStream(fc.boolean()), (object, coins) => {
        const coin = (): boolean => coins.next().value as boolean
        const [left, right] = deal(object as unknown as JsonValue, coin) as unknown as [KubeObject, KubeObject]
        const whole = (config: KubeObject): KubeObject => workload(config as unknown as JsonObject)
        const base = update(undefined, 'creator', workload({ spec: { paused: true } }))
        const one = apply(apply(base, 'm1', whole(left)), 'm2', whole(right))
        const other = apply(apply(base, 'm2', whole(right)), 'm1', whole(left))
        expect(normal(one)).toEqual(normal(other))
        expect(ownership(one)).toEqual(ownership(other))
      }),
      { numRuns: 200 },
    )
  })

  it('takes away what it owned alone and leaves what it shared', () => {
    fc.assert(
      fc.property(words, fc.func(fc.integer({ min: 0, max: 3 })), (labels, share) => {
        const only = (owner: number): Record<string, string> =>
          Object.fromEntries(Object.entries(labels).filter(([key]) => (share(key) & owner) !== 0))
        const config = (kept: Record<string, string>): KubeObject => workload({ metadata: { labels: kept } })
        const shared = apply(apply(undefined, 'm1', config(labels)), 'm2', config(only(1)))
        const left = apply(shared, 'm1', config(only(2)))
        const want = { ...only(1), ...only(2) }
        expect(left.metadata.labels ?? {}).toEqual(want)
      }),
      { numRuns: 100 },
    )
  })

  it('with nothing leaves no trace of what only it had applied', () => {
    fc.assert(
      fc.property(arbObject, (config) => {
        const live = update(undefined, 'creator', workload({ spec: { paused: true } }))
        const gone = apply(apply(live, 'm1', config), 'm1', workload())
        expect(ownedBy(gone)).toEqual(ownedBy(live))
        expect(withoutEmpty(gone)).toEqual(withoutEmpty(live))
      }),
      { numRuns: 150 },
    )
  })
})

/** Structs held by value may stay behind empty; empty keyed lists have no owner (as upstream has it). */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
    .map(([name, part]) => [name, withoutEmpty(part)] as const)
    .filter(([, part]) => part !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

describe('an update', () => {
  const entryOf = (object: KubeObject, { manager, operation }: OwnedFields): OwnedFields | undefined =>
    ownedBy(object).find((m) => m.manager === manager && m.operation === operation)

  it('lets nobody lose a field that it did not touch', () => {
    fc.assert(
      fc.property(arbWrites, arbManager, arbObject, (writes, manager, next) => {
        const live = written(writes)
        const result = update(live, manager, next)
        for (const before of ownedBy(live)) {
          const after = new Set(pathsOf(entryOf(result, before)?.fields ?? {}).map((path) => path.join('\n')))
          for (const path of pathsOf(before.fields)) {
            const untouched = lookUp(live, path) !== undefined && sameJson(lookUp(live, path), lookUp(next, path))
            if (untouched) expect(after, `${before.manager} ${path}`).toContain(path.join('\n'))
          }
        }
      }),
      { numRuns: 200 },
    )
  })

  it('gives what it changed to its manager alone, and leaves no owner of what is gone', () => {
    fc.assert(
      fc.property(arbWrites, arbObject, (writes, next) => {
        const live = written(writes)
        const result = update(live, 'editor', next)
        for (const owned of ownedBy(result)) {
          for (const path of pathsOf(owned.fields)) {
            const [before, after] = [lookUp(live, path), lookUp(next, path)]
            const leaf = typeof before !== 'object' && typeof after !== 'object'
            if (leaf && before !== after) expect([owned.manager, after === undefined]).toEqual(['editor', false])
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})
