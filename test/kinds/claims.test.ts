/** Where what a claim asks for comes from. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const claim = { kind: 'PersistentVolumeClaim', name: 'a' }
const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' }
const other = { apiGroup: 'a.io', kind: 'Other', name: 'a' }

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

it.each<[what: string, given: object, source: object | undefined, ref: object | undefined]>([
  ['a claim is known by both fields', { dataSource: claim }, claim, claim],
  ['a snapshot is known by both fields', { dataSourceRef: snapshot }, snapshot, snapshot],
  ['another kind comes by the newer field', { dataSourceRef: other }, other, other],
  ['another kind in the older field is dropped', { dataSource: other }, undefined, undefined],
  [
    'what is in another namespace is dropped',
    { dataSource: snapshot, dataSourceRef: { ...snapshot, namespace: 'b' } },
    snapshot,
    snapshot,
  ],
  [
    'what is in another namespace alone is dropped',
    { dataSourceRef: { ...other, namespace: 'b' } },
    undefined,
    undefined,
  ],
])('%s', async (_, given, source, ref) => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...given }
  const { body } = await wire.call('POST', `${claims}?dryRun=All`, { metadata: { name: 'c' }, spec })
  expect([body.spec?.['dataSource'], body.spec?.['dataSourceRef']]).toEqual([source, ref])
})

it('who sends one of the fields alone, as older clients do, changes nothing', async () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSource: claim }
  await wire.must('POST', claims, { metadata: { name: 'c' }, spec })
  const { body } = await wire.call('PUT', `${claims}/c`, { metadata: { name: 'c', labels: { a: 'b' } }, spec })
  expect(body).toMatchObject({ metadata: { labels: { a: 'b' } }, spec: { dataSourceRef: claim } })
})
