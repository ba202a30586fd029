/** The names of what is kept beside quotas, and how much of a transaction it takes. */
import { expect, test } from 'vitest'
import { counterName, operationsOf } from './records.ts'

const share = { quota: 'u', counted: 'c', holder: '', used: {} }

test('an account takes its own key, the guard of the specs and each quota’s counter', () => {
  expect(operationsOf()).toBe(0)
  expect(operationsOf({ metadata: {} })).toBe(0)
  expect(operationsOf({ metadata: {}, shares: [] })).toBe(0)
  expect(operationsOf({ metadata: {}, shares: [share] })).toBe(3)
  expect(operationsOf({ metadata: {}, shares: [share, share] })).toBe(4)
})

test.each([
  { holder: '', name: 'u.all' },
  { holder: 'alice', name: 'u.n.alice' },
  { holder: 'A.b_c@d-9', name: 'u.n.A.b_c@d-9' },
  { holder: 'x'.repeat(80), name: `u.n.${'x'.repeat(80)}` },
])('the counter of "$holder" is $name', ({ holder, name }) => expect(counterName('u', holder)).toBe(name))

test.each(['x'.repeat(81), 'a/b', 'system:serviceaccount:a:b', 'a b', 'ü', 'a\nb', '/a', 'a/'])(
  'that of "%s" stands by its digest',
  (holder) => {
    expect(counterName('u', holder)).toMatch(/^u\.d\.[0-9a-f]{64}$/)
    expect(counterName('u', holder)).not.toBe(counterName('u', `${holder}.`))
  },
)
