import { expect, test } from 'vitest'
import { badRequest, thrown } from '../../../test/support/refusal.ts'
import { badRequest as badRequestError, StatusError } from '../../kube/status-error.ts'
import { type AdmissionRequest, answerText, readAdmissionRequest, refusalIn } from './admission-review.ts'

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

const asked = {
  ...{ uid: 'u', operation: 'CREATE', resource: { group: 'g', version: 'v1', resource: 'things' } },
  userInfo: { username: 'alice', groups: ['a'], uid: '7', extra: { scopes: ['s'] } },
}
const read: AdmissionRequest = {
  ...{ uid: 'u', operation: 'CREATE', resource: { group: 'g', version: 'v1', resource: 'things' } },
  ...{ name: '', namespace: '', dryRun: false, userInfo: asked.userInfo },
}
const object = { metadata: { name: 'n' } }

test.each<{ name: string; more: object; want: Partial<AdmissionRequest> }>([
  { name: 'a name and a namespace', more: { name: 'n', namespace: 's' }, want: { name: 'n', namespace: 's' } },
  { name: 'a subresource', more: { subResource: 'status' }, want: { subResource: 'status' } },
  { name: 'an empty subresource', more: { subResource: '' }, want: {} },
  { name: 'objects', more: { object, oldObject: object }, want: { object, oldObject: object } },
  { name: 'objects that are null', more: { object: null, oldObject: null }, want: {} },
  { name: 'a dry run', more: { dryRun: true }, want: { dryRun: true } },
  { name: 'a dry run in words', more: { dryRun: 'true' }, want: { dryRun: false } },
  { name: 'a user without anything', more: { userInfo: {} }, want: { userInfo: { username: '', groups: [] } } },
  {
    name: 'a user with a name alone',
    more: { userInfo: { username: 'bob', uid: '', extra: null } },
    want: { userInfo: { username: 'bob', groups: [] } },
  },
  { name: 'an empty resource', more: { resource: {} }, want: { resource: { group: '', version: '', resource: '' } } },
])('$name', ({ more, want }) => {
  expect(readAdmissionRequest(review({ ...asked, ...more }))).toEqual({ ...read, ...want })
})

test.each([
  { name: 'a resource', request: { ...asked, resource: 'things' } },
  { name: 'an operation', request: { ...asked, operation: 1 } },
  { name: 'a user', request: { ...asked, userInfo: null } },
])('a request without $name is refused', ({ request }) => {
  const want = 'the request lacks its resource, its operation or its user'
  expect(thrown(() => readAdmissionRequest(review(request)))).toEqual(badRequest(want))
})

const answered = (response: object): object => ({
  ...{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
  response: { uid: 'u', ...response },
})
const patch = [{ op: 'add', path: '/a', value: 'ü' }] as const
const base64 = Buffer.from('[{"op":"add","path":"/a","value":"ü"}]').toString('base64')
const refusal = badRequestError('no').toStatus()

test.each<{ name: string; verdict: Parameters<typeof answerText>[1]; response: object }>([
  { name: 'allowed', verdict: {}, response: { allowed: true } },
  { name: 'nothing to patch or to warn of', verdict: { patch: [], warnings: [] }, response: { allowed: true } },
  { name: 'patched', verdict: { patch }, response: { allowed: true, patchType: 'JSONPatch', patch: base64 } },
  { name: 'warned', verdict: { warnings: ['w'] }, response: { allowed: true, warnings: ['w'] } },
  { name: 'refused', verdict: { refusal }, response: { allowed: false, status: refusal } },
  {
    name: 'refused, whatever would have been patched',
    verdict: { refusal, patch, warnings: ['w'] },
    response: { allowed: false, status: refusal, warnings: ['w'] },
  },
])('the answer: $name', ({ verdict, response }) => {
  expect(JSON.parse(answerText('u', verdict))).toEqual(answered(response))
})

test('what was thrown is a refusal if it is the client’s doing, and thrown on if it is a failure', () => {
  expect(refusalIn(badRequestError('no'))).toEqual(refusal)
  for (const failure of [new Error('broken'), new StatusError('no', { code: 500 }), 'text']) {
    expect(() => refusalIn(failure)).toThrow(failure as Error)
  }
  expect(refusalIn(new StatusError('no', { code: 499 })).code).toBe(499)
})
