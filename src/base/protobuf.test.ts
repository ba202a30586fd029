import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtoReader, ProtoWriter } from './protobuf.ts'

function written(write: (writer: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter(1)
  write(writer)
  return writer.finish()
}

describe('the protobuf wire format', () => {
  // From the encoding guide and by hand, not from our own writer.
  const cases: { name: string; when: (w: ProtoWriter) => void; want: string }[] = [
    { name: 'a varint of two bytes', when: (w) => w.varint(1, 150), want: '089601' },
    { name: 'text as bytes', when: (w) => w.bytes(2, Buffer.from('testing')), want: '120774657374696e67' },
    {
      name: 'bytes in parts are one field',
      when: (w) => w.bytes(2, Buffer.from('tes'), Buffer.from('ting')),
      want: '120774657374696e67',
    },
    { name: 'a nested message', when: (w) => w.message(3, (inner) => inner.varint(1, 150)), want: '1a03089601' },
    { name: 'an empty nested message is still there', when: (w) => w.message(3, () => undefined), want: '1a00' },
    { name: 'zero is left out', when: (w) => w.varint(1, 0), want: '' },
    { name: 'the zero of a oneof is not left out', when: (w) => w.oneofVarint(6, 0), want: '3000' },
    { name: 'a field number above 15 takes two bytes', when: (w) => w.varint(64, 1), want: '800401' },
    { name: 'a number beyond 32 bits', when: (w) => w.varint(1, 2 ** 40), want: '08808080808020' },
  ]
  it.each(cases)('$name', ({ when, want }) => {
    expect(written(when).toString('hex')).toBe(want)
  })

  it('the length of a long nested message is put in front of it, whatever its size', () => {
    for (const size of [126, 127, 128, 16_383, 16_384, 2_100_000]) {
      const reader = new ProtoReader(written((w) => w.message(1, (inner) => inner.bytes(1, Buffer.alloc(size - 6, 7)))))
      expect(reader.next()).toBe(true)
      const inner = reader.message()
      expect(inner.next()).toBe(true)
      expect(inner.bytes().equals(Buffer.alloc(size - 6, 7))).toBe(true)
      expect([inner.next(), reader.next()]).toEqual([false, false])
    }
  })

  it('every safe integer comes back as it was', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (n) => {
        const reader = new ProtoReader(written((w) => w.oneofVarint(1, n)))
        expect(reader.next()).toBe(true)
        expect(reader.int()).toBe(n)
      }),
    )
  })

  it('reads the ten bytes of a negative number', () => {
    const reader = new ProtoReader(Buffer.from('10ffffffffffffffffff01', 'hex'))
    reader.next()
    expect(reader.int()).toBe(-1)
  })

  it('skips fields of every kind that it is not asked for', () => {
    // 1: varint, 2: 64 bits, 3: bytes, 4: 32 bits, 5: the varint that is wanted
    const reader = new ProtoReader(
      Buffer.from('089601110102030405060708' + '1a03616263' + '2501020304' + '282a', 'hex'),
    )
    let found = 0
    while (reader.next()) {
      if (reader.field === 5) found = reader.int()
      else reader.skip()
    }
    expect(found).toBe(42)
  })

  it('a message that is cut short anywhere is refused, or read without its last fields', () => {
    const whole = written((w) => {
      w.bytes(1, Buffer.from('key'))
      w.message(2, (inner) => inner.varint(3, 300))
    })
    const read = (bytes: Buffer): number => {
      const reader = new ProtoReader(bytes)
      let fields = 0
      while (reader.next()) {
        reader.skip()
        fields++
      }
      return fields
    }
    expect(read(whole)).toBe(2)
    for (let end = 1; end < whole.length; end++) {
      if (end === 5) expect(read(whole.subarray(0, end))).toBe(1)
      else expect(() => read(whole.subarray(0, end))).toThrow('cut short')
    }
  })

  it('a field of another kind than expected is refused', () => {
    const reader = new ProtoReader(written((w) => w.varint(1, 5)))
    reader.next()
    expect(() => reader.bytes()).toThrow('wire type 0')
  })
})
