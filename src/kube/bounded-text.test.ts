import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundedText } from './bounded-text.ts'
import { fieldInvalid } from './field-error.ts'
import { badRequest, invalid } from './status-error.ts'

const long = 'x'.repeat(3_000_000)
const shown = `${'x'.repeat(1024)}…`

describe('a refusal does not repeat all that it refuses', () => {
  test('a message', () => {
    expect(badRequest(`the name (${long}) does not match`).message).toBe(
      `the name (${'x'.repeat(1023)}… does not match`,
    )
  })

  test('the name and the causes of an invalid object', () => {
    const type = { group: '', version: 'v1', kind: 'ConfigMap', resource: 'configmaps' }
    const status = invalid(type, long, [fieldInvalid(`data[${long}]`, 'v', 'is long')]).toStatus()
    expect(status.details?.name).toBe(shown)
    expect(status.details?.causes?.[0]?.field?.length).toBe(1025)
    expect(JSON.stringify(status).length).toBeLessThan(8000)
  })

  test('what has spaces in it is cut at 256 KiB', () => {
    expect(boundedText('a b '.repeat(1_000_000))).toHaveLength(256 * 1024 + 1)
  })

  test('words are cut as by a pattern, whatever is between them', () => {
    const word = fc.constantFrom(1, 5, 1023, 1024, 1025, 1026, 3000, 20_000).map((length) => 'w'.repeat(length))
    const space = fc.constantFrom(' ', '  ', '\n', '\t\r', '\u00a0', '\u2003', '\u3000', '\ufeff', ' \u2028 ')
    const texts = fc.array(fc.tuple(word, space), { minLength: 6, maxLength: 40 }).map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(texts, (text) => {
        const cut = text.length <= 32 * 1024 ? text : text.replace(/(\S{1024})\S+/g, '$1…')
        expect(boundedText(text)).toBe(cut.length <= 256 * 1024 ? cut : `${cut.slice(0, 256 * 1024)}…`)
      }),
      { seed: 17 },
    )
  })

  // A pattern took 18 s: it looked at each word from each of its characters.
  test('a text of many words that are nearly long takes no time', { timeout: 3000 }, () => {
    const text = `${'x'.repeat(1000)} `.repeat(3000)
    expect(boundedText(text)).toBe(`${text.slice(0, 256 * 1024)}…`)
  })

  test.each(['', 'short', 'y'.repeat(10_000), 'a b '.repeat(50_000)])('others stay as they are', (text) => {
    expect(boundedText(text)).toBe(text)
  })
})
