import { expect, test } from 'vitest'
import { isHarmless } from './harmless-edit.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const complete = [{ type: 'Progressing', reason: 'Complete', status: 'False' }]
const version = (spec: Spec, generation: number, more: object = {}): NamespaceTemplate =>
  ({ metadata: { name: 't', generation, ...more }, spec }) as NamespaceTemplate
const reached = (spec: Spec, status: object = {}): NamespaceTemplate =>
  ({ ...version(spec, 1), status: { observedGeneration: 1, conditions: complete, ...status } }) as NamespaceTemplate
/** As a client may write it: nothing says that there must be a spec. */
const without = { metadata: { name: 't', generation: 1 }, status: reached({}).status } as NamespaceTemplate
const objects = (...names: string[]): Spec => ({ templates: names.map(configMap) }) as unknown as Spec
const labels = (given: Record<string, string>): Spec => ({ namespaceMetadata: { labels: given } })
const chosen = (team: string): NonNullable<Spec['namespaces']> => ({ labelSelector: { matchLabels: { team } } })

test.each<{ name: string; old: NamespaceTemplate | undefined; next: NamespaceTemplate; is: boolean }>([
  { name: 'the same again', old: reached(objects('a')), next: version(objects('a'), 2), is: true },
  { name: 'one object more', old: reached(objects('a')), next: version(objects('a', 'b'), 2), is: true },
  { name: 'one object less', old: reached(objects('a', 'b')), next: version(objects('a'), 2), is: false },
  { name: 'no object any more', old: reached(objects('a')), next: version({}, 2), is: false },
  { name: 'one label more', old: reached(labels({})), next: version(labels({ a: '1' }), 2), is: true },
  { name: 'another value', old: reached(labels({ a: '1' })), next: version(labels({ a: '2' }), 2), is: true },
  { name: 'a label less', old: reached(labels({ a: '1' })), next: version(labels({ b: '1' }), 2), is: false },
  { name: 'no labels any more', old: reached(labels({ a: '1' })), next: version({}, 2), is: false },
  { name: 'a new template', old: undefined, next: version(objects('a'), 1), is: false },
  {
    name: 'one that is being deleted',
    old: reached(objects('a')),
    next: version(objects('a'), 2, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    is: false,
  },
  {
    name: 'other namespaces',
    old: reached({ ...objects('a'), namespaces: chosen('a') }),
    next: version({ ...objects('a'), namespaces: chosen('b') }, 2),
    is: false,
  },
  {
    name: 'other parameters',
    old: reached({ ...objects('a'), parameters: [{ name: 'p', fromLabel: 'a' }] }),
    next: version({ ...objects('a'), parameters: [{ name: 'p', fromLabel: 'b' }] }, 2),
    is: false,
  },
  { name: 'before the last was complete', old: version(objects('a'), 1), next: version(objects('a'), 2), is: false },
  {
    name: 'while what is complete is an older one',
    old: reached(objects('a'), { observedGeneration: 0 }),
    next: version(objects('a'), 2),
    is: false,
  },
  {
    name: 'while something of it waits',
    old: reached(objects('a'), { conditions: [{ type: 'Progressing', reason: 'RollingOut', status: 'True' }] }),
    next: version(objects('a'), 2),
    is: false,
  },
  {
    name: 'what is complete is something else',
    old: reached(objects('a'), { conditions: [{ type: 'Other', reason: 'Complete', status: 'False' }] }),
    next: version(objects('a'), 2),
    is: false,
  },
  { name: 'nothing after nothing', old: without, next: { metadata: { name: 't', generation: 2 } }, is: true },
  { name: 'nothing after labels', old: reached(labels({ a: '1' })), next: { metadata: { name: 't' } }, is: false },
  { name: 'labels after nothing', old: without, next: version(labels({ a: '1' }), 2), is: true },
  { name: 'a version whose state is not known', old: { metadata: { name: 't' } }, next: version({}, 2), is: false },
  {
    name: 'where nothing is said of that',
    old: reached(objects('a'), { conditions: undefined }),
    next: version(objects('a'), 2),
    is: false,
  },
])('$name: harmless $is', ({ old, next, is }) => expect(isHarmless(next, old)).toBe(is))
