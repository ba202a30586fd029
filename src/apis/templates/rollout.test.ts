import { describe, expect, test } from 'vitest'
import { TemplateLedger } from './ledger.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { Rollouts } from './rollout.ts'
import type { NamespaceTemplate } from './types.ts'

const version = (generation: number, maxUnavailable: number | string = 1): Matcher =>
  compileMatcher({ metadata: { name: 't', uid: 'u', generation }, spec: { rollout: { maxUnavailable } } })

const paused = ({ template }: Matcher): NamespaceTemplate => ({
  ...template,
  metadata: { ...template.metadata, annotations: { 'policy.borough.dev/pause-rollout': 'true' } },
})

class World {
  readonly woken: string[] = []
  readonly ledger = new TemplateLedger()
  matched = 10
  allowed = 0
  present: NamespaceTemplate | undefined
  readonly rollouts = new Rollouts({
    ledger: this.ledger,
    findTemplate: () => this.present,
    countMatched: () => this.matched,
    excessOf: (_, pruned) =>
      pruned <= this.allowed ? undefined : { consequence: `would delete in ${pruned}`, confirmation: 'yes' },
    wake: (names) => this.woken.push(...names),
  })

  begin(of: Matcher, ...names: string[]): (string | undefined)[] {
    return names.map((name) => (this.rollouts.begin(of, name, () => false) === undefined ? undefined : name))
  }
}

test('no namespace is begun, however many may be, before all have been looked at', () => {
  const world = new World()
  const next = version(2, '20%')
  expect(world.begin(next, 'a', 'b', 'c')).toEqual([undefined, undefined, undefined])
  expect([world.rollouts.waiting('t'), world.woken]).toEqual([3, []])
  expect(world.rollouts.surveyed(next, new Set())).toBe(false)
  expect([world.rollouts.waiting('t'), world.woken]).toEqual([1, ['a', 'b']])
  expect(world.begin(next, 'a', 'b', 'd')).toEqual(['a', 'b', undefined])
})

describe('a namespace that the version does not select', () => {
  const statusOf = (next: Matcher, heldGeneration?: number): NamespaceTemplate => ({
    ...next.template,
    status: { observedGeneration: 2, ...(heldGeneration === undefined ? {} : { heldGeneration }) },
  })
  test('waits until the status says that the version is in force, whatever places are free', () => {
    const world = new World()
    const next = version(2)
    world.present = statusOf(next, 1)
    world.rollouts.surveyed(next, new Set())
    expect(world.rollouts.beginLeaving(next, 'a')).toBeUndefined()
    expect([world.rollouts.waiting('t'), world.begin(next, 'b')]).toEqual([1, ['b']])
    const held = world.present
    expect([world.rollouts.statusChanged(held, held), world.woken]).toEqual([undefined, []])
    expect([world.rollouts.statusChanged(held, statusOf(next)), world.woken]).toEqual(['other', []])
    world.present = statusOf(next)
    expect(world.rollouts.statusChanged(world.present, held)).toBe('none')
    expect([world.woken, world.rollouts.waiting('t')]).toEqual([[], 1])
  })

  test('is woken then, takes its place, and is forgotten when it leaves', () => {
    const world = new World()
    const next = version(2, 5)
    world.present = statusOf(next, 1)
    world.rollouts.surveyed(next, new Set())
    for (const name of ['a', 'b', 'c']) world.rollouts.beginLeaving(next, name)
    expect([world.rollouts.leave('t', 'b'), world.rollouts.leave('t', 'b')]).toEqual([true, false])
    world.rollouts.forgetNamespace('c')
    const held = world.present
    world.present = statusOf(next)
    world.rollouts.statusChanged(world.present, held)
    expect(world.woken).toEqual(['a'])
    expect(world.rollouts.beginLeaving(next, 'a')).toBeInstanceOf(Function)
  })

  test('is counted once if it waited already when the status came to name another', () => {
    const world = new World()
    const next = version(2)
    world.present = statusOf(next)
    expect([world.rollouts.beginLeaving(next, 'a'), world.rollouts.waiting('t')]).toEqual([undefined, 1])
    world.present = statusOf(next, 1)
    expect([world.rollouts.beginLeaving(next, 'a'), world.rollouts.waiting('t')]).toEqual([undefined, 1])
  })

  test('does not wait where no status is known', () => {
    const world = new World()
    const next = version(2)
    world.rollouts.surveyed(next, new Set())
    expect(world.rollouts.beginLeaving(next, 'a')).toBeInstanceOf(Function)
    const other = { metadata: { name: 'other' } }
    expect(world.rollouts.statusChanged(other, { ...other, status: { heldGeneration: 1 } })).toBe('none')
    expect(world.woken).toEqual([])
  })
})

