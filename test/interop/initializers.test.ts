/**
 * Namespaces that wait for initializers, through clients that know nothing of them: kubectl, Helm's calls, informers.
 * `team-access.ex.io` gives the creator the role admin in the new namespace; before that they may do nothing in it.
 */
import { readFileSync } from 'node:fs'
import {
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  RbacAuthorizationV1Api,
  type V1Namespace,
} from '@kubernetes/client-node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { InitializationFailed } from '../../src/initializer/initialization-failed.ts'
import { runInitializer } from '../../src/initializer/run-initializer.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { describeEachKubectl, KubectlSession, type Ran } from './kubectl.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}
const initializer = 'team-access.ex.io'
const withContent = readFileSync(
  new URL('../../examples/namespace-initializers/30-namespace-and-content.yaml', import.meta.url),
  'utf8',
)

let plane: TestControlPlane
let stop: AbortController
let running: Promise<void> | undefined

/** They may create namespaces and look at them: what the design document gives to teams. */
async function teams(): Promise<void> {
  const rules = [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  ]
  await plane.client.create(rbac('clusterroles'), { metadata: { name: 'namespace-creator' }, rules })
  await plane.client.create(rbac('clusterrolebindings'), {
    metadata: { name: 'namespace-creators' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'namespace-creator' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'teams@corp.com' }],
  })
}

beforeAll(async () => {
  plane = await startControlPlane({ port: 0, initializationTimeoutMs: 20_000 })
  await teams()
  await plane.client.create(rbac('clusterrolebindings'), {
    metadata: { name: 'makers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'borough:namespace-creator' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'makers@corp.com' }],
  })
  await plane.client.create(configurations, { metadata: { name: 'a' }, initializers: [{ name: initializer }] })
})
afterEach(async () => {
  stop?.abort()
  await running
  running = undefined
})
afterAll(() => plane[Symbol.asyncDispose]())

/** From now until the end of the test. `gate` is awaited before it does its work. */
function initialize(gate: Promise<void> = Promise.resolve()): void {
  stop = new AbortController()
  running = runInitializer({
    name: initializer,
    client: plane.client,
    signal: stop.signal,
    log: silentLog,
    async initialize({ metadata: { name: namespace = '' } }, client) {
      await gate
      if (namespace.startsWith('unwanted')) throw new InitializationFailed('no such team', { reason: 'Forbidden' })
      const metadata = { namespace, name: 'namespace-admin' }
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' }
      const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dev' }]
      const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata, roleRef, subjects }
      await client.apply(rbac('rolebindings'), binding, { fieldManager: initializer })
    },
  })
}

const kubeconfigOf = (user: string): string => plane.kubeconfigFor(user, ['teams@corp.com'])
const thereIs = (name: string): Promise<unknown> => waitFor(plane.client, namespaces, { name }, isThere)

