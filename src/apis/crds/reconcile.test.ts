/** A definition whose instances can't be deleted: each write of its status brings it to its controller again. */
import { expect, it } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Client } from '../../client/client.ts'
import { type DefinitionControllerDeps, definitionController } from './reconcile.ts'
import type { CustomResourceDefinition } from './types.ts'

interface World {
  /** One turn; answers how often the status was written, and what it says. */
  turn(): Promise<{ writes: number; reason: string | undefined; message: string | undefined }>
  isRefused: boolean
}

function terminating(served: boolean): World {
  let writes = 0
  let tries = 0
  let definition = {
    metadata: { name: 'ws.ex.io', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [cleanup] },
    spec: { group: 'ex.io', names: { plural: 'ws' }, versions: [{ name: 'v1', served, storage: true }] },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  } as unknown as CustomResourceDefinition
  const world: World = {
    isRefused: true,
    async turn() {
      await reconcile().catch(() => undefined)
      const { reason, message } = definition.status?.conditions?.find(({ type }) => type === 'Terminating') ?? {}
      return { writes, reason, message }
    },
  }
  const client = {
    deleteCollection: () =>
      world.isRefused ? Promise.reject(new Error(`request ${++tries} failed`)) : Promise.resolve(),
    update: (_: unknown, next: CustomResourceDefinition) => {
      writes++
      definition = next
      return Promise.resolve(next)
    },
  } as unknown as Client
  const definitions = { find: () => definition, inGroup: () => [], overlapsBuiltIn: () => false }
  const instances = { count: () => 1, namespaces: () => ['default'] }
  const deps = { client, clock: new FakeClock(0), definitions, instances } as unknown as DefinitionControllerDeps
  const { reconciler } = definitionController(deps)
  const reconcile = async () => reconciler.reconcile({ namespace: '', name: 'ws.ex.io' }, new AbortController().signal)
  return world
}

const cleanup = 'customresourcecleanup.apiextensions.k8s.io'

it('says once that it failed, and again what becomes of it when it goes on', async () => {
  const world = terminating(true)
  const failed = {
    writes: 2,
    reason: 'InstanceDeletionFailed',
    message: expect.stringContaining('request 1') as string,
  }
  for (let i = 0; i < 3; i++) expect(await world.turn()).toEqual(failed)
  world.isRefused = false
  expect(await world.turn()).toMatchObject({ writes: 3, reason: 'InstanceDeletionInProgress' })
  expect(await world.turn()).toMatchObject({ writes: 3 })
})

it('says once that no version is served', async () => {
  const world = terminating(false)
  const failed = { writes: 2, reason: 'InstanceDeletionFailed', message: 'no version is served' }
  for (let i = 0; i < 3; i++) expect(await world.turn()).toEqual(failed)
})
