/** How long a request may take while it holds its seat. */
import { beforeEach, expect, test } from 'vitest'
import { failure, refusal } from '../../../test/support/refusal.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { Sweeper } from '../../base/sweeper.ts'
import type { ApiRequest, ApiResponse, HeldSeat, RequestContext } from '../api.ts'
import { limitTime } from './limit-time.ts'

const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }
const late = failure({
  message: 'Timeout: request did not complete within the allotted timeout',
  ...{ reason: 'Timeout', code: 504, details: {} },
})

let clock: FakeClock
let told: string[]
beforeEach(() => {
  clock = new FakeClock()
  told = []
})

/** A request that goes on until `end` is called. */
function begin(verb = 'get') {
  const incidents = { happened: (what: string, flow: string) => void told.push(`${what} ${flow}`) }
  const stage = limitTime({ handlerMs: 10_000, sweeper: new Sweeper(clock), incidents } as never)
  const seats: HeldSeat[] = []
  const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>()
  const request = { abandon: () => void told.push('abandoned') } as unknown as ApiRequest
  const context = { info: { verb }, user: { username: 'alice' }, seats } as unknown as RequestContext
  const given = stage(() => promise)(request, context) as Promise<ApiResponse>
  return { given, seats, end: resolve, fail: reject }
}

test('an answer in time is given, and so is what went wrong', async () => {
  const { given, end } = begin()
  await clock.advance(9000)
  end(answer)
  expect(await given).toBe(answer)
  const { given: failing, fail } = begin()
  fail(new Error('a fault'))
  await expect(failing).rejects.toThrow('a fault')
  await clock.advance(60_000)
  expect(told).toEqual([])
})

test('one that takes too long is told to its client, and not waited for', async () => {
  const { given } = begin()
  const refused = refusal(given)
  await clock.advance(11_000)
  expect(await refused).toEqual(late)
  await clock.advance(60_000)
  expect(told).toEqual(['handler_deadline user alice', 'abandoned'])
})

test('while it waits for others its time does not run; it begins anew with its seat', async () => {
  const { given, seats, end } = begin()
  await clock.advance(9000)
  seats[0]?.leave()
  await clock.advance(60_000)
  await seats[0]?.retake()
  await clock.advance(9000)
  end(answer)
  expect(await given).toBe(answer)
  const other = begin()
  const refused = refusal(other.given)
  other.seats[0]?.leave()
  await clock.advance(60_000)
  await other.seats[0]?.retake()
  await clock.advance(12_000)
  expect(await refused).toEqual(late)
})

test('one that waited before it was pending is timed from when it goes on', async () => {
  const stage = limitTime({ handlerMs: 10_000, sweeper: new Sweeper(clock), incidents: { happened() {} } } as never)
  const seats: HeldSeat[] = []
  const { promise } = Promise.withResolvers<ApiResponse>()
  const context = { info: { verb: 'get' }, user: { username: 'alice' }, seats } as unknown as RequestContext
  const given = stage(() => {
    seats[0]?.leave()
    return promise
  })({} as ApiRequest, context) as Promise<ApiResponse>
  const refused = refusal(given)
  await clock.advance(60_000)
  await seats[0]?.retake()
  await clock.advance(12_000)
  expect(await refused).toEqual(late)
})

test('watches are not timed, nor answers that are there at once', async () => {
  const { given, seats, end } = begin('watch')
  expect(seats).toEqual([])
  await clock.advance(60_000)
  end(answer)
  expect(await given).toBe(answer)
  const stage = limitTime({ handlerMs: 10_000, sweeper: new Sweeper(clock), incidents: { happened() {} } } as never)
  const context = { info: { verb: 'get' }, user: { username: 'alice' }, seats } as unknown as RequestContext
  expect(stage(() => answer)({} as ApiRequest, context)).toBe(answer)
})
