import { expect, test } from 'vitest'
import { anonymousUser } from '../../kube/user.ts'
import { tokenReview } from './identity-review.ts'

test('a token that no header could bring is refused unread', async () => {
  const read: number[] = []
  const review = tokenReview({
    audiences: ['here'],
    audiencesOf: () => undefined,
    authenticate: async ({ bearerToken = '' }) => {
      read.push(bearerToken.length)
      return anonymousUser
    },
  })
  const about = (length: number): unknown =>
    review({ apiVersion: 'v1', kind: 'TokenReview', metadata: {}, spec: { token: 'x'.repeat(length) } }, {} as never)
  expect(await about(64 * 1024)).toMatchObject({ status: { authenticated: true } })
  expect(await about(64 * 1024 + 1)).toMatchObject({ status: { user: {}, error: 'invalid bearer token' } })
  expect(read).toEqual([64 * 1024])
})
