/** What one pass over a namespace does with which template. */
import { describe, expect, test } from 'vitest'
import type { Namespace } from '../namespaces/types.ts'
import { Conditions } from './conditions.ts'
import { JudgedConditions, type Judgement } from './judged-conditions.ts'
import type { Attempt } from './ledger.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { planPass } from './namespace-pass.ts'
import type { PopulationState } from './population-state.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
const newer = { annotations: { 'policy.borough.dev/feature-level': '7' } }
const elsewhere: Spec = { namespaces: { nameSelector: { include: ['m'] } } }
const needsSize: Spec = { parameters: [{ name: 'size', fromLabel: 'size', required: true }] }
const version = (name: string, spec: Spec = {}, metadata: object = {}): Matcher =>
  compileMatcher({ metadata: { name, uid: `of ${name}`, generation: 3, ...metadata }, spec })
const older = (name: string, spec: Spec = {}): Matcher => version(name, spec, { generation: 2 })
const namespace: Namespace = { metadata: { name: 'n', uid: 'u' } }
const initializing: Namespace = { ...namespace, spec: { initializers: { pending: [{ name: 'namespace-template' }] } } }

interface Given {
  readonly versions: readonly Matcher[]
  readonly in?: Namespace
  /** By template: what the last attempt came to. */
  readonly held?: Record<string, Attempt>
  /** Templates of which it holds objects, or labels. */
  readonly holds?: readonly string[]
  readonly sets?: readonly string[]
  /** Templates whose turn has not come. */
  readonly queued?: readonly string[]
  readonly former?: Record<string, Matcher>
  readonly waited?: readonly string[]
  readonly conditions?: Conditions
}

function planned({
  versions,
  in: where = namespace,
  held = {},
  holds = [],
  sets = [],
  queued = [],
  former = {},
  waited = [],
  conditions = new Conditions(where),
}: Given) {
  const told: string[] = []
  const state = {
    matchers: () => versions,
    ledger: { findHeld: ({ template }: Matcher) => held[template.metadata.name ?? ''] },
    index: {
      holdings: { holds: (template: string) => holds.includes(template) },
      claimsIn: () => [],
      livesIn: () => [],
    },
    metadata: { holds: (template: string) => sets.includes(template) },
    rollouts: {
      leave: (template: string) => waited.includes(template),
      begin: ({ template: { metadata } }: Matcher, _namespace: string, isDone: () => boolean) => {
        isDone()
        return queued.includes(metadata.name ?? '') ? undefined : () => told.push(`free ${metadata.name}`)
      },
      beginLeaving: ({ template: { metadata } }: Matcher) =>
        queued.includes(metadata.name ?? '') ? undefined : () => told.push(`free ${metadata.name}`),
    },
    requestStatus: (names: string[]) => told.push(...names.map((name) => `status ${name}`)),
  } as unknown as PopulationState
  const pass = planPass(state, where, {
    conditions,
    clones: () => ({ content: {}, digest: '' }),
    former: new Map(Object.entries(former)),
  })
  const said = ({ template: { metadata } }: Matcher): string => `${metadata.name} ${metadata.generation}`
  return {
    wanted: pass.wanted.map(({ metadata }) => `${metadata.name} ${metadata.generation}`),
    attempts: [...pass.attempts].map(
      ([name, { version: of, isSelected, isUnrendered }]) =>
        `${name}: ${said(of)}${isSelected ? '' : ' no more'}${isUnrendered === true ? ' unrendered' : ''}`,
    ),
    waiting: [...pass.waiting],
    held: [...pass.held],
    places: pass.places.length,
    unrendered: pass.unrendered.length,
    told,
    planned: [...pass.planned.keys()],
  }
}
const nothing = { wanted: [], attempts: [], waiting: [], places: 0, unrendered: 0, told: [] }

