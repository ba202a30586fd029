/** Digests of objects in namespaces that are alike. */
import { describe, expect, test } from 'vitest'
import type { ServedKind } from '../../client/client.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { configDigest, heldDigest } from './held-config.ts'
import { contentDigest } from './marks.ts'
import { PlacedDigests } from './placed-digests.ts'
import { templateFieldManager } from './types.ts'

const namespace = (name: string, creator: string): Namespace =>
  ({ metadata: { name, annotations: { 'authorization.k8s.io/creator': creator } } }) as Namespace
const digests = new PlacedDigests([namespace('dev', 'alice'), namespace('prod', 'bert')])

const configMaps: ServedKind = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: [],
}
const applied = (fields: object): ManagedFieldsEntry =>
  ({ manager: templateFieldManager, operation: 'Apply', apiVersion: 'v1', fieldsV1: fields }) as ManagedFieldsEntry
const wholeData = { 'f:data': {}, 'f:metadata': { 'f:labels': {} } }

const object = (place: string, data: object, fields: object | null = wholeData, name = 'c'): KubeObject =>
  ({
    metadata: {
      name,
      namespace: place,
      labels: { 'policy/namespace-template-name': 't' },
      managedFields: fields === null ? [] : [applied(fields)],
    },
    data,
  }) as KubeObject
const config = (place: string, data: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: place, labels: { 'policy/namespace-template-name': 't' } },
  data,
})
const withMetadata = (metadata: object): KubeObject => {
  const prod = object('prod', { a: 'prod of bert' })
  return { ...prod, metadata: { ...prod.metadata, ...metadata } } as KubeObject
}
const byOther = (subresource: string): ManagedFieldsEntry =>
  ({ manager: 'a', operation: 'Update', subresource, fieldsV1: { 'f:data': {} } }) as ManagedFieldsEntry
const unplaced = (of: KubeObject) => digests.of(of, configMaps)?.unplaced

describe('what an object says, but for the texts of its namespace,', () => {
  const dev = unplaced(object('dev', { a: 'dev of alice' }))

  test('is one digest for objects of namespaces that are alike', () => {
    expect(dev?.marks).toEqual([0, 1])
    expect(unplaced(object('prod', { a: 'prod of bert' }))).toEqual(dev)
  })

  test.each<[string, KubeObject]>([
    ['it says something else', object('prod', { a: 'prod of bill' })],
    ['templates gave other fields of it', object('prod', { a: 'prod of bert' }, { 'f:data': { 'f:a': {} } })],
    ['no template gave any', object('prod', { a: 'prod of bert' }, null)],
    ['it has finalizers', withMetadata({ finalizers: ['example.com/a'] })],
    ['it belongs to another', withMetadata({ ownerReferences: [{ kind: 'A' }] })],
    ['other writers gave fields of it', withMetadata({ managedFields: [applied(wholeData), byOther('')] })],
    ['it has another name', object('prod', { a: 'prod of bert' }, wholeData, 'd')],
  ])('is another one where %s', (_, other) => expect(unplaced(other)?.digest).not.toBe(dev?.digest))

  test('is the same whoever wrote its status', () => {
    const told = withMetadata({ managedFields: [applied(wholeData), byOther('status')] })
    expect(unplaced(told)?.digest).toBe(dev?.digest)
  })

  test('has no marks where none of them is in it', () => {
    expect(unplaced(object('dev', { a: 'b' }))?.marks).toEqual([])
    expect(unplaced(object('prod', { a: 'b' }))).toEqual(unplaced(object('dev', { a: 'b' })))
  })

  test('is not known of a namespace that is not planned', () => {
    expect(digests.of(object('test', { a: 'b' }), configMaps)).toBeUndefined()
  })
})

test('its content and what was applied last have the digests that they have elsewhere, not of the first alone', () => {
  for (const [place, creator] of [
    ['dev', 'alice'],
    ['prod', 'bert'],
    ['dev', 'alice'],
  ] as const) {
    const live = object(place, { b: `${place} of ${creator}`, a: `"${creator}"` })
    const { digest, held } = digests.of(live, configMaps) ?? {}
    expect(digest).toBe(contentDigest(live))
    expect(held).toBe(heldDigest(live, configMaps))
    expect(held).toBe(configDigest(config(place, { a: `"${creator}"`, b: `${place} of ${creator}` })))
  }
})

test('what was applied last is that of the kind that is asked for', () => {
  const live = object('dev', { a: 'kinds' })
  expect(digests.of(live, { ...configMaps, group: 'example.com' })?.held).toBeUndefined()
  expect(digests.of(live, configMaps)?.held).toBe(configDigest(config('dev', { a: 'kinds' })))
})
