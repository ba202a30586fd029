/** What the writer of a template is told of a stop, and for how long it is looked. */
import { expect, test } from 'vitest'
import { runAtOnce } from '../../base/resumable.ts'
import type { KubeObject } from '../../kube/types.ts'
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
}

function told({ object, oldObject, stepMs = 0, seen = [] }: Given): string[] {
  let now = 0
  const held: HeldLookups = {
    *namespaces() {
      for (const name of names) {
        seen.push(name)
        yield { metadata: { name } } as Namespace
        now += stepMs
      }
    },
    countNamespaces: () => names.length,
    claimsIn: () => [
      { template: 't', apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u', content: '', digest: '' } as never,
    ],
    now: () => now,
  }
  const warnings: string[] = []
  const operation = object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE'
  const a = { operation, object: object as KubeObject, oldObject, dryRun: false } as const
  runAtOnce(warnOfStop({ ...a, warn: (text) => warnings.push(text) }, held))
  return warnings
}

const edit = { object: emptied(), oldObject: before }

test('where, of how many, and how to go on', () => {
  expect(told(edit)).toEqual([
    'NamespaceTemplate "t" is stopped: generation 2 would delete objects in 8 of 8 namespaces, ' +
      'spec.rollout.maxPrune allows 5 (the default): n0, n1, n2, n3, n4, ...; nothing is changed. If it is meant, ' +
      'confirm it with: kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=2; if not, ' +
      'go back with: borough template rollback t',
  ])
})

test('that it is not known, where a look at all of them would take too long', () => {
  const seen: string[] = []
  expect(told({ ...edit, stepMs: 500, seen })).toEqual([
    'NamespaceTemplate "t" is perhaps stopped: only 4 of 8 namespaces could be looked at in 2 s, and in 4 of them ' +
      'generation 2 would delete objects. Condition Progressing says it of all',
  ])
  expect(seen).toHaveLength(5)
})

test('of one that takes up what an earlier one of its name left behind', () => {
  expect(told({ object: emptied(1) })).toEqual([
    expect.stringMatching(/^NamespaceTemplate "t" is stopped: generation 1 /),
  ])
})

test.each<{ name: string; given: Given }>([
  { name: 'another generation is none', given: { object: emptied(1), oldObject: before } },
  { name: 'nothing holds it when it is deleted', given: { oldObject: { ...before, metadata: { name: 't' } } } },
])('no namespace is looked at where $name', ({ given }) => {
  const seen: string[] = []
  expect([told({ ...given, seen }), seen]).toEqual([[], []])
})