describe('a pass', () => {
  test.each<{ name: string; given: Given; plan: Partial<ReturnType<typeof planned>> }>([
    { name: 'of no template does nothing', given: { versions: [] }, plan: nothing },
    {
      name: 'applies what selects the namespace, by name',
      given: { versions: [version('b'), version('a')] },
      plan: { ...nothing, wanted: ['a 3', 'b 3'], attempts: ['b: b 3', 'a: a 3'], places: 2 },
    },
    { name: 'leaves what is switched off', given: { versions: [version('a', {}, off)], holds: ['a'] }, plan: nothing },
    {
      name: 'has nothing to do with what selects others',
      given: { versions: [version('a', elsewhere)] },
      plan: nothing,
    },
    {
      name: 'tells of a namespace that had waited for what selects it no more',
      given: { versions: [version('a', elsewhere)], waited: ['a'] },
      plan: { ...nothing, told: ['status a'] },
    },
    ...(['holds', 'sets'] as const).map((how) => ({
      name: `takes away what it ${how} of a template that selects it no more`,
      given: { versions: [version('a', elsewhere)], [how]: ['a'] },
      plan: { ...nothing, attempts: ['a: a 3 no more'], places: 1 },
    })),
    {
      name: 'or that it held by the last attempt',
      given: { versions: [version('a', elsewhere)], held: { a: { version: older('a'), isSelected: true } } },
      plan: { ...nothing, attempts: ['a: a 3 no more'], places: 1 },
    },
    {
      name: 'takes away what it holds of a template that goes, switched off or not',
      given: { versions: [version('a', {}, { ...gone, ...off })], holds: ['a'] },
      plan: { ...nothing, places: 1 },
    },
    {
      name: 'has nothing to do with one that goes and holds nothing',
      given: { versions: [version('a', {}, gone)] },
      plan: nothing,
    },
    {
      name: 'does not judge by a selector that it does not understand',
      given: { versions: [version('a', elsewhere, newer)], holds: ['a'] },
      plan: nothing,
    },
    {
      name: 'but takes away what such a template held that goes',
      given: { versions: [version('a', elsewhere, { ...newer, ...gone })], holds: ['a'] },
      plan: { ...nothing, places: 1 },
    },
  ])('$name', ({ given, plan }) => expect(planned(given)).toMatchObject(plan))

  test('knows all templates as they were', () => {
    expect(planned({ versions: [version('a', {}, off), version('b', elsewhere)] }).planned).toEqual(['a', 'b'])
  })
})

describe('where the turn has not come', () => {
  const held = (of: Matcher, isSelected = true): Record<string, Attempt> => ({ a: { version: of, isSelected } })
  const waits = { ...nothing, waiting: ['a'] }
  test.each<{ name: string; given: Given; plan: Partial<ReturnType<typeof planned>> }>([
    { name: 'nothing is applied', given: { versions: [version('a')], queued: ['a'] }, plan: waits },
    {
      name: 'what was applied last is kept',
      given: { versions: [version('a')], queued: ['a'], held: held(older('a')) },
      plan: { ...waits, wanted: ['a 2'], attempts: ['a: a 2'] },
    },
    {
      name: 'but not of a version that does not select it',
      given: { versions: [version('a')], queued: ['a'], held: held(older('a', elsewhere)) },
      plan: { ...waits, attempts: ['a: a 2'] },
    },
    {
      name: 'nor what was to be pruned',
      given: { versions: [version('a')], queued: ['a'], held: held(older('a'), false) },
      plan: { ...waits, attempts: ['a: a 2 no more'] },
    },
    {
      name: 'a new namespace does not wait: its client does',
      given: { versions: [version('a')], queued: ['a'], in: initializing },
      plan: { ...nothing, wanted: ['a 3'], attempts: ['a: a 3'], places: 1 },
    },
  ])('$name', ({ given, plan }) => expect(planned(given)).toMatchObject(plan))
})

test('attack: what waits with costly conditions is judged within one budget', () => {
  class Told extends JudgedConditions {
    cost = 0
    override keep(_key: string, _left: unknown, { spent }: Judgement): void {
      this.cost += spent.cost
    }
  }
  const ten = '[0,1,2,3,4,5,6,7,8,9]'
  const template = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
  const when = (i: number): string => `${ten}.all(x, ${ten}.all(y, ${ten}.all(z, x + y + z >= 0))) && ${i} > 0`
  const versions = Array.from({ length: 60 }, (_, i) => version(`t${i}`, { objects: [{ when: when(i), template }] }))
  const memory = new Told()
  const queued = versions.map(({ template: { metadata } }) => metadata.name ?? '')
  const { waiting } = planned({ versions, queued, conditions: new Conditions(namespace, memory) })
  expect(waiting).toEqual(queued)
  expect(memory.cost).toBeGreaterThan(400_000)
  expect(memory.cost).toBeLessThan(500_100)
})

