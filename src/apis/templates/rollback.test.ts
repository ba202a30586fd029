import { expect, test } from 'vitest'
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
