/** The files in examples/ are applied as they stand, in the order of their names. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { isThere, waitFor } from '../support/wait-for.ts'

const root = new URL('../../examples/', import.meta.url)
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const pods = { group: '', version: 'v1', resource: 'pods' }
const networkPolicies = { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' }
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

function objectsOf(folder: string): KubeObject[] {
  const files = readdirSync(new URL(`${folder}/`, root))
    .filter((f) => f.endsWith('.yaml'))
    .sort()
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(new URL(`${folder}/${file}`, root), 'utf8')).map((d) => d.toJS() as KubeObject),
  )
}

async function applyAll(client: Client, folder: string): Promise<number> {
  const objects = objectsOf(folder)
  for (const object of objects) {
    const kind = await client.discovery.findKind(object.apiVersion ?? '', object.kind ?? '')
    if (kind === undefined) throw new Error(`${folder}: ${object.kind} is not served`)
    await client.apply(kind, object, { fieldManager: 'kubectl' })
  }
  return objects.length
}

describe('examples', () => {
  test('security-defaults: a developer is at home in a new namespace', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'security-defaults')).toBe(2)
    const dev = plane.clientAs('dev1', ['devs'])
    await dev.create(namespaces, { metadata: { name: 'mine' } })
    await dev.create(configMaps, { metadata: { namespace: 'mine', name: 'x' } })
    expect((await dev.list(networkPolicies, { namespace: 'mine' })).items).toHaveLength(1)
    await dev.delete(namespaces, { name: 'mine' })
  })

  test('pod-security: pods are held to a level that their owners can raise and not lower', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'security-defaults')).toBe(2)
    expect(await applyAll(plane.client, 'pod-security')).toBe(4)
    const dev = plane.clientAs('dev1', ['devs'])
    const level = 'pod-security.kubernetes.io/enforce'
    const made = await dev.create(namespaces, { metadata: { name: 'mine' } })
    expect(made.metadata.labels).toMatchObject({ [level]: 'baseline' })
    const pod = (name: string, securityContext: object): KubeObject => ({
      metadata: { namespace: 'mine', name },
      spec: { containers: [{ name: 'c', image: 'nginx', securityContext }] },
    })
    await dev.create(pods, pod('web', {}))
    await expect(dev.create(pods, pod('tool', { privileged: true }))).rejects.toThrow(
      'violates PodSecurity "baseline:latest": privileged',
    )
    const label = (client: Client, labels: Record<string, string | null>): Promise<KubeObject> =>
      client.patch(namespaces, { name: 'mine' }, { metadata: { labels } })
    await label(dev, { [level]: 'restricted' })
    for (const labels of [{ [level]: null }, { [level]: 'privileged' }, { [`${level}-version`]: 'v1.0' }]) {
      await expect(label(dev, labels)).rejects.toThrow('anything less needs the verb "relax" on the namespace')
    }
    await label(plane.client, { [level]: null })
    // Nobody is asked to set right what an administrator has allowed.
    await label(dev, { other: 'x' })
  })

  describe('namespace-population: the YAML of the design document', () => {
    let plane: TestControlPlane
    const clusterRoleBindings = { ...roleBindings, resource: 'clusterrolebindings' }
    /** Somebody with `namespace-creator` and what else the files give that name. */
    async function creator(username: string): Promise<Client> {
      await plane.client.create(clusterRoleBindings, {
        metadata: { name: `creates-${username.replaceAll(':', '-')}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'namespace-creator' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
      })
      return plane.clientAs(username)
    }
    const bindingsIn = async (namespace: string): Promise<unknown[]> =>
      (await plane.client.list(roleBindings, { namespace })).items.map((b) => b.metadata.name)

    beforeAll(async () => {
      plane = await startControlPlane()
      expect(await applyAll(plane.client, 'namespace-population')).toBe(14)
    })
    afterAll(() => plane[Symbol.asyncDispose]())

    test('kubectl create namespace also populates all policy objects', async () => {
      await plane.client.create(namespaces, { metadata: { name: 'team' } })
      expect(await bindingsIn('team')).toEqual(['admin', 'creator', 'namespace-owner', 'use-podsecuritypolicy'])
      expect((await plane.client.list(networkPolicies, { namespace: 'team' })).items).toHaveLength(1)
      expect(await plane.client.get(roleBindings, { namespace: 'team', name: 'creator' })).toMatchObject({
        subjects: [{ kind: 'User', name: 'kubernetes-admin' }],
      })
    })

    test('creator of namespace is automatically granted permissions in the namespace', async () => {
      const user2 = await creator('user2')
      await user2.create(namespaces, { metadata: { name: 'theirs' } })
      await user2.create(configMaps, { metadata: { namespace: 'theirs', name: 'x' } })
      await user2.patch(namespaces, { name: 'theirs' }, { metadata: { labels: { a: 'b' } } })
      await expect(user2.create(configMaps, { metadata: { namespace: 'team', name: 'x' } })).rejects.toThrow(
        'forbidden',
      )
      await user2.delete(namespaces, { name: 'theirs' })
    })

    test('only who may use it creates privileged namespaces', async () => {
      const metadata = { name: 'power', labels: { 'namespace-class': 'privileged' } }
      const [user1, user3] = [await creator('user1'), await creator('user3')]
      await expect(user3.create(namespaces, { metadata })).rejects.toThrow('cannot use namespacetemplates "privileged"')
      await user1.create(namespaces, { metadata })
      await user3.create(namespaces, { metadata: { name: 'ordinary' } })
    })

    test('a namespace created by the listed account is opted out, and it may say so itself', async () => {
      const account = await creator('system:serviceaccount:cicd-namespace:default')
      const optOut = { 'policy/namespace-template-opt-out': 'true' }
      const made = await account.create(namespaces, { metadata: { name: 'build' } })
      expect(made.metadata.annotations).toMatchObject(optOut)
      await account.create(namespaces, { metadata: { name: 'build2', annotations: optOut } })
      expect([...(await bindingsIn('build')), ...(await bindingsIn('build2'))]).toEqual([])
      const user4 = await creator('user4')
      await expect(user4.create(namespaces, { metadata: { name: 'mine', annotations: optOut } })).rejects.toThrow(
        'needs the verb "optout"',
      )
    })

    test('the account of the initializer may initialize, as an account', async () => {
      const review = async (user: string): Promise<unknown> => {
        const body = {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes: { verb: 'initialize', resource: 'namespaces', name: 'team' } },
        }
        return plane.client.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', body)
      }
      expect(await review('system:serviceaccount:kube-system:name')).toMatchObject({ status: { allowed: true } })
      expect(await review('system:serviceaccount:kube-system:other')).toMatchObject({ status: { allowed: false } })
    })
  })

  test('namespace-initializers: the YAML of the design document', async () => {
    await using plane = await startControlPlane()
    const { client } = plane
    const applying = applyAll(client, 'namespace-initializers')
    await waitFor(client, configurations, { name: 'log-index' }, isThere)
    await waitFor(client, namespaces, { name: 'ns1' }, isThere)
    await client.patch(namespaces, { name: 'ns1' }, { spec: { initializers: { pending: [] } } })
    expect(await applying).toBe(7)
    expect(await client.get(roleBindings, { namespace: 'ns1', name: 'namespace-editors' })).toBeDefined()
  })
})
