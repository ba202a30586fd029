/** Why a namespace is not ready or not gone, and the way out: `explainNamespace`, `releaseFinalizer`. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Explanation, explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { releaseFinalizer } from '../../src/apis/namespaces/release.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { runInitializer } from '../../src/initializer/run-initializer.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, refusal } from '../support/refusal.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const namespaces = core('namespaces')
const signal = AbortSignal.timeout(600_000)

let plane: TestControlPlane
let client: Client
let wire: Wire

beforeEach(async () => {
  plane = await startControlPlane({ population: false, initializationTimeoutMs: 1 })
  ;({ client } = plane)
  wire = new Wire(plane)
})
afterEach(() => plane[Symbol.asyncDispose]())

const why = (name = 'team-a', as = client): Promise<Explanation> => explainNamespace(as, name, systemClock, signal)
const create = (spec: object = {}, annotations = {}): Promise<unknown> =>
  client.create(namespaces, { metadata: { name: 'team-a', annotations }, spec })
const inTeam = (resource: string, metadata: object, more: object = {}): Promise<unknown> =>
  client.create(core(resource), { metadata: { namespace: 'team-a', ...metadata }, ...more })
const at = '/api/v1/namespaces/team-a'

/** Deleted, and as far as its controller can bring it. */
async function terminating(): Promise<void> {
  await client.delete(namespaces, { name: 'team-a' })
  await waitFor(client, namespaces, { name: 'team-a' }, (n) => {
    const { conditions = [] } = (n?.['status'] ?? {}) as { conditions?: { type: string }[] }
    const { finalizers = [] } = (n?.['spec'] ?? {}) as { finalizers?: string[] }
    return (
      n === undefined ||
      conditions.some((c) => c.type === 'NamespaceContentRemaining') ||
      !finalizers.includes('kubernetes')
    )
  })
}

