import { expect, test } from 'vitest'
import { type Slice, Turns } from '../../base/turns.ts'
import type { Admission, Refused } from '../../flowcontrol/flowcontrol.ts'
import { badRequest, tooManyRequests } from '../../kube/status-error.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { priorityAndFairness } from './priority-and-fairness.ts'

const refused = { granted: false, headers: {}, retryAfterSeconds: 1 } as unknown as Refused

test('refusals of a client without credentials do not count for clients at other addresses', () => {
  const flows: string[] = []
  const stage = priorityAndFairness({
    flowControl: { admit: () => refused },
    now: () => 0,
    began() {},
    longWork: { begin: () => new Turns().slice() },
    lateRefusals: {
      timeOf(flow) {
        flows.push(flow)
        return 'now'
      },
    },
  })
  const handler = stage(() => {
    throw new Error('it was refused')
  })
  const ask = (username: string, remoteAddress: string) => () =>
    handler({ remoteAddress } as ApiRequest, { user: { username, groups: [] } } as unknown as RequestContext)
  expect(ask('system:anonymous', '192.0.2.1')).toThrow(/Too many requests/)
  expect(ask('system:anonymous', '192.0.2.2')).toThrow(/Too many requests/)
  expect(ask('ann', '192.0.2.1')).toThrow(/Too many requests/)
  expect(flows).toEqual(['address 192.0.2.1', 'address 192.0.2.2', 'user ann'])
})

test('what is refused with a seat is told late, too, without its seat and what it was charged', async () => {
  const order: string[] = []
  const late = Promise.withResolvers<void>()
  const release = (): void => void order.push('seat left')
  const seat = { granted: true, headers: {}, level: { name: 'l', isExempt: false }, release, charge() {} }
  const stage = priorityAndFairness({
    flowControl: { admit: () => seat as unknown as Admission },
    now: () => 0,
    began() {},
    longWork: { begin: () => new Turns().slice() },
    lateRefusals: {
      timeOf(flow) {
        order.push(`waits as ${flow}`)
        return late.promise
      },
    },
  })
  const account = { charge() {}, tryCharge: () => true, give: (bytes: number) => void order.push(`gives ${bytes}`) }
  const ask = (refusal: Error, isAsync: boolean): Promise<ApiResponse> | ApiResponse => {
    const context = { seats: [], user: { username: 'ann', groups: [] } } as unknown as RequestContext
    const handler = stage(() => {
      if (isAsync) return Promise.reject(refusal)
      throw refusal
    })
    return handler({ query: '', account } as unknown as ApiRequest, context)
  }
  const refusal = tooManyRequests('Your requests take too much memory, please try again later.', 1)
  const told = [ask(refusal, false), ask(refusal, true)].map((answer) => expect(answer).rejects.toBe(refusal))
  await Promise.resolve()
  const each = ['seat left', 'gives Infinity', 'waits as user ann']
  expect(order).toEqual([...each, ...each])
  late.resolve()
  await Promise.all(told)
  expect(() => ask(badRequest('no'), false)).toThrow('no')
  expect(order.slice(6)).toEqual(['seat left'])
})

test.each([
  { chars: 4096, isLong: false },
  { chars: 4097, isLong: true },
])(
  'a request with a query of $chars characters has a place among long work first: $isLong',
  async ({ chars, isLong }) => {
    const order: string[] = []
    const place = Promise.withResolvers<Slice>()
    const seat = { granted: true, headers: {}, level: { name: 'l', isExempt: false }, release() {}, charge() {} }
    const stage = priorityAndFairness({
      flowControl: { admit: () => seat as unknown as Admission },
      now: () => 0,
      began() {},
      longWork: {
        begin() {
          order.push('waits')
          return place.promise
        },
      },
      lateRefusals: { timeOf: () => 'now' },
    })
    const handler = stage(() => {
      order.push('works')
      return { status: 200, headers: {}, body: new Uint8Array() }
    })
    const context = { seats: [], user: { username: 'ann', groups: [] }, longPlace: { end: () => order.push('ends') } }
    const answer = handler({ query: 'q'.repeat(chars) } as ApiRequest, context as unknown as RequestContext)
    expect(order).toEqual(isLong ? ['waits'] : ['works', 'ends'])
    place.resolve(new Turns().slice())
    expect(await answer).toMatchObject({ status: 200 })
    expect(order).toEqual(isLong ? ['waits', 'works', 'ends'] : ['works', 'ends'])
  },
)

test('who waits for two things has a seat again when both are there, where there is one', async () => {
  const seat = { granted: true, headers: {}, level: { name: 'l', isExempt: false }, release() {}, charge() {} }
  const admitted: Admission[] = []
  const stage = priorityAndFairness({
    flowControl: { admit: () => admitted.shift() ?? refused },
    now: () => 0,
    began() {},
    longWork: { begin: () => new Turns().slice() },
    lateRefusals: { timeOf: () => 'now' },
  })
  admitted.push(seat as unknown as Admission)
  const context = { seats: [], user: { username: 'ann', groups: [] } } as unknown as RequestContext
  const { promise, resolve } = Promise.withResolvers<ApiResponse>()
  const answer = stage(() => promise)({ query: '' } as ApiRequest, context)
  const [held] = context.seats
  held?.leave()
  held?.leave()
  await held?.retake()
  expect(() => held?.retake()).toThrow('Too many requests, please try again later.')
  admitted.push(seat as unknown as Admission)
  await held?.retake()
  expect(admitted).toEqual([])
  resolve({ status: 200, headers: {}, body: new Uint8Array() })
  expect(await answer).toMatchObject({ status: 200 })
})
