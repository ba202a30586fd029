/** What is known of all templates, and of the namespaces on which they set something. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Namespace } from '../namespaces/types.ts'
import { MetadataIndex } from './metadata-index.ts'
import { TemplateIndex } from './template-index.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
type Stored = { readonly name: string; readonly object: NamespaceTemplate }
const stored = (name: string, spec: Spec = {}): Stored => ({ name, object: { metadata: { name }, spec } })
const shielding = (kind: string): Spec => ({
  objects: [{ template: { apiVersion: 'v1', kind, metadata: { name: 'a' } }, protect: true }],
})

describe('templates', () => {
  let index: TemplateIndex
  let change: (next: Stored | undefined, old?: Stored) => void
  let told: number
  beforeEach(() => {
    index = new TemplateIndex()
    told = 0
    index.onProtectedKindsChange(() => told++)
    const lister = { subscribe: (_: object, listener: typeof change) => (change = listener) }
    index.follow({ lister, typeOf: () => ({}) } as never)
  })
  const names = (): (string | undefined)[] => [...index.matchers()].map(({ template }) => template.metadata.name)
  const protects = (kind: string, group = ''): boolean => index.protects({ group, kind } as never)

  test('are there from when they come to when they go, as they are', () => {
    expect(names()).toEqual([])
    change(stored('a'))
    change(stored('b', { namespaces: { nameSelector: { include: ['n'] } } }))
    expect(names()).toEqual(['a', 'b'])
    expect(index.isMatched({ metadata: { name: 'm' } })).toBe(true)
    change(undefined, stored('a'))
    expect(names()).toEqual(['b'])
    expect([index.isMatched({ metadata: { name: 'm' } }), index.isMatched({ metadata: { name: 'n' } })]).toEqual([
      false,
      true,
    ])
  })

  test('that end namespaces are known, until they say so no more', () => {
    expect(index.anyExpires()).toBe(false)
    change(stored('a', { expiry: {} }))
    change(stored('b', { expiry: {} }))
    change(stored('a'), stored('a', { expiry: {} }))
    expect(index.anyExpires()).toBe(true)
    change(undefined, stored('b', { expiry: {} }))
    expect(index.anyExpires()).toBe(false)
  })

  test('that protect objects are told by kinds, when those are others', () => {
    change(stored('a'))
    expect([told, protects('Secret')]).toEqual([0, false])
    change(stored('a', shielding('Secret')))
    expect([told, protects('Secret'), protects('Secret', 'ex.io'), protects('Pod')]).toEqual([1, true, false, false])
    change(stored('b', shielding('Secret')))
    expect(told).toBe(1)
    change(stored('b', shielding('Pod')))
    expect([told, protects('Secret'), protects('Pod')]).toEqual([2, true, true])
    change(stored('a', shielding('Pod')))
    expect([told, protects('Secret')]).toEqual([3, false])
    change(stored('a', shielding('Secret')))
    change(stored('b', shielding('Secret')))
    expect(told).toBe(5)
    change(undefined, stored('a'))
    expect([told, protects('Secret')]).toEqual([5, true])
    change(undefined, stored('b'))
    expect([told, protects('Secret')]).toEqual([6, false])
  })
})

describe('a template of which an edit reaches no namespace', () => {
  const edited: Stored = {
    name: 'a',
    object: { metadata: { name: 'a', uid: 'u', generation: 2 }, spec: {}, status: { heldGeneration: 1 } },
  }
  const before = {
    metadata: { ownerReferences: [{ uid: 'u' }] },
    revision: 1,
    data: { spec: { ...shielding('Secret'), expiry: {}, namespaces: { nameSelector: { include: ['n'] } } } },
  }
  const place = 'kube-system/namespacetemplate-a-1'
  const indexOf = (revisions: ReadonlyMap<string, object>) => {
    const index = new TemplateIndex()
    let change: (next: Stored | undefined, old?: Stored) => void = () => {}
    const lister = {
      subscribe: (_: object, listener: typeof change) => (change = listener),
      find: (_: object, namespace: string, name: string) => {
        const object = revisions.get(`${namespace}/${name}`)
        return object && { object }
      },
    }
    index.follow({ lister, typeOf: () => ({}) } as never)
    return { index, change: (next: Stored | undefined, old?: Stored) => change(next, old) }
  }
  const shownBy = (index: TemplateIndex) => ({
    held: [...index.matchers()].map(({ held }) => held?.template.metadata.generation),
    expires: index.anyExpires(),
    protects: index.protects({ group: '', kind: 'Secret' } as never),
  })
  const all = { held: [1], expires: true, protects: true }

  test('has the version in force beside it, with its ends and what it protects, until that is over', () => {
    const { index, change } = indexOf(new Map([[place, before]]))
    change(edited)
    expect(shownBy(index)).toEqual(all)
    change({ ...edited, object: { ...edited.object, status: { observedGeneration: 2 } } }, edited)
    expect(shownBy(index)).toEqual({ held: [undefined], expires: false, protects: false })
    change(edited)
    change(undefined, edited)
    expect(shownBy(index)).toEqual({ held: [], expires: false, protects: false })
  })

  test.each(['matchers', 'anyExpires'] as const)('has it as soon as its revision is kept: %s', (asked) => {
    const revisions = new Map<string, object>()
    const { index, change } = indexOf(revisions)
    let told = 0
    index.onProtectedKindsChange(() => told++)
    change(edited)
    expect(shownBy(index)).toEqual({ held: [undefined], expires: false, protects: false })
    revisions.set(place, before)
    index[asked]()
    expect(told).toBe(1)
    expect(shownBy(index)).toEqual(all)
  })
})

describe('namespaces on which a template set something', () => {
  let left: string[]
  let index: MetadataIndex
  beforeEach(() => {
    left = []
    index = new MetadataIndex((template) => left.push(template))
  })
  const namespace = (name: string, labels: object): Namespace => ({
    metadata: { name, annotations: { 'policy.borough.dev/set-by-templates': JSON.stringify({ labels }) } },
  })

  test('are known by what is recorded of them', () => {
    index.changed('n', namespace('n', { a: 't', b: 't', c: 'u' }))
    index.changed('m', namespace('m', { a: 't' }))
    expect([[...index.namespacesOf('t')], [...index.namespacesOf('u')], [...index.namespacesOf('x')]]).toEqual([
      ...[['n', 'm'], ['n'], []],
    ])
    expect([index.holds('t', 'n'), index.holds('u', 'm')]).toEqual([true, false])
    expect(left).toEqual([])
  })

  test('and no more, once they record it no more or are gone, which is told', () => {
    index.changed('n', namespace('n', { a: 't', c: 'u' }))
    index.changed('m', namespace('m', { a: 't' }))
    index.changed('n', namespace('n', { a: 't' }))
    expect([left, index.holds('u', 'n'), index.holds('t', 'n')]).toEqual([['u'], false, true])
    index.changed('n', undefined)
    expect([left, [...index.namespacesOf('t')]]).toEqual([['u', 't'], ['m']])
    index.changed('n', undefined)
    expect(left).toHaveLength(2)
    index.changed('n', namespace('n', { a: 'w' }))
    expect([left, index.holds('w', 'n')]).toEqual([['u', 't'], true])
  })
})
