import { expect, test } from 'vitest'
import { TemplateLedger } from './ledger.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { Rollouts } from './rollout.ts'

const version = (generation: number, maxUnavailable: number | string = 1): Matcher =>
  compileMatcher({ metadata: { name: 't', uid: 'u', generation }, spec: { rollout: { maxUnavailable } } })

class World {
  readonly woken: string[] = []
  readonly ledger = new TemplateLedger()
  matched = 10
  allowed = 0
  readonly rollouts = new Rollouts({
    ledger: this.ledger,
    findTemplate: () => undefined,
    countMatched: () => this.matched,
    excessOf: (_, pruned) => (pruned <= this.allowed ? undefined : { allowed: 'few are allowed', confirmation: 'yes' }),
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

test('where it would delete in too many it begins none, until it is told of fewer', () => {
  const world = new World()
  const next = version(2)
  world.begin(next, 'a')
  expect(world.rollouts.surveyed(next, new Set(['n1', 'n2', 'n3', 'n4', 'n5', 'n6']))).toBe(true)
  expect(world.rollouts.review(next)).toEqual({
    reason: 'TooManyPrunes',
    message:
      'generation 2 would delete objects in 6 namespaces, few are allowed: n1, n2, n3, n4, n5, ...; nothing is ' +
      'changed. If it is meant, confirm it with: yes; if not, go back with: borough template rollback t',
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
