import { describe, expect, test } from 'vitest'
import { failure, refusal } from '../../../test/support/refusal.ts'
import type { Status } from '../../kube/types.ts'
import { anonymousUser, type UserInfo } from '../../kube/user.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { parseRequestInfo } from '../request-info.ts'
import { limitAnonymous, limitInFlight } from './limit-in-flight.ts'

const known: UserInfo = { username: 'ann', groups: ['system:authenticated'] }
const contextOf = (user: UserInfo): RequestContext => ({
  requestId: 'r',
  receivedAtMs: 0,
  info: parseRequestInfo('GET', '/api/v1/pods', ''),
  user,
  warnings: [],
  places: [],
})
const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }
const busy = (message: string): Status =>
  failure({ message, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 }, code: 429 })

describe('requests without credentials', () => {
  test('have few places of their own, which are free again when they are answered', async () => {
    const finish: (() => void)[] = []
    const handler = limitAnonymous(2)(() => new Promise<ApiResponse>((resolve) => finish.push(() => resolve(answer))))
    const ask = async (user: UserInfo): Promise<ApiResponse> => handler({} as ApiRequest, contextOf(user))
    const waiting = [ask(anonymousUser), ask(anonymousUser)]
    expect(await refusal(ask(anonymousUser))).toEqual(
      busy('Too many requests without credentials are being worked on, please try again later.'),
    )
    const ann = ask(known)
    for (const done of finish) done()
    expect(await Promise.all([...waiting, ann])).toEqual([answer, answer, answer])
    const again = ask(anonymousUser)
    finish.at(-1)?.()
    expect(await again).toBe(answer)
  })

  test('give their place back when they fail', async () => {
    const handler = limitAnonymous(1)(() => Promise.reject(new Error('no')))
    for (let i = 0; i < 3; i++) {
      await expect(handler({} as ApiRequest, contextOf(anonymousUser))).rejects.toThrow('no')
    }
  })
})

describe('all requests', () => {
  const asked = (method: string, path: string): RequestContext => ({
    ...contextOf(known),
    info: parseRequestInfo(method, path, ''),
  })

  test(
    'have places, reads and writes apart; watches and our own need none; who finds none is told when to come ' +
      'again',
    async () => {
      const finish: (() => void)[] = []
      const handler = limitInFlight({ reads: 1, writes: 1, reserved: 1 })(
        () => new Promise<ApiResponse>((resolve) => finish.push(() => resolve(answer))),
      )
      const ask = async (method: string, more: Partial<ApiRequest> = {}, context = asked(method, '/api/v1/pods')) =>
        handler({ method, ...more } as ApiRequest, context)
      const underWay = [ask('GET'), ask('POST')]
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
        expect(await refusal(ask(method))).toEqual(
          busy('The server is busy: too many requests are being worked on, please try again later.'),
        )
      }
      const watch = { ...asked('GET', '/api/v1/pods'), info: parseRequestInfo('GET', '/api/v1/pods', 'watch=true') }
      underWay.push(ask('GET', {}, watch), ask('GET', { localUser: known }))
      for (const done of finish) done()
      expect(await Promise.all(underWay)).toHaveLength(4)
    },
  )
})