test('where it would delete in too many it begins none, until it is told of fewer', () => {
  const world = new World()
  const next = version(2)
  world.begin(next, 'a')
  expect(world.rollouts.surveyed(next, new Set(['n1', 'n2', 'n3', 'n4', 'n5', 'n6']))).toBe(true)
  expect(world.rollouts.review(next)).toEqual({
    reason: 'TooManyPrunes',
    message:
      'generation 2 would delete in 6: n1, n2, n3, n4, n5, ...; nothing is ' +
      'changed. If it is meant, confirm it with: yes; if not, go back to generation 1, ' +
      'the one before, with: borough template rollback t --to-generation 1',
  })
  expect([world.begin(next, 'b'), world.woken]).toEqual([[undefined], []])
  world.allowed = 1
  expect(world.rollouts.surveyed(next, new Set(['n1']))).toBe(false)
  expect([world.rollouts.review(next), world.woken]).toEqual([undefined, ['a']])
})

test('a look at a version that has been replaced says nothing of the next', () => {
  const world = new World()
  const next = version(3)
  world.begin(next, 'a')
  expect(world.rollouts.surveyed(version(2), new Set(['a', 'b']))).toBe(false)
  expect([world.begin(next, 'b'), world.woken]).toEqual([[undefined], []])
})

test('where the one whose turn it is is not selected any more, it is the turn of the next', () => {
  const world = new World()
  const next = version(2)
  world.begin(next, 'a', 'b', 'c')
  world.rollouts.surveyed(next, new Set())
  expect(world.woken).toEqual(['a'])
  // Its labels have changed meanwhile, and it holds nothing.
  expect(world.rollouts.leave('t', 'a')).toBe(false)
  expect(world.woken).toEqual(['a', 'b'])
})

test.each([{ 'policy/namespace-template-apply': 'disable' }, { 'policy.borough.dev/feature-level': '99' }])(
  'a look while it rested says nothing of when it goes on, which makes no other version: %j',
  (annotations) => {
    const world = new World()
    const next = version(2)
    const resting = compileMatcher({ ...next.template, metadata: { ...next.template.metadata, annotations } })
    expect(world.rollouts.surveyed(resting, new Set())).toBe(false)
    expect([world.begin(next, 'a'), world.woken]).toEqual([[undefined], []])
    expect(world.rollouts.surveyed(next, new Set(['a', 'b']))).toBe(true)
    expect([world.begin(next, 'a'), world.woken]).toEqual([[undefined], []])
  },
)

test.each([
  ['Complete', true],
  ['CompleteWithFailures', true],
  ['RollingOut', false],
])('to a process that has just started a rollout of which the status says %s is over: %s', (reason, isOver) => {
  const of = version(2)
  const progressing = { type: 'Progressing', status: 'False', reason, message: '', lastTransitionTime: '' }
  const stored = { ...of.template, status: { observedGeneration: 2, conditions: [progressing] } }
  expect(new World().rollouts.isSettled(compileMatcher(stored))).toBe(isOver)
})

describe('what holds a rollout is told of', () => {
  const failed = { template: 't', object: 'Role/r', failure: { reason: 'Forbidden', message: 'no', retriable: false } }
  const strict = (generation: number): Matcher =>
    compileMatcher({
      metadata: { name: 't', uid: 'u', generation },
      spec: { rollout: { maxUnavailable: 3, pauseOnFailure: true } },
    })

  test('a pause by annotation, and how it is ended, as long as a namespace waits', () => {
    const world = new World()
    const next = version(2)
    world.begin(next, 'a', 'b')
    world.rollouts.surveyed(next, new Set())
    world.present = paused(next)
    expect(world.rollouts.review(next)).toEqual({
      reason: 'Paused',
      message:
        'it is paused by annotation policy.borough.dev/pause-rollout: no other namespace is begun. Resume it with: ' +
        'kubectl annotate namespacetemplate t policy.borough.dev/pause-rollout-',
    })
    expect([world.rollouts.leave('t', 'b'), world.rollouts.review(next)]).toEqual([true, undefined])
  })

  test('while it is paused no turn comes, and the next comes when it is not', () => {
    const world = new World()
    const next = version(2)
    world.present = paused(next)
    world.begin(next, 'a')
    world.rollouts.surveyed(next, new Set())
    expect([world.begin(next, 'b'), world.woken]).toEqual([[undefined], []])
    world.present = next.template
    world.rollouts.leave('t', 'b')
    expect(world.woken).toEqual(['a'])
  })

  test.each([
    { of: strict(2), pauses: true },
    { of: version(2, 3), pauses: false },
  ])('a failure, where it pauses on one ($pauses), until it is mended', ({ of, pauses }) => {
    const world = new World()
    world.rollouts.surveyed(of, new Set())
    const release = world.rollouts.begin(of, 'a', () => false)
    const attempts = new Map([['t', { version: of, isSelected: true }]])
    world.ledger.record('a', attempts, [failed])
    release?.()
    expect(world.begin(of, 'b')).toEqual([pauses ? undefined : 'b'])
    const message =
      '1 namespaces failed with generation 2; no other is begun until they are mended or the template is edited'
    expect(world.rollouts.review(of)).toEqual(pauses ? { reason: 'Paused', message } : undefined)
    world.ledger.record('a', attempts, [])
    expect([world.rollouts.review(of), world.begin(of, 'c')]).toEqual([undefined, ['c']])
    expect(world.rollouts.heldUpIn(of)).toBeUndefined()
  })

  test('a deletion that would delete in too many, and what there is to do instead', () => {
    const world = new World()
    const { template } = version(2)
    const deleted = compileMatcher({ ...template, metadata: { ...template.metadata, deletionTimestamp: 'now' } })
    expect(world.rollouts.surveyed(deleted, new Set(['a', 'b']))).toBe(true)
    expect(world.rollouts.review(deleted)).toEqual({
      reason: 'TooManyPrunes',
      message:
        'deleting the template would delete in 2: a, b; nothing is changed. If ' +
        'it is meant, confirm it with: yes; if not, keep what it made, and create it again with spec.adopt: true: ' +
        `kubectl patch namespacetemplate t --type=merge -p '{"spec":{"deletionPolicy":"Orphan"}}'`,
    })
  })
})

