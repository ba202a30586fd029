/** Content needs a namespace that is there and stays, some namespaces stay, and one may be made for its content. */
import { describe, expect, test } from 'vitest'
import { alice, attributesOf } from '../../../test/support/admission-attributes.ts'
import { failure, forbidden, refusal, thrown } from '../../../test/support/refusal.ts'
import { configMaps, namespaces } from '../../../test/support/registry-fixture.ts'
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { alreadyExists, badRequest } from '../../kube/status-error.ts'
import type { ObjectMeta } from '../../kube/types.ts'
import { namespaceAutoProvision, namespaceExists, namespaceFinalization, namespaceLifecycle } from './admission.ts'
import type { Namespace } from './types.ts'

const namespace = (metadata: Partial<ObjectMeta> = {}, more: object = {}): Namespace =>
  ({ metadata: { name: 'team', ...metadata }, ...more }) as Namespace
const terminating = namespace({ deletionTimestamp: '2030-01-01T00:00:00Z' }, { status: { phase: 'Terminating' } })
const expired = namespace({ annotations: { 'borough.dev/expires-at': '2030-01-01T00:00:00Z' } })
const object = { metadata: { name: 'c' } }
const about = (more: Partial<Attributes> = {}): Attributes => attributesOf({ type: configMaps, object, ...more })
const mutate = async (plugin: AdmissionPlugin, a: Attributes): Promise<unknown> =>
  plugin.mutate?.(a as never, undefined as never)
const review = { ...configMaps, group: 'authorization.k8s.io', resource: 'localsubjectaccessreviews' }

/** `late`: seen once the cache has caught up. */
function lookup(found: Namespace | undefined, late: Namespace | undefined = found) {
  const told: string[] = []
  return {
    told,
    type: namespaces,
    find: () => (told.includes('refreshed') ? late : found),
    refresh: async () => void told.push('refreshed'),
  } as { told: string[] } & Parameters<typeof namespaceLifecycle>[0]
}
const missing = failure({
  message: 'namespaces "team" not found',
  ...{ reason: 'NotFound', code: 404, details: { name: 'team', kind: 'namespaces' } },
})
const ended = (how: string, name = 'c') => {
  const said = forbidden(
    { kind: 'configmaps', name },
    `unable to create new content in namespace team because it ${how}`,
  )
  const causes = [{ reason: 'NamespaceTerminating', message: `namespace team ${how}`, field: 'metadata.namespace' }]
  return { ...said, details: { ...said.details, causes } }
}

describe('content', () => {
  const plugin = (at = lookup(namespace())) =>
    namespaceLifecycle(at, ({ metadata }) => metadata.annotations !== undefined)

  test.each<[Attributes['operation'], object, unknown]>([
    ['CREATE', configMaps, ['mutate', 'decide']],
    ['CREATE', { ...configMaps, stored: false }, ['mutate']],
    ['UPDATE', configMaps, ['mutate']],
    ['DELETE', configMaps, false],
    ['CONNECT', configMaps, false],
    ['CREATE', { ...review, stored: false }, []],
    ['CREATE', { ...review, group: 'ex.io', stored: false }, ['mutate']],
    ['DELETE', namespaces, ['validate']],
    ['CREATE', namespaces, false],
    ['DELETE', { ...namespaces, group: 'ex.io' }, false],
  ])('%s is asked about', (operation, type, halves) => {
    expect(plugin().handles(operation, type as never, '')).toEqual(halves)
  })

  test.each<[string, Namespace | undefined, Namespace | undefined, Partial<Attributes>, string[]]>([
    ['is created where its namespace is', namespace(), undefined, {}, []],
    ['and where it is seen after a look at the store', undefined, namespace(), {}, ['refreshed']],
    ['is changed in one that goes away', terminating, undefined, { operation: 'UPDATE' }, []],
    ['of no namespace needs none', undefined, undefined, { namespace: '' }, []],
    ['may come with its namespace', undefined, undefined, { pendingScope: { object: namespace(), mayWait: true } }, []],
  ])('%s', async (_, found, late, more, told) => {
    const at = lookup(found, late)
    expect(await mutate(plugin(at), about(more))).toBeUndefined()
    expect(at.told).toEqual(told)
  })

  test.each<[string, Namespace | undefined, Partial<Attributes>, object]>([
    ['is there', undefined, {}, missing],
    ['is there for a change', undefined, { operation: 'UPDATE' }, missing],
    ['does not go away', terminating, {}, ended('is being terminated')],
    ['has not come to its end', expired, {}, ended('expired at 2030-01-01T00:00:00Z')],
    [
      'does not go away, whatever the object will be called',
      terminating,
      { name: '', object: { metadata: { generateName: 'c-' } } },
      ended('is being terminated', 'c-'),
    ],
    ['does not go away, by its own name', terminating, { name: '' }, ended('is being terminated')],
    [
      'does not go away, called nothing',
      terminating,
      { name: '', object: { metadata: {} } },
      ended('is being terminated', 'Unknown'),
    ],
  ])('needs a namespace that %s', async (_, found, more, status) => {
    expect(await refusal(mutate(plugin(lookup(found)), about(more)))).toEqual(status)
  })

  test('is committed only as long as its namespace is what was seen', () => {
    const seen = (object: Namespace | undefined) => ({ see: () => ({ key: 'k', expect: 7, object }) }) as never
    const { decide } = plugin()
    expect(decide?.(about(), seen(namespace()))).toEqual({ guards: [{ key: 'k', expect: 7 }] })
    expect(decide?.(about({ namespace: '' }), seen(undefined))).toEqual({})
    expect(thrown(() => decide?.(about(), seen(terminating)))).toEqual(ended('is being terminated'))
    expect(thrown(() => decide?.(about(), seen(undefined)))).toEqual(missing)
  })
})

