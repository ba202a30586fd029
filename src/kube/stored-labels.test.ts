import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeStored } from './stored-form.ts'
import { storedLabels } from './stored-labels.ts'
import type { ObjectMeta } from './types.ts'

const texts = fc.constantFrom('a', 'x"labels":{"a":"b"}', '\\"labels\\":{', 'ü', '}', ',')
const labels = fc.dictionary(fc.constantFrom('a', 'b/c', 'labels'), fc.constantFrom('', '1', 'v.w'))
const metadata: fc.Arbitrary<ObjectMeta> = fc.record(
  {
    name: texts,
    generateName: texts,
    namespace: texts,
    generation: fc.nat(5),
    deletionGracePeriodSeconds: fc.nat(5),
    labels,
    annotations: fc.dictionary(texts, texts),
    finalizers: fc.array(texts),
  },
  { requiredKeys: ['name'] },
)
const template = fc.record({ template: fc.record({ metadata: fc.record({ labels }) }) })

const bytesOf = (given: ObjectMeta, spec?: unknown): Buffer => {
  const bytes = encodeStored({ metadata: given, ...(spec === undefined ? {} : { spec }) })
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

test('the labels of an object are in the beginning of its bytes', () => {
  fc.assert(
    fc.property(metadata, template, (given, spec) => {
      const bytes = bytesOf(given, spec)
      expect(storedLabels(bytes, bytes.length)).toEqual(given.labels ?? {})
    }),
  )
})

test('a part of them tells the same, or nothing', () => {
  fc.assert(
    fc.property(metadata, template, fc.nat(400), (given, spec, length) => {
      const bytes = bytesOf(given, spec)
      // Behind the part there may be what another object had.
      const head = Buffer.concat([bytes.subarray(0, length), Buffer.from('"labels":{"a":"other"},"}')])
      const found = storedLabels(head, Math.min(length, bytes.length))
      if (found !== undefined) expect(found).toEqual(given.labels ?? {})
    }),
  )
})
