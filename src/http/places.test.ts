import { describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { anonymousUser, type UserInfo } from '../kube/user.ts'
import type { ApiRequest, ApiResponse, Handler, RequestContext } from './api.ts'
import { Defense } from './overload.ts'
import { awaitOutside } from './places.ts'
import { parseRequestInfo } from './request-info.ts'
import { limitAnonymous, limitInFlight, limitTime } from './stages/limit-in-flight.ts'

const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }
const busy = failure({
  message: 'The server is busy: too many requests are being worked on, please try again later.',
  reason: 'TooManyRequests',
  details: { retryAfterSeconds: 1 },
  code: 429,
})

/** Asks a handler that waits outside, then inside, each until it is told to go on. */
function asking(stage: (next: Handler) => Handler, user: UserInfo = { username: 'ann', groups: [] }) {
  const outside = Promise.withResolvers<void>()
  const inside = Promise.withResolvers<ApiResponse>()
  const abandoned: boolean[] = []
  const request = { method: 'POST', abandon: () => abandoned.push(true) } as unknown as ApiRequest
  const context = {
    info: parseRequestInfo('POST', '/api/v1/namespaces', ''),
    user,
    places: [],
  } as unknown as RequestContext
  const handler = stage(async () => {
    await awaitOutside(request, context, outside.promise)
    return inside.promise
  })
  return { asked: (async () => handler(request, context))(), outside, inside, abandoned }
}

describe('a request that waits outside', () => {
  test('leaves its place to others, and takes one again before it goes on', async () => {
    const stage = limitInFlight({ reads: 1, writes: 1, reserved: 1 })
    const shared = sharing(stage)
    const first = asking(shared)
    const second = asking(shared)
    first.outside.resolve()
    await Promise.resolve()
    // Now the first has the place: the second is told to come again.
    second.outside.resolve()
    expect(await refusal(second.asked)).toEqual(busy)
    expect(await refusal(asking(shared).asked)).toEqual(busy)
    first.inside.resolve(answer)
    expect(await first.asked).toBe(answer)
    const third = asking(shared)
    third.outside.resolve()
    third.inside.resolve(answer)
    expect(await third.asked).toBe(answer)
  })

  test('leaves the places of those without credentials, too', async () => {
    const shared = sharing(limitAnonymous(1))
    const waiting = Array.from({ length: 3 }, () => asking(shared, anonymousUser))
    for (const { outside, inside, asked } of waiting) {
      inside.resolve(answer)
      outside.resolve()
      expect(await asked).toBe(answer)
    }
  })

  test('is refused if its flow has too much waiting', async () => {
    const refused = new Error('too much')
    const context = { places: [] } as unknown as RequestContext
    const account = {
      charge() {
        throw refused
      },
    }
    const request = { account } as unknown as ApiRequest
    await expect(awaitOutside(request, context, Promise.reject(new Error('later')))).rejects.toBe(refused)
  })
})

describe('the deadline of a request', () => {
  test('runs while it has its place, and not while it waits outside', async () => {
    const clock = new FakeClock()
    using defense = new Defense({ clock, log: silentLog, heapUse: () => 0 })
    const shared = sharing(limitTime({ ...defense, handlerMs: 5000 }))
    const waiting = asking(shared)
    await clock.advance(60_000)
    const working = asking(shared)
    working.outside.resolve()
    const refused = refusal(working.asked)
    const quick = asking(shared)
    quick.outside.resolve()
    await clock.advance(4000)
    quick.inside.resolve(answer)
    expect(await quick.asked).toBe(answer)
    await clock.advance(2000)
    expect(await refused).toEqual(
      failure({
        message: 'Timeout: request did not complete within the allotted timeout',
        reason: 'Timeout',
        details: {},
        code: 504,
      }),
    )
    expect([working.abandoned, quick.abandoned, waiting.abandoned]).toEqual([[true], [], []])
    expect([...defense.incidents.counts]).toEqual([['handler_deadline', 1]])
    waiting.outside.resolve()
    waiting.inside.resolve(answer)
    expect(await waiting.asked).toBe(answer)
  })
})

/** One stage for several handlers: it counts them together. */
function sharing(stage: (next: Handler) => Handler): (next: Handler) => Handler {
  const handlers = new WeakMap<RequestContext, Handler>()
  const shared = stage((request, context) => handlers.get(context)?.(request, context) ?? answer)
  return (next) => (request, context) => {
    handlers.set(context, next)
    return shared(request, context)
  }
}
