import { expect, test } from 'vitest'
import { shortened } from './object-result.ts'

test('what the server says of a failure is told in 1,024 characters', () => {
  const failure = { reason: 'Invalid', retriable: false, message: 'a'.repeat(1024) }
  const result = { template: 't', object: 'ConfigMap/c', failure }
  expect(shortened(result)).toBe(result)
  const long = { ...result, failure: { ...failure, message: 'a'.repeat(1025) } }
  expect(shortened(long)).toEqual({ ...result, failure: { ...failure, message: `${'a'.repeat(1021)}...` } })
  const well = { template: 't', object: 'ConfigMap/c' }
  expect(shortened(well)).toBe(well)
})
