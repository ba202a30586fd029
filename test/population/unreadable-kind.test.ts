/** A kind of which the server can't say what there is keeps no template waiting but those that hold it. */
import { describe, expect, test } from 'vitest'
import { AnyWorld, anyCluster } from './any-world.ts'
import { configMap } from './population-world.ts'

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const widgets = (version: string) => ({ group: 'example.com', version, resource: 'widgets' })
const version = (name: string, storage: boolean) => ({
  ...{ name, storage, served: true },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

describe.each(anyCluster)('$where', ({ start }) => {
  test('a kind whose conversion fails does not stop edits and corrections of other templates', async () => {
    await using world = new AnyWorld(await start())
    await world.template('good', [{ template: configMap('good') }])
    await world.namespace('good-1')
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
    // A kube-apiserver deletes no namespace whose objects it can't read.
    await using _ = {
      async [Symbol.asyncDispose]() {
        const conversion = { strategy: 'None', webhook: null }
        await world.admin.patch(definitions, { name: 'widgets.example.com' }, { spec: { conversion } })
      },
    }
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget' }
    const theirs = { name: 'theirs', namespace: 'good-1', labels: { 'policy/namespace-template-name': 'other' } }
    await expect
      .poll(() => world.admin.create(widgets('v1'), { ...widget, metadata: theirs }).then(() => 'made', String))
      .toMatch(/^made$|already exists/)
    await expect(world.admin.list(widgets('v2'))).rejects.toThrow('conversion webhook for example.com/v1')

    const held = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w' } }
    await world.template('other', [{ template: held }], { failurePolicy: 'Ignore' })
    await world.edit('good', { objects: [{ template: configMap('good', { b: '2' }) }] })
    await world.data('good-1', 'good', { b: '2' })
  })
})
