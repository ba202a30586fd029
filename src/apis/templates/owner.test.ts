/** The owner of a namespace: what one may be called, who may name one, and that it stays. */
import { describe, expect, test } from 'vitest'
import { thrown } from '../../../test/support/refusal.ts'
import type { Attributes } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import { checkOwner, findWrongOwner, keepOwner } from './owner.ts'

const key = 'borough.dev/owner'
const creatorKey = 'authorization.k8s.io/creator'
const namespace = (annotations?: Record<string, string>): KubeObject => ({
  metadata: { name: 'n', ...(annotations && { annotations }) },
})

describe('a name', () => {
  test.each(['alice', 'oidc:Zoë Müller', 'system:serviceaccount:a:b', 'a'.repeat(1024), '😀'.repeat(1024)])(
    'may be %s',
    (owner) => expect(findWrongOwner(owner)).toBeUndefined(),
  )

  test.each([
    ['nothing', '', 'must name a user or a group'],
    ['longer than any', 'a'.repeat(1025), 'must have at most 1024 characters'],
    ['of two lines', 'a\nb', 'must have no control characters and no line breaks'],
    ['with a line separator', 'a\u2028b', 'must have no control characters and no line breaks'],
    ['with a blank before it', ' a', 'must not begin or end with a blank'],
    ['with a blank after it', 'a\u00a0', 'must not begin or end with a blank'],
  ])('is not %s', (_, owner, wrong) => expect(findWrongOwner(owner)).toBe(wrong))
})

describe('an update', () => {
  test.each<{ name: string; next: KubeObject; old: KubeObject; kept: KubeObject['metadata'] }>([
    {
      name: 'without the annotation keeps it',
      next: namespace({ a: 'b' }),
      old: namespace({ [key]: 'alice' }),
      kept: { name: 'n', annotations: { a: 'b', [key]: 'alice' } },
    },
    {
      name: 'without any annotations keeps it',
      next: namespace(),
      old: namespace({ [key]: 'alice' }),
      kept: { name: 'n', annotations: { [key]: 'alice' } },
    },
    {
      name: 'with another is left to be judged',
      next: namespace({ [key]: 'bob' }),
      old: namespace({ [key]: 'alice' }),
      kept: { name: 'n', annotations: { [key]: 'bob' } },
    },
    { name: 'of one without an owner gets none', next: namespace({}), old: namespace(), kept: namespace({}).metadata },
    { name: 'of one without annotations too', next: namespace(), old: namespace({}), kept: namespace().metadata },
  ])('$name', ({ next, old, kept }) => expect(keepOwner(next as never, old).metadata).toEqual(kept))
})

describe('who names an owner', () => {
  const type = { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace' }
  const asked: unknown[] = []
  function check(object: KubeObject | undefined, oldObject?: KubeObject, allowed = false): string | undefined {
    asked.length = 0
    const a = { type, name: 'n', user: { username: 'alice', groups: [] }, object, oldObject } as unknown as Attributes
    const authorizer = { authorize: (request: unknown) => (asked.push(request), { allowed, reason: '' }) } as never
    try {
      checkOwner(a, authorizer)
      return undefined
    } catch {
      return thrown(() => checkOwner(a, authorizer)).message
    }
  }
  const stays = (before: string, owner: string): string =>
    `Namespace "n" is invalid: metadata.annotations[${key}]: Invalid value: "${owner}": the owner of a namespace ` +
    `does not change: it is "${before}"`
  const may = 'needs the verb "assign-owner" on namespaces'

  test.each<{ name: string; object: KubeObject | undefined; old?: KubeObject; allowed?: boolean; refusal?: string }>([
    { name: 'a namespace without one needs no right', object: namespace({}) },
    { name: 'nor one without annotations', object: namespace() },
    { name: 'nor one that is deleted', object: undefined, old: namespace({ [key]: 'bob' }) },
    { name: 'a creator may name itself', object: namespace({ [key]: 'alice' }) },
    { name: 'an owner stays', object: namespace({ [key]: 'bob' }), old: namespace({ [key]: 'bob' }) },
    { name: 'also one that could be none now', object: namespace({ [key]: '' }), old: namespace({ [key]: '' }) },
    {
      name: 'another needs a right',
      object: namespace({ [key]: 'bob' }),
      refusal:
        'namespaces "n" is forbidden: user "alice" cannot make "bob" the owner of a namespace: annotation ' +
        `${key} ${may}`,
    },
    { name: 'who has the right names another', object: namespace({ [key]: 'bob' }), allowed: true },
    {
      name: 'who has the right does not change one',
      object: namespace({ [key]: 'bob' }),
      old: namespace({ [key]: 'eve' }),
      allowed: true,
      refusal: stays('eve', 'bob'),
    },
    {
      name: 'the creator is the owner where none is named',
      object: namespace({ [key]: 'bob' }),
      old: namespace({ [creatorKey]: 'eve' }),
      allowed: true,
      refusal: stays('eve', 'bob'),
    },
    {
      name: 'that may be written down',
      object: namespace({ [key]: 'eve', [creatorKey]: 'eve' }),
      old: namespace({ [creatorKey]: 'eve' }),
    },
    {
      name: 'one from before creators were recorded is given one',
      object: namespace({ [key]: 'bob' }),
      old: namespace(),
      allowed: true,
    },
    {
      name: 'with the right, also by the user who would be it',
      object: namespace({ [key]: 'alice' }),
      old: namespace(),
      refusal:
        'namespaces "n" is forbidden: user "alice" cannot make "alice" the owner of a namespace: annotation ' +
        `${key} ${may}`,
    },
    {
      name: 'a name that can not be seen is none',
      object: namespace({ [key]: '' }),
      allowed: true,
      refusal: `Namespace "n" is invalid: metadata.annotations[${key}]: Invalid value: "": must name a user or a group`,
    },
  ])('$name', ({ object, old, allowed, refusal }) => expect(check(object, old, allowed)).toBe(refusal))

  test('the right is asked for by the name of the namespace, on the cluster', () => {
    check(namespace({ [key]: 'bob' }), undefined, true)
    expect(asked).toEqual([
      {
        ...{ user: { username: 'alice', groups: [] }, verb: 'assign-owner', group: '', version: 'v1' },
        ...{ resource: 'namespaces', subresource: '', namespace: '', name: 'n' },
      },
    ])
  })
})