describe('while another version is in force', () => {
  const status = { observedGeneration: 3, heldGeneration: 2 }
  const stopped = compileMatcher({ ...version('a', elsewhere).template, status })
  const deleted = compileMatcher({ ...version('a', {}, gone).template, status })
  const kept = { ...nothing, wanted: ['a 2'], attempts: ['a: a 2'], waiting: ['a'], held: ['a'] }
  const former = { a: older('a') }
  test.each<{ name: string; given: Given; plan: Partial<ReturnType<typeof planned>> }>([
    {
      name: 'a new namespace that the newest is not for is given that',
      given: { versions: [stopped], queued: ['a'], in: initializing, former },
      plan: kept,
    },
    {
      name: 'and by a template that is being deleted',
      given: { versions: [deleted], queued: ['a'], in: initializing, former },
      plan: kept,
    },
    {
      name: 'so is one that exists and has come to it',
      given: { versions: [stopped], queued: ['a'], former },
      plan: kept,
    },
    {
      name: 'also where it was given something else before, and is not for that any more',
      given: {
        versions: [stopped],
        queued: ['a'],
        former,
        held: { a: { version: version('a', elsewhere), isSelected: true } },
      },
      plan: kept,
    },
    {
      name: 'one that holds another version that is for it is left at that',
      given: {
        versions: [stopped],
        queued: ['a'],
        former,
        held: { a: { version: version('a', {}, { generation: 1 }), isSelected: true } },
      },
      plan: { ...kept, wanted: ['a 1'], attempts: ['a: a 1'], held: [] },
    },
    {
      name: 'one is given nothing by what is so no more',
      given: { versions: [version('a', {}, gone)], queued: ['a'], former },
      plan: nothing,
    },
    {
      name: 'one that neither is for is given nothing',
      given: { versions: [stopped], queued: ['a'], in: initializing },
      plan: nothing,
    },
  ])('$name', ({ given, plan }) => expect(planned(given)).toMatchObject(plan))
})

describe('a template that can not be rendered there', () => {
  const wrong = [version('a', needsSize)]
  test.each<{ name: string; given: Given; plan: Partial<ReturnType<typeof planned>> }>([
    {
      name: 'is attempted, to say so, and takes no place',
      given: { versions: wrong },
      plan: { ...nothing, wanted: ['a 3'], attempts: ['a: a 3 unrendered'] },
    },
    {
      name: 'is kept at what was applied last',
      given: { versions: wrong, held: { a: { version: older('a'), isSelected: true } } },
      plan: { ...nothing, wanted: ['a 2'], attempts: ['a: a 2 unrendered'], unrendered: 1 },
    },
    {
      name: 'is kept at what was applied before this process began',
      given: { versions: wrong, former: { a: older('a') }, holds: ['a'] },
      plan: { ...nothing, wanted: ['a 2'], attempts: ['a: a 2 unrendered'], unrendered: 1 },
    },
    {
      name: 'is not kept at what can not be rendered either',
      given: { versions: wrong, former: { a: older('a', needsSize) }, holds: ['a'] },
      plan: { ...nothing, wanted: ['a 3'], attempts: ['a: a 3 unrendered'] },
    },
    {
      name: 'is not kept at what does not select it',
      given: { versions: wrong, former: { a: older('a', elsewhere) }, holds: ['a'] },
      plan: { ...nothing, wanted: ['a 3'], attempts: ['a: a 3 unrendered'] },
    },
    {
      name: 'is not kept at what was to be pruned',
      given: { versions: wrong, held: { a: { version: older('a'), isSelected: false } } },
      plan: { ...nothing, wanted: ['a 3'], attempts: ['a: a 3 unrendered'] },
    },
    {
      name: 'is not asked where it selects the namespace no more',
      given: { versions: [version('a', { ...needsSize, ...elsewhere })], holds: ['a'] },
      plan: { ...nothing, attempts: ['a: a 3 no more'], places: 1 },
    },
  ])('$name', ({ given, plan }) => expect(planned(given)).toMatchObject(plan))
})
