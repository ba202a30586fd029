/** A feature that is optional is left out by leaving it off the list: nothing else of the server needs it. */
import { describe, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { featuresOf } from '../../src/app/features.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

describe.each(['mirrorpods', 'templates', 'initializers', 'webhooks', 'admissionpolicies', 'flowschemas'])(
  'without %s',
  (name) => {
    test('a namespace is made, filled, emptied and removed', async () => {
      await using plane = await createControlPlane(defaultConfig, {
        features: (config, deps) => {
          const features = featuresOf(config, deps)
          const list = features.list.filter((feature) => feature.name !== name)
          expect(list.length).toBe(features.list.length - 1)
          return { ...features, list }
        },
      })
      const client = plane.client()
      await client.create(namespaces, { metadata: { name: 'team' } })
      await client.create(configMaps, { metadata: { namespace: 'team', name: 'one' } })
      await client.delete(namespaces, { name: 'team' })
      await expect
        .poll(async () => (await client.list(namespaces)).items.map(({ metadata }) => metadata.name))
        .not.toContain('team')
    })
  },
)

test('own namespaces are left out by default, and asked for by a flag', async () => {
  await using plane = await createControlPlane(defaultConfig)
  expect(plane.core.namespacesOf).toBeUndefined()
  await using other = await createControlPlane({ ...defaultConfig, listOwnNamespaces: true })
  expect(other.core.namespacesOf).toBeDefined()
})
