/** A namespace whose template holds an object of a kind that is defined later. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { waitFor } from '../support/wait-for.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { namespaceResource } from './population-world.ts'

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const widgets = { group: 'ex.io', version: 'v1', resource: 'widgets' }
const widget: JsonObject = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 3 } }
const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

describe.each(anyCluster)('$where', ({ start }) => {
  test('a namespace that waits for a definition is ready when it arrives, as is an older one', async () => {
    await using world = new AnyWorld(await start())
    const { admin } = world
    const namespaces = { nameSelector: { include: ['old', 'new'] } }
    await world.namespace('old')
    await world.template('t', [{ template: widget }], { namespaces })
    await admin.create(namespaceResource, { metadata: { name: 'new' } }, { includeUninitialized: true })
    await world.status('t', (s) => s['failed'] === 2)
    await admin.create(definitions, {
      metadata: { name: 'widgets.ex.io' },
      spec: {
        ...{ group: 'ex.io', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    })
    await world.synced('t', 2)
    await waitFor(admin, namespaceResource, { name: 'new' }, (n) => (n?.['status'] as JsonObject)['phase'] === 'Active')
    for (const namespace of ['old', 'new']) {
      expect(await admin.get(widgets, { namespace, name: 'w' })).toMatchObject({ spec: { size: 3 } })
    }
  })
})
