/**
 * Namespaces that a backup brings back, as Velero and its like do: the namespace first, then what was in it, each with
 * a uid of its own, the labels and the managedFields of before. What a template made is the template's again.
 */
import { describe, expect, test } from 'vitest'
import type { Client, ObjectRef } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { publishedAuthorities } from '../support/empty-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { configMap, configMapResource, namespaceResource, refusal, templateResource } from './population-world.ts'

const disable = 'policy/namespace-template-apply'
const created = 'creationTimestamp'

/** What a backup keeps of an object: nothing that a server gives. */
function kept({ metadata, status: _, ...content }: KubeObject): KubeObject {
  const { uid: _u, resourceVersion: _r, [created]: _c, generation: _g, deletionTimestamp: _d, ...rest } = metadata
  return { ...content, metadata: rest }
}

async function backup(world: AnyWorld, name: string): Promise<{ namespace: KubeObject; objects: KubeObject[] }> {
  const { spec: _, ...namespace } = kept(await world.admin.get(namespaceResource, { name }))
  const { items } = await world.admin.list(configMapResource, { namespace: name })
  return { namespace, objects: items.filter(({ metadata }) => !publishedAuthorities.has(metadata.name)).map(kept) }
}

async function remove(world: AnyWorld, name: string): Promise<void> {
  await world.admin.delete(namespaceResource, { name })
  await waitFor(world.admin, namespaceResource, { name }, (n) => n === undefined)
}

/** A create gives all fields to who creates, so Velero gives them back by a patch. */
async function restore(admin: Client, object: KubeObject): Promise<void> {
  const { managedFields, ...metadata } = object.metadata
  await admin.create(configMapResource, { ...object, metadata })
  await admin.patch(configMapResource, metadata as ObjectRef, { metadata: { managedFields } })
}

/** Elsewhere it may be there, or may not yet. */
const unlessThere = (error: unknown): void => expect(findStatusError(error)?.code).toBe(409)

describe.each(anyCluster)('$where', ({ where, start }) => {
  test.each([
    { name: 'while its template is switched off', isOff: true },
    { name: 'while its template populates: what is there already is left as it is', isOff: false },
  ])('a namespace that is restored $name belongs to it again', async ({ isOff }) => {
    await using world = new AnyWorld(await start(), where !== 'on Borough')
    const { admin } = world
    await world.template('t', [{ template: configMap('one') }, { template: configMap('two') }])
    await world.namespace('t-a')
    await world.synced('t')
    await admin.create(configMapResource, { metadata: { namespace: 't-a', name: 'mine' }, data: { of: 'the tenant' } })
    const before = await admin.get(configMapResource, { namespace: 't-a', name: 'one' })
    const { namespace, objects } = await backup(world, 't-a')
    await remove(world, 't-a')

    const apply = (value: string | null): Promise<KubeObject> =>
      admin.patch(templateResource, { name: 't' }, { metadata: { annotations: { [disable]: value } } })
    if (isOff) await apply('disable')
    await world.status('t', (s) => s['matched'] === 0)
    await admin.create(namespaceResource, namespace)
    for (const object of objects) {
      const { name = '' } = object.metadata
      // A restore leaves what is there: on Borough a namespace is born with it.
      if (!isOff && name !== 'mine' && !world.isElsewhere) {
        expect(await refusal(admin.create(configMapResource, object))).toMatchObject({ code: 409 })
      } else await restore(admin, object).catch(unlessThere)
    }
    if (isOff) await apply(null)
    await world.synced('t')

    const restored = await admin.get(configMapResource, { namespace: 't-a', name: 'one' })
    expect(restored.metadata.uid).not.toBe(before.metadata.uid)
    // Kept as every other: drift is corrected, an edit reaches it, what leaves the template is pruned.
    await admin.patch(configMapResource, { namespace: 't-a', name: 'one' }, { data: { a: 'changed' } })
    await world.data('t-a', 'one', { a: '1' })
    await world.edit('t', { objects: [{ template: configMap('one', { a: '2' }) }] })
    await world.data('t-a', 'one', { a: '2' })
    const gone = (o: KubeObject | undefined): boolean => o === undefined
    expect(await waitFor(admin, configMapResource, { namespace: 't-a', name: 'two' }, gone)).toBeUndefined()
    expect((await admin.get(configMapResource, { namespace: 't-a', name: 'mine' }))['data']).toEqual({
      of: 'the tenant',
    })
  })
})
