/** What the writer of a template is told of a stop, and for how long it is looked. */
import { describe, expect, test } from 'vitest'
import { BoundedCache } from '../../base/bounded-cache.ts'
import { runAtOnce } from '../../base/resumable.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type HeldLookups, warnOfStop } from './stop-warning.ts'
import type { NamespaceTemplate } from './types.ts'

const names = Array.from({ length: 8 }, (_, i) => `n${i}`)
const before: NamespaceTemplate = {
  metadata: { name: 't', generation: 1, finalizers: ['policy.borough.dev/prune'] },
  spec: { templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }] },
}
const emptied = (generation = 2): NamespaceTemplate => ({ metadata: { ...before.metadata, generation }, spec: {} })

interface Given {
  readonly object?: NamespaceTemplate
  readonly oldObject?: NamespaceTemplate
  /** What a look at one namespace takes. */
  readonly stepMs?: number
  readonly seen?: string[]
  readonly held?: HeldLookups
  readonly dryRun?: boolean
  /** The first of them only. */
  readonly namespaces?: number
  /** Holds nothing that the edit would delete. */
  readonly kept?: string
  /** Of the one namespace that holds nothing. */
  readonly other?: Partial<Namespace['metadata']>
}

function holding({
  stepMs = 0,
  seen = [],
  other = {},
  namespaces = names.length,
  kept,
}: Given): HeldLookups & { pass(ms: number): void } {
  let now = 0
  return {
    *holding(_template, isAside) {
      for (const name of names.slice(0, namespaces)) {
        seen.push(name)
        const annotations = { 'policy/namespace-template-opt-out': 'true' }
        const namespace = { metadata: { name, ...(isAside ? { annotations } : {}) } } as unknown as Namespace
        yield isAside && name !== 'n7' ? undefined : { namespace, isRecorded: true }
        now += stepMs
      }
    },
    *others(but) {
      for (const name of names) yield but.has(name) ? undefined : ({ metadata: { name } } as Namespace)
      yield { metadata: { name: 'other', ...other } }
    },
    countNamespaces: () => names.length,
    claimsIn: (name) =>
      name === 'other' || name === kept
        ? []
        : [{ template: 't', apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u', content: '' } as never],
    now: () => now,
    found: new BoundedCache(2),
    pass(ms) {
      now += ms
    },
  }
}

function told(given: Given): string[] {
  const { object, oldObject, held = holding(given), dryRun = false } = given
  const warnings: string[] = []
  const operation = object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE'
  const a = { operation, object: object as KubeObject, oldObject, dryRun } as const
  runAtOnce(warnOfStop({ ...a, warn: (text) => warnings.push(text) }, held))
  return warnings
}

const edit = { object: emptied(), oldObject: before }

test('where, of how many, and how to go on', () => {
  expect(told(edit)).toEqual([
    'NamespaceTemplate "t" is stopped: generation 2 would delete objects in 8 of 9 namespaces, ' +
      'spec.rollout.maxPrune allows 5 (the default): n0, n1, n2, n3, n4, ...; nothing is changed. If it is meant, ' +
      'confirm it with: kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=2; if not, ' +
      'go back to generation 1, the one before, with: borough template rollback t --to-generation 1',
  ])
})

test('a dry run is told that it would be', () => {
  expect(told({ ...edit, dryRun: true })[0]).toMatch(/^NamespaceTemplate "t" would be stopped: /)
})

test.each<{ name: string; other: Given['other'] }>([
  { name: 'is being deleted', other: { deletionTimestamp: '2026-11-29T00:00:00Z' } },
  { name: 'has opted out', other: { annotations: { 'policy/namespace-template-opt-out': 'true' } } },
])('a namespace that $name is none of those that it reaches', ({ other = {} }) => {
  expect(told({ ...edit, other })[0]).toContain('would delete objects in 8 of 8 namespaces')
})

test('the same namespaces first, in whichever order they were found', () => {
  const held = holding({})
  const backwards: HeldLookups = {
    ...held,
    *holding(template, isAside) {
      yield* [...held.holding(template, isAside)].reverse()
    },
  }
  expect(told({ ...edit, held: backwards })).toEqual(told(edit))
})

describe('where there are so few that the default allows all of them', () => {
  const limited: NamespaceTemplate = { ...emptied(), spec: { rollout: { maxPrune: 5 } } }
  const all = (verb: string): string[] => [
    `NamespaceTemplate "t" ${verb} about to delete objects in all 3 namespaces that it has given something to; with ` +
      '`spec.rollout.maxPrune: 0` it would wait for a confirmation',
  ]
  test.each<{ name: string; given: Given; says: readonly string[] }>([
    { name: 'an edit that takes something from each is told so', given: edit, says: all('is') },
    { name: 'a dry run is', given: { ...edit, dryRun: true }, says: all('would be') },
    { name: 'one that leaves one alone is not', given: { ...edit, kept: 'n1' }, says: [] },
    { name: 'one that says what it may is not', given: { ...edit, object: limited }, says: [] },
    { name: 'a deletion is not', given: { oldObject: before }, says: [] },
    { name: 'nor where there is one', given: { ...edit, namespaces: 1 }, says: [] },
  ])('$name', ({ given, says }) => expect(told({ namespaces: 3, ...given })).toEqual(says))
})

describe('a confirmation of another generation', () => {
  const naming = (said: string, template: NamespaceTemplate): NamespaceTemplate => ({
    ...template,
    metadata: { ...template.metadata, annotations: { 'policy.borough.dev/confirm-prune': said } },
  })

  test('is told where it stops all the same', () => {
    const [warning] = told({ ...edit, object: naming('1', emptied()) })
    expect(warning).toContain(
      'n4, ...; nothing is changed, for annotation policy.borough.dev/confirm-prune names generation 1 and this is ' +
        'generation 2. If it is meant, confirm it with: kubectl annotate --overwrite namespacetemplate t ' +
        'policy.borough.dev/confirm-prune=2; if not, ',
    )
  })

  test('is told when it is written, and found anew where what took long is remembered', () => {
    const held = holding({ stepMs: 10 })
    const stored = emptied()
    expect(told({ object: naming('x', stored), oldObject: stored, held })).toEqual([
      'annotation policy.borough.dev/confirm-prune names no generation and confirms nothing: NamespaceTemplate "t" ' +
        'is at generation 2',
    ])
    expect(told({ object: naming('2', stored), oldObject: stored, held })).toEqual([])
    // It was said when it was written.
    expect(told({ object: naming('3', stored), oldObject: naming('3', stored), held })).toEqual([])
    expect(told({ object: naming('3', emptied(1)), held })[0]).toContain('names generation 3')
    expect(told({ object: naming('4', emptied(1)), held })[0]).toContain('names generation 4')
  })
})

test('that it is not known, where a look at all of them would take too long', () => {
  const seen: string[] = []
  expect(told({ ...edit, stepMs: 500, seen })).toEqual([
    'NamespaceTemplate "t" is perhaps stopped: only 4 of 8 namespaces could be looked at in 2 s, and in 4 of them ' +
      'generation 2 would delete objects. Condition Progressing says it of all',
  ])
  expect(seen).toHaveLength(5)
})

test('that it is stopped, where those that were looked at are too many already', () => {
  expect(told({ ...edit, stepMs: 300 })).toEqual([
    'NamespaceTemplate "t" is stopped: only 7 of 8 namespaces could be looked at in 2 s, and in 7 of them ' +
      'generation 2 would delete objects. Condition Progressing says it of all',
  ])
})

test('nothing, where none of what was looked at shows why it should be', () => {
  expect(told({ object: { ...before }, stepMs: 500 })).toEqual([])
})

test('of one that takes up what an earlier one of its name left behind', () => {
  expect(told({ object: emptied(1) })).toEqual([
    expect.stringMatching(
      /^NamespaceTemplate "t" is stopped: generation 1 .*; if not, edit it: there is no generation before this one$/,
    ),
  ])
})

test('what took long to find is believed for five seconds: a write that has lost to a status begins anew', () => {
  const seen: string[] = []
  const held = holding({ stepMs: 10, seen })
  const first = told({ ...edit, held })
  expect(told({ ...edit, held })).toEqual(first)
  expect(seen).toHaveLength(8)
  // Another edit is another matter.
  expect(told({ ...edit, object: { ...emptied(), spec: { adopt: true } }, held })).toEqual(first)
  expect(seen).toHaveLength(16)
  held.pass(5000)
  expect(told({ ...edit, held })).toEqual(first)
  expect(seen).toHaveLength(24)
})

test('what was soon found is found anew, however long the process has run', () => {
  const seen: string[] = []
  const held = holding({ seen })
  held.pass(60_000)
  told({ ...edit, held })
  told({ ...edit, held })
  expect(seen).toHaveLength(16)
})

describe('an edit that gives all that was there', () => {
  const reached = (metadata: object = {}, reason = 'Complete'): NamespaceTemplate => ({
    ...before,
    metadata: { ...before.metadata, ...metadata },
    status: { observedGeneration: 1, conditions: [{ type: 'Progressing', reason } as never] },
  })
  const more = (spec: object = {}): NamespaceTemplate => ({
    metadata: { ...before.metadata, generation: 2 },
    spec: { ...before.spec, rollout: { maxPrune: 0 }, ...spec },
  })
  const looks = (oldObject: NamespaceTemplate, object: NamespaceTemplate): string[] => {
    const asked: string[] = []
    const held = holding({})
    const noting: HeldLookups = {
      ...held,
      holding(template, isAside) {
        asked.push(isAside ? 'opted out' : 'all')
        return held.holding(template, isAside)
      },
    }
    told({ object, oldObject, held: noting })
    return asked
  }

  test('takes something from those alone that have opted out', () => {
    expect(looks(reached(), more())).toEqual(['opted out'])
  })

  test.each<{ name: string; old?: NamespaceTemplate; next?: NamespaceTemplate }>([
    { name: 'what it replaces is under way', old: reached({}, 'RollingOut') },
    { name: 'what it replaces has not been looked at', old: reached({ generation: 3 }) },
    { name: 'it leaves out an object', next: more({ templates: [] }) },
    { name: 'it selects others', next: more({ namespaces: { nameSelector: { include: ['*'] } } }) },
    { name: 'it has another parameter', next: more({ parameters: [{ name: 'p', fromLabel: 'p' }] }) },
    {
      name: 'it puts an object under a condition',
      next: more({ templates: [], objects: [{ when: 'true', template: before.spec?.templates?.[0] as JsonObject }] }),
    },
    {
      name: 'it sets a label no more',
      old: { ...reached(), spec: { ...before.spec, namespaceMetadata: { labels: { a: 'b' } } } },
    },
  ])('is no such edit where $name', ({ old = reached(), next = more() }) => {
    expect(looks(old, next)).toEqual(['all'])
  })

  test('is looked at whole where too much is left in those that have opted out', () => {
    const leftover = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'd' } }
    const left = (of: NamespaceTemplate): NamespaceTemplate => ({
      ...of,
      spec: { ...of.spec, templates: [leftover] },
    })
    expect(looks(left(reached()), left(more()))).toEqual(['opted out', 'all'])
  })
})

test.each<{ name: string; given: Given }>([
  { name: 'another generation is none', given: { object: emptied(1), oldObject: before } },
  { name: 'nothing holds it when it is deleted', given: { oldObject: { ...before, metadata: { name: 't' } } } },
])('no namespace is looked at where $name', ({ given }) => {
  const seen: string[] = []
  expect([told({ ...given, seen }), seen]).toEqual([[], []])
})
