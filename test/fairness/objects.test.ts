/** FlowSchemas and PriorityLevelConfigurations as objects: what is there, what is refused, what their status says. */
import { afterEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { FlowSchemaObject, PriorityLevelObject } from '../../src/flowcontrol/flowcontrol.ts'
import { flowSchemasResource, priorityLevelConfigurationsResource } from '../../src/flowcontrol/flowcontrol.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { allUsersTo, queuedLevel, rejectingLevel } from '../support/flow-control.ts'
import { invalidObject, refusal } from '../support/refusal.ts'
import { type FairnessWorld, inTeam, startFairnessWorld } from './fairness-world.ts'

let world: FairnessWorld
afterEach(() => world[Symbol.asyncDispose]())

const group = 'flowcontrol.apiserver.k8s.io'
const levels = priorityLevelConfigurationsResource
const schemas = flowSchemasResource
const dangling = async (name: string): Promise<unknown> =>
  ((await world.admin.get(schemas, { name })) as FlowSchemaObject).status?.conditions?.map(
    ({ type, status, reason, message }) => ({ type, status, reason, message }),
  )

describe('bootstrap objects', () => {
  test('are there before a client is served, in force, and say whose they are', async () => {
    world = await startFairnessWorld({ controllers: () => false })
    const names = async (resource: typeof schemas): Promise<(string | undefined)[]> =>
      (await world.admin.list(resource)).items.map(({ metadata }) => metadata.name)
    expect(await names(levels)).toEqual([
      ...['catch-all', 'exempt', 'global-default', 'leader-election', 'node-high', 'system'],
      ...['workload-high', 'workload-low'],
    ])
    expect(await names(schemas)).toEqual([
      ...['catch-all', 'exempt', 'global-default', 'kube-controller-manager'],
      ...['kube-scheduler', 'kube-system-service-accounts', 'probes', 'service-accounts', 'system-leader-election'],
      ...['system-node-high', 'system-nodes'],
    ])
    const { metadata } = await world.admin.get(levels, { name: 'workload-low' })
    expect(metadata.annotations).toEqual({ 'apf.kubernetes.io/autoupdate-spec': 'true' })
    expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual([
      'api-priority-and-fairness-config-producer-v1',
    ])
    const { headers } = await world.ask('dora', inTeam)
    const { metadata: inForce } = await world.admin.get(schemas, { name: 'global-default' })
    expect(headers.get('x-kubernetes-pf-flowschema-uid')).toBe(inForce.uid)
  })

  test('are put back each minute where they were deleted or edited, unless the operator owns them', async () => {
    const clock = new FakeClock(Date.now())
    world = await startFairnessWorld({ clock })
    const before = await world.admin.get(levels, { name: 'system' })
    await world.admin.delete(levels, { name: 'system' })
    const limited = { nominalConcurrencyShares: 7 }
    await world.admin.patch(levels, { name: 'workload-low' }, { spec: { limited } })
    await world.admin.patch(
      levels,
      { name: 'node-high' },
      { metadata: { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'false' } }, spec: { limited } },
    )
    const shares = async (name: string): Promise<unknown> =>
      ((await world.admin.get(levels, { name })) as PriorityLevelObject).spec?.limited?.nominalConcurrencyShares
    await clock.advance(60_000)
    await expect.poll(() => shares('workload-low')).toBe(100)
    const { metadata, spec } = (await world.admin.get(levels, { name: 'system' })) as PriorityLevelObject
    expect([metadata.uid === before.metadata.uid, spec]).toEqual([false, before['spec']])
    expect(await shares('node-high')).toBe(7)
  })
})

