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

  test.each(['', 'short', 'y'.repeat(10_000), 'a b '.repeat(50_000)])('others stay as they are', (text) => {
    expect(boundedText(text)).toBe(text)
  })
})