describe('a deletion', () => {
  const { validate } = namespaceLifecycle(lookup(undefined), () => false)
  const deletion = (of: Namespace) =>
    attributesOf({ type: namespaces, operation: 'DELETE', object: undefined, oldObject: of })
  const denied = (name: string, why: string) => forbidden({ kind: 'namespaces', name }, why)
  const protection = (value: string) => namespace({ annotations: { 'borough.dev/deletion-protection': value } })

  test.each(['default', 'kube-system', 'kube-public'])('of %s is refused', (name) => {
    expect(thrown(() => validate?.(deletion(namespace({ name }))))).toEqual(
      denied(name, 'this namespace may not be deleted'),
    )
  })

  test('of one that is protected says how to lift that', () => {
    expect(thrown(() => validate?.(deletion(protection('true'))))).toEqual(
      denied(
        'team',
        'it is protected; to lift the protection: kubectl annotate namespace team borough.dev/deletion-protection-',
      ),
    )
    for (const of of [namespace(), protection('false'), namespace({ name: 'kube-node-lease' })])
      expect(() => validate?.(deletion(of))).not.toThrow()
  })

  test('by the controller that ends namespaces is refused of one that has not expired', () => {
    const { validate: judge } = namespaceLifecycle(lookup(undefined), (of) => of === expired)
    const byController = (
      of: Namespace,
      username = 'system:serviceaccount:kube-system:namespace-expiry-controller',
    ) => ({
      ...deletion(of),
      user: { username, groups: [] },
    })
    expect(thrown(() => judge?.(byController(namespace())))).toEqual(
      failure({
        message: 'Operation cannot be fulfilled on namespaces "team": it has not expired',
        reason: 'Conflict',
        details: { name: 'team', kind: 'namespaces' },
        code: 409,
      }),
    )
    expect(() => judge?.(byController(expired))).not.toThrow()
    expect(() => judge?.(byController(namespace(), 'alice'))).not.toThrow()
  })
})

describe('the last finalizer', () => {
  const holding = (...finalizers: string[]) => namespace({}, { spec: { finalizers } })
  const finalize = (next: Namespace, old: Namespace | undefined) =>
    attributesOf({ type: namespaces, operation: 'UPDATE', object: next, oldObject: old })
  function content(...names: string[]) {
    const told: string[] = []
    const plugin = namespaceFinalization({
      of: () => (names.length === 0 ? [] : [{ resource: configMaps, count: names.length }]),
      remaining: (_: string, limit: number) => ({
        named: names.slice(0, limit).map((name) => ({ resource: 'configmaps', name })),
        finalizers: new Map(),
      }),
      refresh: async () => void told.push('refreshed'),
    } as never)
    return { ...plugin, told }
  }

  test.each<[Attributes['operation'], object, string, boolean]>([
    ['UPDATE', namespaces, 'finalize', true],
    ['UPDATE', namespaces, '', false],
    ['CREATE', namespaces, 'finalize', false],
    ['UPDATE', configMaps, 'finalize', false],
    ['UPDATE', { ...namespaces, group: 'ex.io' }, 'finalize', false],
  ])('%s is asked about', (operation, type, subresource, asked) => {
    expect(content().handles(operation, type as never, subresource)).toBe(asked)
  })

  test.each<[string, Namespace, Namespace | undefined, string[]]>([
    ['that goes', holding(), holding('kubernetes'), ['refreshed']],
    ['that goes, and no other,', holding('a'), holding('kubernetes', 'a'), ['refreshed']],
    ['that goes with all of the spec', namespace(), holding('kubernetes'), ['refreshed']],
    ['that stays', holding('kubernetes'), holding('kubernetes', 'a'), []],
    ['of another', holding(), holding('a'), []],
    ['of none', holding(), undefined, []],
  ])('%s is let go of where nothing is left', async (_, next, old, told) => {
    const plugin = content()
    expect(await mutate(plugin, finalize(next, old))).toBeUndefined()
    expect(plugin.told).toEqual(told)
    expect(plugin.decide?.(finalize(next, old), undefined as never)).toEqual({})
    const full = () => content('a').decide?.(finalize(next, old), undefined as never)
    if (told.length === 0) expect(full()).toEqual({})
    else expect(full).toThrow('1 object is left in it')
  })

  test('stays while content is left, of which ten are named', () => {
    const names = Array.from({ length: 12 }, (_, i) => `c${i}`)
    const said = thrown(() =>
      content(...names).decide?.(finalize(holding(), holding('kubernetes')), undefined as never),
    )
    expect(said).toEqual(
      failure({
        message:
          'Operation cannot be fulfilled on namespaces "team": 12 objects are left in it, so the finalizer ' +
          `"kubernetes" can't be removed`,
        ...{ reason: 'Conflict', code: 409 },
        details: {
          ...{ name: 'team', kind: 'namespaces' },
          causes: names.slice(0, 10).map((name) => ({
            ...{ reason: 'NamespaceContentRemaining', message: `configmaps/${name}`, field: 'spec.finalizers' },
          })),
        },
      }),
    )
  })
})

