/** Owner references are written by clients: they may lead nowhere, to several owners, or round in a circle. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServedKind } from '../../../client/client.ts'
import { type FoundObject, firstOf, type TreeNode, treeOf } from './object-tree.ts'

const kind: ServedKind = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: [],
}

const found = (uid: string, owners: readonly string[], template = ''): FoundObject => ({
  kind,
  object: {
    metadata: {
      name: uid,
      uid,
      labels: template === '' ? {} : { 'policy/namespace-template-name': template },
      ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner })),
    },
  },
})

interface Named {
  readonly [name: string]: Named
}
const named = (nodes: readonly TreeNode[]): Named =>
  Object.fromEntries(nodes.map(({ object, owned }) => [object.metadata.name, named(owned)]))
const shape = (list: readonly FoundObject[]) =>
  Object.fromEntries(treeOf(list).map(({ template, roots }) => [template, named(roots)]))

test('templates come first, what is owned is under its owner, and the rest last', () => {
  const list = [found('rs', ['deploy']), found('quota', [], 'default'), found('deploy', []), found('pod', ['rs'])]
  expect(shape(list)).toEqual({ default: { quota: {} }, '': { deploy: { rs: { pod: {} } } } })
  expect(treeOf(list).map(({ template }) => template)).toEqual(['default', ''])
})

test('an object whose owner is not shown stands at the top', () => {
  expect(shape([found('a', ['gone'])])).toEqual({ '': { a: {} } })
})

test('a circle of owners is cut, and its objects are shown', () => {
  expect(shape([found('a', ['b']), found('b', ['a']), found('c', ['c'])])).toEqual({ '': { a: {}, b: {}, c: {} } })
})

test('a chain of owners as long as a tenant likes is shown, twenty deep', () => {
  const chain = Array.from({ length: 50_000 }, (_, i) => found(`o${i}`, i === 0 ? [] : [`o${i - 1}`]))
  const [group] = treeOf(chain)
  const counts: number[] = []
  for (let level = group?.roots ?? []; level.length > 0; level = level.flatMap(({ owned }) => owned)) {
    counts.push(level.length)
  }
  expect(counts).toEqual([...Array<number>(20).fill(1), 50_000 - 20])
})

test('of a large tree the first objects are shown, as it is read', () => {
  const list = [found('a', [], 'default'), found('b', ['a']), found('c', []), found('d', ['c'])]
  const first = (most: number) =>
    Object.fromEntries(firstOf(treeOf(list), most).map(({ template, roots }) => [template, named(roots)]))
  expect(first(3)).toEqual({ default: { a: { b: {} } }, '': { c: {} } })
  expect(first(1)).toEqual({ default: { a: {} } })
  expect(first(9)).toEqual(shape(list))
})

test('every object is in the tree once, whatever its owners', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'gone')
  const objects = fc.uniqueArray(fc.record({ uid, owners: fc.array(uid, { maxLength: 3 }) }), {
    selector: (o) => o.uid,
  })
  const namesIn = (nodes: readonly TreeNode[]): string[] =>
    nodes.flatMap(({ object, owned }) => [object.metadata.name ?? '', ...namesIn(owned)])
  fc.assert(
    fc.property(objects, (list) => {
      const names = treeOf(list.map((o) => found(o.uid, o.owners))).flatMap(({ roots }) => namesIn(roots))
      expect(names.sort()).toEqual(list.map((o) => o.uid).sort())
    }),
  )
})
