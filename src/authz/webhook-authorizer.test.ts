import { describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { JsonValue } from '../kube/types.ts'
import type { AuthzAttributes } from './authz.ts'
import { WebhookAuthorizer } from './webhook-authorizer.ts'

const ann: AuthzAttributes = {
  user: { username: 'ann', groups: [] },
  verb: 'get',
  group: '',
  resource: 'pods',
  namespace: '',
  name: '',
}

function world(answer: (spec: { user: string }) => JsonValue = () => ({ status: { allowed: true } })) {
  const clock = new FakeClock()
  const asked: unknown[] = []
  const webhook = new WebhookAuthorizer({
    clock,
    allowedForMs: 300,
    deniedForMs: 30,
    async post(review) {
      const { spec, ...envelope } = review as { spec: { user: string } }
      expect(envelope).toEqual({ kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' })
      asked.push(spec)
      return answer(spec)
    },
  })
  return { clock, asked, webhook }
}

describe('what the service is asked', () => {
  const rows: readonly { name: string; when: AuthzAttributes; want: object }[] = [
    {
      name: 'of a resource nothing that is empty',
      when: ann,
      want: { user: 'ann', resourceAttributes: { verb: 'get', resource: 'pods' } },
    },
    {
      name: 'of a resource all that there is',
      when: {
        user: { username: 'ann', groups: ['devs'], uid: 'u', extra: { scopes: ['a'] } },
        verb: 'update',
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'ns',
        name: 'd',
      },
      want: {
        user: 'ann',
        groups: ['devs'],
        uid: 'u',
        extra: { scopes: ['a'] },
        resourceAttributes: {
          namespace: 'ns',
          verb: 'update',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'scale',
          name: 'd',
        },
      },
    },
    {
      name: 'of a path the path and the verb',
      when: { user: { username: 'ann', groups: [] }, verb: 'get', path: '/metrics' },
      want: { user: 'ann', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    },
  ]
  test.each(rows)('$name', async ({ when, want }) => {
    const { asked, webhook } = world()
    expect(await webhook.ask(when)).toEqual({ allowed: true, reason: '' })
    expect(asked).toStrictEqual([want])
  })
})

describe('how long an answer holds', () => {
  test.each([
    { name: 'a yes', allowed: true, ms: 300 },
    { name: 'a no', allowed: false, ms: 30 },
  ])('$name holds for its time, for the same question, and not a moment longer', async ({ allowed, ms }) => {
    const { clock, asked, webhook } = world(() => ({ status: { allowed, reason: 'r' } }))
    await webhook.ask(ann)
    await clock.advance(ms - 1)
    expect(await webhook.ask(ann)).toEqual({ allowed, reason: 'r' })
    expect(asked).toHaveLength(1)
    await webhook.ask({ ...ann, verb: 'list' })
    expect(asked).toHaveLength(2)
    await clock.advance(1)
    await webhook.ask(ann)
    expect(asked).toHaveLength(3)
  })

  test('a question of more than 10,000 characters is asked each time', async () => {
    const { asked, webhook } = world()
    const around = JSON.stringify({
      resourceAttributes: { verb: 'get', resource: 'pods', name: '' },
      user: 'ann',
    }).length
    const named = (length: number): AuthzAttributes => ({ ...ann, name: 'n'.repeat(length) })
    for (const question of [named(10_000 - around), named(10_001 - around)]) {
      await webhook.ask(question)
      await webhook.ask(question)
    }
    expect(asked).toHaveLength(3)
  })

  test('a failure is not remembered', async () => {
    let answer: JsonValue = null
    const { webhook } = world(() => answer)
    await expect(webhook.ask(ann)).rejects.toThrow()
    answer = { status: { allowed: true } }
    expect((await webhook.ask(ann)).allowed).toBe(true)
  })
})

describe('an answer that is none', () => {
  const none = 'the authorization webhook answered no SubjectAccessReview with a status'
  test.each<{ name: string; answer: JsonValue; message: string }>([
    { name: 'no object', answer: 'yes', message: none },
    { name: 'nothing', answer: null, message: none },
    { name: 'no status', answer: {}, message: none },
    { name: 'a status that is no object', answer: { status: true }, message: none },
    { name: 'a status that does not say allowed', answer: { status: { denied: true } }, message: none },
    { name: 'allowed that is no boolean', answer: { status: { allowed: 'true' } }, message: none },
    {
      name: 'yes and no at once',
      answer: { status: { allowed: true, denied: true } },
      message: 'webhook subject access review returned both allow and deny response',
    },
  ])('$name', async ({ answer, message }) => {
    const told = await refusal(world(() => answer).webhook.ask(ann))
    expect(told).toEqual(
      failure({
        message: `Internal error occurred: ${message}`,
        reason: 'InternalError',
        code: 500,
        details: { causes: [{ message }] },
      }),
    )
  })

  test('a service that fails is named with what went wrong', async () => {
    const failing = (error: unknown): Promise<unknown> =>
      world(() => {
        throw error
      }).webhook.ask(ann)
    await expect(failing(new Error('it is down'))).rejects.toThrow(
      /the authorization webhook did not answer: it is down$/,
    )
    await expect(failing('odd')).rejects.toThrow(/the authorization webhook did not answer: $/)
  })

  test('a no that is also denied is a no, and a reason that is no text is none', async () => {
    const { webhook } = world(() => ({ status: { allowed: false, denied: true, reason: 7 } }))
    expect(await webhook.ask(ann)).toEqual({ allowed: false, reason: '' })
  })
})
