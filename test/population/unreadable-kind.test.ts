/** A kind of which the server can't say what there is keeps no template waiting but those that hold it. */
import { expect, test } from 'vitest'
import { configMap, PopulationWorld, templateResource } from './population-world.ts'

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const widgets = (version: string) => ({ group: 'example.com', version, resource: 'widgets' })
const version = (name: string, storage: boolean) => ({
  ...{ name, storage, served: true },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

test('a kind whose conversion fails does not stop edits and corrections of other templates', async () => {
  await using world = await PopulationWorld.start()
  await world.template('good', [configMap('good')])
  await world.namespace('n')
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  // Nothing listens there.
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:9/convert' } }
  await world.admin.create(definitions, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names, versions: [version('v1', true), version('v2', false)] },
      conversion: { strategy: 'Webhook', webhook },
    },
  } as never)
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget' }
  const theirs = { name: 'theirs', namespace: 'n', labels: { 'policy/namespace-template-name': 'other' } }
  await expect
    .poll(() => world.admin.create(widgets('v1'), { ...widget, metadata: theirs }).then(() => 'made', String))
    .toMatch(/^made$|already exists/)
  await expect(world.admin.list(widgets('v2'))).rejects.toThrow('conversion webhook for example.com/v1')

  await world.admin.create(templateResource, {
    metadata: { name: 'other' },
    spec: {
      failurePolicy: 'Ignore',
      namespaces: { nameSelector: { include: ['other-*'] } },
      templates: [{ apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w' } }],
    },
  } as never)
  await world.edit('good', { templates: [configMap('good', { b: '2' })] })
  await expect.poll(() => world.data('n', 'good'), { timeout: 10_000 }).toEqual({ b: '2' })
})
