/** What is ours in a namespace and wanted no more: what is deleted, what stays, and what is told of it. */
import { beforeEach, describe, expect, test } from 'vitest'
import { configMap, holding, told, World } from '../../../test/support/population-pass.ts'
import { forbidden, internalError, notFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'

let world: World
beforeEach(() => {
  world = new World()
})

describe('what a template holds no more', () => {
  const mine = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' }
  beforeEach(() => world.put(configMap, { isOurs: true }))

  test('is deleted if it is ours by its uid, and let go', async () => {
    expect(told(await world.pass([]))).toEqual(['ConfigMap/c: pruned'])
    const options = '{"preconditions":{"uid":"uid of ConfigMap/c"},"propagationPolicy":"Background"}'
    expect(world.sent).toEqual([`delete ConfigMap/c ${options}`])
    expect(world.settled).toEqual(['-/ConfigMap/c'])
  })

  test('another that was put in its place is left', async () => {
    world.claim({ ...mine, uid: 'former' })
    expect(told(await world.pass([]))).toEqual(['ConfigMap/c: pruned'])
    expect([world.sent, world.settled]).toEqual([[], ['-/ConfigMap/c']])
  })

  test('one that was only announced is ours if it is marked as ours', async () => {
    world.claim({ ...mine, uid: '' })
    await world.pass([])
    expect(world.sent).toEqual([])
    world.claim({ ...mine, uid: '' })
    const managedFields = [{ manager: 'namespace-template', operation: 'Apply' }]
    const labels = { 'policy/namespace-template-name': 't' }
    world.put(configMap)
    const there = world.objects.get('ConfigMap/c') as KubeObject
    world.objects.set('ConfigMap/c', { ...there, metadata: { ...there.metadata, labels, managedFields } as never })
    await world.pass([])
    expect(world.sent).toHaveLength(1)
  })

  test('stays, without its label, where its template says so or another manager applies it', async () => {
    const [orphaned] = await world.pass([], { policyOf: () => 'Orphan' })
    expect(orphaned).toEqual({ template: 't', object: 'ConfigMap/c', outcome: 'orphaned', released: '/ConfigMap/c' })
    const there = world.objects.get('ConfigMap/c') as KubeObject
    const managedFields = [{ manager: 'argocd', operation: 'Apply' }]
    world.objects.set('ConfigMap/c', { ...there, metadata: { ...there.metadata, managedFields } as never })
    const [taken] = await world.pass([])
    const message = 'it is not deleted, only its label is taken off: "argocd" applies it too'
    expect(taken).toMatchObject({ outcome: 'orphaned', remark: { reason: 'TakenOver', message } })
    expect(world.sent).toEqual(['label ConfigMap/c null', 'label ConfigMap/c null'])
  })

  test('stays as it is where its template is switched off, or is none of those that are asked about', async () => {
    expect(await world.pass([], { policyOf: () => 'Keep' })).toEqual([])
    expect(await world.pass([], { only: 'other' })).toEqual([])
    expect([world.sent, world.settled]).toEqual([[], []])
  })

  test('stays as long as it is wanted, though it can not be made', async () => {
    world.failures.set('find ConfigMap', internalError('no'))
    await world.pass([holding('t', configMap)])
    expect(world.sent).toEqual([])
    // Of a template that can't be rendered nothing is known to be wanted no more.
    const wanting = { ...holding('t'), spec: { parameters: [{ name: 'x', fromLabel: 'x', required: true }] } }
    await world.pass([wanting])
    expect(world.sent).toEqual([])
  })

  test('a refusal is told, and what has gone by itself is let go', async () => {
    const options = '{"preconditions":{"uid":"uid of ConfigMap/c"},"propagationPolicy":"Background"}'
    const resource = { group: '', resource: 'configmaps' }
    world.failures.set(`delete ConfigMap/c ${options}`, forbidden(resource, 'c', 'a webhook says no'))
    expect(told(await world.pass([]))).toEqual([
      'ConfigMap/c: Forbidden, tried again: configmaps "c" is forbidden: a webhook says no',
    ])
    expect(world.settled).toEqual([])
    world.failures.set(`delete ConfigMap/c ${options}`, notFound(resource, 'c'))
    expect(told(await world.pass([]))).toEqual(['ConfigMap/c: pruned'])
    expect(world.settled).toEqual(['-/ConfigMap/c'])
    world.failures.set(`delete ConfigMap/c ${options}`, new Error('a fault'))
    await expect(world.pass([])).rejects.toThrow('a fault')
  })

  test('one whose kind is served no more has gone with it', async () => {
    world.claims.clear()
    world.claim({ apiVersion: 'ex.io/v1', kind: 'Widget', name: 'w', uid: 'w' })
    expect(told(await world.pass([]))).toEqual(['Widget/w: pruned'])
    expect(world.settled).toEqual(['-ex.io/Widget/w'])
  })

  test('one that a finalizer holds is given its label back, for the watch to tell when it goes', async () => {
    const there = world.objects.get('ConfigMap/c') as KubeObject
    const metadata = { ...there.metadata, deletionTimestamp: '2026-11-24T06:00:00Z' }
    world.objects.set('ConfigMap/c', { ...there, metadata })
    expect(await world.pass([])).toEqual([
      { template: 't', object: 'ConfigMap/c', outcome: 'pruned', isUnwatched: false },
    ])
    expect([world.sent, world.settled]).toEqual([['label ConfigMap/c t'], []])
    world.failures.set('label ConfigMap/c t', forbidden({ group: '', resource: 'configmaps' }, 'c', 'no'))
    expect(await world.pass([])).toMatchObject([{ isUnwatched: true }])
  })
})
