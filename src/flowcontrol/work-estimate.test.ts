import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { infoOf, nonResource } from '../../test/support/flow-control.ts'
import type { RequestAttributes } from './flow-control.ts'
import { maxSeatsOf, oneSeat, workEstimator } from './work-estimate.ts'

const estimate = (
  info: Partial<RequestAttributes>,
  query = '',
  { objectCount = 1000, totalBytes = 2_000_000, watchers = 0, maxSeats = undefined as number | undefined } = {},
) =>
  workEstimator({ statsOf: () => ({ objectCount, totalBytes }), watchersOf: () => watchers })(
    infoOf({ ...info, query: new URLSearchParams(query) }),
    maxSeats,
  )

const read = (initialSeats: number) => ({ initialSeats, finalSeats: 0, additionalLatencyMs: 0 })

describe('the seats of a request that reads', () => {
  test.each([
    { name: 'a list takes one for each 100 kB', info: { verb: 'list' }, query: '', want: 20 },
    { name: 'a page is narrower', info: { verb: 'list' }, query: 'limit=100', want: 2 },
    {
      name: 'a page larger than the collection is the collection',
      info: { verb: 'list' },
      query: 'limit=5000',
      want: 20,
    },
    {
      name: 'a selector reads all, whatever the page',
      info: { verb: 'list' },
      query: 'limit=1&labelSelector=a',
      want: 20,
    },
    { name: 'a field selector too', info: { verb: 'list' }, query: 'limit=1&fieldSelector=spec.nodeName=a', want: 20 },
    {
      name: 'one name is looked up',
      info: { verb: 'list', name: 'x' },
      query: 'fieldSelector=metadata.name=x',
      want: 1,
    },
    { name: 'deletecollection reads all', info: { verb: 'deletecollection' }, query: 'limit=1', want: 20 },
    { name: 'a watch that begins with a list', info: { verb: 'watch' }, query: '', want: 20 },
    {
      name: 'a watch from revision 0 begins with a list',
      info: { verb: 'watch' },
      query: 'resourceVersion=0',
      want: 20,
    },
    {
      name: 'a watch with initial events',
      info: { verb: 'watch' },
      query: 'resourceVersion=7&sendInitialEvents=true',
      want: 20,
    },
    { name: 'a watch from a revision', info: { verb: 'watch' }, query: 'resourceVersion=7', want: 1 },
    { name: 'a get', info: { verb: 'get', name: 'x' }, query: '', want: 1 },
  ])('$name: $want', ({ info, query, want }) => {
    expect(estimate(info, query)).toEqual(want === 1 ? oneSeat : read(want))
  })

  test('stay below the bound of the priority level and below a hundred', () => {
    expect(estimate({ verb: 'list' }, '', { maxSeats: 8 })).toEqual(read(8))
    expect(estimate({ verb: 'list' }, '', { totalBytes: 1e9 })).toEqual(read(100))
  })

  test('are one where nothing is known of the collection, or it is empty', () => {
    const unknown = workEstimator({ statsOf: () => undefined, watchersOf: () => 0 })
    expect(unknown(infoOf({ verb: 'list' }), undefined)).toEqual(oneSeat)
    expect(estimate({ verb: 'list' }, '', { objectCount: 0, totalBytes: 0 })).toEqual(oneSeat)
  })

  test('are one for what is no resource', () => {
    const estimateWork = workEstimator({ statsOf: () => ({ objectCount: 1, totalBytes: 1e9 }), watchersOf: () => 1e6 })
    expect(estimateWork(nonResource('/openapi/v2'), undefined)).toEqual(oneSeat)
  })
})

describe('the seats of a request that changes something', () => {
  test.each(['create', 'update', 'patch', 'delete'])('%s pays for the watchers of the change after its end', (verb) => {
    expect(estimate({ verb }, '', { watchers: 9 })).toEqual({ ...oneSeat, initialSeats: 3 })
    expect(estimate({ verb }, '', { watchers: 10 })).toEqual({ initialSeats: 3, finalSeats: 1, additionalLatencyMs: 5 })
    expect(estimate({ verb }, '', { watchers: 95 })).toEqual({
      initialSeats: 3,
      finalSeats: 10,
      additionalLatencyMs: 5,
    })
    // The same work, narrower and longer.
    expect(estimate({ verb }, '', { watchers: 1000 })).toEqual({
      initialSeats: 3,
      finalSeats: 10,
      additionalLatencyMs: 50,
    })
    expect(estimate({ verb }, '', { watchers: 1000, maxSeats: 4 })).toEqual({
      initialSeats: 3,
      finalSeats: 4,
      additionalLatencyMs: 125,
    })
    expect(estimate({ verb }, '', { watchers: 0, maxSeats: 2 })).toEqual({ ...oneSeat, initialSeats: 2 })
  })

  test('are twice as many for a Namespace, of which much follows', () => {
    expect(estimate({ verb: 'create', resource: 'namespaces' }, '', { watchers: 0 }).initialSeats).toBe(6)
    expect(estimate({ verb: 'create', group: 'x.example', resource: 'namespaces' }, '', {}).initialSeats).toBe(3)
  })

  test('are one where no request can wait', () => {
    const estimateThere = workEstimator({ statsOf: () => undefined, watchersOf: () => 0 })
    expect(estimateThere(infoOf({ verb: 'create' }), 20, false)).toEqual(oneSeat)
  })

  test.each([
    ['a token', { resource: 'serviceaccounts', subresource: 'token' }],
    ['a review of access', { group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }],
    ['a review of a token', { group: 'authentication.k8s.io', resource: 'tokenreviews' }],
  ])('are one for %s, which is not stored', (_, request) => {
    expect(estimate({ verb: 'create', ...request }, '', { watchers: 1000 })).toEqual(oneSeat)
  })
})

test('every request takes at least one seat, and never more than its level allows', () => {
  const info = fc.record({
    verb: fc.constantFrom('get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'proxy'),
    name: fc.constantFrom('', 'x'),
  })
  const query = fc.constantFrom('', 'limit=10', 'limit=-1', 'limit=x', 'labelSelector=a', 'sendInitialEvents=1')
  const world = fc.record({
    objectCount: fc.nat(1e6),
    totalBytes: fc.nat(1e9),
    watchers: fc.nat(1e5),
    maxSeats: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(info, query, world, (i, q, w) => {
      const seats = maxSeatsOf(estimate(i, q, w))
      expect(Number.isInteger(seats)).toBe(true)
      expect(seats).toBeGreaterThanOrEqual(1)
      expect(seats).toBeLessThanOrEqual(w.maxSeats ?? 100)
    }),
  )
})
