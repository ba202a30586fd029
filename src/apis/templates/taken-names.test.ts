/** Which names of a template's objects tenants have taken, and how little is asked to find out. */
import { expect, test } from 'vitest'
import type { Client, ListOptions, ServedKind } from '../../client/client.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import { readTakenNames } from './taken-names.ts'

const served: ServedKind[] = [
  { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: [] },
  { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false, verbs: [] },
]
const object = (kind: string, name: string): JsonObject => ({ apiVersion: 'v1', kind, metadata: { name } })
const selected: Namespace[] = ['a', 'b', 'c'].map((name) => ({ metadata: { name } }))

/** Tenants have ConfigMap `mine` in `a` and `b`; of ours `all` is everywhere, `some` in one namespace. */
async function read(templates: JsonObject[]): Promise<{ asked: unknown[]; taken: unknown }> {
  const asked: unknown[] = []
  const { signal } = new AbortController()
  const client = {
    discovery: { findKind: async (_: string, kind: string) => served.find((s) => s.kind === kind) },
    async list({ resource }: GroupVersionResource, { fieldSelector, labelSelector, metadataOnly }: ListOptions) {
      asked.push([resource, fieldSelector, labelSelector, metadataOnly])
      const items = ['a', 'b'].map((namespace): Partial<KubeObject> => ({ metadata: { namespace, name: 'mine' } }))
      return { metadata: {}, items: fieldSelector === 'metadata.name=mine' ? items : [] }
    },
  } as unknown as Client
  const index = {
    find: (_: unknown, namespace: string, name: string) =>
      name === 'all' || (name === 'some' && namespace === 'a') ? {} : undefined,
  } as unknown as PopulatedObjects
  const names = await readTakenNames(
    { client, index, signal },
    { metadata: { name: 't' }, spec: { templates } },
    selected,
  )
  return { asked, taken: Object.fromEntries([...names].map(([namespace, keys]) => [namespace, [...keys]])) }
}

test('a name is asked for once where its object is not everywhere, and is taken where a tenant has it', async () => {
  const { asked, taken } = await read(['mine', 'some', 'mine', 'all'].map((name) => object('ConfigMap', name)))
  expect(asked).toEqual(
    ['mine', 'some'].map((n) => ['configmaps', `metadata.name=${n}`, '!policy/namespace-template-name', true]),
  )
  expect(taken).toEqual({ a: ['/configmaps/mine'], b: ['/configmaps/mine'] })
})

test('nothing is asked of a name that is another one in each namespace, nor of what can not be in one', async () => {
  const tokens = object('ConfigMap', 'of-$(NAMESPACE)')
  const { asked, taken } = await read([tokens, object('PersistentVolume', 'mine'), object('Unknown', 'mine')])
  expect([asked, taken]).toEqual([[], {}])
})

test('nor of what a template of another version says that is no object', async () => {
  const { asked } = await read([{}, { apiVersion: 'v1', kind: 'ConfigMap' }, { metadata: { name: 'mine' } }])
  expect(asked).toEqual([])
})
