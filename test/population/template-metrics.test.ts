/** What Prometheus is told of templates. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
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
