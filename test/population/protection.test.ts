/** `protect`: objects of templates that others may not write, and what stays possible. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { otherServes } from '../support/other-cluster.ts'
import { isGone, waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { AnyWorld, refusalAnywhere } from './any-world.ts'
import { elsewhere, elsewhereWithoutPolicies, onBorough } from './enforcement/clusters.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const quotaResource = { group: '', version: 'v1', resource: 'resourcequotas' }

const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })

describe.each([
  { where: 'on Borough', start: onBorough, denied: '' },
  ...((await otherServes('ValidatingAdmissionPolicy'))
    ? [
        {
          where: 'by an admission policy elsewhere',
          start: elsewhere,
          denied: "ValidatingAdmissionPolicy 'borough-population' with binding 'borough-population' denied request: ",
        },
      ]
    : []),
  { where: 'by a webhook elsewhere', start: elsewhereWithoutPolicies, denied: '' },
])('$where', ({ where, start, denied }) => {
  let world: AnyWorld
  let admin: Client
  let tenant: Client
  const ref = { namespace: 'team-1', name: 'policy' }

  beforeAll(async () => {
    world = new AnyWorld(await start())
    admin = world.admin
    await world.template('team', [{ protect: true, template: configMap('policy') }, { template: configMap('open') }])
    await world.namespace('team-1')
    tenant = await world.admit('tenant', 'team-1')
    await waitFor(admin, configMapResource, ref, (o) => o !== undefined)
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  const patch = (body: object) => () => tenant.patch(configMapResource, ref, body)
  const full = (metadata: JsonObject): KubeObject => ({
    ...configMap('policy', { a: 'theirs' }),
    metadata: { ...ref, ...metadata },
  })

  test.each<{ what: string; operation: string; write: () => Promise<unknown> }>([
    { what: 'a patch', operation: 'update', write: patch({ data: { a: 'theirs' } }) },
    { what: 'an added key', operation: 'update', write: patch({ data: { b: 'theirs' } }) },
    { what: 'a label taken off', operation: 'update', write: patch({ metadata: { labels: null } }) },
    { what: 'a finalizer', operation: 'update', write: patch({ metadata: { finalizers: ['example.com/held'] } }) },
    {
      what: 'an owner, for the garbage collector to collect it with',
      operation: 'update',
      write: patch({ metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] } }),
    },
    { what: 'immutability', operation: 'update', write: patch({ immutable: true }) },
    {
      what: 'an apply by force',
      operation: 'update',
      write: () => tenant.apply(configMapResource, full({}), { fieldManager: 'namespace-template', force: true }),
    },
    { what: 'a replacement', operation: 'update', write: () => tenant.update(configMapResource, full({})) },
    { what: 'a deletion', operation: 'delete', write: () => tenant.delete(configMapResource, ref) },
    {
      what: 'a deletion of the collection',
      operation: 'delete',
      write: () =>
        tenant.deleteCollection(configMapResource, { namespace: 'team-1', fieldSelector: 'metadata.name=policy' }),
    },
    {
      what: 'a dry run',
      operation: 'update',
      write: () => tenant.patch(configMapResource, ref, { data: { a: 'theirs' } }, { dryRun: true }),
    },
  ])('refused to others: $what', async ({ what, operation, write }) => {
    const before = await admin.get(configMapResource, ref)
    const why =
      `${denied}user "tenant" cannot ${operation} ConfigMap policy in namespace "team-1": template "team" protects ` +
      'it; holders of the verb "bypass" on namespacetemplates "team" may'
    const causes = denied === '' ? {} : { causes: [{ message: why }] }
    // Upstream's words for policies where the request names no object.
    const name = denied !== '' && what === 'a deletion of the collection' ? 'Unknown' : 'policy'
    expect(await refusalAnywhere(write())).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "${name}" is forbidden: ${why}`,
      details: { name, kind: 'configmaps', ...causes },
    })
    expect(await admin.get(configMapResource, ref)).toEqual(before)
  })

  test('the status stays open, and metadata is not changed by way of it', async () => {
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'quota' },
      spec: { hard: { pods: '1' } },
    }
    await world.template('quotas', [{ protect: true, template: quota }])
    await world.namespace('quotas-1')
    const owner = await world.admit('owner', 'quotas-1', 'cluster-admin')
    const of = { namespace: 'quotas-1', name: 'quota' }
    await waitFor(admin, quotaResource, of, (o) => o !== undefined)
    const why =
      `resourcequotas "quota" is forbidden: ${denied}user "owner" cannot update ResourceQuota quota in namespace ` +
      '"quotas-1": template "quotas" protects it; holders of the verb "bypass" on namespacetemplates "quotas" may'
    const changes = [
      { labels: null },
      { labels: { 'policy.borough.dev/protected-by': null } },
      { annotations: { mine: 'x' } },
      { finalizers: ['example.com/held'] },
      { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] },
    ]
    for (const metadata of changes) {
      const writing = owner.patch(quotaResource, of, { metadata }, { subresource: 'status' })
      expect(await refusalAnywhere(writing)).toMatchObject({ code: 403, message: why })
    }
    await owner.patch(quotaResource, of, { status: { used: { pods: '0' } } }, { subresource: 'status' })
  })

  test('an object that is being deleted is let go, and not rewritten', async () => {
    const held = { ...configMap('held'), metadata: { name: 'held' } }
    await world.template('going', [{ protect: true, template: held }])
    await world.namespace('going-1')
    const owner = await world.admit('going', 'going-1')
    const of = { namespace: 'going-1', name: 'held' }
    await waitFor(admin, configMapResource, of, (o) => o !== undefined)
    const operator = await world.admit('bypasser', 'going-1')
    await admin.create(rbac('clusterroles'), {
      metadata: { name: 'going' },
      rules: [{ verbs: ['bypass'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] }],
    })
    await admin.create(rbac('clusterrolebindings'), {
      metadata: { name: 'going' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'going' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bypasser' }],
    })
    await operator.patch(configMapResource, of, { metadata: { finalizers: ['example.com/held'] } })
    await operator.delete(configMapResource, of)
    for (const change of [{ data: { a: 'theirs' } }, { immutable: true }, { metadata: { labels: null } }]) {
      expect(await refusalAnywhere(owner.patch(configMapResource, of, change))).toMatchObject({ code: 403 })
    }
    await owner.patch(configMapResource, of, { metadata: { finalizers: null } })
  })

  test('what is not protected is written as ever', async () => {
    await tenant.patch(configMapResource, { ...ref, name: 'open' }, { metadata: { annotations: { mine: 'x' } } })
    await tenant.create(configMapResource, { ...configMap('own'), metadata: { name: 'own', namespace: 'team-1' } })
    await tenant.delete(configMapResource, { ...ref, name: 'own' })
  })

  test('holders of `bypass` on the template may write it, and drift is corrected all the same', async () => {
    const rules = [
      {
        verbs: ['bypass'],
        apiGroups: ['policy.borough.dev'],
        resources: ['namespacetemplates'],
        resourceNames: ['team'],
      },
    ]
    await admin.create(rbac('clusterroles'), { metadata: { name: 'bypass' }, rules })
    await admin.create(rbac('clusterrolebindings'), {
      metadata: { name: 'bypass' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bypass' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'operator' }],
    })
    const operator = await world.admit('operator', 'team-1')
    await operator.patch(configMapResource, ref, { data: { a: 'theirs' } })
    await world.data('team-1', 'policy', { a: '1' })
    await operator.delete(configMapResource, ref)
    await world.data('team-1', 'policy', { a: '1' })
  })

  test('no template of an earlier name takes its place, but by an author with `bypass`', async () => {
    const rules = [
      { verbs: ['create', 'update', 'get'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
      { verbs: ['create', 'patch', 'delete'], apiGroups: [''], resources: ['configmaps'] },
    ]
    const author = world.clientAs('author')
    await admin.create(rbac('clusterroles'), { metadata: { name: 'author' }, rules })
    await admin.create(rbac('clusterrolebindings'), {
      metadata: { name: 'author' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'author' }],
    })
    await waitUntilAllowed(author, 'create', configMapResource)
    const spec = { namespaces: { nameSelector: { include: ['team-1'] } } }
    const theirs = [{ template: configMap('policy', { a: 'lax' }) }]
    const message =
      'takes the place of ConfigMap/policy of template "team", which protects it: needs "bypass" on that template'
    const refused = await refusalAnywhere(world.template('first', theirs, spec, author))
    expect([refused.code, refused.reason, refused.message]).toEqual([
      ...[403, 'Forbidden'],
      'namespacetemplates.policy.borough.dev "first" is forbidden: user "author" can\'t give through a template what ' +
        `they may not do themselves: spec.objects[0].template: ${message}`,
    ])
    // One of a later name is told of the conflict, and changes nothing.
    await world.template('zlater', theirs, spec, author)
    await world.failures('zlater', 'Conflict')
    expect((await admin.get(configMapResource, ref))['data']).toEqual({ a: '1' })
    await admin.delete(templateResource, { name: 'zlater' })
  })

  test('the garbage collector and the deletion of the namespace are not held up', async () => {
    await world.namespace('team-2')
    await waitFor(admin, configMapResource, { namespace: 'team-2', name: 'policy' }, (o) => o !== undefined)
    const of = { namespace: 'team-2', name: 'policy' }
    const { uid } = (await admin.get(configMapResource, of)).metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }]
    await admin.patch(configMapResource, of, { metadata: { ownerReferences } })
    await waitFor(admin, configMapResource, of, (o) => o !== undefined && o.metadata.uid !== uid)
    await admin.delete(namespaceResource, { name: 'team-2' })
    await waitFor(admin, namespaceResource, { name: 'team-2' }, isGone)
  })

  test('what was there before and no template made stays its owner’s', async () => {
    await world.namespace('late-1')
    const owner = await world.admit('owner', 'late-1')
    const own = { namespace: 'late-1', name: 'policy' }
    await owner.create(configMapResource, { ...configMap('policy', { a: 'mine' }), metadata: own })
    await world.template('late', [{ protect: true, template: configMap('policy') }])
    await world.failures('late', 'AlreadyExists')
    await owner.patch(configMapResource, own, { data: { a: 'mine still' } })
    await owner.delete(configMapResource, own)
  })

  test('protection ends with the template, and with `protect`', async () => {
    await world.template('brief', [{ protect: true, template: configMap('policy') }])
    await world.namespace('brief-1')
    const owner = await world.admit('briefly', 'brief-1')
    const of = { namespace: 'brief-1', name: 'policy' }
    expect(await refusalAnywhere(owner.delete(configMapResource, of))).toMatchObject({ code: 403 })
    await world.edit('brief', { objects: [{ template: configMap('policy') }] })
    const label = 'policy.borough.dev/protected-by'
    await waitFor(admin, configMapResource, of, (o) => o !== undefined && o.metadata.labels?.[label] === undefined)
    await owner.patch(configMapResource, of, { metadata: { annotations: { mine: 'x' } } })
  })

  test('a place of a protected object is kept free, or its mark can not be forged', async () => {
    const metadata = { namespace: 'team-1', name: 'forged', labels: { 'policy.borough.dev/protected-by': 'team' } }
    const forging = tenant.create(configMapResource, { ...configMap('forged'), metadata })
    if (where !== 'on Borough') expect(await refusalAnywhere(forging)).toMatchObject({ code: 403 })
    else {
      await forging
      await tenant.delete(configMapResource, { namespace: 'team-1', name: 'forged' })
      // Where the object is not there yet, or not any more.
      await world.template('places', [{ when: 'false', protect: true, template: configMap('policy') }])
      await world.namespace('places-1')
      const owner = await world.admit('early', 'places-1')
      const own = { ...configMap('policy'), metadata: { namespace: 'places-1', name: 'policy' } }
      await owner.create(configMapResource, own)
    }
  })
})
