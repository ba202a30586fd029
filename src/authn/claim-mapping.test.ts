/** From claims to a user: what may come in, and what it is called. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../kube/types.ts'
import { type ClaimMappings, userOfClaims } from './claim-mapping.ts'

const mappings = (more: Partial<ClaimMappings> = {}): ClaimMappings => ({
  ...{ username: { claim: 'sub', prefix: '' }, extra: [], requiredClaims: new Map(), claimRules: [], userRules: [] },
  ...more,
})
const byEmail = mappings({ username: { claim: 'email', prefix: '' } })
const withGroups = mappings({ groups: { claim: 'groups', prefix: 'g:' } })
const plain = mappings({ groups: { claim: 'groups', prefix: '' } })

test.each<{ name: string; claims: JsonObject; by?: ClaimMappings; user: object }>([
  { name: 'a subject', claims: { sub: 'alice' }, user: { username: 'alice', groups: [] } },
  {
    name: 'a subject with a prefix',
    ...{ claims: { sub: 'alice' }, by: mappings({ username: { claim: 'sub', prefix: 'oidc:' } }) },
    user: { username: 'oidc:alice', groups: [] },
  },
  {
    name: 'a subject whose email is not verified: nothing is called by it',
    claims: { sub: 'alice', email: 'a@b', email_verified: false },
    user: { username: 'alice', groups: [] },
  },
  {
    name: 'an email that is verified',
    ...{ claims: { email: 'a@b', email_verified: true }, by: byEmail, user: { username: 'a@b', groups: [] } },
  },
  {
    name: 'an email of which nothing is said',
    claims: { email: 'a@b' },
    by: byEmail,
    user: { username: 'a@b', groups: [] },
  },
  {
    name: 'groups, but for those of the cluster’s own',
    ...{ claims: { sub: 'a', groups: ['x', 'system:masters'] }, by: plain, user: { username: 'a', groups: ['x'] } },
  },
  { name: 'one group', claims: { sub: 'a', groups: 'x' }, by: withGroups, user: { username: 'a', groups: ['g:x'] } },
  { name: 'no groups', claims: { sub: 'a' }, by: withGroups, user: { username: 'a', groups: [] } },
  {
    name: 'the uid, and the token that it came by',
    claims: { sub: 'a', jti: 'j', oid: '7' },
    by: mappings({ uid: { claim: 'oid', prefix: '' } }),
    user: { username: 'a', uid: '7', groups: [], extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j'] } },
  },
  { name: 'an empty name of a token', claims: { sub: 'a', jti: '' }, user: { username: 'a', groups: [] } },
  {
    name: 'what is required',
    claims: { sub: 'a', hd: 'b' },
    by: mappings({ requiredClaims: new Map([['hd', 'b']]) }),
    user: { username: 'a', groups: [] },
  },
])('$name', ({ claims, by = mappings(), user }) => expect(userOfClaims(claims, by)).toEqual(user))

test.each<{ name: string; claims: JsonObject; by?: ClaimMappings; why: string }>([
  { name: 'no subject', claims: {}, why: 'the claim sub is missing, or no text' },
  {
    name: 'what every object inherits',
    claims: {},
    by: mappings({ username: { claim: 'toString', prefix: '' } }),
    why: 'the claim toString is missing, or no text',
  },
  { name: 'a subject that is no text', claims: { sub: 7 }, why: 'the claim sub is missing, or no text' },
  {
    name: 'an empty subject, prefix or not',
    ...{ claims: { sub: '' }, by: mappings({ username: { claim: 'sub', prefix: 'oidc:' } }) },
    why: 'the username is empty',
  },
  { name: 'a name of the cluster’s own', claims: { sub: 'system:admin' }, why: 'the username begins with system:' },
  {
    name: 'a name that is one by its prefix',
    ...{ claims: { sub: 'admin' }, by: mappings({ username: { claim: 'sub', prefix: 'system:' } }) },
    why: 'the username begins with system:',
  },
  {
    name: 'an email that is not verified',
    claims: { email: 'a@b', email_verified: false },
    by: byEmail,
    why: 'the email is not verified',
  },
  {
    name: 'an email that is verified as a text',
    claims: { email: 'a@b', email_verified: 'true' },
    by: byEmail,
    why: 'the email is not verified',
  },
  {
    name: 'groups that are none',
    claims: { sub: 'a', groups: [7] },
    by: withGroups,
    why: 'the claim groups is no text or list of texts',
  },
  {
    name: 'another value than is required',
    ...{ claims: { sub: 'a', hd: 'c' }, by: mappings({ requiredClaims: new Map([['hd', 'b']]) }) },
    why: 'the required claim hd is missing or differs',
  },
])('refused: $name', ({ claims, by = mappings(), why }) => {
  expect(() => userOfClaims(claims, by)).toThrow(expect.objectContaining({ name: 'ClaimsError', message: why }))
})
