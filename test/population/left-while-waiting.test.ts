/** A namespace that leaves a template, or goes, before its turn came: no pass has anything to tell of it. */
import { expect, test } from 'vitest'
import { AnyWorld, anyCluster } from './any-world.ts'
import { configMap, configMapResource, namespaceResource } from './population-world.ts'

test.each(
  anyCluster.flatMap((cluster) => [
    { ...cluster, how: 'is labelled away', isDeleted: false },
    { ...cluster, how: 'is deleted', isDeleted: true },
  ]),
)('a namespace that waits and $how is counted no more, $where', async ({ start, isDeleted }) => {
  await using world = new AnyWorld(await start())
  const namespaces = { labelSelector: { matchLabels: { tier: 'x' } } }
  await world.template('kept', [{ template: configMap('about') }], { namespaces, rollout: { pauseOnFailure: true } })
  await world.namespace('fails')
  await world.namespace('waits')
  await world.admin.create(configMapResource, { metadata: { namespace: 'fails', name: 'about' }, data: { a: 'mine' } })
  await world.label('fails', { tier: 'x' })
  await world.failures('kept', 'AlreadyExists')
  await world.label('waits', { tier: 'x' })
  await world.status('kept', (s) => s['matched'] === 2 && s['waiting'] === 1)

  if (isDeleted) await world.admin.delete(namespaceResource, { name: 'waits' })
  else await world.label('waits', { tier: null })
  const status = await world.status('kept', (s) => s['matched'] === 1)
  expect(status).toMatchObject({ matched: 1, synced: 0, failed: 1 })
  await world.status('kept', (s) => s['waiting'] === 0)
})
