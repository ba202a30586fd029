import { describe, expect, it } from 'vitest'
import {
  configMap,
  configMapSchema,
  widgetSchema,
  workload,
  workloadSchema,
} from '../../../test/support/apply-fixtures.ts'
import { threadMs } from '../../../test/support/thread-time.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../types.ts'
import { sameOwnership } from './managed-fields.ts'
import { hasAppliedBy, ownedBy, ownersByPath } from './ownership.ts'
import { type TrackUpdateInput, trackUpdate } from './track-update.ts'

const now = '2026-01-02T03:04:05Z'
const later = '2026-01-02T03:04:06Z'
const onConfigMap = { schema: configMapSchema, apiVersion: 'v1', manager: 'curl', now }
const onWorkload = { schema: workloadSchema, apiVersion: 'apps/v1', manager: 'curl', now }

const fieldsOf = (object: KubeObject, i = 0): unknown => object.metadata.managedFields?.[i]?.fieldsV1
const summary = (object: KubeObject): unknown[] =>
  (object.metadata.managedFields ?? []).map((e) => [e.manager, e.operation, e.time, JSON.stringify(e.fieldsV1)])

const entry = (manager: string, fieldsV1: JsonObject, rest: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: now,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...rest,
})

describe('a create', () => {
  const cases: { name: string; input: Omit<TrackUpdateInput, 'live' | 'versions' | 'slice'>; want: unknown }[] = [
    {
      name: 'owns leaves and the maps around them, but nothing that names the object',
      input: {
        ...onConfigMap,
        next: configMap({
          metadata: { labels: { b: '1', a: '2' }, uid: 'u', creationTimestamp: now, generateName: 'cm-' },
          data: { x: '1' },
        }),
      },
      want: {
        'f:data': { '.': {}, 'f:x': {} },
        'f:metadata': { 'f:generateName': {}, 'f:labels': { '.': {}, 'f:a': {}, 'f:b': {} } },
      },
    },
    {
      name: 'does not own structs that are always there, but those that came',
      input: {
        ...onWorkload,
        next: workload({
          spec: {
            replicas: 1,
            selector: { matchLabels: { a: 'b' } },
            zones: ['b', 'a'],
            template: { containers: [{ name: 'c', resources: {}, ports: [{ containerPort: 80 }] }] },
          },
          status: {},
        }),
      },
      want: {
        'f:spec': {
          'f:replicas': {},
          'f:selector': {},
          'f:template': {
            'f:containers': {
              '.': {},
              'k:{"name":"c"}': {
                '.': {},
                'f:name': {},
                'f:ports': {
                  '.': {},
                  'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
                },
                'f:resources': {},
              },
            },
          },
          'f:zones': { '.': {}, 'v:"a"': {}, 'v:"b"': {} },
        },
      },
    },
    {
      name: 'owns the spec of a custom resource, and unknown content field by field with atomic lists',
      input: {
        schema: widgetSchema,
        apiVersion: 'ex.io/v1',
        manager: 'curl',
        now,
        next: {
          apiVersion: 'ex.io/v1',
          kind: 'Widget',
          metadata: { name: 'w' },
          spec: { size: 1, free: { a: [1, { b: 2 }], c: { d: null } }, extra: { e: {} }, tags: {} },
        },
      },
      want: {
        'f:spec': {
          '.': {},
          'f:extra': { '.': {}, 'f:e': {} },
          'f:free': { '.': {}, 'f:a': {}, 'f:c': { '.': {}, 'f:d': {} } },
          'f:size': {},
          'f:tags': {},
        },
      },
    },
    {
      name: 'never owns reset fields',
      input: {
        ...onWorkload,
        resetFields: { 'f:status': {} },
        next: workload({ spec: { paused: true }, status: { phase: 'x' } }),
      },
      want: { 'f:spec': { 'f:paused': {} } },
    },
  ]
  it.each(cases)('$name', ({ input, want }) => {
    const tracked = trackUpdate({ ...input, live: undefined })
    expect(fieldsOf(tracked)).toEqual(want)
    expect(tracked.metadata.managedFields).toHaveLength(1)
  })

  it('writes the entry with the fields in upstream order', () => {
    const tracked = trackUpdate({ ...onConfigMap, live: undefined, next: configMap({ data: { b: '1', a: '1' } }) })
    expect(JSON.stringify(tracked.metadata.managedFields)).toBe(
      '[{"manager":"curl","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z",' +
        '"fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{},"f:b":{}}}}]',
    )
  })

  it('tracks anew when the body asks to forget, and leaves out an object without fields', () => {
    const next = configMap({ metadata: { managedFields: [] }, data: { a: '1' } })
    expect(fieldsOf(trackUpdate({ ...onConfigMap, live: undefined, next }))).toEqual({
      'f:data': { '.': {}, 'f:a': {} },
    })
    const bare = trackUpdate({
      ...onConfigMap,
      live: undefined,
      next: configMap({ metadata: { managedFields: [{}] } }),
    })
    expect(bare).toEqual(configMap())
  })

  it('owns what a set names twice as one, however often it is named', () => {
    // Work in proportion to the square of this would take hours.
    const finalizers = Array<string>(500_000).fill('a.example/f')
    const tracked = trackUpdate({ ...onConfigMap, live: undefined, next: configMap({ metadata: { finalizers } }) })
    expect(fieldsOf(tracked)).toEqual({ 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"a.example/f"': {} } } })
  })

  it('gives what admission adds to the same manager, and forgets what admission takes back', () => {
    const first = trackUpdate({ ...onConfigMap, live: undefined, next: configMap({ data: { a: '1', b: '1' } }) })
    const admitted = structuredClone({ ...first, data: { a: '2', c: '1' } })
    const second = trackUpdate({ ...onConfigMap, live: first, next: admitted })
    expect(summary(second)).toEqual([['curl', 'Update', now, '{"f:data":{".":{},"f:a":{},"f:c":{}}}']])
  })
})

describe('an update', () => {
  const live = trackUpdate({
    ...onConfigMap,
    live: undefined,
    manager: 'creator',
    next: configMap({ metadata: { uid: 'u' }, data: { a: '1', b: '1' } }),
  })
  const update = (
    data: Record<string, string>,
    rest: Partial<Omit<TrackUpdateInput, 'versions' | 'slice'>> = {},
  ): KubeObject => trackUpdate({ ...onConfigMap, live, now: later, next: { ...live, data }, ...rest })

  it('takes changed and new fields from everybody', () => {
    expect(summary(update({ a: '2', b: '1', c: '1' }))).toEqual([
      ['creator', 'Update', now, '{"f:data":{".":{},"f:b":{}}}'],
      ['curl', 'Update', later, '{"f:data":{"f:a":{},"f:c":{}}}'],
    ])
  })

  it('takes removed fields from everybody and makes no entry for a pure removal', () => {
    expect(summary(update({ a: '1' }))).toEqual([['creator', 'Update', now, '{"f:data":{".":{},"f:a":{}}}']])
  })

  it('changes nothing when nothing changed, also for a body with a copy of the entries', () => {
    expect(update({ a: '1', b: '1' }).metadata.managedFields).toBe(live.metadata.managedFields)
    const sent = structuredClone(live)
    expect(trackUpdate({ ...onConfigMap, live, next: sent }).metadata.managedFields).toBe(live.metadata.managedFields)
  })

  it('drops an entry that owns nothing any more', () => {
    const next = trackUpdate({ ...onConfigMap, live, next: configMap({ metadata: { uid: 'u' } }) })
    expect(next.metadata).not.toHaveProperty('managedFields')
  })

  it('adds to the entry of the same manager and moves its time', () => {
    expect(summary(update({ a: '1', b: '1', c: '1' }, { manager: 'creator' }))).toEqual([
      ['creator', 'Update', later, '{"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{}}}'],
    ])
  })

  it('keeps versions and sub-resources apart', () => {
    const other = update({ a: '2', b: '1' }, { manager: 'creator', apiVersion: 'v2' })
    const third = trackUpdate({
      ...onConfigMap,
      manager: 'creator',
      subresource: 'status',
      now: later,
      live: other,
      next: { ...other, data: { a: '2', b: '2' } },
    })
    expect(ownedBy(third).map((m) => [m.manager, m.apiVersion, m.subresource, JSON.stringify(m.fields)])).toEqual([
      ['creator', 'v1', '', '{"f:data":{}}'],
      ['creator', 'v1', 'status', '{"f:data":{"f:b":{}}}'],
      ['creator', 'v2', '', '{"f:data":{"f:a":{}}}'],
    ])
  })

  it('gives who scales no time, and leaves one that is known', () => {
    const scaled = update({ a: '2', b: '1' }, { manager: 'scaler', subresource: 'scale' })
    expect(ownedBy(scaled).map((m) => [m.manager, m.time])).toEqual([
      ['scaler', undefined],
      ['creator', now],
    ])
    const timed = entry('scaler', { 'f:data': { 'f:a': {} } }, { subresource: 'scale' })
    const known = configMap({ metadata: { uid: 'u', managedFields: [timed] }, data: { a: '2', b: '1' } })
    const next = { ...known, data: { a: '2', b: '2' } }
    const again = trackUpdate({
      ...onConfigMap,
      live: known,
      next,
      manager: 'scaler',
      subresource: 'scale',
      now: later,
    })
    expect(ownedBy(again).map((m) => [m.manager, m.time])).toEqual([['scaler', now]])
  })

  it('calls a nameless manager unknown', () => {
    expect(update({ a: '2', b: '1' }, { manager: '' }).metadata.managedFields?.[1]?.manager).toBe('unknown')
  })

  const bodies: { name: string; given: unknown; want: unknown }[] = [
    {
      name: 'believes a good list of entries',
      given: [entry('new', { 'f:data': { 'f:b': {} } })],
      want: [['new', 'Update', now, '{"f:data":{"f:b":{}}}']],
    },
    {
      name: 'makes the fields and the time of given entries canonical',
      given: [entry('new', { 'f:data': { 'f:b': { '.': {} }, 'f:a': {} } }, { time: '2026-01-02T05:04:05.5+02:00' })],
      want: [['new', 'Update', now, '{"f:data":{"f:a":{},"f:b":{}}}']],
    },
    { name: 'forgets everything for []', given: [], want: [] },
    { name: 'forgets everything for [{}]', given: [{}], want: [] },
    { name: 'keeps the live entries for null', given: null, want: summary(live) },
    {
      name: 'keeps the live entries for a bad operation',
      given: [entry('x', {}, { operation: 'Patch' })],
      want: summary(live),
    },
    {
      name: 'keeps the live entries for another fieldsType',
      given: [entry('x', {}, { fieldsType: 'V2' })],
      want: summary(live),
    },
    {
      name: 'keeps the live entries for an empty version',
      given: [entry('x', {}, { apiVersion: '' })],
      want: summary(live),
    },
    { name: 'keeps the live entries for malformed fields', given: [entry('x', { bogus: {} })], want: summary(live) },
  ]
  it.each(bodies)('$name', ({ given, want }) => {
    const next = { ...live, metadata: { ...live.metadata, managedFields: given as ManagedFieldsEntry[] } }
    expect(summary(trackUpdate({ ...onConfigMap, live, next }))).toEqual(want)
  })

  it('ignores given entries through a sub-resource', () => {
    const next = { ...live, metadata: { ...live.metadata, managedFields: [] } }
    expect(summary(trackUpdate({ ...onConfigMap, live, next, subresource: 'status' }))).toEqual(summary(live))
  })

  it('does not start to track an object whose ownership was cleared', () => {
    const cleared = configMap({ metadata: { uid: 'u' }, data: { a: '1' } })
    const next = trackUpdate({ ...onConfigMap, live: cleared, next: { ...cleared, data: { a: '2' } } })
    expect(next.metadata).not.toHaveProperty('managedFields')
  })

  it('drops entries of versions that are gone', () => {
    const [entry] = live.metadata.managedFields ?? []
    const old = { ...live, metadata: { ...live.metadata, managedFields: [{ ...entry, apiVersion: 'v0' }] } }
    const versions = { find: () => undefined, isAlike: () => false, convert: (object: KubeObject) => object }
    const next = trackUpdate({ ...onConfigMap, live: old, next: old, versions }) as KubeObject
    expect(next.metadata).not.toHaveProperty('managedFields')
  })

  it('reads, folds and compares thousands of entries in one pass', () => {
    const count = 20_000
    const time = (i: number): string => new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString()
    const named = (i: number): string => `k${String(i).padStart(5, '0')}`
    const entries = Array.from({ length: count }, (_, i) =>
      entry(`m${i}`, { 'f:data': { [`f:${named(i)}`]: {} } }, { time: time(i) }),
    )
    const data = Object.fromEntries(entries.map((_, i) => [named(i), '1']))
    const began = threadMs()
    const given = configMap({ metadata: { managedFields: entries, labels: { a: 'b' } }, data })
    const folded = trackUpdate({ ...onConfigMap, live: configMap({ data }), next: given, now: time(count) })
    expect(threadMs() - began).toBeLessThan(2000)
    expect(folded.metadata.managedFields).toHaveLength(10)
    expect(Object.keys(ownedBy(folded)[0]?.fields['f:data'] ?? {})).toHaveLength(count - 8)
    expect(sameOwnership(entries, [...entries].reverse())).toBe(true)
    expect(threadMs() - began).toBeLessThan(3000)
  })

  it('takes a large change from thousands of appliers at the price of what they own', () => {
    const appliers = Array.from({ length: 5_000 }, (_, i) =>
      entry(`m${i}`, { 'f:data': { 'f:shared': {}, [`f:k${i}`]: {} } }, { operation: 'Apply' }),
    )
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}`)
    const filled = (value: string): JsonObject => Object.fromEntries(keys.map((key) => [key, value]))
    const held = configMap({ metadata: { managedFields: appliers }, data: { ...filled('1'), shared: '1' } })
    const began = threadMs()
    const next = trackUpdate({ ...onConfigMap, live: held, next: { ...held, data: { ...filled('2'), shared: '1' } } })
    expect(threadMs() - began).toBeLessThan(2000)
    expect(ownedBy(next, 'm17')).toMatchObject([{ fields: { 'f:data': { 'f:shared': {} } } }])
    expect(Object.keys(ownedBy(next, 'curl')[0]?.fields['f:data'] ?? {})).toHaveLength(20_000)
  })

  it('folds the oldest of more than ten updaters into ancient-changes, per version', () => {
    let object = live
    for (let i = 0; i < 14; i++) {
      object = trackUpdate({
        ...onConfigMap,
        live: object,
        next: { ...object, data: { ...(object['data'] as object), [`k${String(i).padStart(2, '0')}`]: '1' } },
        manager: `m${i}`,
        now: `2026-01-03T00:00:${String(i).padStart(2, '0')}Z`,
      })
    }
    const entries = ownedBy(object)
    expect(entries).toHaveLength(10)
    expect(entries[0]).toMatchObject({ manager: 'ancient-changes', time: '2026-01-03T00:00:04Z' })
    expect(Object.keys((entries[0]?.fields['f:data'] ?? {}) as object)).toEqual([
      '.',
      'f:a',
      'f:b',
      'f:k00',
      'f:k01',
      'f:k02',
      'f:k03',
      'f:k04',
    ])
    expect(entries.map((e) => e.manager).slice(1)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12', 'm13'])
  })

  it('compares keyed lists by key, also with duplicates coming and going', () => {
    const env = (...items: [string, string][]): KubeObject =>
      workload({
        spec: { template: { containers: [{ name: 'c', env: items.map(([name, value]) => ({ name, value })) }] } },
      })
    const steps = [
      env(['A', '1'], ['B', '2']),
      env(['B', '2'], ['A', '3']),
      env(['A', '3'], ['A', '4']),
      env(['A', '4']),
    ]
    let object: KubeObject | undefined
    const owners: unknown[] = []
    for (const [i, next] of steps.entries()) {
      object = trackUpdate({ ...onWorkload, live: object, next: withEntriesOf(next, object), manager: `m${i}` })
      owners.push(
        [...ownersByPath(object)].map(([path, ids]) => `${ids.map((id) => id.manager)} ${path.split('env')[1]}`).sort(),
      )
    }
    expect(owners.slice(1)).toEqual(
      [
        [
          'm0 ',
          'm0 [name="A"]',
          'm0 [name="A"].name',
          'm0 [name="B"]',
          'm0 [name="B"].name',
          'm0 [name="B"].value',
          'm1 [name="A"].value',
          ...outer(3),
        ],
        ['m0 ', 'm2 [name="A"]', ...outer(3)],
        ['m0 ', 'm3 [name="A"]', 'm3 [name="A"].name', 'm3 [name="A"].value', ...outer(3)],
      ].map((list) => list.sort()),
    )
  })
})

const outer = (count: number): string[] => Array.from({ length: count }, () => 'm0 undefined')
const withEntriesOf = (next: KubeObject, from: KubeObject | undefined): KubeObject =>
  from?.metadata.managedFields
    ? { ...next, metadata: { ...next.metadata, managedFields: from.metadata.managedFields } }
    : next

describe('the same ownership', () => {
  const one = entry('a', { 'f:data': { 'f:x': {} } })
  const other = entry('b', { 'f:data': { 'f:y': {} } })
  const cases: { name: string; a: ManagedFieldsEntry[]; b: ManagedFieldsEntry[]; want: boolean }[] = [
    {
      name: 'does not depend on times, nor on the order they bring',
      a: [{ ...one, time: later }, other],
      b: [other, one],
      want: true,
    },
    { name: 'depends on the fields', a: [one], b: [{ ...one, fieldsV1: {} }], want: false },
    { name: 'depends on the manager', a: [one], b: [{ ...one, manager: 'b' }], want: false },
    { name: 'depends on the version', a: [one], b: [{ ...one, apiVersion: 'v2' }], want: false },
    { name: 'depends on there being no more entries', a: [one], b: [one, other], want: false },
  ]
  it.each(cases)('$name', ({ a, b, want }) => {
    expect([sameOwnership(a, b), sameOwnership(b, a)]).toEqual([want, want])
  })
})

describe('questions about ownership', () => {
  const object = configMap({
    metadata: {
      managedFields: [
        entry('a', { 'f:data': { 'f:x': {}, 'f:y': {} } }, { operation: 'Apply' }),
        entry('a', { 'f:data': { 'f:z': {} } }),
        entry('b', { 'f:data': { 'f:x': {} } }, { subresource: 'status' }),
      ],
    },
  })

  it('tells who has applied', () => {
    expect([hasAppliedBy(object, 'a'), hasAppliedBy(object, 'b'), hasAppliedBy(configMap(), 'a')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('tells what a manager owns, by entry', () => {
    expect(ownedBy(object, 'a').map((m) => [m.operation, JSON.stringify(m.fields)])).toEqual([
      ['Apply', '{"f:data":{"f:x":{},"f:y":{}}}'],
      ['Update', '{"f:data":{"f:z":{}}}'],
    ])
    expect(ownedBy(object)).toHaveLength(3)
  })

  it('tells who owns a path, in the words of conflicts', () => {
    expect(
      ownersByPath(object)
        .get('.data.x')
        ?.map((m) => `${m.manager} ${m.operation}`),
    ).toEqual(['a Apply', 'b Update'])
    expect(ownersByPath(object).has('.data')).toBe(false)
  })
})
