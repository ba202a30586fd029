import { describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import type { UserInfo } from '../kube/user.ts'
import type { ApiRequest, ApiResponse, Handler, RequestContext } from './api.ts'
import { Defense } from './overload.ts'
import { parseRequestInfo } from './request-info.ts'
import { awaitOutside } from './seats.ts'
import { limitTime } from './stages/limit-time.ts'

const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }

/** Asks a handler that waits outside, then inside, each until it is told to go on. */
function asking(stage: (next: Handler) => Handler, user: UserInfo = { username: 'ann', groups: [] }) {
  const outside = Promise.withResolvers<void>()
  const inside = Promise.withResolvers<ApiResponse>()
  const abandoned: boolean[] = []
  const request = { method: 'POST', abandon: () => abandoned.push(true) } as unknown as ApiRequest
  const context = {
    info: parseRequestInfo('POST', '/api/v1/namespaces', ''),
    user,
    seats: [],
  } as unknown as RequestContext
  const handler = stage(async () => {
    await awaitOutside(request, context, outside.promise)
    return inside.promise
  })
  return { asked: (async () => handler(request, context))(), outside, inside, abandoned }
}

describe('a request that waits outside', () => {
  test('is refused if its flow has too much waiting', async () => {
    const refused = new Error('too much')
    const context = { seats: [] } as unknown as RequestContext
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
  test('runs while it has its seat, and not while it waits outside', async () => {
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
