/** Ends of namespaces on a cluster that knows nothing of them, kept by `borough populate`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { type Populate, startPopulate } from '../../src/populate/populate.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { refusal } from '../support/refusal.ts'
import { isGone, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const at = 'borough.dev/expires-at'

let plane: OtherCluster
let populate: Populate

beforeAll(async () => {
  const controllers = (name: string): boolean => name !== 'namespace-expiry-controller'
  plane = await startOtherCluster({ controllers })
  populate = await startPopulate({
    client: plane.client,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    namespace: 'borough-system',
    listen: { host: '127.0.0.1', port: 0 },
    reachedAt: 'listen',
  })
  const of = (name: string, include: string, expiry: object): Promise<unknown> =>
    plane.client.create(templates, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name },
      spec: { namespaces: { nameSelector: { include: [include] } }, templates: [], expiry },
    })
  await of('moments', 'moment-*', { default: '3s' })
  await of('days', 'day-*', { default: '24h', max: '48h' })
})
afterAll(async () => {
  await populate?.[Symbol.asyncDispose]()
  await plane?.[Symbol.asyncDispose]()
})

test('a template gives an end, and the namespace goes then', async () => {
  const { metadata } = await plane.client.create(namespaces, { metadata: { name: 'moment-a' } })
  expect(metadata.annotations).toMatchObject({ [at]: expect.stringMatching(/Z$/) })
  await waitFor(plane.client, namespaces, { name: 'moment-a' }, isGone)
})

test('a namespace of its own end goes then', async () => {
  const annotations = { 'borough.dev/ttl': '3s' }
  await plane.client.create(namespaces, { metadata: { name: 'short', annotations } })
  await waitFor(plane.client, namespaces, { name: 'short' }, isGone)
})

test('limits hold', async () => {
  const make = (name: string, annotations = {}): Promise<unknown> =>
    plane.client.create(namespaces, { metadata: { name, annotations } })
  expect((await refusal(make('day-a', { 'borough.dev/ttl': '49h' }))).message).toContain(
    'NamespaceTemplate "days" lets its namespaces live for 48h',
  )
  await make('day-b')
  const off = { metadata: { annotations: { [at]: null } } }
  expect((await refusal(plane.client.patch(namespaces, { name: 'day-b' }, off))).message).toContain('Required value')
})

test('a name that the server makes is known too late for a template that selects by name', async () => {
  const made = (annotations = {}): Promise<unknown> =>
    plane.client.create(namespaces, { metadata: { generateName: 'moment-', annotations } })
  expect((await refusal(made())).message).toContain(
    `metadata.annotations[${at}]: Required value: NamespaceTemplate "moments" gives namespaces an end, and ` +
      'selects this one by a name that was not known in time: name an end, or the namespace',
  )
  await made({ 'borough.dev/ttl': '1h' })
})