describeEachKubectl((kubectl) => {
  let dev: KubectlSession
  const tag = kubectl.minor
  beforeAll(async () => {
    dev = await KubectlSession.open(kubectl, kubeconfigOf('dev'))
  })
  afterAll(() => dev[Symbol.asyncDispose]())

  const succeeds = async (ran: Promise<Ran>): Promise<string> => {
    const { code, stdout, transcript } = await ran
    expect(code, transcript).toBe(0)
    return stdout
  }

  test('kubectl create namespace returns when the namespace is ready, and the next command works in it', async () => {
    initialize()
    const name = `create-${tag}`
    expect(await succeeds(dev.run(['create', 'namespace', name]))).toBe(`namespace/${name} created\n`)
    await succeeds(dev.run(['-n', name, 'create', 'configmap', 'mine']))
  })

  test.each([[[]], [['--server-side']]])(
    'kubectl apply %j -f of a file with a namespace and its content',
    async (flags) => {
      initialize()
      const name = `apply-${tag}${flags.length > 0 ? '-server-side' : ''}`
      const file = await dev.write(`${name}.yaml`, withContent.replaceAll('ns1', name))
      const said = await succeeds(dev.run(['apply', ...flags, '-f', file]))
      expect(said).toContain(`namespace/${name}`)
      expect(said).toContain('rolebinding.rbac.authorization.k8s.io/namespace-editors')
      await succeeds(dev.run(['apply', ...flags, '-f', file]))
    },
  )

  test('kubectl wait --for=condition=Ready waits for a namespace that is being initialized', async () => {
    const name = `wait-${tag}`
    await plane
      .clientAs('dev', ['teams@corp.com'])
      .create(namespaces, { metadata: { name } }, { includeUninitialized: true })
    const waiting = dev.run(['wait', '--for=condition=Ready', `namespace/${name}`, '--timeout=30s'])
    const table = await succeeds(dev.run(['get', 'namespace', name]))
    expect(table).toMatch(new RegExp(`${name}\\s+Initializing`))
    // Older ones leave conditions of namespaces out.
    if (kubectl.minor > 20) {
      const asAdmin = { kubeconfig: await dev.write('admin', plane.kubeconfig) }
      const { stdout, transcript } = await dev.run(['describe', 'namespace', name], asAdmin)
      expect(stdout, transcript).toMatch(/Initializing +True .*Waiting for initializer team-access/)
    }
    initialize()
    expect(await succeeds(waiting)).toBe(`namespace/${name} condition met\n`)
  })

  test('a write into a namespace that is almost ready is tried again by kubectl itself', async () => {
    const name = `retry-${tag}`
    await plane
      .clientAs('dev', ['teams@corp.com'])
      .create(namespaces, { metadata: { name } }, { includeUninitialized: true })
    // The role comes first and the namespace is ready later: in between writes are answered 429, which client-go
    // retries.
    const bind = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dev' }]
    const binding = { metadata: { namespace: name, name: 'early' }, roleRef: bind, subjects }
    await plane.client.create(rbac('rolebindings'), binding)
    const refusals = async (): Promise<number> => {
      const lines = (await (await plane.fetch('/metrics')).text()).split('\n')
      const wanted = ['_seconds_count{', 'verb="POST"', 'resource="configmaps"', 'code="429"']
      const line = lines.find((text) => wanted.every((part) => text.includes(part)))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const before = await refusals()
    const writing = dev.run(['-n', name, 'create', 'configmap', 'mine'])
    await expect.poll(refusals).toBeGreaterThan(before)
    initialize()
    expect(await succeeds(writing)).toBe('configmap/mine created\n')
  })

  test('a failure is what kubectl create namespace says', async () => {
    initialize()
    const ran = await dev.run(['create', 'namespace', `unwanted-${tag}`])
    expect([ran.code, ran.stderr]).toEqual([1, 'Error from server (Forbidden): no such team\n'])
    await waitFor(plane.client, namespaces, { name: `unwanted-${tag}` }, isGone)
  })

  test('a namespace that is being initialized is deleted by its creator', async () => {
    const name = `deleted-${tag}`
    const creating = dev.run(['create', 'namespace', name])
    await thereIs(name)
    await succeeds(dev.run(['delete', 'namespace', name]))
    expect((await creating).code).toBe(1)
  })

  describe('a creator who holds `create` on namespaces and nothing else', () => {
    let maker: KubectlSession
    beforeAll(async () => {
      maker = await KubectlSession.open(kubectl, plane.kubeconfigFor('maker', ['makers@corp.com']))
    })
    afterAll(() => maker[Symbol.asyncDispose]())
    const manifest = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`

    test('kubectl apply -f makes a namespace, as its own user and impersonated', async () => {
      initialize()
      for (const [who, flags] of [
        ['self', []],
        ['as', ['--as', 'maker', '--as-group', 'makers@corp.com']],
      ] as const) {
        const name = `applied-${tag}-${who}`
        const file = await maker.write(`${name}.yaml`, manifest(name))
        const asAdmin = who === 'as' ? { kubeconfig: await maker.write('admin', plane.kubeconfig) } : {}
        const said = await succeeds(maker.run([...flags, 'apply', '-f', file], asAdmin))
        expect(said).toBe(`namespace/${name} created\n`)
        const { metadata } = await plane.client.get(namespaces, { name })
        expect(metadata.annotations).toMatchObject({ 'authorization.k8s.io/creator': 'maker' })
      }
    })

    test('kubectl apply --server-side says what it takes', async () => {
      const file = await maker.write('served.yaml', manifest(`served-${tag}`))
      const { code, stderr } = await maker.run(['apply', '--server-side', '-f', file])
      expect(code).toBe(1)
      expect(stderr).toContain('server-side apply takes "patch" besides "create"')
    })

    test('kubectl get, wait and delete work on it while it is being initialized', async () => {
      const name = `made-${tag}`
      await plane
        .clientAs('maker', ['makers@corp.com'])
        .create(namespaces, { metadata: { name } }, { includeUninitialized: true })
      expect(await succeeds(maker.run(['get', 'namespace', name]))).toMatch(new RegExp(`${name}\\s+Initializing`))
      await succeeds(maker.run(['wait', '--for=condition=Initializing', `namespace/${name}`, '--timeout=60s']))
      expect(await succeeds(maker.run(['delete', 'namespace', name]))).toBe(`namespace "${name}" deleted\n`)
    })
  })

  test('when nothing initializes it, kubectl create says so after a while, and the namespace waits on', async () => {
    await using short = await startControlPlane({ port: 0, initializationTimeoutMs: 300 })
    await short.client.create(configurations, { metadata: { name: 'a' }, initializers: [{ name: initializer }] })
    await using admin = await KubectlSession.open(kubectl, short.kubeconfig)
    const ran = await admin.run(['create', 'namespace', 'team'])
    expect([ran.code, ran.stdout]).toEqual([0, 'namespace/team created\n'])
    expect(ran.stderr).toContain(`Warning: namespace team is still being initialized: waiting for ${initializer}`)
    expect(await short.client.get(namespaces, { name: 'team' })).toMatchObject({ status: { phase: 'Initializing' } })
  })

  test('when its templates can not give it all, kubectl create says what is missing', async () => {
    await using short = await startControlPlane({ port: 0, initializationTimeoutMs: 3000 })
    const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
    const cloneFrom = { namespace: 'default', apiVersion: 'v1', kind: 'Secret', name: 'pull' }
    await short.client.create(templates, { metadata: { name: 't' }, spec: { objects: [{ cloneFrom }] } })
    await using admin = await KubectlSession.open(kubectl, short.kubeconfig)
    const { stderr } = await admin.run(['create', 'namespace', 'lacks'])
    expect(stderr).toMatch(/still being initialized: waiting for namespace-template; Secret\/pull: .* is not there: /)
  })
})

function configOf(text: string): KubeConfig {
  const config = new KubeConfig()
  config.loadFromString(text)
  return config
}

test("Helm's --create-namespace: the namespace, then at once the release and what the chart holds", async () => {
  initialize()
  const config = configOf(kubeconfigOf('dev'))
  const core = config.makeApiClient(CoreV1Api)
  const fieldManager = 'helm'
  const install = async (namespace: string): Promise<void> => {
    const labels = { name: namespace }
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }
    await core.createNamespace({ body, fieldManager }).catch((error: { code?: number }) => {
      if (error.code !== 409) throw error
    })
    const release = `sh.helm.release.v1.app.v${Date.now()}`
    const stored = { metadata: { name: release, labels: { owner: 'helm' } }, type: 'helm.sh/release.v1' }
    await core.createNamespacedSecret({ namespace, body: { ...stored, stringData: { release: 'x' } } })
    const container = { name: 'app', image: 'app' }
    const template = { metadata: { labels: { app: 'app' } }, spec: { containers: [container] } }
    const spec = { selector: { matchLabels: { app: 'app' } }, template }
    const objects = KubernetesObjectApi.makeApiClient(config)
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace, name: release.toLowerCase() },
      spec,
    }
    await objects.create(deployment, undefined, undefined, fieldManager)
  }
  await install('helmed')
  await install('helmed')
  const { items } = await core.listNamespacedSecret({ namespace: 'helmed', labelSelector: 'owner=helm' })
  expect(items).toHaveLength(2)
})

test('an informer of another user hears of a namespace once it is ready, and never of one that failed', async () => {
  await plane.client.create(rbac('clusterrolebindings'), {
    metadata: { name: 'eve' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
  })
  const config = configOf(plane.kubeconfigFor('eve'))
  const core = config.makeApiClient(CoreV1Api)
  const informer = makeInformer(config, '/api/v1/namespaces', () => core.listNamespace())
  const heard: string[] = []
  const hear = (what: string) => (n: V1Namespace) => {
    if (n.metadata?.name?.includes('informed')) heard.push(`${what} ${n.metadata.name} ${n.status?.phase}`)
  }
  informer.on('add', hear('add'))
  informer.on('update', hear('update'))
  informer.on('delete', hear('delete'))
  await informer.start()
  let go: () => void = () => {}
  initialize(
    new Promise((resolve) => {
      go = resolve
    }),
  )
  const dev = plane.clientAs('dev', ['teams@corp.com'])
  const failed = dev.create(namespaces, { metadata: { name: 'unwanted-informed' } })
  const created = dev.create(namespaces, { metadata: { name: 'informed' } })
  await Promise.all([thereIs('unwanted-informed'), thereIs('informed')])
  expect((await core.listNamespace()).items.map((n) => n.metadata?.name)).not.toContain('informed')
  go()
  await expect(failed).rejects.toMatchObject({ code: 403 })
  await created
  await expect.poll(() => heard).toEqual(['add informed Active'])
  await informer.stop()
  const rights = configOf(kubeconfigOf('dev')).makeApiClient(RbacAuthorizationV1Api)
  expect(
    (await rights.readNamespacedRoleBinding({ namespace: 'informed', name: 'namespace-admin' })).subjects,
  ).toHaveLength(1)
})
