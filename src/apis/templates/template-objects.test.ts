/** What a template holds, from both of its lists, and what of it a change brings. */
import { describe, expect, test } from 'vitest'
import { isCloneSource, noveltyOf, objectsOf } from './template-objects.ts'
import type { NamespaceTemplate, ObjectEntry } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const of = (spec?: Spec): NamespaceTemplate => ({ metadata: { name: 't' }, ...(spec && { spec }) })
const from = { namespace: 'shared', apiVersion: 'v1', kind: 'Secret', name: 's' }

describe('a template holds', () => {
  test('nothing, of which nothing is said', () => {
    expect(objectsOf(of())).toEqual([])
    expect(objectsOf(of({}))).toEqual([])
  })

  test('what both lists say, the plain one first', () => {
    const spec = { objects: [{ template: configMap('b') }], templates: [configMap('a'), configMap('c')] }
    expect(objectsOf(of(spec))).toEqual([
      { field: 'spec.templates[0]', source: configMap('a') },
      { field: 'spec.templates[1]', source: configMap('c') },
      { field: 'spec.objects[0].template', source: configMap('b') },
    ])
    expect(objectsOf(of(spec))).toBe(objectsOf(of(spec)))
  })

  test.each<{ name: string; entry: ObjectEntry; more: object }>([
    { name: 'a condition', entry: { when: 'true' }, more: { when: 'true' } },
    { name: 'an empty condition, which is none', entry: { when: '' }, more: {} },
    { name: 'what becomes of drift', entry: { drift: 'Strict' }, more: { drift: 'Strict' } },
    { name: 'managers that it yields to', entry: { yieldTo: ['a'] }, more: { yieldTo: ['a'] } },
    { name: 'no managers', entry: { yieldTo: [] }, more: {} },
    { name: 'protection', entry: { protect: true }, more: { protect: true } },
    { name: 'no protection', entry: { protect: false }, more: {} },
  ])('with an object $name', ({ entry, more }) => {
    expect(objectsOf(of({ objects: [{ template: configMap('a'), ...entry }] }))).toEqual([
      { field: 'spec.objects[0].template', source: configMap('a'), ...more },
    ])
  })

  test('a copy under the name of its source', () => {
    expect(objectsOf(of({ objects: [{ cloneFrom: from, protect: true }] }))).toEqual([
      {
        field: 'spec.objects[0].cloneFrom',
        source: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
        cloneFrom: from,
        protect: true,
      },
    ])
  })

  test('the object, where an entry says both: it was refused when it was written', () => {
    expect(objectsOf(of({ objects: [{ template: configMap('a'), cloneFrom: from }] }))).toEqual([
      { field: 'spec.objects[0].template', source: configMap('a') },
    ])
  })

  test('nothing of an entry that says neither, and those behind it keep their places', () => {
    const odd = [{}, { template: 'text' as never }, { cloneFrom: { kind: 'Secret' } }, { template: configMap('a') }]
    expect(objectsOf(of({ objects: odd })).map(({ field }) => field)).toEqual(['spec.objects[3].template'])
  })
})

test.each<{ name: string; given: Partial<typeof from> | undefined; is: boolean }>([
  { name: 'all of it', given: from, is: true },
  { name: 'nothing', given: undefined, is: false },
  { name: 'an empty name', given: { ...from, name: '' }, is: false },
  { name: 'no namespace', given: { apiVersion: 'v1', kind: 'Secret', name: 's' }, is: false },
  { name: 'a number as its kind', given: { ...from, kind: 7 as never }, is: false },
  { name: 'an empty version', given: { ...from, apiVersion: '' }, is: false },
])('$name is a source of a copy: $is', ({ given, is }) => expect(isCloneSource(given)).toBe(is))

describe('new is', () => {
  const size = { name: 'size', fromLabel: 'size' }
  const fresh = (template: NamespaceTemplate, old?: NamespaceTemplate): string[] => {
    const isNew = noveltyOf(template, old)
    return objectsOf(template).flatMap((object) => (isNew(object) ? [object.field] : []))
  }
  const [a, b] = [configMap('a'), configMap('b')]

  test('all of a new template', () => expect(fresh(of({ templates: [a, b] }))).toHaveLength(2))
  test('what an edit brings', () => {
    expect(fresh(of({ templates: [b, a] }), of({ templates: [a] }))).toEqual(['spec.templates[0]'])
    expect(fresh(of({ templates: [a] }), of())).toEqual(['spec.templates[0]'])
  })
  test('nothing that moves to the other list', () => {
    expect(fresh(of({ objects: [{ template: a }] }), of({ templates: [a] }))).toEqual([])
  })
  test('all of it with other parameters', () => {
    expect(fresh(of({ templates: [a], parameters: [size] }), of({ templates: [a] }))).toHaveLength(1)
    expect(fresh(of({ templates: [a] }), of({ templates: [a], parameters: [size] }))).toHaveLength(1)
    expect(fresh(of({ templates: [a], parameters: [size] }), of({ templates: [a], parameters: [size] }))).toEqual([])
  })
})