describe('borough why', () => {
  it('says of an active namespace that nothing holds it', async () => {
    await create()
    expect(await why()).toEqual({
      namespace: 'team-a',
      state: 'Active',
      held: false,
      obstacles: [],
      reports: [],
      notes: [],
    })
  })

  it('offers to take a finalizer off when the object is being deleted, and not before', async () => {
    await using slow = await startControlPlane({ population: false, controllers: () => false })
    await slow.client.create(namespaces, { metadata: { name: 'team-a' } })
    const held = { namespace: 'team-a', name: 'held', finalizers: ['example.com/hold'] }
    await slow.client.create(core('configmaps'), { metadata: held })
    await slow.client.delete(namespaces, { name: 'team-a' })
    const helps = async () => (await why('team-a', slow.client)).obstacles[0]?.helps.map(({ command }) => command)
    const look = 'kubectl get configmaps held -n team-a -o yaml'
    expect(await helps()).toEqual([look])
    await slow.client.delete(core('configmaps'), { namespace: 'team-a', name: 'held' })
    expect(await helps()).toEqual([look, 'borough finalize team-a --remove example.com/hold'])
  })

  it.each([
    { name: '$(id)', named: "roles.rbac.authorization.k8s.io '$(id)'" },
    { name: "a'; id; '", named: `roles.rbac.authorization.k8s.io 'a'"'"'; id; '"'"''` },
    { name: '--all', named: 'roles.rbac.authorization.k8s.io/--all' },
  ])('names the Role $name so that a shell runs nothing of its name', async ({ name, named }) => {
    await create()
    const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' }
    const metadata = { namespace: 'team-a', name, finalizers: ['example.com/hold'] }
    await client.create(roles, { metadata, rules: [] })
    await terminating()
    const [obstacle] = (await why()).obstacles
    expect(obstacle?.helps[0]?.command).toBe(`kubectl get ${named} -n team-a -o yaml`)
  })

  it('says who gives a namespace its templates on a cluster without initializers, and the way past them', async () => {
    const labels = { 'policy/namespace-template-pending': 'true' }
    const { metadata } = await client.create(namespaces, { metadata: { name: 'team-a', labels } })
    expect(await why()).toEqual({
      namespace: 'team-a',
      state: 'Initializing',
      since: metadata.creationTimestamp,
      held: true,
      obstacles: [
        {
          what: 'its templates have not been applied yet',
          who: 'borough populate: its controller applies the NamespaceTemplates that match',
          since: metadata.creationTimestamp,
          helps: [
            {
              command: 'kubectl get lease borough-population -n borough-system -o yaml',
              effect: 'which process populates, and when it said so last',
            },
            {
              command: 'kubectl get namespacetemplates',
              effect: 'templates that failed, with why in their status',
            },
            {
              command: 'kubectl label namespace team-a policy/namespace-template-pending-',
              effect: 'go on without them; needs the verb initialize on the namespace',
            },
            { command: 'kubectl delete namespace team-a', effect: 'give the namespace up' },
          ],
        },
      ],
      reports: [],
      notes: [],
    })
  })

  it('says of a protected namespace how to lift the protection', async () => {
    await create({}, { 'borough.dev/deletion-protection': 'true' })
    expect((await why()).notes).toEqual([
      'it is protected from deletion; to lift that: kubectl annotate namespace team-a borough.dev/deletion-protection-',
    ])
  })

  it('is NotFound for one that is not there', async () => {
    await expect(why('nowhere')).rejects.toMatchObject({ reason: 'NotFound' })
  })

  const configured = (initializer: object): Promise<unknown> =>
    client.create(
      { group: 'admissionregistration.k8s.io', version: 'v1alpha1', resource: 'namespaceinitializerconfigurations' },
      { metadata: { name: 'c' }, initializers: [{ name: 'slow.ex.io', ...initializer }, { name: 'then.ex.io' }] },
    )

  it.each([
    { name: 'goes on', failurePolicy: 'Ignore', outcome: 'it goes on without it' },
    { name: 'fails', failurePolicy: 'Fail', outcome: 'the namespace fails and is deleted' },
  ])(
    'names the initializer awaited, since and until when, and that it $name then',
    async ({ failurePolicy, outcome }) => {
      await configured({ timeoutSeconds: 600, failurePolicy })
      await create()
      const { state, held, obstacles, notes } = await why()
      expect({ state, held }).toEqual({ state: 'Initializing', held: true })
      const [{ what, who, since = '', until = '', helps }] = obstacles as [Explanation['obstacles'][number]]
      expect({ what, who }).toEqual({
        what: 'initializer slow.ex.io has not acted yet',
        who: 'the controller of initializer slow.ex.io',
      })
      expect(Date.parse(until) - Date.parse(since)).toBe(600_000)
      expect(notes).toEqual([`when its time is over ${outcome}`, 'after it, in this order: then.ex.io'])
      // The command does what it says: what follows the name is a JSON patch.
      const [, patch = ''] = /-p '(.*)'$/.exec(helps[1]?.command ?? '') ?? []
      await wire.must('PATCH', at, JSON.parse(patch), 'application/json-patch+json')
      expect((await why()).obstacles[0]?.what).toBe('initializer then.ex.io has not acted yet')
    },
  )

  it('says the same to somebody who may not read configurations, from the conditions', async () => {
    await configured({ timeoutSeconds: 600, failurePolicy: 'Ignore' })
    await create()
    const stop = new AbortController()
    const said = new Promise<void>((resolve) => {
      void runInitializer({
        name: 'slow.ex.io',
        client,
        signal: stop.signal,
        async initialize(_namespace, _client, { signal: ends, progress }) {
          await progress('asking for an index: 1 of 2')
          resolve()
          await new Promise((done) => ends.addEventListener('abort', done))
          throw new Error('stopped')
        },
      })
    })
    await said
    stop.abort()
    await client.create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }, {
      metadata: { name: 'seer' },
      rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }],
    } as never)
    await client.create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }, {
      metadata: { name: 'seer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'seer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'seer' }],
    } as never)
    const asAdmin = await why()
    const asSeer = await why('team-a', plane.clientAs('seer'))
    expect(asSeer).toEqual(asAdmin)
    expect(asSeer.obstacles[0]).toMatchObject({
      until: expect.any(String) as string,
      progress: 'asking for an index: 1 of 2',
    })
  })

  it('names what is left, its finalizers, who must act and the way out', async () => {
    await create()
    await inTeam('configmaps', { name: 'held', finalizers: ['ex.io/wait'] })
    await terminating()
    const { state, held, obstacles, left } = await why()
    expect({ state, held, total: left?.total }).toEqual({ state: 'Terminating', held: true, total: 1 })
    expect(left?.objects).toMatchObject([{ resource: 'configmaps', name: 'held', finalizers: ['ex.io/wait'] }])
    expect(obstacles).toMatchObject([
      {
        what: 'finalizer ex.io/wait holds configmaps/held',
        who: 'the controller of finalizer ex.io/wait: it cleans up before the object may go',
        helps: [
          { command: 'kubectl get configmaps held -n team-a -o yaml' },
          { command: 'borough finalize team-a --remove ex.io/wait' },
        ],
      },
    ])
  })

  it('counts what is beyond a few', async () => {
    await create()
    for (let i = 0; i < 5; i++) await inTeam('configmaps', { name: `held-${i}`, finalizers: ['ex.io/wait'] })
    await terminating()
    expect((await why()).obstacles[0]?.what).toBe(
      'finalizer ex.io/wait holds configmaps/held-0, configmaps/held-1, configmaps/held-2 and 2 more',
    )
  })

  it('names the node of a pod that was given time to end, and until when', async () => {
    await create()
    await client.create(core('nodes'), { metadata: { name: 'n1' } })
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'nginx' }] }
    await inTeam('pods', { name: 'web' }, { spec })
    await inTeam('configmaps', { name: 'later' })
    await terminating()
    const { obstacles, left } = await why()
    const deadline = left?.objects.find((o) => o.name === 'web')?.deletionTimestamp
    expect(obstacles[0]).toMatchObject({
      what: 'pods/web was given time to end',
      who: 'the kubelet of node n1',
      until: deadline,
      helps: [
        { command: 'kubectl get node n1' },
        { command: 'kubectl delete pods web -n team-a --grace-period=0 --force' },
      ],
    })
    expect(obstacles[1]?.who).toMatch(/^namespace-controller: it goes on when the above is gone/)
  })

  it('names the finalizer that holds the empty namespace', async () => {
    await create({ finalizers: ['openshift.com/origin'] })
    await terminating()
    const { left, obstacles } = await why()
    expect(left?.total).toBe(0)
    expect(obstacles.map((o) => o.what)).toEqual(['finalizer openshift.com/origin holds the namespace itself'])
  })

  it('tells the last error when content is refused to go, and what it does not concern goes', async () => {
    const webhooks = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      resource: 'validatingwebhookconfigurations',
    }
    await create()
    await inTeam('secrets', { name: 's' })
    await client.create(webhooks, {
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'guard.ex.io',
          clientConfig: { url: 'https://127.0.0.1:1/' },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['DELETE'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    } as never)
    await terminating()
    const { obstacles, left, reports } = await why()
    expect(left?.objects.map((o) => `${o.resource}/${o.name}`)).toEqual(['configmaps/kube-root-ca.crt'])
    expect(obstacles.map(({ who }) => who)).toEqual([
      'the owner of ValidatingWebhookConfiguration guard, which has it',
      'namespace-controller: it goes on when the above is gone (pods go first, roles and their bindings last)',
    ])
    expect(reports).toEqual([
      {
        type: 'NamespaceDeletionContentFailure',
        reason: 'ContentDeletionFailed',
        message: expect.stringMatching(
          /^Failed to delete all resource types, 1 remaining: v1 configmaps: .*failed calling webhook "guard\.ex\.io".*connection refused$/,
        ) as string,
      },
    ])
    await client.delete(webhooks, { name: 'guard' })
    await waitFor(client, namespaces, { name: 'team-a' }, isGone)
  })

  it('says what could not be read to somebody who may not', async () => {
    await create()
    await inTeam('configmaps', { name: 'held', finalizers: ['ex.io/wait'] })
    await client.create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }, {
      metadata: { name: 'd' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:controller:namespace-initializer-controller',
      },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'seer' }],
    } as never)
    await terminating()
    const { left, notes } = await why('team-a', plane.clientAs('seer'))
    expect(left?.unread).toEqual([
      { resource: 'configmaps', why: expect.stringContaining('cannot list resource "configmaps"') as string },
    ])
    expect(notes).toEqual(['not everything could be read: run it as a user with more rights'])
  })

  it('does not ask for more rights where a value can not be read', async () => {
    await create()
    await inTeam('configmaps', { name: 'held', finalizers: ['ex.io/wait'] })
    await terminating()
    const failing = new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name !== 'get' && JSON.stringify(args).includes('"configmaps"'))
            return Promise.reject(new Error('the stored value is damaged'))
          return (value as (...a: unknown[]) => unknown).apply(target, args)
        }
      },
    })
    const { left, notes } = await why('team-a', failing)
    expect(left?.unread).toEqual([{ resource: 'configmaps', why: 'the stored value is damaged' }])
    expect(notes).toEqual([
      'not everything could be read, and rights are not what is missing: who runs the server must mend what it says',
    ])
  })
})

