import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { startControlPlane } from '../../testing/index.ts'
import { rollbackTemplate } from './rollback.ts'
import { templateResource } from './types.ts'

test.each([
  { between: 'its status is written', patch: { status: { synced: 7 } }, subresource: 'status', isDone: true },
  { between: 'another client edits it', patch: { spec: { deletionPolicy: 'Orphan' } }, isDone: false },
])('when $between in the same moment, a rollback that goes on: $isDone', async ({ patch, subresource, isDone }) => {
  await using plane = await startControlPlane()
  const { client } = plane
  const name = 't'
  const of = (a: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a } })
  const namespaces = { nameSelector: { include: ['nowhere'] } }
  await client.create(templateResource, {
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name },
    spec: { namespaces, templates: [of('1')] },
  })
  const revisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' }
  const kept = async (): Promise<number> => (await client.list(revisions, { namespace: 'kube-system' })).items.length
  await expect.poll(kept).toBe(1)
  await client.patch(templateResource, { name }, { spec: { templates: [of('2')] } })
  await expect.poll(kept).toBe(2)

  let isFirst = true
  const disturbed = Object.create(client, {
    update: {
      async value(...args: Parameters<typeof client.update>) {
        if (isFirst)
          await client.patch(templateResource, { name }, patch, subresource === undefined ? {} : { subresource })
        isFirst = false
        return client.update(...args)
      },
    },
  }) as typeof client
  for (const method of ['get', 'list'] as const) {
    Object.defineProperty(disturbed, method, { value: client[method].bind(client) })
  }
  const rolledBack = rollbackTemplate(disturbed, { name, dryRun: false }, AbortSignal.timeout(20_000))
  if (isDone) await expect(rolledBack).resolves.toMatchObject({ from: 2, to: 1, generation: 3 })
  else await expect(rolledBack).rejects.toThrow('the object has been modified')
})

describe('a generation to go back to', () => {
  const revision = (generation: number): object => ({
    metadata: { name: `r${generation}`, ownerReferences: [{ uid: 'u' }] },
    ...{ revision: generation, data: { spec: { deletionPolicy: `of ${generation}` } } },
  })
  const written: unknown[] = []
  const back = (kept: readonly number[], generation?: number) => {
    written.length = 0
    const client = {
      get: async () => ({ metadata: { name: 't', uid: 'u', generation: 4 }, spec: {} }),
      list: async () => ({ items: kept.map(revision) }),
      async update(_: unknown, object: { metadata: object; spec: object }, { dryRun }: { dryRun: boolean }) {
        written.push([object.spec, dryRun])
        return { ...object, metadata: { ...object.metadata, generation: 5 } }
      },
    } as unknown as Client
    const request = { name: 't', dryRun: true, ...(generation === undefined ? {} : { generation }) }
    return rollbackTemplate(client, request, new AbortController().signal)
  }

  test('is the one before, or the one that is asked for', async () => {
    expect(await back([4, 3, 2])).toEqual({ from: 4, to: 3, generation: 5 })
    expect(written).toEqual([[{ deletionPolicy: 'of 3' }, true]])
    expect(await back([4, 3, 2], 2)).toEqual({ from: 4, to: 2, generation: 5 })
  })

  test.each([
    {
      kept: [4],
      generation: undefined,
      why: 'an earlier generation of t (now 4) is not in kube-system: no other is kept',
    },
    { kept: [4, 3, 1], generation: 2, why: 'generation 2 of t (now 4) is not in kube-system: kept are 3, 1' },
  ])('is told of where it is not kept: $why', async ({ kept, generation, why }) => {
    await expect(back(kept, generation)).rejects.toThrow(why)
    expect(written).toEqual([])
  })
})
