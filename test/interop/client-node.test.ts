/** The official JavaScript client, over a real port: what its users rely on. */
import {
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  NetworkingV1Api,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'

const namespace = 'default'
const path = `/api/v1/namespaces/${namespace}/configmaps`
const waitMs = { timeout: 30_000 }

let plane: TestControlPlane
let config: KubeConfig
let core: CoreV1Api

const configOf = (text: string): KubeConfig => {
  const made = new KubeConfig()
  made.loadFromString(text)
  return made
}

beforeAll(async () => {
  plane = await startControlPlane({ port: 0 })
  config = configOf(plane.kubeconfig)
  core = config.makeApiClient(CoreV1Api)
})
afterAll(() => plane[Symbol.asyncDispose]())

describe('objects', () => {
  const name = 'settings'

  test('are created, read, listed, replaced and deleted', async () => {
    const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { a: '1' } } })
    expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date)
    const read = await core.readNamespacedConfigMap({ namespace, name })
    expect(read).toEqual(made)
    const replaced = await core.replaceNamespacedConfigMap({ namespace, name, body: { ...read, data: { a: '2' } } })
    expect(replaced.data).toEqual({ a: '2' })
    const list = await core.listNamespacedConfigMap({ namespace, fieldSelector: `metadata.name=${name}` })
    expect(list.items.map((item) => item.data)).toEqual([{ a: '2' }])
    await expect(core.replaceNamespacedConfigMap({ namespace, name, body: read })).rejects.toMatchObject({ code: 409 })
    expect((await core.deleteNamespacedConfigMap({ namespace, name })).status).toBe('Success')
    await expect(core.readNamespacedConfigMap({ namespace, name })).rejects.toMatchObject({ code: 404 })
  })

  test.each([
    { kind: PatchStrategy.JsonPatch, body: [{ op: 'add', path: '/data/b', value: '2' }] },
    { kind: PatchStrategy.MergePatch, body: { data: { b: '2' } } },
    { kind: PatchStrategy.StrategicMergePatch, body: { data: { b: '2' } } },
  ])('are patched with $kind', async ({ kind, body }) => {
    const { metadata } = await core.createNamespacedConfigMap({
      namespace,
      body: { metadata: { generateName: 'patched-' }, data: { a: '1' } },
    })
    const patched = await core.patchNamespacedConfigMap(
      { namespace, name: metadata?.name ?? '', body },
      setHeaderOptions('Content-Type', kind),
    )
    expect(patched.data).toEqual({ a: '1', b: '2' })
  })

  test('are applied by whoever knows only their kind', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config)
    const spec = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'deny', namespace } }
    const applied = await objects.patch(
      { ...spec, spec: { podSelector: {} } } as typeof spec,
      undefined,
      undefined,
      'test',
      true,
      PatchStrategy.ServerSideApply,
    )
    expect(applied.metadata?.name).toBe('deny')
    const policies = config.makeApiClient(NetworkingV1Api)
    const { metadata } = await policies.readNamespacedNetworkPolicy({ namespace, name: 'deny' })
    expect(metadata?.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([['test', 'Apply']])
  })

  test('come in pages', async () => {
    for (let i = 0; i < 7; i++) {
      await core.createNamespacedConfigMap({
        namespace,
        body: { metadata: { name: `page-${i}`, labels: { page: '' } } },
      })
    }
    const seen: (string | undefined)[] = []
    let token: string | undefined
    do {
      const more = token === undefined ? {} : { _continue: token }
      const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'page', limit: 3, ...more })
      seen.push(...page.items.map((item) => item.metadata?.name))
      token = page.metadata?._continue
    } while (token)
    expect(seen).toEqual(Array.from({ length: 7 }, (_, i) => `page-${i}`))
  })
})

