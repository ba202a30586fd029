import { expect, test } from 'vitest'
import { templateResource } from '../../src/apis/templates/types.ts'
import { saveTemplate } from '../../src/console/page/templates/save-template.ts'
import { startControlPlane } from '../../src/testing/index.ts'

const edit = (text: string) => ({
  metadata: { name: 'team' },
  spec: {
    namespaces: { nameSelector: { include: ['none'] } },
    templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { text } }],
  },
})

test('a status that was written meanwhile holds no edit up; another edit does', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  const present = await saveTemplate(client, undefined, edit('one'))
  const status = { matched: 1 }
  await client.update(templateResource, { ...present, status }, { subresource: 'status' })
  const saved = await saveTemplate(client, present, edit('two'))
  expect(saved.metadata.generation).toBe(2)
  await expect(saveTemplate(client, present, edit('three'))).rejects.toThrow(
    'Operation cannot be fulfilled on namespacetemplates.policy.borough.dev "team": the object has been modified',
  )
  expect((await client.get(templateResource, { name: 'team' })).spec).toEqual(saved.spec)
})

test('what kubectl apply keeps of a template stays with it, though it is not edited', async () => {
  await using plane = await startControlPlane({ controllers: () => false })
  const { client } = plane
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"kind":"NamespaceTemplate"}' }
  const { metadata, ...rest } = edit('one')
  const present = await client.create(templateResource, { metadata: { ...metadata, annotations: applied }, ...rest })
  const edited = edit('two')
  const saved = await saveTemplate(client, present, {
    ...edited,
    metadata: { ...edited.metadata, annotations: { 'example.com/team': 'a' } },
  })
  expect(saved.metadata.annotations).toEqual({ ...applied, 'example.com/team': 'a' })
  const without = await saveTemplate(client, saved, edit('three'))
  expect(without.metadata.annotations).toEqual(applied)
})
