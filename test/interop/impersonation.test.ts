/** `kubectl --as` with names beyond ASCII, over HTTP/2 and HTTP/1.1, as far as the RoleBinding of the creator. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roleBindingsResource } from '../../src/kube/rbac.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { describeEachKubectl, KubectlSession } from './kubectl.ts'

const clusterRoleBindings = { ...roleBindingsResource, resource: 'clusterrolebindings' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const rbac = 'rbac.authorization.k8s.io'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ port: 0 })
  await plane.client.create(clusterRoleBindings, {
    metadata: { name: 'creators' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'borough:namespace-creator' },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: 'grüppe' }],
  })
  const owner = {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'owner' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: '$(CREATOR)' }],
  }
  await plane.client.create(templates, {
    metadata: { name: 'owners' },
    spec: { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [owner] },
  })
}, 120_000)
afterAll(() => plane[Symbol.asyncDispose]())

describeEachKubectl((kubectl) => {
  test.each([
    { protocol: 'http1', env: { DISABLE_HTTP2: 'true' } },
    { protocol: 'http2', env: {} },
  ])('the creator is bound by the name that was given, over $protocol', async ({ protocol, env }) => {
    await using session = await KubectlSession.open(kubectl, plane.kubeconfig)
    const name = `team-${protocol}-${kubectl.minor}`
    const as = ['--as', 'ünï→', '--as-group', 'grüppe']
    const made = await session.run([...as, 'create', 'namespace', name], { env })
    expect(made.code, made.transcript).toBe(0)
    const binding = await plane.client.get(roleBindingsResource, { namespace: name, name: 'owner' })
    expect(binding).toMatchObject({ subjects: [{ kind: 'User', name: 'ünï→' }] })
    expect((await plane.client.get(namespaces, { name })).metadata.annotations).toMatchObject({
      'authorization.k8s.io/creator': expect.stringContaining('ünï→') as string,
    })
    const wrote = await session.run([...as, '-n', name, 'create', 'configmap', 'mine'], { env })
    expect(wrote.code, wrote.transcript).toBe(0)
  })
})
