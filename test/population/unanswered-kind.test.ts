/** The API server behind an APIService is down, of whose kinds a template of `borough populate` holds objects. */
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { StatusError } from '../../src/kube/status-error.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { failure } from '../support/refusal.ts'
import { waitUntilAllowed } from '../support/wait-for.ts'
import { AnyWorld, refusalAnywhere } from './any-world.ts'
import { populatedCluster } from './enforcement/clusters.ts'
import { configMap, templateResource } from './population-world.ts'

const widget = (name: string): JsonObject => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })
const clusterRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const clusterRoleBindings = { ...clusterRoles, resource: 'clusterrolebindings' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }

/** As an aggregator answers about a server that is down: in plain text. */
function clusterWithApi() {
  const api = { isDown: false }
  const seenAs = (client: Client): Client => {
    const { discovery } = client
    const findKind: typeof discovery.findKind = async (apiVersion, kind) => {
      if (apiVersion !== 'example.com/v1') return discovery.findKind(apiVersion, kind)
      if (api.isDown) throw new StatusError('service unavailable', { reason: 'ServiceUnavailable' })
      const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']
      return { group: 'example.com', version: 'v1', resource: 'widgets', kind, namespaced: true, verbs }
    }
    return new Proxy(client, {
      get(target, property) {
        if (property === 'discovery') return { findKind, kinds: () => discovery.kinds() }
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }
  return { api, open: () => populatedCluster(seenAs, 'webhooks') }
}

const unanswered = (...fields: string[]) => {
  const message =
    "kind Widget of example.com/v1 can't be looked up: APIService v1.example.com does not answer " +
    '(service unavailable)'
  const what = fields.map((field) => `${field}: ${message}`).join('; ')
  return failure({
    message:
      `NamespaceTemplate "t" can't be checked: ${what}. Try again ` +
      'once it answers, or leave the object out until then; what is wrong says: kubectl get apiservice v1.example.com',
    reason: 'ServiceUnavailable',
    details: {
      ...{ name: 't', group: 'policy.borough.dev', kind: 'namespacetemplates' },
      causes: fields.map((field) => ({ reason: 'KindUnavailable', message, field })),
    },
    code: 503,
  })
}

test('an edit that brings an object of it is refused with both names; others go through', async () => {
  const { api, open } = clusterWithApi()
  await using world = new AnyWorld(await open())
  const { admin } = world
  await world.template('t', [{ template: configMap('a') }])
  api.isDown = true
  const brought = { spec: { objects: [{ template: configMap('a') }, { template: widget('w') }] } }
  const field = 'spec.objects[1].template'
  expect(await refusalAnywhere(admin.patch(templateResource, { name: 't' }, brought))).toEqual(unanswered(field))
  expect(await refusalAnywhere(admin.patch(templateResource, { name: 't' }, brought, { dryRun: true }))).toEqual(
    unanswered(field),
  )
  api.isDown = false
  await admin.patch(templateResource, { name: 't' }, brought)
  api.isDown = true
  // What an administrator may do does not depend on what serves the kind.
  await world.edit('t', { objects: [{ template: configMap('a', { b: '2' }) }, { template: widget('w') }] })
  const changed = { spec: { objects: [{ template: widget('x') }, { template: widget('y') }] } }
  const both = ['spec.objects[0].template', 'spec.objects[1].template']
  expect(await refusalAnywhere(admin.patch(templateResource, { name: 't' }, changed))).toEqual(unanswered(...both))
  // What is wrong anyway is told first.
  const wrong = { spec: { objects: [{ template: { ...widget('w'), metadata: {} } }, { template: widget('x') }] } }
  expect(await refusalAnywhere(admin.patch(templateResource, { name: 't' }, wrong))).toMatchObject({ code: 422 })
  await admin.patch(
    templateResource,
    { name: 't' },
    { metadata: { annotations: { 'policy/namespace-template-apply': 'disable' } } },
  )
  await world.edit('t', { objects: [{ template: configMap('a') }] })
})

test('an author who may write this kind alone is told that it is not known, not of rights', async () => {
  const { api, open } = clusterWithApi()
  await using world = new AnyWorld(await open())
  const { admin } = world
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update']
  await admin.create(clusterRoles, {
    metadata: { name: 'author' },
    rules: [
      { verbs, apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] },
      { verbs, apiGroups: ['example.com'], resources: ['widgets'] },
    ],
  } as never)
  await admin.create(clusterRoleBindings, {
    metadata: { name: 'author' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  } as never)
  const alice = world.clientAs('alice')
  await waitUntilAllowed(alice, 'create', templates)
  await world.template('t', [{ template: widget('w') }], {}, alice)
  api.isDown = true
  const patch = (spec: JsonObject) => refusalAnywhere(alice.patch(templateResource, { name: 't' }, { spec }))
  expect(await patch({ driftPolicy: 'Report' })).toEqual(unanswered('spec.objects[0].template'))
  expect(await patch({ objects: [] })).toEqual(unanswered('spec.objects'))
  // It would not help to know it.
  expect(await patch({ objects: [{ template: widget('w') }, { template: configMap('a') }] })).toMatchObject({
    code: 403,
  })
})
