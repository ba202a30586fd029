import { describe, expect, it } from 'vitest'
import { OwnershipGraph } from './graph.ts'
import type { OwnershipFacts } from './types.ts'

const resource = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true }

/** `a<b,c!` is object a, owned by b and, blocking it, by c; a trailing `~` says it awaits its dependents. */
function facts(text: string, namespace = 'ns'): OwnershipFacts {
  const [head = '', owners = ''] = text.split('<')
  const awaits = head.endsWith('~')
  const uid = head.replace('~', '')
  return {
    resource,
    namespace,
    name: uid,
    uid,
    owners: owners
      .split(',')
      .filter((owner) => owner !== '')
      .map((owner) => {
        const name = owner.replace('!', '')
        const block = owner.endsWith('!') ? { blockOwnerDeletion: true } : {}
        return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, ...block }
      }),
    ...(awaits ? { awaits: 'foreground' } : {}),
  }
}

type Step = { readonly see: string } | { readonly leave: string } | { readonly remove: string; readonly from?: string }

/** What the last step enqueues. `present` owners exist in the cluster. */
function enqueuedBy(present: string, given: readonly Step[], when: Step): string[] {
  const enqueued: string[] = []
  const graph = new OwnershipGraph((owner) => present.includes(owner.uid))
  graph.onWork((uid) => enqueued.push(uid))
  const step = (s: Step): void => {
    if ('see' in s) graph.seen(facts(s.see))
    else if ('leave' in s) graph.left(s.leave)
    else graph.removed(s.from ?? 'ns', () => s.remove)
  }
  for (const s of given) step(s)
  enqueued.length = 0
  step(when)
  return [...new Set(enqueued)].sort()
}

describe('what a change makes worth a look', () => {
  const cases: { name: string; present?: string; given?: Step[]; when: Step; want: string[] }[] = [
    { name: 'nothing, for a dependent whose owners are there', present: 'b', when: { see: 'a<b' }, want: [] },
    { name: 'a dependent with a missing owner', present: 'b', when: { see: 'a<b,c' }, want: ['a'] },
    {
      name: 'a dependent that gained a missing owner',
      present: 'b',
      given: [{ see: 'a<b' }],
      when: { see: 'a<b,c' },
      want: ['a'],
    },
    { name: 'nothing, for a dependent seen again', given: [{ see: 'a<b' }], when: { see: 'a<b' }, want: [] },
    {
      name: 'all dependents of an object that went',
      present: 'b',
      given: [{ see: 'a<b' }, { see: 'c<b' }, { see: 'd<e' }],
      when: { remove: 'b' },
      want: ['a', 'c'],
    },
    { name: 'nothing, for an object nobody depends on', given: [{ see: 'a<b' }], when: { remove: 'x' }, want: [] },
    {
      name: 'an object that begins to wait, and its dependents',
      present: 'b',
      given: [{ see: 'a<b' }, { see: 'c<b!' }],
      when: { see: 'b~' },
      want: ['a', 'b', 'c'],
    },
    {
      name: 'a dependent that comes while its owner waits',
      present: 'b',
      given: [{ see: 'b~' }],
      when: { see: 'a<b!' },
      want: ['a'],
    },
    {
      name: 'an owner that waits, when a dependent goes',
      present: 'b',
      given: [{ see: 'a<b!' }, { see: 'b~' }],
      when: { remove: 'a' },
      want: ['b'],
    },
    {
      name: 'an owner that waits, when a dependent lets it go',
      present: 'b',
      given: [{ see: 'a<b!' }, { see: 'b~' }],
      when: { leave: 'a' },
      want: ['b'],
    },
    {
      name: 'an owner that waits and the dependent itself, when it no longer blocks',
      present: 'b',
      given: [{ see: 'a<b!' }, { see: 'b~' }],
      when: { see: 'a<b' },
      want: ['a', 'b'],
    },
    {
      name: 'nothing, when an owner that does not wait is let go',
      present: 'bc',
      given: [{ see: 'a<b,c' }],
      when: { see: 'a<c' },
      want: [],
    },
    {
      name: 'dependents anywhere, of an object without a namespace',
      present: 'b',
      given: [{ see: 'a<b' }],
      when: { remove: 'b', from: '' },
      want: ['a'],
    },
  ]
  it.each(cases)('$name', ({ present = '', given = [], when, want }) => {
    expect(enqueuedBy(present, given, when)).toEqual(want)
  })
})

describe('the graph', () => {
  const graph = (): OwnershipGraph => new OwnershipGraph(() => true)

  it('does not even ask for the uid of what went where nobody depends on anything', () => {
    const one = graph()
    const ask = (): string => {
      throw new Error('asked')
    }
    one.removed('ns', ask)
    one.seen(facts('a<b', 'other'))
    one.removed('ns', ask)
    expect(() => one.removed('other', ask)).toThrow('asked')
    expect(() => one.removed('', ask)).toThrow('asked')
  })

  it('remembers what has gone, but not for ever', () => {
    const one = graph()
    one.seen(facts('a<b'))
    one.removed('ns', () => 'first')
    expect(one.isGone('first')).toBe(true)
    for (let i = 0; i < 4096; i++) one.removed('ns', () => `x${i}`)
    expect([one.isGone('first'), one.isGone('x0'), one.isGone('x4095')]).toEqual([false, true, true])
  })

  it('is empty again when all have gone', () => {
    const one = graph()
    for (const text of ['a<b', 'b<c', 'c<a']) one.seen(facts(text))
    expect(one.dependentsOf('b').map((f) => f.uid)).toEqual(['a'])
    for (const uid of ['a', 'b', 'c']) one.removed('ns', () => uid)
    expect([one.size, one.dependentsOf('a'), one.find('a')]).toEqual([0, [], undefined])
  })

  it('does not take an object for its own dependent', () => {
    const one = graph()
    one.seen(facts('a<a!'))
    expect(one.dependentsOf('a')).toEqual([])
  })
})
