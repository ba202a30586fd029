import { expect, test } from 'vitest'
import type { Credentials } from '../../authn/authn.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { findStatusError, unauthorized } from '../../kube/status-error.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { defaultLateRefusals, LateRefusals } from '../late-refusals.ts'
import { authenticate } from './authenticate.ts'

test('whom nobody recognises is refused, and told no more than that', async () => {
  const handler = authenticate(async () => undefined)(() => Promise.reject(new Error('must not be reached')))
  const refused = (async () => handler({ headers: {} } as ApiRequest, {} as RequestContext))()
  const status = findStatusError(await refused.catch((e: unknown) => e))?.toStatus()
  expect(status).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  })
})

const requestFrom = (remoteAddress: string, token: string): ApiRequest =>
  ({ headers: { authorization: `Bearer ${token}` }, remoteAddress }) as unknown as ApiRequest

test.each([
  {
    name: 'at once',
    decide: () => {
      throw unauthorized()
    },
  },
  { name: 'later', decide: () => Promise.reject(unauthorized()) },
])(
  'attack: who guesses tokens hears of the hundred first of a second, others of each: decided $name',
  async ({ decide }) => {
    const clock = new FakeClock()
    const handler = authenticate(
      decide,
      new LateRefusals(clock),
    )(() => Promise.reject(new Error('must not be reached')))
    let told = 0
    const guess = async (address: string): Promise<void> => {
      await (async () => handler(requestFrom(address, 'guess'), {} as RequestContext))().catch((error: unknown) => {
        expect(findStatusError(error)?.reason).toBe('Unauthorized')
        told++
      })
    }
    const guesses = Array.from({ length: defaultLateRefusals.prompt + 5 }, () => guess('10.0.0.1'))
    await guess('10.0.0.2')
    expect(told).toBe(defaultLateRefusals.prompt + 1)
    await clock.advance(1000)
    await Promise.all(guesses)
    expect(told).toBe(defaultLateRefusals.prompt + 6)
  },
)

test('an authenticator is told where a token comes from', async () => {
  const asked: Credentials[] = []
  const user = { username: 'u', groups: [] }
  const decide = (credentials: Credentials) => {
    asked.push(credentials)
    return user
  }
  const answer = { status: 200, headers: {}, body: Buffer.alloc(0) }
  await authenticate(decide)(() => answer)(requestFrom('10.0.0.1', 'good'), {} as RequestContext)
  expect(asked).toMatchObject([{ bearerToken: 'good', from: 'address 10.0.0.1' }])
})

test.each([
  { username: 'alice', identified: ['alice'] },
  { username: 'system:anonymous', identified: [] },
])('a connection is counted for the user who sends on it, $username: $identified', async ({ username, identified }) => {
  const told: string[] = []
  const request = { ...requestFrom('10.0.0.1', 'good'), identify: (user: string) => void told.push(user) }
  const answer = { status: 200, headers: {}, body: Buffer.alloc(0) }
  await authenticate(() => ({ username, groups: [] }))(() => answer)(request, {} as RequestContext)
  expect(told).toEqual(identified)
})
