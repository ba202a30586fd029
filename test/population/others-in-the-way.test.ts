/**
 * What a tenant makes of an object, a quota or a namespace such that an edit is refused there: it goes on to all the
 * others. What is refused for the edit's own fault stops it as before.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { conditionOf, configMap, configMapResource, namespaceResource } from './population-world.ts'

const rbac = 'rbac.authorization.k8s.io'
const bindings = { group: rbac, version: 'v1', resource: 'rolebindings' }
const quotas = { group: '', version: 'v1', resource: 'resourcequotas' }
const binding = (role: string): JsonObject => ({
  ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name: 'about' } },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
})
const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'about' } }
const much = 'x'.repeat(262_000)

interface Row {
  readonly name: string
  readonly before?: readonly JsonObject[]
  readonly after?: readonly JsonObject[]
  readonly edit?: JsonObject
  readonly spec?: JsonObject
  readonly hinder: (client: Client, namespace: string) => Promise<unknown>
  /** In the namespaces that nobody hinders. */
  readonly others?: (client: Client, namespace: string) => Promise<unknown>
  readonly reason: unknown
}

const annotated =
  (annotations: Record<string, string>) =>
  (client: Client, name: string): Promise<unknown> =>
    client.patch(namespaceResource, { name }, { metadata: { annotations } })
const about = (namespace: string) => ({ namespace, name: 'about' })
const change =
  (patch: JsonObject) =>
  (client: Client, namespace: string): Promise<unknown> =>
    client.patch(configMapResource, about(namespace), patch)

