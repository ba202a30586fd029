/** The files in examples/ are applied as they stand, in the order of their names. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startPopulate } from '../../src/populate/populate.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type OtherCluster, startOtherCluster } from '../support/other-cluster.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

const root = new URL('../../examples/', import.meta.url)
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const roleBindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const pods = { group: '', version: 'v1', resource: 'pods' }
const quotas = { group: '', version: 'v1', resource: 'resourcequotas' }
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

/** What the owner of a namespace tries, to be rid of labels that others put there; and what it was told. */
async function ownerTriesToRelabel(plane: OtherCluster, username: string, name: string): Promise<unknown[]> {
  const level = 'pod-security.kubernetes.io/enforce'
  await plane.client.patch(namespaces, { name }, { metadata: { labels: { [level]: 'restricted' } } })
  const path = `/api/v1/namespaces/${name}`
  const wire = new Wire(plane).as(username, username.startsWith('dev') ? ['devs'] : [])
  const { metadata, ...rest } = await new Wire(plane).must('GET', path)
  const { [level]: _, ...labels } = metadata.labels ?? {}
  const without = { ...rest, metadata: { ...metadata, labels } }
  const merge = { metadata: { labels: { [level]: null } } }
  const config = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [level]: 'privileged' } } }
  const escaped = level.replaceAll('/', '~1')
  const rules = [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'patch', 'update'] }]
  const rolePath = `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}`
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }]
  const answers = [
    ...['', '/status', '/finalize'].map((at) => wire.call('PUT', `${path}${at}`, without)),
    ...['', '/status'].flatMap((at) => [
      wire.call('PATCH', `${path}${at}`, merge, 'application/merge-patch+json'),
      wire.call('PATCH', `${path}${at}`, merge, 'application/strategic-merge-patch+json'),
      wire.call(
        'PATCH',
        `${path}${at}`,
        [{ op: 'remove', path: `/metadata/labels/${escaped}` }],
        'application/json-patch+json',
      ),
      wire.call('PATCH', `${path}${at}?fieldManager=x&force=true`, config, 'application/apply-patch+yaml'),
    ]),
    // Or to get the right to.
    wire.call('POST', `${rolePath}/roles`, { metadata: { name: 'more' }, rules }),
    wire.call('PATCH', `${rolePath}/roles/namespace-owner`, { rules }, 'application/merge-patch+json'),
    wire.call('POST', `${rolePath}/rolebindings`, { metadata: { name: 'more' }, roleRef, subjects }),
  ]
  const codes = (await Promise.all(answers)).map(({ status }) => status)
  const now = await plane.client.get(namespaces, { name })
  expect(now.metadata.labels).toMatchObject({ [level]: 'restricted' })
  return [...new Set(codes)]
}

