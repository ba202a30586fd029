/** What is remembered of each attempt in a namespace, and when a rollout may count on it. */
import { describe, expect, test } from 'vitest'
import { type Attempt, generationOf, isSameVersion, TemplateLedger } from './ledger.ts'
import { compileMatcher, type Matcher } from './match.ts'
import type { ObjectResult } from './object-result.ts'

const version = (generation: number | undefined, name = 't', uid = 'u'): Matcher =>
  compileMatcher({ metadata: { name, uid, ...(generation === undefined ? {} : { generation }) } })
const selected = (of: Matcher, more: Partial<Attempt> = {}): [string, Attempt] => [
  of.template.metadata.name ?? '',
  { version: of, isSelected: true, ...more },
]
const failed = (template: string, object = 'ConfigMap/a', reason = 'Invalid'): ObjectResult => ({
  ...{ template, object },
  failure: { reason, message: `no ${object}`, retriable: true },
})
const obstructed = (template: string, object = 'ConfigMap/squatted'): ObjectResult => ({
  ...{ template, object },
  failure: { reason: 'AlreadyExists', message: 'there before', retriable: false, isObstructed: true },
})
const v1 = version(1)
const v2 = version(2)

describe('a version is the same', () => {
  test.each<{ name: string; a: Matcher | undefined; b: Matcher; same: boolean }>([
    { name: 'of one generation and uid', a: version(1), b: v1, same: true },
    { name: 'not of another generation', a: v2, b: v1, same: false },
    { name: 'not of a later template of the name', a: version(1, 't', 'other'), b: v1, same: false },
    { name: 'not if there is none', a: undefined, b: v1, same: false },
  ])('$name', ({ a, b, same }) => expect(isSameVersion(a, b)).toBe(same))

  test('a template without a generation has none yet', () => expect(generationOf(version(undefined))).toBe(0))
})

describe('an attempt', () => {
  test('is found with what failed, by object', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1)]), [
      failed('t'),
      failed('other', 'Secret/s'),
      { template: 't', object: 'x' },
    ])
    const failure = { namespace: 'n', object: 'ConfigMap/a', reason: 'Invalid', message: 'no ConfigMap/a' }
    expect(ledger.find('t', 'n')).toEqual({
      ...{ version: v1, isSelected: true, isSkipping: false, isExtended: false },
      ...{ takesNoPlace: false, failures: [failure] },
    })
    expect(ledger.find('t', 'm')).toBeUndefined()
    expect(ledger.find('other', 'n')).toBeUndefined()
  })

  test('of a template that no longer selects is kept for as long as something failed', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1, { isSelected: false })]), [failed('t')])
    expect(ledger.tally(v1)).toMatchObject({ known: 1, failed: 1, synced: 0 })
    ledger.record('n', new Map([selected(v1, { isSelected: false })]), [])
    expect(ledger.tally(v1)).toMatchObject({ known: 0, failed: 0, synced: 0 })
  })

  test('tells which figures changed: of what was tried, let go of, or named in a result', () => {
    const ledger = new TemplateLedger()
    const touched = (attempts: [string, Attempt][], results: ObjectResult[] = []): string[] =>
      [...ledger.record('n', new Map(attempts), results)].sort()
    expect(touched([selected(v1), selected(version(1, 'w'))])).toEqual(['t', 'w'])
    expect(touched([selected(v1)])).toEqual(['t', 'w'])
    expect(touched([selected(v1)], [failed('gone')])).toEqual(['gone', 't'])
    expect(ledger.find('w', 'n')).toBeUndefined()
    expect(ledger.forgetNamespace('n')).toEqual(['t'])
    expect(ledger.forgetNamespace('n')).toEqual([])
  })

  test('that can not be rendered tells nothing of its own version, and what an earlier one does of another', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1, { isUnrendered: true })]), [failed('t')])
    expect(ledger.findHeld(v1, 'n')).toBeUndefined()
    expect(ledger.findHeld(v2, 'n')).toMatchObject({ version: v1 })
    ledger.record('n', new Map([selected(v1)]), [])
    expect(ledger.findHeld(v1, 'n')).toMatchObject({ version: v1, failures: [] })
    expect(ledger.findHeld(v1, 'm')).toBeUndefined()
  })

  test('that can not be rendered stops no rollout', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1, { isUnrendered: true })]), [failed('t')])
    expect([ledger.failing('t', 1), ledger.tally(v1).failed]).toEqual([0, 1])
    ledger.record('m', new Map([selected(v1)]), [failed('t')])
    expect([ledger.failing('t', 1), ledger.failing('t', 2), ledger.failing('w', 1)]).toEqual([1, 0, 0])
    ledger.record('m', new Map([selected(v2)]), [failed('t')])
    expect([ledger.failing('t', 1), ledger.failing('t', 2)]).toEqual([0, 1])
  })
})

