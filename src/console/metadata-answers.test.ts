import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonValue } from '../kube/types.ts'
import { bytesWithoutContents, withoutContents } from './metadata-answers.ts'

test('whatever a server sends is taken; what is nowhere in it is left as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(withoutContents(value as JsonValue)).toEqual(value)
    }),
  )
})

test('nothing of the annotation of kubectl apply is left, where it stands', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'secret', note: 'kept' }
  const object = { metadata: { name: 'a', annotations, managedFields: [{ manager: 'kubectl' }] } }
  const left = { metadata: { name: 'a', annotations: { note: 'kept' } } }
  expect(withoutContents(object)).toEqual(left)
  expect(withoutContents({ items: [object, null, 7] })).toEqual({ items: [left, null, 7] })
  expect(withoutContents({ type: 'ADDED', object })).toEqual({ type: 'ADDED', object: left })
})

test('what is no JSON is refused', () => {
  expect(() => bytesWithoutContents(Buffer.from('<html>'))).toThrow('the server sent something that is not JSON')
})
