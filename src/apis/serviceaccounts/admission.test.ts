/** Which account a pod acts as, what comes with it, and what its account does not lend it. */
import { describe, expect, test } from 'vitest'
import { attributesOf } from '../../../test/support/admission-attributes.ts'
import { forbidden, refusal } from '../../../test/support/refusal.ts'
import { pods } from '../../../test/support/registry-fixture.ts'
import type { Attributes } from '../../admission/admission.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { serviceAccountAdmission } from './admission.ts'

const account = (name: string, more: JsonObject = {}, annotations?: JsonObject): KubeObject =>
  ({ metadata: { name, ...(annotations && { annotations }) }, automountServiceAccountToken: false, ...more }) as never
const pod = (spec: JsonObject | undefined, metadata: JsonObject = { name: 'p' }): KubeObject =>
  ({ metadata, ...(spec && { spec }) }) as never
const mirror = { name: 'p', annotations: { 'kubernetes.io/config.mirror': 'x' } }

/** `late`: accounts that are seen once the cache has caught up. */
function world(accounts: readonly KubeObject[], late: readonly KubeObject[] = []) {
  let known = accounts
  let refreshed = 0
  const plugin = serviceAccountAdmission({
    find: (namespace, name) => (namespace === 'team' ? known.find((a) => a.metadata.name === name) : undefined),
    refresh: async () => {
      refreshed++
      known = [...known, ...late]
    },
    nameSuffix: () => 'abcde',
  })
  const about = (object: KubeObject, more: Partial<Attributes>) => attributesOf({ type: pods, object, ...more })
  return {
    mutate: async (object: KubeObject, more: Partial<Attributes> = {}) =>
      plugin.mutate?.(about(object, more) as never, undefined as never),
    validate: async (object: KubeObject, more: Partial<Attributes> = {}) => plugin.validate?.(about(object, more)),
    handles: plugin.handles,
    refreshed: () => refreshed,
  }
}
const denied = (why: string) => forbidden({ kind: 'pods', name: 'p' }, why)

test.each<[Attributes['operation'], object, string, boolean]>([
  ['CREATE', pods, '', true],
  ['UPDATE', pods, '', false],
  ['UPDATE', pods, 'ephemeralcontainers', true],
  ['CREATE', pods, 'ephemeralcontainers', false],
  ['UPDATE', pods, 'status', false],
  ['CREATE', { ...pods, group: 'ex.io' }, '', false],
  ['CREATE', { ...pods, resource: 'podtemplates' }, '', false],
])('%s is asked about', (operation, type, subresource, asked) => {
  expect(world([]).handles(operation, type as never, subresource)).toBe(asked)
})

describe('the account of a pod', () => {
  const secrets = [{ name: 'registry' }]
  test.each<[string, KubeObject, KubeObject[], JsonObject]>([
    ['is default where it names none', pod({}), [account('default')], { serviceAccountName: 'default' }],
    ['and where it says nothing', pod(undefined), [account('default')], { serviceAccountName: 'default' }],
    [
      'is the one that it names',
      pod({ serviceAccountName: 'bot', serviceAccount: 'old' }),
      [account('default'), account('bot')],
      { serviceAccountName: 'bot' },
    ],
    [
      'gives it its pull secrets',
      pod({ imagePullSecrets: [] }),
      [account('default', { imagePullSecrets: secrets })],
      { serviceAccountName: 'default', imagePullSecrets: secrets },
    ],
    [
      'but where it has its own',
      pod({ imagePullSecrets: [{ name: 'own' }] }),
      [account('default', { imagePullSecrets: secrets })],
      { serviceAccountName: 'default', imagePullSecrets: [{ name: 'own' }] },
    ],
    [
      'gives none where it has none',
      pod({}),
      [account('default', { imagePullSecrets: [] })],
      { serviceAccountName: 'default' },
    ],
  ])('%s', async (_, given, accounts, spec) => {
    const serviceAccount = spec['serviceAccountName'] as string
    expect(await world(accounts).mutate(given)).toEqual(pod({ ...spec, serviceAccount }))
  })

  test('gives its containers a token', async () => {
    const made = await world([account('default', { automountServiceAccountToken: true })]).mutate(
      pod({ containers: [{ name: 'c' }] }),
    )
    expect(made).toMatchObject({
      spec: { containers: [{ volumeMounts: [{ name: 'kube-api-access-abcde' }] }], volumes: [{}] },
    })
  })

  test('is looked for once more where it is not seen', async () => {
    const { mutate, validate, refreshed } = world([], [account('default')])
    expect(await mutate(pod({}))).toMatchObject({ spec: { serviceAccountName: 'default' } })
    await validate(pod({}))
    expect(refreshed()).toBe(1)
    const why = 'error looking up service account team/bot: serviceaccount "bot" not found'
    expect(await refusal(mutate(pod({ serviceAccountName: 'bot' })))).toEqual(denied(why))
    expect(await refusal(validate(pod({ serviceAccountName: 'bot' })))).toEqual(denied(why))
  })

  test('is not touched by what comes later', async () => {
    expect(await world([]).mutate(pod({}), { operation: 'UPDATE', subresource: 'ephemeralcontainers' })).toBeUndefined()
  })
})

describe('an account that lends only what it lists', () => {
  const strict = account(
    'default',
    { secrets: [{ name: 'lent' }] },
    { 'kubernetes.io/enforce-mountable-secrets': 'true' },
  )
  const using = (secret: string): JsonObject => ({ name: 'c', envFrom: [{ secretRef: { name: secret } }] })
  const reason = 'is not allowed because service account default does not reference that secret'

  test('is asked about the containers of a new pod', async () => {
    const { validate } = world([strict])
    await validate(pod({ containers: [using('lent')] }))
    expect(await refusal(validate(pod({ containers: [using('other')] })))).toEqual(
      denied(`container c with envFrom referencing secret.secretName="other" ${reason}`),
    )
    await world([account('default')]).validate(pod({ containers: [using('other')] }))
  })

  test('and later about ephemeral ones alone', async () => {
    const { validate } = world([strict])
    const later = { operation: 'UPDATE', subresource: 'ephemeralcontainers' } as const
    await validate(pod({ containers: [using('other')] }), later)
    expect(await refusal(validate(pod({ ephemeralContainers: [using('other')] }), later))).toEqual(
      denied(`ephemeral container c with envFrom referencing secret.secretName="other" ${reason}`),
    )
  })
})

describe('a mirror pod', () => {
  test('has no account', async () => {
    expect(await world([]).mutate(pod({}, mirror))).toBeUndefined()
    await world([]).validate(pod({}, mirror))
    await world([]).validate(pod(undefined, mirror))
  })

  test.each<[string, JsonObject, string]>([
    ['an account', { serviceAccountName: 'bot' }, 'a mirror pod may not reference service accounts'],
    ['a secret', { volumes: [{ secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [
      'a token',
      { volumes: [{ projected: { sources: [{ serviceAccountToken: {} }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('does not refer to %s', async (_, spec, why) => {
    expect(await refusal(world([account('bot')]).validate(pod(spec, mirror)))).toEqual(denied(why))
  })
})
