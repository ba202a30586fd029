import { describe, expect, test } from 'vitest'
import { anonymousUser, type UserInfo } from '../../kube/user.ts'
import type { ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { parseRequestInfo } from '../request-info.ts'
import { limitAnonymous } from './limit-in-flight.ts'

const known: UserInfo = { username: 'ann', groups: ['system:authenticated'] }
const contextOf = (user: UserInfo): RequestContext => ({
  requestId: 'r',
  receivedAtMs: 0,
  info: parseRequestInfo('GET', '/api/v1/pods', ''),
  user,
  warnings: [],
  release() {},
})
const answer: ApiResponse = { status: 200, headers: {}, body: new Uint8Array() }

describe('requests without credentials', () => {
  test('have few places of their own, which are free again when they are answered', async () => {
    const finish: (() => void)[] = []
    const handler = limitAnonymous(2)(() => new Promise<ApiResponse>((resolve) => finish.push(() => resolve(answer))))
    const ask = async (user: UserInfo): Promise<ApiResponse> => handler({} as ApiRequest, contextOf(user))
    const waiting = [ask(anonymousUser), ask(anonymousUser)]
    await expect(ask(anonymousUser)).rejects.toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } })
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
