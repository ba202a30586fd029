import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packedKeys } from '../../test/support/packed-keys.ts'
import { ByteSlabs, freedByte } from './byte-slabs.ts'
import type { RecordView } from './read-epoch.ts'
import { RecordMap } from './record-map.ts'

const bytesOf = (revision: number, length: number): Uint8Array => new Uint8Array(length).fill(revision % 199)

interface Model {
  readonly revision: number
  readonly bytes: Uint8Array
}

const utf8Order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Few keys, so that most steps meet one that is there; some that UTF-16 and UTF-8 order differently. */
const keys = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((n) => `ns-${n}/default`),
  fc.constantFrom('a', 'a/b', 'ab', 'ä', '\uff5e', '\u{1f600}', 'z'.repeat(300)),
)
const lengths = fc.oneof(fc.integer({ min: 0, max: 2000 }), fc.constantFrom(15, 16, 17, 70_000, 270_000))
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('set' as const), key: keys, length: lengths }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), key: keys }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), from: keys, to: keys, limit: fc.nat(50) }) },
  ),
  { maxLength: 300 },
)

describe('RecordMap', () => {
  it('what was asked for last is not mistaken for what was removed by its slot since', () => {
    const map = new RecordMap(new ByteSlabs())
    map.add('a', 1024, bytesOf(1024, 10))
    map.add('b', 2048, bytesOf(2048, 10))
    const removed = map.find('b')
    const kept = map.find('a')
    map.remove(removed)
    expect([map.find('a'), map.find('b')]).toEqual([kept, 0])
  })

  it('does what a sorted map does, and every view keeps showing what it saw', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const map = new RecordMap(new ByteSlabs())
        const model = new Map<string, Model>()
        const seen: { readonly view: RecordView; readonly key: string; readonly bytes: Uint8Array }[] = []
        const look = (key: string): void => {
          const view = map.view(map.find(key))
          seen.push({ view, key, bytes: model.get(key)?.bytes ?? new Uint8Array() })
        }
        for (const [i, step] of script.entries()) {
          const revision = (i + 1) * 1024
          if (step.do === 'set') {
            const bytes = bytesOf(revision, step.length)
            const slot = map.find(step.key)
            if (slot === 0) map.add(step.key, revision, bytes)
            else map.update(slot, revision, bytes)
            model.set(step.key, { revision, bytes })
            if (i % 3 === 0) look(step.key)
          } else if (step.do === 'remove') {
            const slot = map.find(step.key)
            expect(slot !== 0).toBe(model.delete(step.key))
            if (slot !== 0) map.remove(slot)
          } else {
            const [start, end] = [step.from, step.to].sort(utf8Order) as [string, string]
            const inside = [...model.keys()]
              .filter((key) => utf8Order(key, start) >= 0 && utf8Order(key, end) < 0)
              .sort(utf8Order)
            const found = map.slots(start, end, step.limit)
            const keysFound = [...found.slots].map((slot) => map.keyOf(slot))
            expect(keysFound).toEqual(inside.slice(0, step.limit))
            expect(found.more).toBe(inside.length > step.limit)
            expect(map.count(start, end)).toBe(inside.length)
            for (const key of keysFound) look(key)
          }
        }
        expect(map.size).toBe(model.size)
        expect(map.valueBytes).toBe([...model.values()].reduce((sum, { bytes }) => sum + bytes.length, 0))
        for (const [key, { revision, bytes }] of model) {
          const slot = map.find(key)
          expect(map.revisionOf(slot)).toBe(revision)
          expect(Buffer.compare(map.view(slot).bytes, bytes)).toBe(0)
        }
        for (const { view, key, bytes } of seen) {
          expect(view.key).toBe(key)
          expect(view.sizeBytes).toBe(bytes.length)
          expect(Buffer.compare(view.bytes, bytes)).toBe(0)
          const copied = Buffer.alloc(bytes.length + 1)
          expect(view.copyTo(copied, 1, Math.min(3, bytes.length))).toBe(Math.max(0, bytes.length - 3))
          expect(Buffer.compare(copied.subarray(1, 1 + Math.max(0, bytes.length - 3)), bytes.subarray(3))).toBe(0)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('keeps order over many blocks, splits and joins', () => {
    const map = new RecordMap(new ByteSlabs())
    const present = new Set<string>()
    const key = (n: number): string => `k${String((n * 7919) % 10_007).padStart(6, '0')}`
    for (let n = 0; n < 10_000; n++) {
      map.add(key(n), n + 1, bytesOf(n, 20))
      present.add(key(n))
    }
    for (let n = 0; n < 10_000; n++) {
      if (n % 10 === 0) continue
      map.remove(map.find(key(n)))
      present.delete(key(n))
    }
    const { slots } = map.slots('', '\u{10ffff}', Number.POSITIVE_INFINITY)
    expect([...slots].map((slot) => map.keyOf(slot)).join() === [...present].sort().join()).toBe(true)
    expect(map.count('k004', 'k005')).toBe([...present].filter((k) => k >= 'k004' && k < 'k005').length)
  })

  it('gives the memory back when nothing is left, and overwrites what is freed', () => {
    const slabs = new ByteSlabs()
    const map = new RecordMap(slabs)
    const secret = Buffer.from('very secret, not to be seen again')
    for (let n = 0; n < 5000; n++) map.add(`s${n}`, n + 1, secret)
    const reserved = slabs.reservedBytes
    const slot = map.find('s7')
    const record = slabs.slab(slot)
    const value = record?.words[(slot % 65_536) * 4] as number
    const slab = slabs.slab(value)
    const start = (value % 65_536) * 16
    expect(slab?.bytes.toString('latin1', start + 4, start + 15)).toBe('very secret')
    map.remove(slot)
    // The first word of a free slot names the next free one.
    expect(slab?.bytes.subarray(start + 4, start + 48)).toEqual(Buffer.alloc(44, freedByte))
    for (let n = 0; n < 5000; n++) if (n !== 7) map.remove(map.find(`s${n}`))
    expect({ size: map.size, used: slabs.usedBytes, values: map.valueBytes }).toEqual({ size: 0, used: 0, values: 0 })
    expect(slabs.reservedBytes).toBeLessThan(reserved)
  })

  it('fetches a value that it was not given when it is asked for, once, and counts what is left', () => {
    const fetched: string[] = []
    const map = new RecordMap(new ByteSlabs(), (key, revision) => {
      fetched.push(`${key}@${revision}`)
      return Buffer.from(`value of ${key}`)
    })
    const packed = Buffer.from('abcd')
    for (let i = 0; i < 4; i++) map.add({ buffer: packed, start: i, end: i + 1 }, i + 1, undefined)
    const early = map.view(map.find('c'))
    expect(map.unfetched).toBe(4)
    expect(String(map.view(map.find('b')).bytes)).toBe('value of b')
    expect(map.view(map.find('b')).sizeBytes).toBe(10)
    map.update(map.find('c'), 10, Buffer.from('new'))
    map.remove(map.find('d'))
    expect({ unfetched: map.unfetched, bytes: map.valueBytes, fetched }).toEqual({
      unfetched: 1,
      bytes: 13,
      fetched: ['b@2', 'c@3', 'd@4'],
    })
    expect(String(early.bytes)).toBe('value of c')
  })
})

describe('packed keys', () => {
  it('are found and ordered as if each had been added, in whatever order they come', () => {
    const given = fc.record({
      here: fc.uniqueArray(keys, { maxLength: 5 }),
      packed: fc.uniqueArray(keys, { maxLength: 30 }),
      isSorted: fc.boolean(),
      prefix: fc.constantFrom('', '/registry/ä/'),
    })
    fc.assert(
      fc.property(given, ({ here, packed, isSorted, prefix }) => {
        const map = new RecordMap(new ByteSlabs(), (key, revision) => Buffer.from(`${key}@${revision}`))
        for (const key of here) map.add(key, 1, bytesOf(1, 3))
        const fresh = packed.filter((key) => !here.includes(key))
        if (isSorted) fresh.sort(utf8Order)
        const part = { from: 0, to: fresh.length, prefixLength: Buffer.byteLength(prefix) }
        map.addPacked(
          packedKeys(
            fresh.map((key) => prefix + key),
            100,
          ),
          part,
        )
        const all = [...here, ...fresh].sort(utf8Order)
        expect([...map.slots('', '\u{10ffff}', 100).slots].map((slot) => map.keyOf(slot))).toEqual(all)
        expect(map.unfetched).toBe(fresh.length)
        for (const [i, key] of fresh.entries()) {
          const slot = map.find(key)
          expect({ key, revision: map.revisionOf(slot) }).toEqual({ key, revision: 100 + i })
          expect(Buffer.from(map.view(slot).bytes).toString()).toBe(`${key}@${100 + i}`)
        }
      }),
    )
  })
})
