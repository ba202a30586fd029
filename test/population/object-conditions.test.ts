/** `spec.objects[].when`: which objects of a template are for which namespaces, here and by `borough populate`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, Status } from '../../src/kube/types.ts'
import { publishedAuthorities } from '../support/empty-cluster.ts'
import { invalidObject } from '../support/refusal.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { AnyWorld, anyCluster, refusalAnywhere } from './any-world.ts'
import {
  conditionOf,
  configMap,
  configMapResource,
  namespaceResource,
  PopulationWorld,
  refusal,
  templateResource,
} from './population-world.ts'

const ofSize = (size: string): string =>
  `'size' in namespaceObject.metadata.labels && namespaceObject.metadata.labels['size'] == '${size}'`
const when = (expression: string, template: JsonObject): JsonObject => ({ when: expression, template })

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  let admin: Client
  beforeAll(async () => {
    world = new AnyWorld(await start())
    admin = world.admin
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('a new namespace has the objects whose condition is true, and the others never', async () => {
    await world.template('sizes', [
      when(ofSize('large'), configMap('big')),
      when(ofSize('small'), configMap('little')),
      when("namespaceObject.metadata.name.endsWith('-1')", configMap('first')),
      { template: configMap('always') },
    ])
    await world.namespace('sizes-1', { size: 'large' })
    const { items } = await admin.list(configMapResource, { namespace: 'sizes-1' })
    const names = items.map((o) => o.metadata.name).filter((name) => !publishedAuthorities.has(name))
    expect(names).toEqual(['always', 'big', 'first'])
  })

  test('of alternatives under one name a label says which it is, and a label taken off prunes it', async () => {
    await world.template('either', [
      when(ofSize('large'), configMap('quota', { pods: '100' })),
      when(ofSize('small'), configMap('quota', { pods: '10' })),
    ])
    await world.namespace('either-1', { size: 'small' })
    await world.data('either-1', 'quota', { pods: '10' })
    await world.label('either-1', { size: 'large' })
    const ref = { namespace: 'either-1', name: 'quota' }
    await world.data('either-1', 'quota', { pods: '100' })
    await world.label('either-1', { size: null })
    await waitFor(admin, configMapResource, ref, isGone)
  })

  test('a condition that an edit makes false prunes no more than maxPrune allows', async () => {
    await world.template('mass', [when("'keep' != 'drop'", configMap('policy'))])
    for (let i = 0; i < 6; i++) await world.namespace(`mass-${i}`)
    const objects = [when("'keep' == 'drop'", configMap('policy'))]
    await world.edit('mass', { objects })
    const stopped = await world.status('mass', (s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    expect(conditionOf(stopped, 'Progressing')?.['message']).toContain(
      'generation 2 would delete objects in 6 of 6 namespaces',
    )
    await world.data('mass-3', 'policy', { a: '1' })
    const confirm = { metadata: { annotations: { 'policy.borough.dev/confirm-prune': '2' } } }
    await admin.patch(templateResource, { name: 'mass' }, confirm)
    await waitFor(admin, configMapResource, { namespace: 'mass-3', name: 'policy' }, isGone)
  })

  test('a condition that fails prunes nothing and lets nothing drift, and the status says so', async () => {
    await world.template('fails', [when("namespaceObject.metadata.labels['size'] == 'large'", configMap('policy'))])
    await world.namespace('fails-1', { size: 'large' })
    await world.label('fails-1', { size: null })
    expect(await world.failures('fails', 'ConditionFailed')).toEqual([
      {
        namespace: 'fails-1',
        object: 'ConfigMap/policy',
        reason: 'ConditionFailed',
        message:
          "condition \"namespaceObject.metadata.labels['size'] == 'large'\" can not be judged: no such key: size",
      },
    ])
    await admin.patch(configMapResource, { namespace: 'fails-1', name: 'policy' }, { data: { a: 'spoilt' } })
    await world.data('fails-1', 'policy', { a: '1' })
    await world.label('fails-1', { size: 'large' })
    await world.synced('fails')
  })

  test('a Role that a condition leaves out is not bound, whichever Role is there under its name', async () => {
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' }
    const role = { ...rbac, kind: 'Role', metadata: { name: 'own' }, rules: [] }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'own' }
    const binding = { ...rbac, kind: 'RoleBinding', metadata: { name: 'own' }, roleRef, subjects: [] }
    await world.template('roles', [when(ofSize('large'), role), { template: binding }])
    await world.namespace('roles-1', { size: 'small' })
    expect(await world.failures('roles', 'RoleNotOurs')).toMatchObject([
      {
        namespace: 'roles-1',
        object: 'RoleBinding/own',
        message: 'Role/own, which it binds, is held by its template under a condition that is not true here',
      },
    ])
    const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
    await world.label('roles-1', { size: 'large' })
    await waitFor(admin, bindings, { namespace: 'roles-1', name: 'own' }, isThere)
  })

  const invalidTemplate = (...faults: string[]): Status =>
    invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'refused' }, faults)

  test.each([
    {
      what: 'a name that is no variable',
      objects: [when('namespaces.x == 1', configMap('a'))],
      fault:
        'spec.objects[0].when: Invalid value: "namespaces.x == 1": compilation failed: ERROR: <input>:1:1: ' +
        "undeclared reference to 'namespaces' (in container '')\n | namespaces.x == 1\n | ^",
    },
    {
      what: 'a text',
      objects: [{ template: configMap('b') }, when("'yes'", configMap('a'))],
      fault: 'spec.objects[1].when: Invalid value: "\'yes\'": must evaluate to bool but got string',
    },
    {
      what: 'an expression without end',
      objects: [when(`true ${'|| true '.repeat(600)}`, configMap('a'))],
      fault: `spec.objects[0].when: Invalid value: "true ${'|| true '.repeat(600)}": must have at most 4096 characters`,
    },
    {
      what: 'a parameter that it does not have',
      objects: [when("params.siz == 'large'", configMap('a'))],
      fault:
        'spec.objects[0].when: Invalid value: "params.siz == \'large\'": ' +
        'params.siz is no parameter: the template has none',
    },
    {
      what: 'an object without a name',
      objects: [{ template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } }],
      fault: 'spec.objects[0].template.metadata.name: Required value',
    },
  ])('refused when it is written: $what', async ({ objects, fault }) => {
    expect(await refusalAnywhere(world.template('refused', objects))).toEqual(invalidTemplate(fault))
  })
})

describe('a change of a namespace that changes what a template gives it', () => {
  test.each([
    {
      what: 'which objects, by a condition',
      spec: { objects: [when(ofSize('large'), configMap('big'))] },
      change: { labels: { size: 'large' } },
      would: ['would create ConfigMap/big'],
    },
    {
      what: 'their content, by a parameter',
      spec: {
        parameters: [{ name: 'tier', fromAnnotation: 'tier', default: 'low' }],
        objects: [{ template: configMap('about', { tier: '$(tier)' }) }],
      },
      change: { annotations: { tier: 'high' } },
      would: [],
    },
    {
      what: 'its own labels, by a parameter',
      spec: {
        parameters: [{ name: 'tier', fromAnnotation: 'tier', default: 'low' }],
        namespaceMetadata: { labels: { tier: '$(tier)' } },
      },
      change: { annotations: { tier: 'high' } },
      would: [],
    },
  ])('takes the permission to use the template, where it asks for one: $what', async ({ spec, change, would }) => {
    await using world = await PopulationWorld.start()
    await world.admin.create(templateResource, {
      metadata: { name: 'sizes', annotations: { 'policy/namespace-template-require-permission': 'true' } },
      spec: { namespaces: { nameSelector: { include: ['team'] } }, ...spec },
    })
    await world.namespace('team')
    const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
    const rules = [{ verbs: ['get', 'patch'], apiGroups: [''], resources: ['namespaces'] }]
    await world.admin.create(rbac('roles'), { metadata: { name: 'l', namespace: 'team' }, rules })
    await world.admin.create(rbac('rolebindings'), {
      metadata: { name: 'l', namespace: 'team' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'l' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
    })
    const tenant = world.clientAs('tenant')
    expect(await refusal(tenant.patch(namespaceResource, { name: 'team' }, { metadata: change }))).toMatchObject({
      code: 403,
      message:
        'namespaces "team" is forbidden: user "tenant" cannot use namespacetemplates "sizes", which would give ' +
        'something else to this namespace',
    })
    await tenant.patch(namespaceResource, { name: 'team' }, { metadata: { labels: { other: 'x' } } })
    expect(await world.patchWarnings('/api/v1/namespaces/team?dryRun=All', { metadata: change })).toEqual(would)
  })
})
