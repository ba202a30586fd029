/** What a tenant brings about is told, however much the server says of it. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import {
  configMap,
  configMapResource,
  namespaceResource,
  PopulationWorld,
  templateResource,
} from './population-world.ts'

const fields = (value: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key-${i}`, value]))

test('that many managers hold the fields of an object does not keep the status from saying so', async () => {
  await using world = await PopulationWorld.start()
  await world.template('t', [configMap('c', fields('v'))], { driftPolicy: 'Report' })
  await world.namespace('n')
  await world.status('t', ({ synced }) => synced === 1)
  for (let m = 0; m < 10; m++) {
    const theirs = { ...configMap('c', fields('w')), metadata: { namespace: 'n', name: 'c' } }
    await world.admin.apply(configMapResource, theirs, { fieldManager: `manager-${m}`, force: true })
  }
  await world.edit('t', { templates: [configMap('c', fields('x'))] })
  const { failures } = await world.status('t', (s) => s['observedGeneration'] === 2 && s['failed'] === 1)
  const [failure] = failures as JsonObject[]
  expect(failure).toMatchObject({ namespace: 'n', reason: 'TakenOver' })
  expect(String(failure?.['message'])).toMatch(/^Apply failed with 3000 conflicts: .*\.\.\.$/s)
  const namespace = await world.admin.get(namespaceResource, { name: 'n' })
  expect(JSON.stringify(namespace['status']).length).toBeLessThan(4096)
  expect((await world.admin.get(templateResource, { name: 't' }))['status']).toMatchObject({ synced: 0 })
}, 60_000)