describe('examples', () => {
  test('security-defaults: a developer is at home in a new namespace', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'security-defaults')).toBe(2)
    const dev = plane.clientAs('dev1', ['devs'])
    await dev.create(namespaces, { metadata: { name: 'mine' } })
    await dev.create(configMaps, { metadata: { namespace: 'mine', name: 'x' } })
    expect((await dev.list(networkPolicies, { namespace: 'mine' })).items).toHaveLength(1)
    expect(await ownerTriesToRelabel(plane, 'dev1', 'mine')).toEqual([403])
    await dev.delete(namespaces, { name: 'mine' })
  })

  test('security-defaults: a developer has no rights in namespaces of others', async () => {
    await using plane = await startControlPlane()
    await applyAll(plane.client, 'security-defaults')
    await plane.clientAs('dev1', ['devs']).create(namespaces, { metadata: { name: 'mine' } })
    const other = plane.clientAs('dev2', ['devs'])
    for (const asked of [
      other.get(namespaces, { name: 'mine' }),
      other.delete(namespaces, { name: 'mine' }),
      other.list(configMaps, { namespace: 'mine' }),
    ]) {
      await expect(asked).rejects.toMatchObject({ code: 403 })
    }
  })

  test('security-defaults and namespace-population: the second is refused and takes nothing away', async () => {
    await using plane = await startControlPlane()
    await applyAll(plane.client, 'security-defaults')
    await plane.client.create(namespaces, { metadata: { name: 'mine' } })
    await expect(applyAll(plane.client, 'namespace-population')).rejects.toThrow(
      'spec.templates[0]: Invalid value: "NetworkPolicy/default": template "security-defaults" gives it to the same ' +
        'namespaces',
    )
    expect((await plane.client.list(quotas, { namespace: 'mine' })).items).toHaveLength(1)
  })

  test('temporary-namespaces: a preview ends after a day, three, or two weeks at most', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'temporary-namespaces')).toBe(3)
    const lifeHours = async (name: string, annotations = {}): Promise<number> => {
      const labels = { 'example.com/kind': 'preview' }
      if (name !== 'preview-7') await plane.client.create(namespaces, { metadata: { name, labels, annotations } })
      const { metadata } = await plane.client.get(namespaces, { name })
      const end = Date.parse(metadata.annotations?.['borough.dev/expires-at'] ?? '')
      return (end - Date.parse(metadata.creationTimestamp ?? '')) / 3_600_000
    }
    expect([await lifeHours('preview-7'), await lifeHours('preview-8')]).toEqual([24, 72])
    await expect(lifeHours('preview-9', { 'borough.dev/ttl': '337h' })).rejects.toThrow(
      'lets its namespaces live for 336h',
    )
  })

  test('pod-security: pods are held to a level that operators can raise and not lower', async () => {
    await using plane = await startControlPlane()
    expect(await applyAll(plane.client, 'security-defaults')).toBe(2)
    expect(await applyAll(plane.client, 'pod-security')).toBe(6)
    const dev = plane.clientAs('dev1', ['devs'])
    const ops = plane.clientAs('ops1', ['ops'])
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
    const needsRelax = 'anything less needs the verb "relax" on the namespace'
    const label = (client: Client, labels: Record<string, string | null>): Promise<KubeObject> =>
      client.patch(namespaces, { name: 'mine' }, { metadata: { labels } })
    await label(ops, { [level]: 'restricted' })
    for (const labels of [{ [level]: null }, { [level]: 'privileged' }, { [`${level}-version`]: 'v1.0' }]) {
      await expect(label(ops, labels)).rejects.toThrow(needsRelax)
      await expect(label(dev, labels)).rejects.toThrow('User "dev1" cannot patch resource "namespaces"')
    }
    await label(plane.client, { [level]: null })
    // Nobody is asked to set right what an administrator has allowed.
    await label(ops, { other: 'x' })
    expect(await ownerTriesToRelabel(plane, 'dev1', 'mine')).toEqual([403])
    // Nor does it help to begin anew.
    await dev.delete(namespaces, { name: 'mine' })
    await waitFor(plane.client, namespaces, { name: 'mine' }, isGone)
    const loose = dev.create(namespaces, { metadata: { name: 'mine', labels: { [level]: 'privileged' } } })
    await expect(loose).rejects.toThrow(needsRelax)
    expect((await dev.create(namespaces, { metadata: { name: 'mine' } })).metadata.labels).toMatchObject({
      [level]: 'baseline',
    })
  })

  test('population-on-any-cluster: developers create namespaces, and each deletes their own', async () => {
    await using plane = await startOtherCluster()
    await using _populate = await startPopulate({
      client: plane.client,
      clock: systemClock,
      ids: randomIds,
      log: silentLog,
      listen: { host: '127.0.0.1', port: 0 },
      namespace: 'borough-system',
      reachedAt: 'listen',
    })
    expect(await applyAll(plane.client, 'population-on-any-cluster')).toBe(5)
    const [dev1, dev2] = [plane.clientAs('dev1', ['devs']), plane.clientAs('dev2', ['devs'])]
    await dev1.create(namespaces, { metadata: { name: 'team-a' } })
    await waitFor(plane.client, roleBindings, { namespace: 'team-a', name: 'creator' }, isThere)
    const isOpen = (o: KubeObject | undefined): boolean =>
      isThere(o) && o?.metadata.labels?.['policy/namespace-template-pending'] === undefined
    await waitFor(plane.client, namespaces, { name: 'team-a' }, isOpen)
    expect(await dev1.get(configMaps, { namespace: 'team-a', name: 'motd' })).toMatchObject({
      data: { text: 'welcome to team-a, dev1' },
    })
    await expect(dev2.delete(namespaces, { name: 'team-a' })).rejects.toMatchObject({ code: 403 })
    await expect(dev1.delete(namespaces, { name: 'borough-system' })).rejects.toMatchObject({ code: 403 })
    expect(await ownerTriesToRelabel(plane, 'dev1', 'team-a')).toEqual([403])
    await dev1.delete(namespaces, { name: 'team-a' })
    await waitFor(plane.client, namespaces, { name: 'team-a' }, isGone)
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
      expect(await ownerTriesToRelabel(plane, 'user2', 'theirs')).toEqual([403])
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

  test('namespace-parameters: a namespace that gives what its template asks', async () => {
    await using plane = await startControlPlane()
    const { client } = plane
    expect(await applyAll(client, 'namespace-parameters')).toBe(2)
    const { metadata } = await client.get(namespaces, { name: 'team-a' })
    expect(metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
      'example.com/billed-to': 'cc-0815',
    })
    const about = await waitFor(client, configMaps, { namespace: 'team-a', name: 'about' }, isThere)
    expect(about?.['data']).toEqual({ owner: 'kubernetes-admin', size: 'large', 'cost-centre': '0815' })
    const quotas = { ...configMaps, resource: 'resourcequotas' }
    const quota = await waitFor(client, quotas, { namespace: 'team-a', name: 'pods' }, isThere)
    expect(quota?.['spec']).toEqual({ hard: { pods: '20' } })
  })

  test('protected-objects: conditions, protection, strictness and a clone', async () => {
    await using plane = await startControlPlane()
    const { client } = plane
    expect(await applyAll(client, 'protected-objects')).toBe(4)
    // An apply is answered at once: nothing is refused for what it is before the namespace is populated.
    await waitFor(
      client,
      namespaces,
      { name: 'guarded-a' },
      (o) => (o?.['status'] as { phase?: string })?.phase === 'Active',
    )
    const quota = await waitFor(client, quotas, { namespace: 'guarded-a', name: 'pods' }, isThere)
    expect(quota?.['spec']).toEqual({ hard: { pods: '100' } })
    const secrets = { ...configMaps, resource: 'secrets' }
    const source = await client.get(secrets, { namespace: 'platform', name: 'pull-secret' })
    const copy = await waitFor(client, secrets, { namespace: 'guarded-a', name: 'pull-secret' }, isThere)
    expect([copy?.['type'], copy?.['data']]).toEqual([source['type'], source['data']])
    const policy = { namespace: 'guarded-a', name: 'deny-ingress' }
    const admin = plane.clientAs('admin-of-guarded-a', ['system:authenticated'])
    await client.create(roleBindings, {
      metadata: { name: 'admin', namespace: 'guarded-a' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'admin-of-guarded-a' }],
    })
    await expect(admin.delete(networkPolicies, policy)).rejects.toThrow('template "guarded-team" protects it')
    const settings = { namespace: 'guarded-a', name: 'settings' }
    await client.patch(configMaps, settings, { data: { replicas: '5' } }, { fieldManager: 'scaler' })
    const label = 'policy/namespace-template-name'
    await client.patch(configMaps, settings, { metadata: { labels: { [label]: null } } })
    const mended = await waitFor(client, configMaps, settings, (o) => o?.metadata.labels?.[label] === 'guarded-team')
    expect(mended?.['data']).toEqual({ replicas: '5' })
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
    // Teams hold `create`, and that is enough.
    const team = plane.clientAs('dev', ['teams@corp.com'])
    const creating = team.create(namespaces, { metadata: { name: 'ns2' } })
    await waitFor(client, namespaces, { name: 'ns2' }, isThere)
    await client.patch(namespaces, { name: 'ns2' }, { spec: { initializers: { pending: [] } } })
    await creating
    for (const name of ['ns1', 'ns2']) await expect(team.get(namespaces, { name })).rejects.toMatchObject({ code: 403 })
  })
})
