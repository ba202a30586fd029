import { describe, expect, test } from 'vitest'
import type { Client, WriteOptions } from '../../client/client.ts'
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
  const revision = (generation: number, says: number): object => ({
    metadata: { name: `r${generation}`, ownerReferences: [{ uid: 'u' }] },
    ...{ revision: generation, data: { spec: { deletionPolicy: `of ${says}` } } },
  })
  const written: unknown[] = []
  const back = (kept: readonly number[], generation?: number, { says = 4, warned = [] as string[] } = {}) => {
    written.length = 0
    const client = {
      get: async () => ({
        metadata: { name: 't', uid: 'u', generation: 4 },
        spec: { deletionPolicy: `of ${says}` },
      }),
      list: async () => ({ items: kept.map((g) => revision(g, g === 4 ? says : g)) }),
      async update(_: unknown, object: { metadata: object; spec: object }, options: WriteOptions) {
        written.push([object.spec, options.dryRun])
        for (const text of warned) options.onWarning?.(text)
        return { ...object, metadata: { ...object.metadata, generation: 5 } }
      },
    } as unknown as Client
    const told: string[] = []
    const which = generation === undefined ? {} : { generation }
    const request = { name: 't', dryRun: true, ...which, onWarning: (text: string) => void told.push(text) }
    return rollbackTemplate(client, request, new AbortController().signal).finally(() => expect(told).toEqual(warned))
  }

  test('is the one before, or the one that is asked for', async () => {
    expect(await back([4, 3, 2])).toEqual({ from: 4, to: 3, generation: 5 })
    expect(written).toEqual([[{ deletionPolicy: 'of 3' }, true]])
    expect(await back([4, 3, 2], 2)).toEqual({ from: 4, to: 2, generation: 5 })
  })

  test('is further back after a step back, not what that has left', async () => {
    expect(await back([4, 3, 2, 1], undefined, { says: 2 })).toEqual({ from: 4, to: 1, generation: 5 })
    expect(await back([4, 3, 2, 1], 3, { says: 2 })).toEqual({ from: 4, to: 3, generation: 5 })
    await expect(back([4, 3, 2], undefined, { says: 2 })).rejects.toThrow(
      'an earlier generation of t (now 4, which says what 2 said) is not in kube-system: kept are 3, 2',
    )
  })

  test.each([
    { word: 'would be', stop: 'certain' },
    { word: 'is perhaps', stop: 'perhaps' },
    { word: 'is not', stop: undefined },
  ])('is told with what the server says of a stop: that it $word', async ({ word, stop }) => {
    const warned = ['of another thing', `NamespaceTemplate "t" ${word} stopped: so`]
    const done = { from: 4, to: 3, generation: 5 }
    expect(await back([4, 3], undefined, { warned })).toEqual(stop === undefined ? done : { ...done, stop })
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
