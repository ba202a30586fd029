/** A quota as numbers: what a change comes to, what is over its limit, and what the quota says afterwards. */
import { describe, expect, test } from 'vitest'
import { amounts } from '../pods/resources.ts'
import { chargeOf, findExceeded, Ledger } from './ledger.ts'
import type { ResourceQuota } from './types.ts'

type Printed = Record<string, string>
const quota = (hard: Printed, used: Printed): ResourceQuota => ({
  ...{ metadata: { name: 'q' }, spec: { hard }, status: { hard, used } },
})
const exceeded = (hard: Printed, used: Printed, charge: Printed) =>
  findExceeded({ hard: amounts(hard), used: amounts(used) }, amounts(charge))

describe('over its limit', () => {
  test.each<{ name: string; hard: Printed; used: Printed; charge: Printed; want: string | undefined }>([
    { name: 'what fits', hard: { pods: '2' }, used: { pods: '1' }, charge: { pods: '1' }, want: undefined },
    {
      name: 'what does not',
      ...{ hard: { pods: '2' }, used: { pods: '1' }, charge: { pods: '2' } },
      want: 'requested: pods=2, used: pods=1, limited: pods=2',
    },
    {
      name: 'what has never been used',
      ...{ hard: { pods: '1' }, used: {}, charge: { pods: '2' } },
      want: 'requested: pods=2, used: pods=0, limited: pods=1',
    },
    {
      name: 'what is given back, also beyond',
      hard: { pods: '1' },
      used: { pods: '9' },
      charge: { pods: '-1' },
      want: undefined,
    },
    {
      name: 'what changes nothing, also beyond',
      hard: { pods: '1' },
      used: { pods: '9' },
      charge: { pods: '0' },
      want: undefined,
    },
    {
      name: 'what is not limited',
      hard: { pods: '1' },
      used: { pods: '0' },
      charge: { secrets: '9' },
      want: undefined,
    },
    {
      name: 'several, by name, and no others',
      hard: { pods: '1', cpu: '1', memory: '1Gi', 'limits.cpu': '9' },
      used: { pods: '1', cpu: '500m', memory: '1Gi', 'limits.cpu': '1' },
      charge: { pods: '1', memory: '1Mi', cpu: '600m', 'limits.cpu': '1' },
      want:
        'requested: cpu=600m,memory=1Mi,pods=1, used: cpu=500m,memory=1Gi,pods=1, ' +
        'limited: cpu=1,memory=1Gi,pods=1',
    },
  ])('$name', ({ hard, used, charge, want }) => expect(exceeded(hard, used, charge)).toBe(want))
})

test('a change charges what it adds, of what is limited', () => {
  const { hard } = Ledger.of(quota({ pods: '1', cpu: '1' }, {}))
  const charge = (before: Printed | undefined, after: Printed | undefined) =>
    [...chargeOf({ hard }, before && amounts(before), after && amounts(after))].map(([name, q]) => [name, q.nanos])
  const one = 1_000_000_000n
  expect(charge(undefined, { pods: '1', secrets: '1' })).toEqual([['pods', one]])
  expect(charge({ pods: '1', cpu: '1' }, undefined)).toEqual([
    ['pods', -one],
    ['cpu', -one],
  ])
  expect(charge({ pods: '1', cpu: '1' }, { pods: '1', cpu: '3' })).toEqual([['cpu', 2n * one]])
  expect(charge({ pods: '1' }, { pods: '1' })).toEqual([])
})

test('charges add up, one after the other', () => {
  const once = Ledger.of(quota({ pods: '5', cpu: '2' }, { pods: '1' })).after(amounts({ pods: '1', cpu: '500m' }))
  expect(once.status).toEqual({ hard: { pods: '5', cpu: '2' }, used: { pods: '2', cpu: '500m' } })
  const twice = Ledger.of(once).after(amounts({ pods: '2', cpu: '-500m' }))
  expect(twice.status?.used).toEqual({ pods: '4', cpu: '0' })
  expect(Ledger.of(twice).after(new Map()).status?.used).toEqual({ pods: '4', cpu: '0' })
})

test('a quota that limits nothing shows nothing', () => {
  expect(Ledger.of({ metadata: { name: 'q' } }).after(new Map()).status).toEqual({ hard: {}, used: {} })
})