const rows: readonly Row[] = [
  { name: 'an object that is immutable', hinder: change({ immutable: true }), reason: 'Invalid' },
  {
    name: 'an object that is immutable by an apply under the name of our manager',
    hinder: (client, namespace) =>
      client.apply(
        configMapResource,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: about(namespace), data: { a: '1' }, immutable: true },
        { fieldManager: 'namespace-template', force: true },
      ),
    reason: 'Invalid',
  },
  {
    name: 'an object that is immutable by an update under the name of our manager',
    hinder: (client, namespace) =>
      client.patch(configMapResource, about(namespace), { immutable: true }, { fieldManager: 'namespace-template' }),
    reason: 'Invalid',
  },
  {
    name: 'an object that is immutable, whose managers nobody knows any more',
    hinder: change({ immutable: true, metadata: { managedFields: [{}] } }),
    reason: 'Invalid',
  },
  {
    name: 'an immutable object that was there before a template that adopts',
    spec: { adopt: true },
    before: [{ template: configMap('other') }],
    hinder: (client, namespace) =>
      client.create(configMapResource, { metadata: about(namespace), data: { a: 'mine' }, immutable: true }),
    reason: 'Invalid',
  },
  {
    name: 'an immutable object of a template that becomes strict',
    after: [{ template: configMap('about'), drift: 'Strict' }],
    hinder: change({ immutable: true }),
    reason: 'Invalid',
  },
  {
    name: 'an immutable object of which drift is only reported',
    spec: { driftPolicy: 'Report' },
    hinder: change({ immutable: true }),
    reason: 'Invalid',
  },
  {
    name: 'a key under another field',
    after: [{ template: configMap('about', { a: '1', b: '2' }) }],
    hinder: change({ binaryData: { b: 'AAAA' } }),
    reason: 'Invalid',
  },
  {
    name: 'annotations of an object',
    after: [
      { template: { ...configMap('about'), metadata: { name: 'about', annotations: { b: much.slice(0, 1000) } } } },
    ],
    hinder: change({ metadata: { annotations: { much } } }),
    reason: 'Invalid',
  },
  {
    name: 'annotations of the namespace',
    edit: { namespaceMetadata: { annotations: { b: much.slice(0, 1000) } } },
    after: [{ template: configMap('about') }],
    hinder: annotated({ much }),
    reason: 'Invalid',
  },
  {
    name: 'a binding of another role in the place of the template’s',
    before: [{ template: binding('view') }],
    after: [{ template: { ...binding('view'), subjects: [{ apiGroup: rbac, kind: 'Group', name: 'g' }] } }],
    async hinder(client, namespace) {
      const other = { ...binding('edit'), metadata: about(namespace) }
      const take = async (): Promise<boolean> => {
        await client.delete(bindings, about(namespace)).catch(() => undefined)
        return client.create(bindings, other as never).then(
          () => true,
          () => false,
        )
      }
      // The controller may be faster.
      await expect.poll(take).toBe(true)
    },
    reason: 'Invalid',
  },
  {
    name: 'a value that is none, where the template lets it be anything',
    edit: { parameters: [{ name: 'size', fromAnnotation: 'size', default: '9' }] },
    after: [{ template: { ...quota, spec: { hard: { pods: '$(size)' } } } }],
    hinder: annotated({ size: 'many' }),
    reason: expect.any(String),
  },
  {
    name: 'a value that is none of a label of the namespace',
    edit: {
      parameters: [{ name: 'team', fromAnnotation: 'team', default: 'none' }],
      namespaceMetadata: { labels: { 'example.com/team': '$(team)' } },
    },
    hinder: annotated({ team: 'no label' }),
    reason: 'Invalid',
  },
  {
    name: 'a condition that can not be judged',
    after: [
      { template: configMap('about', { a: '2' }), when: "int(namespaceObject.metadata.annotations['size']) < 3" },
    ],
    hinder: annotated({ size: 'small' }),
    others: annotated({ size: '2' }),
    reason: 'ConditionFailed',
  },
  {
    name: 'a quota that is used up',
    after: [{ template: configMap('about') }, { template: configMap('more') }],
    async hinder(client, namespace) {
      const spec = { hard: { 'count/configmaps': '1' } }
      await client.create(quotas, { metadata: { namespace, name: 'q' }, spec })
      const more = { metadata: { namespace, name: 'mine' } }
      const said = () => client.create(configMapResource, more, { dryRun: true }).catch(({ message }) => message)
      await expect.poll(said).toContain('exceeded quota: q')
    },
    reason: 'Forbidden',
  },
]

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  beforeAll(async () => {
    world = new AnyWorld(await start())
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const edited = [{ template: configMap('about', { a: '2' }) }]

  test.each(rows.map((row, i) => ({ ...row, template: `way${i}` })))(
    '$name keeps an edit from nobody else',
    async ({ template, before = [{ template: configMap('about') }], after = edited, spec, reason, ...row }) => {
      await world.template(template, before, { ...spec, rollout: { maxUnavailable: 1 } })
      const names = [0, 1, 2].map((i) => `${template}-${i}`)
      for (const name of names) await world.namespace(name)
      await world.synced(template, names.length)
      const hindered = names.slice(0, 2)
      for (const name of hindered) await row.hinder(world.admin, name)
      await row.others?.(world.admin, `${template}-2`)
      await world.edit(template, { ...row.edit, objects: [...after] })
      const isOver = (s: JsonObject): boolean =>
        s['observedGeneration'] === 2 && conditionOf(s, 'Progressing')?.['reason'] === 'CompleteWithFailures'
      const status = await world.status(template, isOver)
      expect(status).toMatchObject({ matched: 3, synced: 1, failed: 2 })
      const failures = status['failures'] as JsonObject[]
      expect(failures.map((f) => f['namespace']).sort()).toEqual(hindered)
      expect(failures.map((f) => f['reason'])).toEqual([reason, reason])
    },
  )

  test.each(
    [
      {
        name: 'another role in a binding',
        before: { template: binding('view') },
        after: { template: binding('edit') },
      },
      {
        name: 'other data of what it made immutable',
        before: { template: { ...configMap('about'), immutable: true } },
        after: { template: { ...configMap('about', { a: '2' }), immutable: true } },
      },
      {
        name: 'that what it made immutable is not so any more',
        before: { template: { ...configMap('about'), immutable: true } },
        after: { template: configMap('about', { a: '2' }) },
      },
      {
        name: 'a kind that nothing serves',
        before: { template: configMap('about') },
        after: { template: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } } },
      },
    ].map((row, i) => ({ ...row, template: `own${i}` })),
  )('an edit is stopped by its own fault: $name', async (row) => {
    const { template, before, after } = row
    await world.template(template, [before], { rollout: { maxUnavailable: 1 } })
    for (const i of [0, 1, 2]) await world.namespace(`${template}-${i}`)
    await world.synced(template, 3)
    await world.edit(template, { objects: [after] })
    const status = await world.status(template, (s) => s['failed'] === 1 && s['waiting'] === 2)
    expect(status).toMatchObject({ observedGeneration: 2, synced: 0 })
    expect(conditionOf(status, 'Progressing')?.['message']).toContain('1 that failed keep all places of ')
  })
})
