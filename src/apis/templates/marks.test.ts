/** What an object itself tells of population: whether it is marked, and when its content counts as another. */
import { describe, expect, test } from 'vitest'
import type { KubeObject, ManagedFieldsEntry } from '../../kube/types.ts'
import { contentDigest, contentOf, isMarked } from './marks.ts'

const entry = (manager: string, operation: 'Apply' | 'Update', more: object = {}): ManagedFieldsEntry => ({
  ...{ manager, operation, apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
  ...more,
})
const ours = entry('namespace-template', 'Apply')
const label = { 'policy/namespace-template-name': 't' }
const object = (metadata: object, more: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', ...metadata }, ...more }) as KubeObject

describe('an object is marked', () => {
  test.each<{ name: string; of: KubeObject; template?: string; marked: boolean }>([
    { name: 'by label and Apply entry', of: object({ labels: label, managedFields: [ours] }), marked: true },
    {
      name: 'beside entries of others',
      of: object({ labels: label, managedFields: [entry('kubectl', 'Update'), ours] }),
      marked: true,
    },
    { name: 'not by the label alone', of: object({ labels: label }), marked: false },
    { name: 'not by the entry alone', of: object({ managedFields: [ours] }), marked: false },
    {
      name: 'not by an Update of that name',
      of: object({ labels: label, managedFields: [entry('namespace-template', 'Update')] }),
      marked: false,
    },
    {
      name: 'not by the Apply of another',
      of: object({ labels: label, managedFields: [entry('helm', 'Apply')] }),
      marked: false,
    },
    { name: 'for its template', of: object({ labels: label, managedFields: [ours] }), template: 't', marked: true },
    {
      name: 'not for another template',
      of: object({ labels: label, managedFields: [ours] }),
      template: 'u',
      marked: false,
    },
    { name: 'not for its template without the entry', of: object({ labels: label }), template: 't', marked: false },
  ])('$name', ({ of, template, marked }) => expect(isMarked(of, template)).toBe(marked))
})

describe('its content', () => {
  const whole = object({ labels: label, managedFields: [ours] }, { data: { a: '1' } })
  const changed = (metadata: object, more: object = {}): KubeObject => ({
    ...whole,
    ...more,
    metadata: { ...whole.metadata, ...metadata },
  })

  test('is what it says, and by whom it is applied', () => {
    expect(contentOf(whole)).toEqual([label, undefined, undefined, { data: { a: '1' } }, true])
    expect(contentOf(object({}))).toEqual([undefined, undefined, undefined, {}, false])
    const others = [entry('b', 'Apply'), entry('a', 'Apply'), ours]
    const told = (manager: string): string => JSON.stringify([manager, { 'f:data': {} }])
    expect(contentOf(changed({ managedFields: others })).slice(4)).toEqual([true, told('a'), told('b')])
  })

  test.each<{ name: string; next: KubeObject }>([
    { name: 'data', next: changed({}, { data: { a: '2' } }) },
    { name: 'a part more', next: changed({}, { immutable: true }) },
    { name: 'a part less', next: changed({}, { data: undefined }) },
    { name: 'labels', next: changed({ labels: { ...label, b: 'c' } }) },
    { name: 'no labels at all', next: changed({ labels: undefined }) },
    { name: 'annotations', next: changed({ annotations: { b: 'c' } }) },
    { name: 'that it is being deleted', next: changed({ deletionTimestamp: '2026-11-24T06:00:00Z' }) },
    { name: 'that our entry is gone', next: changed({ managedFields: [] }) },
    { name: 'that nothing is recorded of managers', next: changed({ managedFields: undefined }) },
    { name: 'that another applies a part', next: changed({ managedFields: [ours, entry('helm', 'Apply')] }) },
  ])('becomes another by $name', ({ next }) => {
    expect(contentDigest(next)).not.toBe(contentDigest(whole))
    // The same when the two share nothing in memory.
    expect(contentDigest(structuredClone(next))).not.toBe(contentDigest(structuredClone(whole)))
  })

  test.each<{ name: string; next: KubeObject }>([
    { name: 'status', next: changed({}, { status: { used: 1 } }) },
    { name: 'versions and uids', next: changed({ resourceVersion: '7', uid: 'u', generation: 3 }) },
    { name: 'finalizers and owners', next: changed({ finalizers: ['a/b'], ownerReferences: [{ uid: 'u' }] }) },
    { name: 'annotations that are an empty map', next: changed({ annotations: {} }) },
    { name: 'an Update of another', next: changed({ managedFields: [ours, entry('kubectl', 'Update')] }) },
    {
      name: 'the Apply of another to its status',
      next: changed({ managedFields: [ours, entry('helm', 'Apply', { subresource: 'status' })] }),
    },
    { name: 'how it is called', next: { ...whole, apiVersion: 'v2', kind: 'Map' } },
  ])('stays what it is by $name', ({ next }) => {
    expect(contentDigest(next)).toBe(contentDigest(whole))
    expect(contentDigest(structuredClone(next))).toBe(contentDigest(whole))
  })

  test('what others apply has no order', () => {
    const [a, b] = [entry('a', 'Apply'), entry('b', 'Apply')]
    expect(contentDigest(changed({ managedFields: [a, ours, b] }))).toBe(
      contentDigest(changed({ managedFields: [b, a, ours] })),
    )
  })

  describe('is digested once', () => {
    let times = 0
    // Told of each time that it is made JSON.
    const data = { toJSON: () => ++times && { a: '1' } }
    const made = object({ labels: { ...label }, annotations: { b: 'c' }, managedFields: [ours] }, { data })
    const seen = (metadata: object, more: object = {}): number => {
      contentDigest(made)
      times = 0
      contentDigest({ ...made, ...more, metadata: { ...made.metadata, ...metadata } })
      return times
    }

    test.each<{ name: string; metadata?: object; more?: object }>([
      { name: 'when the watch shows what was created', metadata: { resourceVersion: '7', uid: 'u' } },
      { name: 'when only its status moves', more: { status: { a: 1 } } },
      { name: 'when it is called as a list calls it', more: { apiVersion: undefined, kind: undefined } },
    ])('$name', ({ metadata = {}, more = {} }) => expect(seen(metadata, more)).toBe(0))

    test.each<{ name: string; metadata?: object; more?: object }>([
      { name: 'other annotations', metadata: { annotations: { b: 'c' } } },
      { name: 'other managed fields', metadata: { managedFields: [ours] } },
      { name: 'a deletion', metadata: { deletionTimestamp: '2026-11-24T06:00:00Z' } },
      { name: 'a part more', more: { immutable: true } },
      { name: 'labels of its own', metadata: { labels: { ...label } } },
    ])('but again with $name', ({ metadata = {}, more = {} }) => expect(seen(metadata, more)).toBe(1))

    test('and again with a part less', () => {
      contentDigest({ ...made, immutable: true })
      times = 0
      contentDigest(made)
      expect(times).toBe(1)
    })

    test('but each time where it has no labels', () => {
      const bare = object({}, { data })
      times = 0
      expect(contentDigest(bare)).toBe(contentDigest(bare))
      expect(times).toBe(2)
    })
  })
})
