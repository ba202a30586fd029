import { expect, test } from 'vitest'
import { badRequest, thrown } from '../../../test/support/refusal.ts'
import { readAdmissionRequest } from './admission-review.ts'

const review = (request?: object): string =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...(request ? { request } : {}) })

test.each([
  { name: 'no JSON', given: '{', want: /^the body is not JSON: ./ },
  { name: 'a list', given: '[]', want: 'the body is not AdmissionReview of admission.k8s.io/v1' },
  {
    name: 'a review of another version',
    given: review({ uid: 'u' }).replace('/v1"', '/v1beta1"'),
    want: 'the body is not AdmissionReview of admission.k8s.io/v1',
  },
  { name: 'a review without a request', given: review(), want: 'the review has no request' },
  { name: 'a request without a uid', given: review({}), want: 'the review has no request' },
  {
    name: 'a request of nobody',
    given: review({ uid: 'u', resource: {}, operation: 'CREATE' }),
    want: 'the request lacks its resource, its operation or its user',
  },
])('$name is refused', ({ given, want }) => {
  const status = thrown(() => readAdmissionRequest(given))
  if (typeof want !== 'string') expect(status.message).toMatch(want)
  expect(status).toEqual(badRequest(typeof want === 'string' ? want : (status.message ?? '')))
})
