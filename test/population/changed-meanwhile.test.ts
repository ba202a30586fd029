/** A template that changes while a pass goes over its namespace. */
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { AnyWorld } from './any-world.ts'
import { populatedCluster } from './enforcement/clusters.ts'
import { configMap, configMapResource, templateResource } from './population-world.ts'

/** A client whose next apply of an object of this name waits. */
function holdApplies(client: Client, name: string, until: Promise<void>, reached: () => void): Client {
  return new Proxy(client, {
    get(target, property) {
      if (property !== 'apply') {
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      }
      const apply: Client['apply'] = async (kind, object, options) => {
        if (object.metadata.name === name && (options as { dryRun?: boolean } | undefined)?.dryRun !== true) {
          reached()
          await until
        }
        return target.apply(kind, object, options)
      }
      return apply
    },
  })
}

test('a template that is enabled in the middle of a pass over its namespace is stripped of nothing', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const { promise: begun, resolve: reached } = Promise.withResolvers<void>()
  await using world = new AnyWorld(await populatedCluster((client) => holdApplies(client, 'slow', gate, reached)))
  const { admin } = world
  const apply = (value: string | null): Promise<KubeObject> => {
    const annotations = { 'policy/namespace-template-apply': value }
    return admin.patch(templateResource, { name: 'kept' }, { metadata: { annotations } })
  }
  const spec = { namespaces: { nameSelector: { include: ['kept-1'] } } }
  await world.template('kept', [{ template: configMap('about') }])
  await world.namespace('kept-1')
  await world.synced('kept')
  const { uid } = (await admin.get(configMapResource, { namespace: 'kept-1', name: 'about' })).metadata
  await apply('disable')
  await world.status('kept', (s) => s['matched'] === 0)

  await world.template('other', [{ template: configMap('slow') }], spec)
  await begun
  await apply(null)
  // The controller has seen it when it populates another namespace.
  await world.namespace('kept-2')
  await world.data('kept-2', 'about', { a: '1' })
  open()
  await world.synced('other')
  await world.synced('kept', 2)
  expect((await admin.get(configMapResource, { namespace: 'kept-1', name: 'about' })).metadata.uid).toBe(uid)
})
