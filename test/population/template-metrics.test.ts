/** What Prometheus is told of templates. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { PopulateMetrics, startPopulate } from '../../src/populate/populate.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { startOtherCluster } from '../support/other-cluster.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { conditionOf, configMap, namespaceResource, templateResource } from './population-world.ts'

let plane: TestControlPlane
beforeEach(async () => {
  plane = await startControlPlane()
})
afterEach(() => plane[Symbol.asyncDispose]())

const metrics = async (): Promise<string[]> =>
  (await (await plane.fetch('/metrics')).text()).split('\n').filter((line) => line.startsWith('borough_template_'))

const statusIs = (want: (status: JsonObject) => boolean) => (template: KubeObject | undefined) =>
  template?.['status'] !== undefined && want(template['status'] as JsonObject)

test('metrics tell the figures of a template, how far its rollout is and what stopped it', async () => {
  // The library of metrics is loaded by the first scrape.
  await metrics()
  const tier = (value: string): JsonObject => ({ labelSelector: { matchLabels: { tier: value } } })
  await plane.client.create(templateResource, {
    metadata: { name: 't' },
    spec: { namespaces: tier('a'), templates: [configMap('one')], rollout: { maxPrune: 1 } },
  })
  for (const name of ['x', 'y']) {
    await plane.client.create(namespaceResource, { metadata: { name, labels: { tier: 'a' } } })
  }
  await waitFor(
    plane.client,
    templateResource,
    { name: 't' },
    statusIs((s) => s['synced'] === 2),
  )
  expect(await metrics()).toEqual([
    'borough_template_matched{template="t"} 2',
    'borough_template_synced{template="t"} 2',
    'borough_template_failed{template="t"} 0',
    'borough_template_skipped{template="t"} 0',
    'borough_template_waiting{template="t"} 0',
    'borough_template_rollout_progress_ratio{template="t"} 1',
  ])

  await plane.client.delete(templateResource, { name: 't' })
  await waitFor(
    plane.client,
    templateResource,
    { name: 't' },
    statusIs((s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes'),
  )
  expect(await metrics()).toEqual([
    'borough_template_matched{template="t"} 2',
    'borough_template_synced{template="t"} 0',
    'borough_template_failed{template="t"} 0',
    'borough_template_skipped{template="t"} 0',
    'borough_template_waiting{template="t"} 2',
    'borough_template_rollout_progress_ratio{template="t"} 0',
    'borough_template_rollout_halted{template="t",reason="TooManyPrunes"} 1',
  ])

  const annotations = { 'policy.borough.dev/confirm-prune': '2' }
  await plane.client.patch(templateResource, { name: 't' }, { metadata: { annotations } })
  await waitFor(plane.client, templateResource, { name: 't' }, isGone)
  expect(await metrics()).toEqual([])
})

test('the replica of borough populate that leads tells the same, and nothing when it leads no more', async () => {
  await using cluster = await startOtherCluster({ port: 0 })
  const { client } = cluster
  const told = new PopulateMetrics()
  const populate = await startPopulate({
    ...{ client, clock: systemClock, ids: randomIds, log: silentLog, namespace: 'borough-system' },
    ...{ listen: { host: '127.0.0.1', port: 0 }, reachedAt: 'listen', metrics: told },
  })
  const lines = async (): Promise<string[]> =>
    (await told.text()).split('\n').filter((line) => line.startsWith('borough_template_'))
  try {
    await client.create(templateResource, {
      ...{ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata: { name: 't' } },
      spec: { namespaces: { nameSelector: { include: ['x'] } }, templates: [configMap('one')] },
    })
    await client.create(namespaceResource, { metadata: { name: 'x' } })
    const isSynced = statusIs((s) => s['synced'] === 1)
    await waitFor(client, templateResource, { name: 't' }, isSynced)
    await vi.waitFor(async () => {
      expect(await lines()).toEqual([
        'borough_template_matched{template="t"} 1',
        'borough_template_synced{template="t"} 1',
        'borough_template_failed{template="t"} 0',
        'borough_template_skipped{template="t"} 0',
        'borough_template_waiting{template="t"} 0',
        'borough_template_rollout_progress_ratio{template="t"} 1',
      ])
    }, 10_000)
  } finally {
    await populate[Symbol.asyncDispose]()
  }
  expect(await lines()).toEqual([])
})
