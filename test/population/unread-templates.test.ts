/** Templates that were stored while no webhook answered, and that can't be read: they keep nothing from the others. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startPopulate, uninstallPopulation } from '../../src/populate/populate.ts'
import { startOtherCluster } from '../support/other-cluster.ts'
import { refusal } from '../support/refusal.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { conditionOf, configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

test('what selectors and patterns can not be read for is told, and the other templates are applied', async () => {
  await using cluster = await startOtherCluster({ port: 0 })
  const { client } = cluster
  const namespace = 'borough-system'
  const common = {
    client,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    namespace,
    admission: 'webhooks',
  } as const
  const start = () => startPopulate({ ...common, listen: { host: '127.0.0.1', port: 0 }, reachedAt: 'listen' })
  // Brings the definition.
  await (await start())[Symbol.asyncDispose]()
  await uninstallPopulation({ client, clock: systemClock, namespace, signal: AbortSignal.timeout(60_000) })
  const store = (name: string, more: object, labelSelector: object = { matchLabels: { for: name } }) =>
    client.create(templateResource, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name },
      spec: { namespaces: { labelSelector }, templates: [configMap('about')], ...more } as never,
    })
  await store('selector', {}, { matchExpressions: [{ key: 'for', operator: 'Is', values: ['selector'] }] })
  await store('pattern', { parameters: [{ name: 'a', fromLabel: 'a', pattern: '[0-9' }] })
  await store('good', {})

  await using _ = await start()
  await client.create(namespaceResource, { metadata: { name: 'good-1', labels: { for: 'good' } } })
  await waitFor(client, configMapResource, { namespace: 'good-1', name: 'about' }, isThere)
  const saidBy = (t: KubeObject | undefined) => conditionOf((t?.['status'] ?? {}) as JsonObject, 'Progressing')
  const told = async (name: string): Promise<unknown> =>
    saidBy(await waitFor(client, templateResource, { name }, (t) => saidBy(t) !== undefined))
  expect(await told('selector')).toMatchObject({
    status: 'False',
    reason: 'NewerTemplate',
    message:
      'the template can not be read: spec.namespaces.labelSelector.matchExpressions[0].operator: ' +
      'Invalid value: "Is": not a valid selector operator',
  })
  const noExpression =
    'can not be read: spec.parameters[0].pattern: Invalid value: "[0-9": is no expression of RE2: ' +
    'error parsing regexp: missing closing ]: `[0-9`'
  expect(await told('pattern')).toMatchObject({ message: `the template ${noExpression}` })
  const { code, message } = await refusal(
    client.create(namespaceResource, { metadata: { name: 'pattern-1', labels: { for: 'pattern' } } }),
  )
  expect(code).toBe(422)
  expect(message).toContain(
    `Namespace "pattern-1" is invalid: metadata: Forbidden: template "pattern" selects it, which ${noExpression}`,
  )
})
