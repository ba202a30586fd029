/** A new namespace whose gate is open, while the watch of the controller that opened it still shows it shut. */
import { expect, test } from 'vitest'
import { aborted } from '../../src/base/aborted.ts'
import type { Client, WatchEvent } from '../../src/client/client.ts'
import { AnyWorld } from './any-world.ts'
import { populatedCluster } from './enforcement/clusters.ts'
import { conditionOf, configMap, configMapResource } from './population-world.ts'

/** A client that hears late that the gate of this namespace is open. */
function hearLate(client: Client, name: string, until: Promise<void>): Client {
  async function* late(events: AsyncIterable<WatchEvent>, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    for await (const event of events) {
      const { metadata } = event.object
      if (metadata.name === name && metadata.labels?.['policy/namespace-template-pending'] === undefined)
        // A process that lost its lease ends its watches, to begin anew.
        await Promise.race([until, aborted(signal)])
      yield event
    }
  }
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (property !== 'watch') return typeof value === 'function' ? value.bind(target) : value
      const watch: Client['watch'] = (resource, options) => late(target.watch(resource, options), options.signal)
      return watch
    },
  })
}

test('an edit takes nothing from it beyond maxPrune: it is new no more', async () => {
  const { promise: told, resolve: tell } = Promise.withResolvers<void>()
  await using world = new AnyWorld(await populatedCluster((client) => hearLate(client, 'kept-1', told)), true)
  const rollout = { maxPrune: 0 }
  await world.template('kept', [{ template: configMap('about') }, { template: configMap('more') }], { rollout })
  await world.namespace('kept-1')
  const place = { namespace: 'kept-1', name: 'more' }
  const { uid } = (await world.admin.get(configMapResource, place)).metadata

  await world.edit('kept', { objects: [{ template: configMap('about') }] })
  const status = await world.status('kept', (s) => s['observedGeneration'] === 2 && s['waiting'] === 1)
  expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', reason: 'TooManyPrunes' })
  tell()
  expect((await world.admin.get(configMapResource, place)).metadata.uid).toBe(uid)
})
