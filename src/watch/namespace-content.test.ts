import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteSlabs } from '../slabs/byte-slabs.ts'
import { ContentIndex } from './namespace-content.ts'

it('counts what each namespace holds, whatever comes and goes', () => {
  const types = Array.from({ length: 17 }, (_, i) => `type-${i}`)
  const change = fc.record({
    adds: fc.boolean(),
    type: fc.constantFrom(...types),
    namespace: fc.constantFrom('a', 'b', 'kube-system'),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const slabs = new ByteSlabs()
      const index = new ContentIndex(slabs)
      const model = new Map<string, Map<string, number>>()
      const bytes = new Map<string, number>()
      const grow = (place: string, delta: number): void => void bytes.set(place, (bytes.get(place) ?? 0) + delta)
      for (const { adds, type, namespace } of changes) {
        const counts = model.get(namespace) ?? new Map<string, number>()
        model.set(namespace, counts)
        const count = counts.get(type) ?? 0
        if (adds) {
          // Keys come as text, and at a start as a part of a larger buffer.
          const packed = Buffer.from(`<${namespace}>`)
          index.add(type, count % 2 === 0 ? namespace : { buffer: packed, start: 1, end: packed.length - 1 }, 100)
          index.resize(type, namespace, 7)
          grow(`${type} ${namespace}`, 107)
          counts.set(type, count + 1)
        } else {
          index.remove(type, namespace, 107)
          if (count > 0) grow(`${type} ${namespace}`, -107)
          if (count > 1) counts.set(type, count - 1)
          else counts.delete(type)
        }
      }
      for (const [namespace, counts] of model) expect(index.find(namespace)).toEqual(counts)
      for (const [place, sum] of bytes) {
        const [type = '', namespace = ''] = place.split(' ')
        expect(index.contentOf(type, namespace)).toEqual({ count: model.get(namespace)?.get(type) ?? 0, bytes: sum })
      }
      for (const [namespace, counts] of model) {
        for (const [type, count] of counts) for (let i = 0; i < count; i++) index.remove(type, namespace, 107)
      }
      expect(slabs.usedBytes).toBe(0)
    }),
  )
})