describe('what is in the way of a template in a namespace', () => {
  const places = (ledger: TemplateLedger, generation = 1): number[] => [
    ledger.failing('t', generation),
    ledger.keepingPlaces('t', generation),
  ]

  test('has failed with the rest, and keeps no place, until something fails beside it', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1)]), [obstructed('t')])
    expect([places(ledger), ledger.tally(v1).failed, ledger.find('t', 'n')?.takesNoPlace]).toEqual([[1, 0], 1, true])
    ledger.record('n', new Map([selected(v1)]), [obstructed('t'), failed('t')])
    expect([places(ledger), ledger.tally(v1).failed, ledger.find('t', 'n')?.takesNoPlace]).toEqual([[1, 1], 1, false])
    ledger.record('m', new Map([selected(v2)]), [obstructed('t')])
    expect([places(ledger), places(ledger, 2), ledger.tally(v1).failed]).toEqual([[1, 1], [1, 0], 2])
    ledger.record('n', new Map([selected(v1)]), [])
    ledger.record('m', new Map([selected(v2)]), [])
    expect([places(ledger), places(ledger, 2), ledger.tally(v1).failed]).toEqual([[0, 0], [0, 0], 0])
  })

  test('is no more than any failure of a namespace that is not open to its users yet', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1, { isNew: true })]), [failed('t')])
    expect([places(ledger), ledger.tally(v1).failed]).toEqual([[1, 0], 1])
    // Others share what is known of one that holds it, not that it was new.
    ledger.record('n', new Map([selected(v1, { isNew: true })]), [])
    expect(ledger.find('t', 'n')).not.toHaveProperty('isNew')
    ledger.record('n', new Map([selected(v1)]), [failed('t')])
    expect(places(ledger)).toEqual([1, 1])
  })

  test('is what another template says nothing of', () => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1), selected(version(1, 'w'))]), [obstructed('w'), failed('t')])
    expect([places(ledger), ledger.failing('w', 1), ledger.keepingPlaces('w', 1)]).toEqual([[1, 1], 1, 0])
  })

  test('is listed behind what keeps a place, in a namespace and among them', () => {
    const ledger = new TemplateLedger()
    const many = Array.from({ length: 12 }, (_, i) => obstructed('t', `ConfigMap/${i}`))
    ledger.record('squats', new Map([selected(v1)]), many)
    ledger.record('unrendered', new Map([selected(v1, { isUnrendered: true })]), [failed('t', 'parameter p')])
    ledger.record('both', new Map([selected(v1)]), [obstructed('t'), failed('t')])
    const { failures, failed: count } = ledger.tally(v1)
    expect([count, failures.length]).toEqual([3, 10])
    expect(failures.slice(0, 3).map(({ namespace, object }) => `${namespace}: ${object}`)).toEqual([
      'both: ConfigMap/a',
      'both: ConfigMap/squatted',
      'squats: ConfigMap/0',
    ])
  })
})

test('a status lists ten failures, of the first namespaces', () => {
  const ledger = new TemplateLedger()
  for (const n of ['a', 'b', 'c']) {
    ledger.record(
      n,
      new Map([selected(v1)]),
      ['1', '2', '3', '4', '5', '6'].map((o) => failed('t', `ConfigMap/${o}`)),
    )
  }
  const { failures, failed: count } = ledger.tally(v1)
  expect(count).toBe(3)
  expect(failures.map(({ namespace }) => namespace).join('')).toBe('aaaaaabbbb')
})

test('a template that is gone leaves nothing, and one of its name begins anew', () => {
  const ledger = new TemplateLedger()
  ledger.record('n', new Map([selected(v1)]), [])
  ledger.forgetTemplate('t')
  expect(ledger.tally(v1)).toEqual({
    known: 0,
    synced: 0,
    failed: 0,
    untried: 0,
    skipped: 0,
    extended: 0,
    extendedIn: [],
    failures: [],
  })
  expect(ledger.find('t', 'n')).toBeUndefined()
})

describe('namespaces that hold the same share one entry', () => {
  const shared = (first: Partial<Attempt>, next: Partial<Attempt>, results: ObjectResult[][] = [[], []]): boolean => {
    const ledger = new TemplateLedger()
    ledger.record('n', new Map([selected(v1, first)]), results[0] ?? [])
    ledger.record('m', new Map([selected(v1, next)]), results[1] ?? [])
    return ledger.find('t', 'n') === ledger.find('t', 'm')
  }
  const told = { reason: 'Extended', message: 'more' } as const

  test('if they hold the same', () => {
    expect(shared({}, {})).toBe(true)
    expect(shared({}, { isUnrendered: false })).toBe(true)
  })

  test.each<{ name: string; next: Partial<Attempt>; results?: ObjectResult[] }>([
    { name: 'another version', next: { version: v2 } },
    { name: 'one that can not be rendered', next: { isUnrendered: true } },
    { name: 'one with more', next: {}, results: [{ template: 't', object: 'o', extended: told }] },
    {
      name: 'one where something was left out',
      next: {},
      results: [{ template: 't', object: 'o', skipped: { reason: 'CreatorUnknown', message: 'no' } }],
    },
    { name: 'one where something failed', next: {}, results: [failed('t')] },
  ])('not with $name', ({ next, results = [] }) => expect(shared({}, next, [[], results])).toBe(false))
})
