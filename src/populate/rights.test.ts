import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../kube/types.ts'
import { findKinds } from './manifests.ts'
import { kindRules, reachOf, rightsManifests } from './rights.ts'
import { kindsInTemplates, servedKinds } from './templated-kinds.ts'

const rbac = 'rbac.authorization.k8s.io'
const allVerbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

const template = (objects: readonly { apiVersion: string; kind: string }[], ever: string[] = []): KubeObject => ({
  apiVersion: 'policy.borough.dev/v1alpha1',
  kind: 'NamespaceTemplate',
  metadata: { name: 't' },
  spec: { templates: [...objects] },
  status: { kinds: ever },
})

describe('rights made from the kinds in templates', () => {
  test('cover each kind of each template, those that it held before too, and no other object', async () => {
    const objects = [
      template([{ apiVersion: 'v1', kind: 'ConfigMap' }], ['networking.k8s.io/v1/NetworkPolicy']),
      template([
        { apiVersion: 'v1', kind: 'LimitRange' },
        { apiVersion: 'v1', kind: 'ConfigMap' },
      ]),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'not a template' } },
    ]
    const { kinds, unknown } = await servedKinds(kindsInTemplates(objects), undefined)
    expect(unknown).toEqual([])
    expect(kindRules(kinds)).toEqual([
      { verbs: allVerbs, apiGroups: [''], resources: ['configmaps', 'limitranges'] },
      { verbs: allVerbs, apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'] },
    ])
  })

  test('add bind and escalate where roles or bindings are among them, and only there', async () => {
    const kinds = await findKinds([`${rbac}/v1/RoleBinding`], undefined)
    expect(kindRules(kinds)).toContainEqual({
      verbs: ['bind', 'escalate'],
      apiGroups: [rbac],
      resources: ['clusterroles', 'roles'],
    })
    expect(kindRules(await findKinds(['v1/ConfigMap'], undefined)).flatMap((r) => r.verbs)).not.toContain('escalate')
  })

  test('ask the cluster about kinds that are not built in', async () => {
    const widgets = { group: 'ex.io', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true, verbs: [] }
    const discovery = {
      findKind: () => Promise.resolve(widgets),
      kinds: () => Promise.resolve({ kinds: [], unavailable: [] }),
    }
    expect(kindRules(await findKinds(['ex.io/v1/Widget'], discovery))).toEqual([
      { verbs: allVerbs, apiGroups: ['ex.io'], resources: ['widgets'] },
    ])
    await expect(findKinds(['ex.io/v1/Widget'], undefined)).rejects.toThrow('no kind ex.io/v1/Widget is known')
  })

  test('name the template whose kind is not served, and leave out that kind alone', async () => {
    const held = [
      { template: 'a', kinds: ['v1/ConfigMap', 'ex.io/v1/Widget'] },
      { template: 'b', kinds: ['v1/ConfigMap', 'v1/LimitRange'] },
    ]
    const { kinds, unknown } = await servedKinds(held, undefined)
    expect(kinds.map(({ resource }) => resource)).toEqual(['configmaps', 'limitranges'])
    expect(unknown).toEqual(['NamespaceTemplate a holds ex.io/v1/Widget'])
  })

  test('never let it extend its own: no write of cluster roles or of their bindings', async () => {
    const kinds = await findKinds(['v1/Secret', `${rbac}/v1/Role`, `${rbac}/v1/RoleBinding`], undefined)
    const rules = rightsManifests('borough-system', kinds).flatMap(
      (o) => (o['rules'] ?? []) as { verbs: string[]; resources: string[] }[],
    )
    const onClusterRoles = rules.filter((r) => r.resources.some((name) => name.startsWith('clusterrole')))
    expect([...new Set(onClusterRoles.flatMap((r) => r.verbs))].sort()).toEqual([
      'bind',
      'escalate',
      'get',
      'list',
      'watch',
    ])
  })

  test.each([
    { name: 'no kinds', kinds: [], says: ['write nothing'], silent: ['administrator'] },
    {
      name: 'harmless kinds',
      kinds: ['v1/ConfigMap'],
      says: ['in every namespace'],
      silent: ['grant any right', 'Secret', 'workloads'],
    },
    {
      name: 'bindings',
      kinds: [`${rbac}/v1/RoleBinding`],
      says: ['is administrator of the cluster'],
      silent: ['workloads'],
    },
    { name: 'Secrets', kinds: ['v1/Secret'], says: ['read every Secret'], silent: ['grant any right'] },
    {
      name: 'workloads',
      kinds: ['apps/v1/Deployment'],
      says: ['run workloads in every namespace'],
      silent: ['grant any right'],
    },
  ])('are told in plain words: $name', async ({ kinds, says, silent }) => {
    const words = reachOf(await findKinds(kinds, undefined))
    for (const text of says) expect(words).toContain(text)
    for (const text of silent) expect(words).not.toContain(text)
  })
})
