/** Who may take a namespace into a quota or out of it, by its labels or by the selector. */
import { describe, expect, test } from 'vitest'
import { attributesOf, Rights } from '../../../test/support/admission-attributes.ts'
import { forbidden, refusal, thrown } from '../../../test/support/refusal.ts'
import { namespaces } from '../../../test/support/registry-fixture.ts'
import type { Attributes } from '../../admission/admission.ts'
import { Turns } from '../../base/turns.ts'
import type { ObjectMeta } from '../../kube/types.ts'
import { clusterQuotaAdmission } from './admission.ts'
import { parseQuota } from './selection.ts'
import { type ClusterResourceQuota, clusterQuotaResource } from './types.ts'

const quota = (name: string, selector: object, more: object = {}): ClusterResourceQuota => ({
  metadata: { name, uid: `uid of ${name}` },
  spec: { selector, quota: { hard: { 'count/namespaces': '1' } }, ...more },
})
const byLabel = (team: string) => ({ labels: { matchLabels: { team } } })
const byAnnotation = (team: string) => ({ annotations: { team } })
const a = quota('a', byLabel('a'))
const b = quota('b', byAnnotation('b'))
const use = (name: string): string => `use policy.borough.dev/v1alpha1/clusterresourcequotas/ /${name}`

function plugin(rights: Rights, { isInUse = true, joining = 0 } = {}) {
  const of = Array.from({ length: joining }, (_, i) => ({ metadata: { name: `n${i}`, labels: { team: 'z' } } }))
  return clusterQuotaAdmission({
    quotas: { all: () => [parseQuota(a), parseQuota(b)] } as never,
    authorizer: rights,
    isInUse: () => isInUse,
    onUse: (listener) => listener(),
    turns: new Turns({ now: () => 0 } as never),
    namespaces: () => [of],
    usedBy: () => undefined,
    contentOf: () => [],
    list: () => [],
  })
}

test.each<[Attributes['operation'], object, string, boolean, unknown]>([
  ['UPDATE', namespaces, '', true, ['decide']],
  ['UPDATE', namespaces, 'status', true, ['decide']],
  ['UPDATE', namespaces, '', false, false],
  ['CREATE', namespaces, '', true, false],
  ['UPDATE', { ...namespaces, group: 'ex.io' }, '', true, false],
  ['UPDATE', clusterQuotaResource, '', false, ['validate']],
  ['UPDATE', clusterQuotaResource, 'status', true, false],
  ['UPDATE', { ...clusterQuotaResource, resource: 'others' }, '', true, false],
  ['UPDATE', { ...clusterQuotaResource, group: '' }, '', true, false],
  ['CREATE', clusterQuotaResource, '', true, false],
])('%s is asked about', (operation, type, subresource, isInUse, halves) => {
  expect(plugin(new Rights(), { isInUse }).handles(operation, type as never, subresource)).toEqual(halves)
})

test('what it is asked about changes with the first quota', () => {
  let told = 0
  plugin(new Rights()).onHandlesChange?.(() => told++)
  expect(told).toBe(1)
})

describe('a namespace', () => {
  const named = (metadata: ObjectMeta) => ({ metadata: { name: 'team', ...metadata } })
  const move = (old: ObjectMeta | undefined, next: ObjectMeta | undefined, rights: Rights) =>
    plugin(rights).decide?.(
      attributesOf({
        ...{ type: namespaces, operation: 'UPDATE', name: 'team' },
        object: next && named(next),
        oldObject: old && named(old),
      }),
      undefined as never,
    )
  const inA: ObjectMeta = { labels: { team: 'a' } }
  const inB: ObjectMeta = { annotations: { team: 'b' } }

  test.each<[string, ObjectMeta, ObjectMeta, string[], string]>([
    ['comes into a quota by a label', {}, inA, ['a'], 'selects'],
    ['comes into one by an annotation', { labels: {} }, inB, ['b'], 'selects'],
    ['leaves one', inA, { labels: { team: 'c' } }, ['a'], 'would no longer select'],
    ['leaves one for another', inA, inB, ['a', 'b'], 'would no longer select'],
  ])('that %s needs the right to use it', (_, old, next, names, relation) => {
    const rights = new Rights(...names.map(use))
    expect(move(old, next, rights)).toEqual({})
    expect(rights.asked).toEqual(names.map((name) => `alice: ${use(name)}`))
    expect(thrown(() => move(old, next, new Rights()))).toEqual(
      forbidden(
        { kind: 'namespaces', name: 'team' },
        `user "alice" cannot use clusterresourcequotas "${names[0]}", which ${relation} this namespace`,
      ),
    )
  })

  test.each<[string, ObjectMeta | undefined, ObjectMeta | undefined]>([
    ['stays as it is', inA, inA],
    ['has no more than empty maps', {}, { labels: {}, annotations: {} }],
    ['stays where it is', inA, { labels: { team: 'a', more: 'x' }, annotations: { more: 'x' } }],
    ['is new', undefined, inA],
    ['goes', inA, undefined],
  ])('that %s needs none', (_, old, next) => {
    const rights = new Rights()
    expect(move(old, next, rights)).toEqual({})
    expect(rights.asked).toEqual([])
  })
})

describe('the selector of a quota', () => {
  const edit = async (next: ClusterResourceQuota, rights: Rights, joining = 0): Promise<unknown> =>
    plugin(rights, { joining }).validate?.(
      attributesOf({ type: clusterQuotaResource, operation: 'UPDATE', namespace: '', object: next, oldObject: a }),
    )
  const denied = (why: string) => forbidden({ ...clusterQuotaResource, kind: 'clusterresourcequotas', name: 'a' }, why)
  const next = quota('a', byLabel('z'))

  test('is edited with the right to use it', async () => {
    await edit(next, new Rights(use('a')), 1)
    expect(await refusal(edit(next, new Rights(use('b'))))).toEqual(
      denied(
        'user "alice" cannot change which namespaces are counted: spec.selector needs the verb "use" on ' +
          'clusterresourcequotas "a"',
      ),
    )
    const { selector: _, ...rest } = a.spec ?? {}
    await expect(edit({ ...a, spec: rest }, new Rights())).rejects.toThrow('cannot change which namespaces')
  })

  test('takes in no more than the limits allow', async () => {
    await expect(edit(next, new Rights(use('a')), 2)).rejects.toThrow(
      'exceeded quota: a, requested: count/namespaces=2, used: count/namespaces=0, limited: count/namespaces=1',
    )
  })

  test('needs no right where it stays', async () => {
    const rights = new Rights()
    await edit(quota('a', byLabel('a'), { quota: { hard: { pods: '1' } } }), rights, 2)
    expect(rights.asked).toEqual([])
  })
})
