import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapedTarget, headerOfText, printableHeader, textOfHeader } from './header-bytes.ts'

const bytes = (...octets: number[]): string => Buffer.from(octets).toString('latin1')

test.each([
  { name: 'ASCII', value: 'jane', want: 'jane' },
  {
    name: 'UTF-8 of two, three and four bytes',
    value: bytes(0xc3, 0xbc, 0xe2, 0x86, 0x92, 0xf0, 0x9f, 0x98, 0x80),
    want: 'ü→😀',
  },
  { name: 'a byte order mark, which belongs to the name', value: bytes(0xef, 0xbb, 0xbf, 0x61), want: '\ufeffa' },
  { name: 'Latin-1', value: bytes(0xfc), want: undefined },
  { name: 'a character cut off', value: bytes(0x61, 0xc3), want: undefined },
  { name: 'an overlong form of a slash', value: bytes(0xc0, 0xaf), want: undefined },
  { name: 'half a surrogate pair', value: bytes(0xed, 0xa0, 0x80), want: undefined },
  { name: 'beyond Unicode', value: bytes(0xf4, 0x90, 0x80, 0x80), want: undefined },
])('the bytes of a header are read as UTF-8: $name', ({ value, want }) => {
  expect(textOfHeader(value)).toBe(want)
})

test('every text comes back from the header that holds it, and no two values are one text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 12 }), (text, octets) => {
      expect(textOfHeader(headerOfText(text))).toBe(text)
      const value = bytes(...octets)
      const read = textOfHeader(value)
      if (read !== undefined) expect(headerOfText(read)).toBe(value)
    }),
  )
})

test('for a log, what is not UTF-8 is replaced', () => {
  expect([printableHeader(headerOfText('kübectl/1')), printableHeader(bytes(0x61, 0xff))]).toEqual([
    'kübectl/1',
    'a\ufffd',
  ])
})

test('a target with bytes beyond ASCII is the one that escapes them', () => {
  expect(escapedTarget(headerOfText('/a/ü?b=→'))).toBe('/a/%c3%bc?b=%e2%86%92')
})
