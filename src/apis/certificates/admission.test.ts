/** Who asks for a certificate, who may approve one and who may sign it. */
import { describe, expect, test } from 'vitest'
import { alice, attributesOf, Rights } from '../../../test/support/admission-attributes.ts'
import { forbidden, thrown } from '../../../test/support/refusal.ts'
import { janeRequest, mastersRequest } from '../../../test/support/signing-requests.ts'
import type { Attributes } from '../../admission/admission.ts'
import type { UserInfo } from '../../kube/user.ts'
import { signingRequestAdmission } from './admission.ts'
import type { SigningRequest, SigningRequestCondition } from './types.ts'

const type = { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' }
const signerName = 'ex.io/teams'
const asking = (spec: Partial<SigningRequest['spec']> = {}): SigningRequest => ({
  metadata: { name: 'r' },
  spec: { request: janeRequest, signerName, ...spec },
})
const about = (more: Partial<Attributes>): Attributes => attributesOf({ type, namespace: '', ...more })
const denied = (why: string) => forbidden({ ...type, kind: type.resource, name: 'r' }, why)

test.each<[Attributes['operation'], string, boolean]>([
  ['CREATE', '', true],
  ['CREATE', 'status', false],
  ['UPDATE', '', false],
  ['UPDATE', 'approval', true],
  ['UPDATE', 'status', true],
  ['DELETE', '', false],
  ['CONNECT', 'proxy', false],
])('%s of sub-resource "%s" is asked about: %s', (operation, subresource, asked) => {
  const { handles } = signingRequestAdmission(new Rights())
  expect(handles(operation, type as never, subresource)).toBe(asked)
  expect(handles(operation, { ...type, resource: 'other' } as never, subresource)).toBe(false)
  expect(handles(operation, { ...type, group: 'ex.io' } as never, subresource)).toBe(false)
})

describe('a request is of the user who sends it', () => {
  const { mutate } = signingRequestAdmission(new Rights())
  const claimed = { username: 'root', uid: '0', groups: ['system:masters'], extra: { a: ['b'] } }
  test.each<[string, UserInfo, object]>([
    ['with all that is known of it', { ...alice, uid: 'u', extra: { k: ['v'] } }, { uid: 'u', extra: { k: ['v'] } }],
    ['and says nothing of what is not', { ...alice, uid: '', extra: {} }, {}],
    ['nor where there is none', alice, {}],
  ])('%s', async (_, user, more) => {
    const made = await mutate?.(about({ object: asking(claimed), user }) as never, undefined as never)
    expect(made).toEqual({
      metadata: { name: 'r' },
      spec: { request: janeRequest, signerName, username: 'alice', groups: ['devs'], ...more },
    })
  })

  test('and stays what it is when it is approved', () => {
    const update = about({ operation: 'UPDATE', subresource: 'approval', object: asking(claimed) })
    expect(mutate?.(update as never, undefined as never)).toBeUndefined()
  })
})

describe('no certificate of this server makes its bearer a member of system:masters', () => {
  const check = (spec: Partial<SigningRequest['spec']>) =>
    signingRequestAdmission(new Rights()).validate?.(about({ object: asking(spec) }))

  test('that is refused', () => {
    const spec = { request: mastersRequest, signerName: 'kubernetes.io/kube-apiserver-client' }
    const why = 'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'
    expect(thrown(() => check(spec))).toEqual(denied(why))
  })

  test.each<[string, Partial<SigningRequest['spec']>]>([
    ['of others', { signerName: 'kubernetes.io/kube-apiserver-client' }],
    ['by other signers, whose trust is their own,', { request: mastersRequest }],
  ])('one %s is not', (_, spec) => expect(() => check(spec)).not.toThrow())
})

describe('a signer is acted for by those who may', () => {
  const failed = (reason: string): SigningRequestCondition => ({ type: 'Failed', status: 'True', reason })
  const approved: SigningRequestCondition = { type: 'Approved', status: 'True' }
  const check = (subresource: string, rights: Rights, status: object, old: object = {}) =>
    signingRequestAdmission(rights).validate?.(
      about({
        ...{ operation: 'UPDATE', subresource },
        object: { ...asking({ signerName: 'other.io/signer' }), status },
        oldObject: { ...asking(), status: old },
      }),
    )
  const right = (verb: string, name: string): string => `${verb} certificates.k8s.io/*/signers/ /${name}`

  test.each<[string, string, object, object?]>([
    ['approval', 'approve', { conditions: [approved] }],
    ['status', 'sign', { certificate: 'pem' }],
    ['status', 'sign', { conditions: [failed('no')] }],
    ['status', 'sign', { conditions: [failed('never')] }, { conditions: [failed('no')] }],
    ['status', 'sign', {}, { certificate: 'pem' }],
  ])('a write of %s needs the verb %s on it, or on all of its domain: %j', (subresource, verb, status, old) => {
    const none = new Rights()
    expect(thrown(() => check(subresource, none, status, old))).toEqual(
      denied(`user not permitted to ${verb} requests with signerName "ex.io/teams"`),
    )
    expect(none.asked).toEqual([`alice: ${right(verb, signerName)}`, `alice: ${right(verb, 'ex.io/*')}`])
    for (const name of [signerName, 'ex.io/*']) {
      expect(() => check(subresource, new Rights(right(verb, name)), status, old)).not.toThrow()
    }
  })

  test.each<[string, object, object]>([
    ['another condition', { conditions: [approved] }, {}],
    ['nothing', { certificate: 'pem', conditions: [failed('no')] }, { certificate: 'pem', conditions: [failed('no')] }],
  ])('a write of its status that changes %s needs none', (_, status, old) => {
    const rights = new Rights()
    expect(() => check('status', rights, status, old)).not.toThrow()
    expect(rights.asked).toEqual([])
  })
})