describe('NamespaceExists', () => {
  const check = async (at: ReturnType<typeof lookup>, more: Partial<Attributes> = {}) =>
    namespaceExists(at).validate?.(about(more))

  test('asks of every write in a namespace', () => {
    const { handles } = namespaceExists(lookup(undefined))
    expect(handles('DELETE', configMaps, '')).toBe(true)
    expect(handles('CONNECT', configMaps, 'exec')).toBe(false)
    expect(handles('CREATE', namespaces, '')).toBe(false)
  })

  test.each<[string, Namespace | undefined, Namespace | undefined, Partial<Attributes>, string[]]>([
    ['is there', namespace(), undefined, {}, []],
    ['is seen after a look at the store', undefined, namespace(), {}, ['refreshed']],
    ['is of no concern', undefined, undefined, { namespace: '' }, []],
  ])('is content where the namespace %s', async (_, found, late, more, told) => {
    const at = lookup(found, late)
    await check(at, more)
    expect(at.told).toEqual(told)
  })

  test('refuses where it is not', async () => {
    expect(await refusal(check(lookup(undefined)))).toEqual(missing)
  })
})

describe('NamespaceAutoProvision', () => {
  function provisioning(at: ReturnType<typeof lookup>, error?: Error) {
    const made: string[] = []
    const plugin = namespaceAutoProvision(at, async (name, { username }) => {
      made.push(`${name} for ${username}`)
      if (error !== undefined) throw error
    })
    return { plugin, made }
  }

  test('asks of creates in a namespace', () => {
    const { handles } = provisioning(lookup(undefined)).plugin
    expect(handles('CREATE', configMaps, '')).toBe(true)
    expect(handles('UPDATE', configMaps, '')).toBe(false)
    expect(handles('CREATE', namespaces, '')).toBe(false)
  })

  test.each<[string, Namespace | undefined, Namespace | undefined, Partial<Attributes>, string[]]>([
    ['is made where it is missing', undefined, undefined, {}, ['team for alice']],
    [
      'is made for whom another acts as',
      undefined,
      undefined,
      { user: { ...alice, username: 'bob' } },
      ['team for bob'],
    ],
    ['is there', namespace(), undefined, {}, []],
    ['is seen after a look at the store', undefined, namespace(), {}, []],
    ['is not made by a dry run', undefined, undefined, { dryRun: true }, []],
    ['is not made of nothing', undefined, undefined, { namespace: '' }, []],
    ['is not made by a question', undefined, undefined, { type: review }, []],
  ])('a namespace %s', async (_, found, late, more, made) => {
    const world = provisioning(lookup(found, late))
    expect(await mutate(world.plugin, about(more))).toBeUndefined()
    expect(world.made).toEqual(made)
  })

  test('one that another made meanwhile will do; what else fails is told', async () => {
    const there = provisioning(lookup(undefined), alreadyExists({ group: '', resource: 'namespaces' }, 'team'))
    expect(await mutate(there.plugin, about())).toBeUndefined()
    for (const error of [badRequest('no'), new Error('no')]) {
      expect(await refusal(mutate(provisioning(lookup(undefined), error).plugin, about()))).toEqual(
        forbidden({ kind: 'configmaps', name: 'c' }, 'no'),
      )
    }
  })
})
