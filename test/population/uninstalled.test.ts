/** `borough populate --uninstall`: nothing is left that waits for a process that is gone. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { startPopulate, uninstallPopulation } from '../../src/populate/populate.ts'
import { startOtherCluster } from '../support/other-cluster.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

test('templates that nobody prunes any more can be deleted, and what they made stays', async () => {
  await using cluster = await startOtherCluster({ port: 0 })
  const { client } = cluster
  const namespace = 'borough-system'
  const populate = await startPopulate({
    client,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace,
    reachedAt: 'listen',
  })
  const uninstall = () =>
    uninstallPopulation({ client, clock: systemClock, namespace, signal: AbortSignal.timeout(60_000) })
  try {
    await client.create(templateResource, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name: 'team', finalizers: ['example.com/theirs'] },
      spec: { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [configMap('about')] },
    })
    await client.create(namespaceResource, { metadata: { name: 'team-1' } })
    await waitFor(client, configMapResource, { namespace: 'team-1', name: 'about' }, isThere)
    // While a replica leads it is the one that prunes.
    expect(await uninstall()).toMatchObject({ released: [], leader: expect.any(String) })
  } finally {
    await populate[Symbol.asyncDispose]()
  }
  expect(await uninstall()).toEqual({ removed: [], released: ['team'], leader: undefined })
  const { metadata } = await client.get(templateResource, { name: 'team' })
  expect(metadata.finalizers).toEqual(['example.com/theirs'])
  await client.patch(templateResource, { name: 'team' }, { metadata: { finalizers: null } })
  await client.delete(templateResource, { name: 'team' })
  await waitFor(client, templateResource, { name: 'team' }, isGone)
  expect(await client.get(configMapResource, { namespace: 'team-1', name: 'about' })).toMatchObject({
    data: { a: '1' },
  })
})
