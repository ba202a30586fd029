import { expect, test } from 'vitest'
import { trimEndingSlashes, trimSlashes } from './trim-slashes.ts'

const many = '/'.repeat(1_000_000)

test.each([
  ['', '', ''],
  ['/', '', ''],
  ['//', '', ''],
  ['a', 'a', 'a'],
  ['//a/b//', 'a/b', '//a/b'],
  [many, '', ''],
  [`a${many}b`, `a${many}b`, `a${many}b`],
])('%.20s', (given, trimmed, withoutEnd) => {
  expect(trimSlashes(given)).toBe(trimmed)
  expect(trimEndingSlashes(given)).toBe(withoutEnd)
})
