import { describe, expect, test } from 'vitest'
import { unauthorized } from '../../kube/status-error.ts'
import { anonymousUser } from '../../kube/user.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { parseRequestInfo } from '../request-info.ts'
import { catchUp } from './catch-up.ts'

const contextOf = (path: string): RequestContext => ({
  requestId: 'r',
  receivedAtMs: 0,
  info: parseRequestInfo('GET', path, ''),
  user: anonymousUser,
  warnings: [],
  seats: [],
})
const answer = { status: 200, headers: {}, body: new Uint8Array() }

describe('catching up with the store', () => {
  const rows: { name: string; path: string; want: string[] }[] = [
    { name: 'comes before what is about objects', path: '/api/v1/pods', want: ['refresh', 'next'] },
    { name: 'comes before discovery of a group', path: '/apis/apps/v1', want: ['refresh', 'next'] },
    { name: 'comes before the list of groups', path: '/apis', want: ['refresh', 'next'] },
    { name: 'comes before schemas', path: '/openapi/v3', want: ['refresh', 'next'] },
    { name: 'is not asked of health', path: '/readyz', want: ['next'] },
    { name: 'is not asked of metrics', path: '/metrics', want: ['next'] },
    { name: 'is not asked of a path that only begins alike', path: '/apiserver', want: ['next'] },
  ]
  test.each(rows)('$name', async ({ path, want }) => {
    const done: string[] = []
    const context = contextOf(path)
    const handler = catchUp(async () => void done.push('refresh'))(async () => {
      done.push('next')
      return answer
    })
    await handler({} as ApiRequest, context)
    expect(done).toEqual(want)
    expect(context.caughtUp === true).toBe(want.includes('refresh'))
  })

  test('that fails is the answer: nobody is served from the past', async () => {
    const handler = catchUp(() => Promise.reject(unauthorized()))(() => Promise.resolve(answer))
    await expect(handler({} as ApiRequest, contextOf('/api/v1/pods'))).rejects.toThrow('Unauthorized')
  })
})