describe('borough finalize', () => {
  const release = (finalizer: string, dryRun = false, as = client): Promise<readonly string[]> =>
    releaseFinalizer(as, 'team-a', { finalizer, dryRun }, signal)

  it('takes the finalizer off content, and the namespace goes', async () => {
    await create()
    for (const name of ['a', 'b']) await inTeam('configmaps', { name, finalizers: ['ex.io/wait'] })
    await inTeam('secrets', { name: 'c', finalizers: ['ex.io/wait', 'ex.io/other'] })
    await terminating()
    expect(await release('ex.io/wait', true)).toEqual(['configmaps/a', 'configmaps/b', 'secrets/c'])
    expect((await why()).left?.total).toBe(3)
    expect(await release('ex.io/wait')).toEqual(['configmaps/a', 'configmaps/b', 'secrets/c'])
    expect(await release('ex.io/other')).toEqual(['secrets/c'])
    await waitFor(client, namespaces, { name: 'team-a' }, isGone)
  })

  it('takes it off the namespace itself, from both of its lists', async () => {
    await client.create(namespaces, {
      metadata: { name: 'team-a', finalizers: ['ex.io/own'] },
      spec: { finalizers: ['ex.io/own'] },
    })
    await terminating()
    expect(await release('ex.io/own')).toEqual(['namespace'])
    await waitFor(client, namespaces, { name: 'team-a' }, isGone)
  })

  it('leaves alone what is not being deleted', async () => {
    await create()
    await inTeam('configmaps', { name: 'a', finalizers: ['ex.io/wait'] })
    await expect(release('ex.io/wait')).rejects.toThrow('namespace team-a is not being deleted')
  })

  it('says so when the finalizer holds nothing', async () => {
    await create()
    await inTeam('configmaps', { name: 'a', finalizers: ['ex.io/wait'] })
    await terminating()
    await expect(release('ex.io/other')).rejects.toThrow('finalizer ex.io/other holds nothing in namespace team-a')
  })

  it('does not let kubernetes go while anything is left, and names it', async () => {
    await create()
    await inTeam('configmaps', { name: 'a', finalizers: ['ex.io/wait'] })
    await terminating()
    expect(await refusal(release('kubernetes'))).toEqual(
      failure({
        message:
          'Operation cannot be fulfilled on namespaces "team-a": 1 object is left in it, so the finalizer ' +
          '"kubernetes" can\'t be removed',
        reason: 'Conflict',
        details: {
          name: 'team-a',
          kind: 'namespaces',
          causes: [{ reason: 'NamespaceContentRemaining', message: 'configmaps/a', field: 'spec.finalizers' }],
        },
        code: 409,
      }),
    )
  })

  it('needs the rights that any such request needs', async () => {
    await create({ finalizers: ['ex.io/own'] })
    await client.create({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }, {
      metadata: { name: 'viewer', namespace: 'team-a' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    } as never)
    await inTeam('configmaps', { name: 'a', finalizers: ['ex.io/own'] })
    await terminating()
    await expect(release('ex.io/own', false, plane.clientAs('viewer'))).rejects.toMatchObject({ reason: 'Forbidden' })
  })
})

it('a group that is broken, and holds nothing in the namespace, does not hold it', async () => {
  const instance = { apiVersion: 'broken.ex.io/v2', kind: 'Widget', metadata: { name: 'w', namespace: 'other' } }
  const url = 'https://127.0.0.1:1/convert'
  const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url } } }
  const version = (name: string, storage: boolean): object => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object' } },
  })
  const names = { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' }
  await client.create({ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }, {
    metadata: { name: 'widgets.broken.ex.io' },
    spec: {
      group: 'broken.ex.io',
      scope: 'Namespaced',
      names,
      versions: [version('v1', false), version('v2', true)],
      conversion,
    },
  } as never)
  await client.create({ group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' }, {
    metadata: { name: 'v1.gone.ex.io' },
    spec: {
      group: 'gone.ex.io',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { namespace: 'default', name: 'gone' },
    },
  } as never)
  await client.create(namespaces, { metadata: { name: 'other' } })
  await expect
    .poll(() =>
      client.create({ group: 'broken.ex.io', version: 'v2', resource: 'widgets' }, instance).catch(() => 'not yet'),
    )
    .not.toBe('not yet')
  await create()
  await inTeam('configmaps', { name: 'a' })
  await client.delete(namespaces, { name: 'team-a' })
  await waitFor(client, namespaces, { name: 'team-a' }, isGone)
})

it('deleting a namespace that lost the finalizer kubernetes puts it back beside others', async () => {
  await using quiet = await startControlPlane({ population: false, controllers: () => false })
  const itsWire = new Wire(quiet)
  await quiet.client.create(namespaces, { metadata: { name: 'team-a' }, spec: { finalizers: ['ex.io/own'] } } as never)
  await itsWire.must('DELETE', `${at}/serviceaccounts/default`)
  await itsWire.must('DELETE', `${at}/configmaps/kube-root-ca.crt`)
  const lost = await itsWire.must('PUT', `${at}/finalize`, {
    metadata: { name: 'team-a' },
    spec: { finalizers: ['ex.io/own'] },
  })
  expect(lost.spec).toEqual({ finalizers: ['ex.io/own'] })
  await itsWire.must('POST', `${at}/configmaps`, { metadata: { name: 'a' } })
  const { spec } = await itsWire.must('DELETE', at)
  expect(spec).toEqual({ finalizers: ['ex.io/own', 'kubernetes'] })
})
