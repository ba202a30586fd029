import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { NamespaceKeeper } from './kept-namespace.ts'

const words = fc.constantFrom('a', 'b', 'team', 'Active')
const map = fc.dictionary(words, words, { maxKeys: 3 })
const namespaces: fc.Arbitrary<KubeObject> = fc.record(
  {
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Namespace'),
    metadata: fc.record(
      {
        name: words,
        uid: fc.uuid(),
        resourceVersion: fc.nat().map(String),
        labels: map,
        annotations: map,
        finalizers: fc.array(words, { maxLength: 2 }),
        managedFields: fc.constant([{ manager: 'kubectl' }]),
      },
      { requiredKeys: ['name'] },
    ),
    spec: fc.record({ finalizers: fc.array(words, { maxLength: 2 }) }),
    status: fc.record({ phase: words, conditions: fc.array(map, { maxLength: 2 }) }),
  },
  { requiredKeys: ['metadata'] },
) as fc.Arbitrary<KubeObject>

it('keeps all of a namespace but its managedFields', () => {
  fc.assert(
    fc.property(fc.array(namespaces, { maxLength: 20 }), (given) => {
      const keeper = new NamespaceKeeper()
      for (const namespace of given) {
        const { managedFields: _, ...metadata } = namespace.metadata
        expect(keeper.keep(structuredClone(namespace))).toEqual({ ...namespace, metadata })
      }
    }),
  )
})

it('keeps equal parts once, and no part that could be changed for all of them', () => {
  const keeper = new NamespaceKeeper()
  const kept = ['one', 'two'].map((name) =>
    keeper.keep({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, uid: name, labels: { team: 'a', 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
    }),
  ) as [KubeObject, KubeObject]
  const [one, two] = kept
  expect(two['spec']).toBe(one['spec'])
  expect(two.metadata.labels).toEqual({ team: 'a', 'kubernetes.io/metadata.name': 'two' })
  expect(() => (one['spec'] as { finalizers: string[] }).finalizers.push('mine')).toThrow(TypeError)
  expect(two['spec']).toEqual({ finalizers: ['kubernetes'] })
})

it('does not let the labels of one namespace push out what others share', () => {
  const keeper = new NamespaceKeeper()
  const kept = ['one', 'many', 'two'].map((name) =>
    keeper.keep({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        labels: Object.fromEntries(Array.from({ length: name === 'many' ? 5000 : 1 }, (_, i) => [`k${i}`, `v${i}`])),
      },
      spec: { finalizers: [name === 'many' ? 'other' : 'kubernetes'] },
    }),
  )
  expect(kept[2]?.['spec']).toBe(kept[0]?.['spec'])
  expect(kept[1]?.metadata.labels?.['k4999']).toBe('v4999')
})