test('of a template that is not known nothing waits, and nothing leaves it', () => {
  const world = new World()
  expect([world.rollouts.leave('t', 'a'), world.rollouts.waiting('t'), world.woken]).toEqual([false, 0, []])
})

test('a template without a word of rollouts goes on in five namespaces at once', () => {
  const world = new World()
  const plain = compileMatcher({ metadata: { name: 't', uid: 'u', generation: 2 } })
  world.begin(plain, 'a')
  world.rollouts.surveyed(plain, new Set())
  expect(world.woken).toEqual(['a'])
  expect(world.begin(plain, 'b', 'c', 'd', 'e', 'f', 'g')).toEqual(['b', 'c', 'd', 'e', 'f', undefined])
  expect(world.rollouts.isSettled(plain)).toBe(false)
  expect(world.rollouts.isSettled(compileMatcher({ ...plain.template, status: { observedGeneration: 2 } }))).toBe(false)
})

describe('what is in the way in a namespace', () => {
  const failure = { reason: 'AlreadyExists', message: 'there', retriable: false, isObstructed: true } as const
  const obstructed = { template: 't', object: 'ConfigMap/c', failure }
  const failed = { template: 't', object: 'Role/r', failure: { reason: 'Forbidden', message: 'no', retriable: false } }
  const given = (
    pauseOnFailure = false,
  ): { world: World; next: Matcher; end: (name: string, ...of: object[]) => void } => {
    const world = new World()
    const spec = { rollout: { maxUnavailable: 2, pauseOnFailure } }
    const next = compileMatcher({ metadata: { name: 't', uid: 'u', generation: 2 }, spec })
    world.rollouts.surveyed(next, new Set())
    const end = (name: string, ...of: object[]): void => {
      const release = world.rollouts.begin(next, name, () => false)
      expect(release).toBeDefined()
      world.ledger.record(name, new Map([['t', { version: next, isSelected: true }]]), of as (typeof obstructed)[])
      release?.()
    }
    return { world, next, end }
  }

  test('keeps no place: as many as there are, and the next begins all the same', () => {
    const { world, next, end } = given()
    for (const name of ['a', 'b', 'c', 'd', 'e']) end(name, obstructed)
    expect(world.begin(next, 'f', 'g', 'h')).toEqual(['f', 'g', undefined])
    expect(world.rollouts.heldUpIn(next)).toBeUndefined()
    expect(world.rollouts.review(next)).toBeUndefined()
  })

  test('beside what fails of itself keeps the place that this has', () => {
    const { world, next, end } = given()
    end('a', obstructed)
    end('b', obstructed, failed)
    end('c', failed)
    expect(world.begin(next, 'd')).toEqual([undefined])
    expect(world.rollouts.heldUpIn(next)).toBe(2)
    world.ledger.record('b', new Map([['t', { version: next, isSelected: true }]]), [obstructed])
    world.rollouts.leave('t', 'another')
    expect([world.woken, world.begin(next, 'd')]).toEqual([['d'], ['d']])
  })

  test('pauses a rollout that pauses on failures', () => {
    const { world, next, end } = given(true)
    end('a', obstructed)
    expect(world.begin(next, 'b')).toEqual([undefined])
    const message =
      '1 namespaces failed with generation 2; no other is begun until they are mended or the template is edited'
    expect(world.rollouts.review(next)).toEqual({ reason: 'Paused', message })
  })
})

test('places that failures have while others wait are told of, and none where there is one left', () => {
  const world = new World()
  const next = version(2, 2)
  world.rollouts.surveyed(next, new Set())
  const attempts = new Map([['t', { version: next, isSelected: true }]])
  const failed = { template: 't', object: 'Role/r', failure: { reason: 'Forbidden', message: 'no', retriable: false } }
  for (const name of ['a', 'b']) {
    const release = world.rollouts.begin(next, name, () => false)
    world.ledger.record(name, attempts, [failed])
    release?.()
  }
  expect(world.rollouts.heldUpIn(next)).toBeUndefined()
  expect(world.begin(next, 'c')).toEqual([undefined])
  expect(world.rollouts.heldUpIn(next)).toBe(2)
  world.ledger.record('b', attempts, [])
  expect(world.rollouts.heldUpIn(next)).toBeUndefined()
})
