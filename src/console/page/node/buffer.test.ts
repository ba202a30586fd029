import { Buffer as ofNode } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Buffer } from './buffer.ts'

const bytes = fc.uint8Array({ maxLength: 4, max: 3 })

test('bytes are compared, joined and written as by Node', () => {
  fc.assert(
    fc.property(bytes, bytes, fc.string({ unit: 'grapheme' }), (a, b, text) => {
      expect(Buffer.compare(a, b)).toBe(ofNode.compare(a, b))
      expect([...Buffer.concat([a, b])]).toEqual([...ofNode.concat([a, b])])
      expect(Buffer.from(a).toString('hex')).toBe(ofNode.from(a).toString('hex'))
      expect(Buffer.from(text).toString('hex')).toBe(ofNode.from(text).toString('hex'))
      expect(Buffer.from(text).toString()).toBe(ofNode.from(text).toString())
      expect(Buffer.byteLength(text)).toBe(ofNode.byteLength(text))
    }),
  )
})
