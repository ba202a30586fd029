/** Questions that are answered and not kept, as clients put them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const inDefault = 'namespaces/default/'
const authentication = 'authentication.k8s.io/v1'
const authorization = 'authorization.k8s.io/v1'
const attributes = { verb: 'get', resource: 'pods', namespace: 'default' }

it.each([
  { kind: 'TokenReview', group: authentication, place: 'tokenreviews', spec: { token: 't' } },
  { kind: 'SelfSubjectReview', group: authentication, place: 'selfsubjectreviews', spec: undefined },
  {
    kind: 'SubjectAccessReview',
    group: authorization,
    place: 'subjectaccessreviews',
    spec: { user: 'u', resourceAttributes: attributes },
  },
  {
    kind: 'LocalSubjectAccessReview',
    group: authorization,
    place: `${inDefault}localsubjectaccessreviews`,
    spec: { user: 'u', resourceAttributes: attributes },
  },
  {
    kind: 'SelfSubjectAccessReview',
    group: authorization,
    place: 'selfsubjectaccessreviews',
    spec: { resourceAttributes: attributes },
  },
  {
    kind: 'SelfSubjectRulesReview',
    group: authorization,
    place: 'selfsubjectrulesreviews',
    spec: { namespace: 'default' },
  },
])('a $kind says what it is, even if the question did not', async ({ kind, group, place, spec }) => {
  const { status, body } = await wire.call('POST', `/apis/${group}/${place}`, spec === undefined ? {} : { spec })
  expect([status, body]).toEqual([201, expect.objectContaining({ kind, apiVersion: group })])
})

it('a TokenRequest says what it is, even if the question did not', async () => {
  const { body } = await wire.call('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} })
  expect(body).toMatchObject({ kind: 'TokenRequest', apiVersion: authentication, metadata: { name: 'default' } })
})

it('what verifiers of tokens read says how long it is good for', async () => {
  const documents = ['/.well-known/openid-configuration', '/openid/v1/jwks'].map((path) => wire.call('GET', path))
  const headers = (await Promise.all(documents)).map((answer) => answer.headers.get('cache-control'))
  // A new key signs soon after it is published, so keys are not kept.
  expect(headers).toEqual(['public, max-age=3600', 'no-cache, private'])
})
