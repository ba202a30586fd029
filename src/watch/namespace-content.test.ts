import fc from 'fast-check'
import { expect, it } from 'vitest'
import { packedKeys } from '../../test/support/packed-keys.ts'
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
          index.add(type, namespace, 100)
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

const names = fc.constantFrom('a', 'aa', 'ab', 'b', 'kube-system')

it('counts packed keys as it counts them one by one', () => {
  const key = fc.oneof(
    names,
    fc.tuple(names, names).map(([namespace, name]) => `${namespace}/${name}`),
  )
  const given = fc.record({
    prefix: fc.constantFrom('', '/registry/pods/'),
    before: fc.array(names, { maxLength: 3 }),
    keys: fc.uniqueArray(key, { maxLength: 25 }),
    skipped: fc.nat(3),
  })
  fc.assert(
    fc.property(given, ({ prefix, before, keys, skipped }) => {
      const packed = new ContentIndex(new ByteSlabs())
      const single = new ContentIndex(new ByteSlabs())
      for (const namespace of before) for (const index of [packed, single]) index.add('services', namespace, 5)
      const ascending = keys.toSorted()
      const part = { from: Math.min(skipped, keys.length), to: keys.length, prefixLength: prefix.length }
      packed.addPacked('pods', packedKeys(ascending.map((each) => prefix + each)), part)
      for (const each of ascending.slice(part.from))
        single.add('pods', each.slice(0, Math.max(0, each.indexOf('/'))), 0)
      for (const namespace of ['a', 'aa', 'ab', 'b', 'kube-system']) {
        expect(packed.find(namespace)).toEqual(single.find(namespace))
        expect(packed.contentOf('services', namespace)).toEqual(single.contentOf('services', namespace))
      }
    }),
  )
})
