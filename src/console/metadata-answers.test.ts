import fc from 'fast-check'
import { expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import type { JsonValue } from '../kube/types.ts'
import { bytesWithoutContents, withoutContents } from './metadata-answers.ts'

test('whatever a server sends is taken', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const left = withoutContents(value as JsonValue)
      expect(withoutContents(left)).toEqual(left)
    }),
  )
})

test('of a server that knows no such form and sends all, metadata is left', () => {
  const metadata = { name: 'password' }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { password: 'c2VjcmV0' }, stringData: {} }
  const left = { apiVersion: 'v1', kind: 'Secret', metadata }
  const list = { apiVersion: 'v1', kind: 'SecretList', metadata: { resourceVersion: '7' } }
  expect(withoutContents(secret)).toEqual(left)
  expect(withoutContents({ ...list, items: [secret, { ...secret, items: [secret] }] })).toEqual({
    ...list,
    items: [left, left],
  })
  expect(withoutContents({ type: 'MODIFIED', object: secret })).toEqual({ type: 'MODIFIED', object: left })
})

test('why a watch ended is left', () => {
  const status = { kind: 'Status', metadata: {}, code: 410, reason: 'Expired', message: 'too old' }
  expect(withoutContents({ type: 'ERROR', object: status })).toEqual({ type: 'ERROR', object: status })
})

test('nothing of the annotation of kubectl apply is left, where it stands', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'secret', note: 'kept' }
  const object = { metadata: { name: 'a', annotations, managedFields: [{ manager: 'kubectl' }] } }
  const left = { metadata: { name: 'a', annotations: { note: 'kept' } } }
  expect(withoutContents(object)).toEqual(left)
  expect(withoutContents({ items: [object, null, 7] })).toEqual({ items: [left, null, 7] })
  expect(withoutContents({ type: 'ADDED', object })).toEqual({ type: 'ADDED', object: left })
})

test('what is no JSON is refused', async () => {
  expect(await refusal((async () => bytesWithoutContents(Buffer.from('<html>')))())).toEqual(
    failure({ message: 'the server sent something that is not JSON', code: 502 }),
  )
})
