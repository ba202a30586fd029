/** Whose namespaces opt out by themselves, by a ConfigMap. */
import { expect, test } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { autoOptOut } from './auto-opt-out.ts'
import { isPaused } from './population-config.ts'

const config = (data?: Record<string, string>, resourceVersion = '1'): KubeObject =>
  ({ metadata: { name: 'borough-population', resourceVersion }, ...(data && { data }) }) as KubeObject

const accounts = ' ci/bot , zoe\n#eve\n\nteam-*/*,system:x-?\n# bob'
test.each([
  { username: 'system:serviceaccount:ci:bot', is: true },
  { username: 'zoe', is: true },
  { username: 'system:serviceaccount:team-a:any', is: true },
  { username: 'system:x-1', is: true },
  { username: 'ci/bot', is: false },
  { username: 'system:serviceaccount:ci:other', is: false },
  { username: '#eve', is: false },
  { username: 'eve', is: false },
  { username: 'bob', is: false },
  { username: '', is: false },
])('those of "$username": $is', ({ username, is }) => {
  expect(autoOptOut(() => config({ optOutAccounts: accounts }))(username)).toBe(is)
})

test('nobody’s where nothing is said of it', () => {
  for (const of of [undefined, config(), config({}), config({ optOutAccounts: '' })]) {
    expect(autoOptOut(() => of)('zoe')).toBe(false)
  }
})

test('an edit holds from the next namespace on, and its end too', () => {
  let now: KubeObject | undefined = config({ optOutAccounts: 'zoe' })
  const optsOut = autoOptOut(() => now)
  expect(optsOut('zoe')).toBe(true)
  now = config({ optOutAccounts: 'bob' }, '2')
  expect([optsOut('zoe'), optsOut('bob')]).toEqual([false, true])
  now = undefined
  expect(optsOut('bob')).toBe(false)
})

test.each([
  { data: undefined, is: false },
  { data: {}, is: false },
  { data: { paused: '' }, is: false },
  { data: { paused: 'false' }, is: false },
  { data: { paused: 'true' }, is: true },
  { data: { paused: 'ture' }, is: true },
])('population with $data is paused: $is', ({ data, is }) => {
  expect(isPaused(config(data))).toBe(is)
  expect(isPaused(undefined)).toBe(false)
})