describe('rules', () => {
  const create = async (resource: typeof schemas, object: KubeObject): Promise<unknown> =>
    refusal(world.admin.create(resource, object))

  test('of both kinds are those of upstream', async () => {
    world = await startFairnessWorld()
    const level = rejectingLevel('odd')
    expect(await create(levels, { ...level, spec: { ...level.spec, type: 'Exempt' } } as KubeObject)).toEqual(
      invalidObject({ group, kind: 'PriorityLevelConfiguration', name: 'odd' }, [
        `spec.type: Invalid value: "Exempt": type must be 'Exempt' if and only if name is 'exempt'`,
        'spec.limited: Forbidden: must be nil if the type is not Limited',
      ]),
    )
    expect(await create(schemas, allUsersTo('odd', 'first', 1))).toEqual(
      invalidObject({ group, kind: 'FlowSchema', name: 'first' }, [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      ]),
    )
  })

  test('hold for updates, and for conditions by way of the status', async () => {
    world = await startFairnessWorld()
    await world.store(rejectingLevel('odd'), allUsersTo('odd'))
    const conditions = [{ type: 'Mine' }, { type: 'Mine' }]
    const found = await world.admin.get(schemas, { name: 'to-odd' })
    const changed = world.admin.update(schemas, { ...found, status: { conditions } } as KubeObject, {
      subresource: 'status',
    })
    expect(await refusal(changed)).toEqual(
      invalidObject({ group, kind: 'FlowSchema', name: 'to-odd' }, [
        'status.conditions[1].type: Duplicate value: "Mine"',
      ]),
    )
    const patched = world.admin.patch(schemas, { name: 'to-odd' }, { spec: { matchingPrecedence: 20_000 } })
    expect(await refusal(patched)).toEqual(
      invalidObject({ group, kind: 'FlowSchema', name: 'to-odd' }, [
        'spec.matchingPrecedence: Invalid value: 20000: must not be greater than 10000',
      ]),
    )
  })
})

describe('the condition Dangling', () => {
  const reference = 'This FlowSchema references the PriorityLevelConfiguration object named "later"'

  test('follows the priority level that a FlowSchema names, which matches nothing before', async () => {
    world = await startFairnessWorld()
    await world.admin.create(schemas, allUsersTo('later', 'early', 500))
    await expect
      .poll(() => dangling('early'))
      .toEqual([
        { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${reference} but there is no such object` },
      ])
    const uidOf = async (name: string): Promise<string | undefined> =>
      (await world.admin.get(schemas, { name })).metadata.uid
    const decided = async (): Promise<string | null> =>
      (await world.ask('dora', inTeam)).headers.get('x-kubernetes-pf-flowschema-uid')
    expect(await decided()).toBe(await uidOf('global-default'))
    await world.admin.create(levels, queuedLevel('later', { queues: 4, handSize: 2, queueLengthLimit: 5 }))
    expect(await decided()).toBe(await uidOf('early'))
    await expect
      .poll(() => dangling('early'))
      .toEqual([{ type: 'Dangling', status: 'False', reason: 'Found', message: `${reference} and it exists` }])
    await world.admin.delete(levels, { name: 'later' })
    expect(await decided()).toBe(await uidOf('global-default'))
  })

  test('is written six times a minute at most', async () => {
    const clock = new FakeClock(Date.now())
    world = await startFairnessWorld({ clock })
    await world.admin.create(schemas, allUsersTo('later', 'early', 500))
    const told = async (): Promise<unknown> =>
      ((await dangling('early')) as { status: string }[] | undefined)?.[0]?.status
    const level = queuedLevel('later', { queues: 4, handSize: 2, queueLengthLimit: 5 })
    await expect.poll(told).toBe('True')
    for (let i = 0; i < 5; i++) {
      if (i % 2 === 0) await world.admin.create(levels, level)
      else await world.admin.delete(levels, { name: 'later' })
      await expect.poll(told).toBe(i % 2 === 0 ? 'False' : 'True')
    }
    await world.admin.delete(levels, { name: 'later' })
    await clock.advance(1000)
    expect(await told()).toBe('False')
    await clock.advance(60_000)
    await expect.poll(told).toBe('True')
  })
})