describe('a watch', () => {
  interface Seen {
    readonly type: string
    readonly name: string | undefined
    readonly version: string
  }

  /** Until `enough` says so, or until the server ends it. */
  async function watch(query: Record<string, string | number>, enough: (seen: readonly Seen[]) => boolean) {
    const seen: Seen[] = []
    let done = false
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const controller = await new Watch(config).watch(
      path,
      query,
      (type: string, object: V1ConfigMap) => {
        // Several events may come at once; what comes after the last one wanted was never seen.
        if (done) return
        seen.push({ type, name: object.metadata?.name, version: object.metadata?.resourceVersion ?? '' })
        done = enough(seen)
        if (done) resolve(undefined)
      },
      resolve,
    )
    const ended = await promise
    controller.abort()
    return { seen, ended }
  }

  const createMany = async (prefix: string): Promise<void> => {
    for (let i = 0; i < 3; i++)
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: `${prefix}-${i}` } } })
  }

  test('from where a list was made tells what happened since, once and in order', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace })
    await createMany('since')
    await core.patchNamespacedConfigMap(
      { namespace, name: 'since-1', body: { data: { a: '1' } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    )
    await core.deleteNamespacedConfigMap({ namespace, name: 'since-0' })
    const { seen } = await watch({ resourceVersion: metadata?.resourceVersion ?? '' }, (s) => s.length === 5)
    expect(seen.map(({ type, name }) => `${type} ${name}`)).toEqual([
      'ADDED since-0',
      'ADDED since-1',
      'ADDED since-2',
      'MODIFIED since-1',
      'DELETED since-0',
    ])
  })

  test('that ended goes on where it stopped', async () => {
    const { metadata } = await core.listNamespacedConfigMap({ namespace })
    await createMany('resumed')
    const first = await watch({ resourceVersion: metadata?.resourceVersion ?? '' }, (s) => s.length === 2)
    await core.deleteNamespacedConfigMap({ namespace, name: 'resumed-0' })
    const second = await watch({ resourceVersion: first.seen.at(-1)?.version ?? '' }, (s) => s.length === 2)
    expect([...first.seen, ...second.seen].map(({ type, name }) => `${type} ${name}`)).toEqual([
      'ADDED resumed-0',
      'ADDED resumed-1',
      'ADDED resumed-2',
      'DELETED resumed-0',
    ])
  })

  test('with a timeout ends without an error', async () => {
    const { ended } = await watch({ timeoutSeconds: 1, resourceVersion: '0' }, () => false)
    expect(ended).toBeNull()
  })
})

test('an informer holds what there is and tells of every change', async () => {
  const listed = () => core.listNamespacedConfigMap({ namespace })
  const informer = makeInformer(config, path, listed)
  const told: string[] = []
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, (object) => {
      if (object.metadata?.name?.startsWith('informed')) told.push(`${verb} ${object.metadata.name}`)
    })
  }
  const errors: unknown[] = []
  informer.on('error', (error: unknown) => errors.push(error))
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'informed-before' } } })
  await informer.start()
  await vi.waitFor(() => expect(told).toEqual(['add informed-before']), waitMs)

  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'informed-after' } } })
  await core.patchNamespacedConfigMap(
    { namespace, name: 'informed-after', body: { data: { a: '1' } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  )
  await vi.waitFor(() => expect(informer.get('informed-after', namespace)?.data).toEqual({ a: '1' }), waitMs)
  await core.deleteNamespacedConfigMap({ namespace, name: 'informed-after' })
  await vi.waitFor(() => expect(told.at(-1)).toBe('delete informed-after'), waitMs)
  expect(told).toEqual(['add informed-before', 'add informed-after', 'update informed-after', 'delete informed-after'])
  expect(informer.list(namespace).map((object) => object.metadata?.name)).toContain('informed-before')
  expect(informer.get('informed-after', namespace)).toBeUndefined()
  expect(errors).toEqual([])
  await informer.stop()
})

test('a namespace is populated when its creation is answered, for its creator too', async () => {
  const template = {
    apiVersion: 'policy/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name: 'team' },
    spec: {
      namespaces: { nameSelector: { include: ['team-*'] } },
      templates: [
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'admin' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: '$(CREATOR)' }],
        },
      ],
    },
  }
  const templated = await send(plane, '/apis/policy/v1alpha1/namespacetemplates', { method: 'POST', body: template })
  expect(templated.code, templated.text).toBe(201)
  await config.makeApiClient(RbacAuthorizationV1Api).createClusterRoleBinding({
    body: {
      metadata: { name: 'anna-creates' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'borough:namespace-creator' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'anna' }],
    },
  })
  const anna = configOf(plane.kubeconfigFor('anna')).makeApiClient(CoreV1Api)
  await anna.createNamespace({ body: { metadata: { name: 'team-a' } } })
  const made = await anna.createNamespacedConfigMap({ namespace: 'team-a', body: { metadata: { name: 'mine' } } })
  expect(made.metadata?.namespace).toBe('team-a')
  await expect(anna.listNamespacedConfigMap({ namespace })).rejects.toMatchObject({ code: 403 })
})
