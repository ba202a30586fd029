/** Namespaces that are created with what their templates hold: what a client sees of it, and when it is not so. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { type StartOptions, startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { transactionOf } from '../support/transaction-of.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'
import { startWebhookServer } from '../support/webhook-server.ts'
import {
  configMap,
  configMapResource,
  namespaceResource,
  ofUsers,
  templateLabel,
  templateResource,
} from './population-world.ts'

let plane: TestControlPlane
const start = async (options: StartOptions = {}): Promise<void> => {
  await plane?.[Symbol.asyncDispose]()
  plane = await startControlPlane(options)
}
beforeEach(() => start())
afterEach(() => plane[Symbol.asyncDispose]())

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const admissionGroup = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })
const object = (apiVersion: string, kind: string, name: string, more: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
})

/** One of each kind that needs no other to be there first. */
const everything: JsonObject[] = [
  object('v1', 'ResourceQuota', 'limits', {
    spec: { hard: { configmaps: '9', 'count/roles.rbac.authorization.k8s.io': '9' } },
  }),
  object('networking.k8s.io/v1', 'NetworkPolicy', 'closed', { spec: { podSelector: {}, policyTypes: ['Ingress'] } }),
  object('v1', 'LimitRange', 'small', { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } }),
  object('v1', 'ServiceAccount', 'deployer', {}),
  object('v1', 'Secret', 'pull', { stringData: { user: '$(CREATOR)' } }),
  object('rbac.authorization.k8s.io/v1', 'Role', 'reader', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  object('rbac.authorization.k8s.io/v1', 'RoleBinding', 'readers', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: '$(CREATOR)' }],
  }),
  configMap('about', { namespace: '$(NAMESPACE)' }),
]
const kindsOfEverything = [
  core('resourcequotas'),
  { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' },
  core('limitranges'),
  core('serviceaccounts'),
  core('secrets'),
  rbac('roles'),
  rbac('rolebindings'),
  configMapResource,
]

/** A template that is in force: its status says where its objects are to be found. */
async function template(objects: readonly JsonObject[], spec: JsonObject = {}, name = 't'): Promise<void> {
  const wanted = { metadata: { name }, spec: { namespaces: ofUsers, ...spec, templates: [...objects] } }
  const { metadata } = await plane.client.create(templateResource, wanted)
  await inForce(name, metadata.generation ?? 0)
}

async function inForce(name: string, generation: number): Promise<void> {
  await waitFor(plane.client, templateResource, { name }, (t) => observedOf(t) === generation)
}
const observedOf = (t: KubeObject | undefined): unknown =>
  (t?.['status'] as JsonObject | undefined)?.['observedGeneration']

/** Creates one and answers it as everybody saw it first, and as it was when the create was answered. */
async function createAndObserve(name: string): Promise<{ readonly first: KubeObject; readonly answered: KubeObject }> {
  const { metadata } = await plane.client.list(namespaceResource)
  const events = plane.client.watch(namespaceResource, {
    resourceVersion: metadata.resourceVersion ?? '',
    fieldSelector: `metadata.name=${name}`,
    includeUninitialized: true,
    signal: new AbortController().signal,
  })
  const answered = await plane.client.create(namespaceResource, { metadata: { name } })
  for await (const { type, object: first } of events) {
    expect(type).toBe('ADDED')
    return { first, answered }
  }
  throw new Error('the watch ended')
}

const phaseOf = ({ status }: KubeObject): unknown => (status as JsonObject | undefined)?.['phase']

/** All that templates put there, by kind and name. */
async function populated(namespace: string): Promise<KubeObject[]> {
  const lists = await Promise.all(
    kindsOfEverything.map((kind) => plane.client.list(kind, { namespace, labelSelector: templateLabel })),
  )
  return lists.flatMap(({ items }) => items)
}

const withoutIdentity = ({ metadata, ...rest }: KubeObject): unknown => {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, managedFields = [], ...kept } = metadata
  return { ...rest, metadata: { ...kept, managedFields: managedFields.map(({ time: _, ...entry }) => entry) } }
}

describe('a new namespace', () => {
  test('is there with the values that it gives and the labels that its template sets, at one revision', async () => {
    await template([configMap('about', { size: '$(size)' })], {
      parameters: [{ name: 'size', fromLabel: 'ex.com/size', enum: ['s', 'l'], default: 's' }],
      namespaceMetadata: { labels: { 'ex.com/tier': 'tier-$(size)' } },
    })
    const { first, answered } = await createAndObserve('team')
    expect(answered).toEqual(first)
    expect(first.metadata.labels).toMatchObject({ 'ex.com/tier': 'tier-s' })
    const about = await plane.client.get(configMapResource, { namespace: 'team', name: 'about' })
    expect(about['data']).toEqual({ size: 's' })
    expect(transactionOf(about)).toBe(transactionOf(first))
  })

  test('is there with all it is given, at one revision, for whoever watches', async () => {
    await template(everything)
    const { first, answered } = await createAndObserve('team')
    expect(answered).toEqual(first)
    expect(first['spec']).toEqual({ finalizers: ['kubernetes'] })
    expect(first['status']).toEqual({
      phase: 'Active',
      conditions: ['Ready', 'Initializing'].map((type) => ({
        type,
        status: type === 'Ready' ? 'True' : 'False',
        reason: 'Initialized',
        message: 'All initializers have finished',
        lastTransitionTime: first.metadata.creationTimestamp,
      })),
    })
    const objects = [
      ...(await populated('team')),
      await plane.client.get(core('serviceaccounts'), { namespace: 'team', name: 'default' }),
    ]
    expect(objects.map((o) => o.metadata.name).sort()).toEqual([
      'about',
      'closed',
      'default',
      'deployer',
      'limits',
      'pull',
      'reader',
      'readers',
      'small',
    ])
    expect(new Set(objects.map(transactionOf))).toEqual(new Set([transactionOf(first)]))
  })

  test('holds the same objects as the controller would have made', async () => {
    await template(everything)
    await createAndObserve('team')
    const made = await populated('team')
    const folder = await mkdtemp(join(tmpdir(), 'borough-populated-'))
    try {
      // What is to be in the audit log comes by requests of its own.
      await start({ audit: { path: join(folder, 'audit.log'), maxBytes: 1e9, keep: 1 } })
      await template(everything)
      expect(phaseOf((await createAndObserve('team')).first)).toBe('Initializing')
      expect(made.map(withoutIdentity)).toEqual((await populated('team')).map(withoutIdentity))
    } finally {
      await start()
      await rm(folder, { recursive: true })
    }
  })

  test('has a quota that counts what came with it', async () => {
    await template(everything)
    await createAndObserve('team')
    const quota = await plane.client.get(core('resourcequotas'), { namespace: 'team', name: 'limits' })
    const counted = { configmaps: '2', 'count/roles.rbac.authorization.k8s.io': '1' }
    expect(quota['status']).toMatchObject({ used: counted })
    await plane.client.create(configMapResource, { metadata: { namespace: 'team', name: 'another' } })
    const after = await plane.client.get(core('resourcequotas'), { namespace: 'team', name: 'limits' })
    expect(after['status']).toMatchObject({ used: { ...counted, configmaps: '3' } })
  })

  test('is counted by its template, and the controller writes nothing', async () => {
    await template(everything)
    await createAndObserve('team')
    const before = await populated('team')
    await waitFor(plane.client, templateResource, { name: 't' }, (t) => (t?.['status'] as JsonObject)['synced'] === 1)
    expect(await populated('team')).toEqual(before)
  })

  test('is there with what is chosen, protected and cloned, in its own transaction', async () => {
    const annotations = { 'policy.borough.dev/clone-to': '*' }
    await plane.client.create(configMapResource, {
      metadata: { namespace: 'default', name: 'ca', annotations },
      data: { a: '1' },
    })
    const cloneFrom = { namespace: 'default', apiVersion: 'v1', kind: 'ConfigMap', name: 'ca' }
    await template([], {
      objects: [
        { when: "namespaceObject.metadata.name == 'team'", protect: true, template: configMap('chosen') },
        { when: "namespaceObject.metadata.name != 'team'", template: configMap('other') },
        { cloneFrom, drift: 'Strict' },
      ],
    })
    const { first } = await createAndObserve('team')
    const there = await populated('team')
    expect(there.map((o) => [o.metadata.name, o['data']])).toEqual([
      ['ca', { a: '1' }],
      ['chosen', { a: '1' }],
    ])
    const transactionOf = ({ metadata }: KubeObject): number => Math.floor(Number(metadata.resourceVersion) / 1024)
    expect(there.map(transactionOf)).toEqual([transactionOf(first), transactionOf(first)])
    await waitFor(plane.client, templateResource, { name: 't' }, (t) => (t?.['status'] as JsonObject)['synced'] === 1)
    expect(await populated('team')).toEqual(there)
  })

  test('is counted in the metrics, and one that is left to the controller is not', async () => {
    const counted = async (): Promise<string | undefined> => {
      const text = await (await plane.fetch('/metrics')).text()
      return /^borough_namespaces_born_populated_total (\d+)$/m.exec(text)?.[1]
    }
    expect(await counted()).toBe('0')
    await template([configMap('one')])
    await createAndObserve('team')
    expect(await counted()).toBe('1')
    const ports = { spec: { ports: [{ port: 80 }] } }
    await template([object('v1', 'Service', 'web', ports)], {}, 'u')
    expect(phaseOf((await createAndObserve('other')).first)).toBe('Initializing')
    expect(await counted()).toBe('1')
  })

  test('still waits for the initializers after the templates', async () => {
    const kind = { ...admissionGroup('namespaceinitializerconfigurations'), version: 'v1alpha1' }
    await plane.client.create(kind, { metadata: { name: 'a' }, initializers: [{ name: 'other.ex.io' }] })
    await template([configMap('one')])
    const begun = await plane.client.create(
      namespaceResource,
      { metadata: { name: 'team' } },
      { includeUninitialized: true },
    )
    expect(begun['spec']).toMatchObject({ initializers: { pending: [{ name: 'other.ex.io' }] } })
    expect(phaseOf(begun)).toBe('Initializing')
    expect((await populated('team')).map(transactionOf)).toEqual([transactionOf(begun)])
  })

  test('is kept as every other: what somebody changes is put right', async () => {
    await template([configMap('one')])
    await createAndObserve('team')
    await plane.client.patch(configMapResource, { namespace: 'team', name: 'one' }, { data: { a: 'x' } })
    const right = (o: KubeObject | undefined): boolean => (o?.['data'] as JsonObject)['a'] === '1'
    await waitFor(plane.client, configMapResource, { namespace: 'team', name: 'one' }, right)
    await plane.client.delete(configMapResource, { namespace: 'team', name: 'one' })
    await waitFor(plane.client, configMapResource, { namespace: 'team', name: 'one' }, isThere)
  })

  test('made while a rollout stands still holds the newest, and waits for nothing', async () => {
    await template([configMap('one')], { rollout: { maxUnavailable: 1, pauseOnFailure: true } })
    await createAndObserve('old')
    await plane.client.create(configMapResource, { metadata: { namespace: 'old', name: 'two' } })
    const spec = { templates: [configMap('one', { a: '2' }), configMap('two')] }
    await plane.client.patch(templateResource, { name: 't' }, { spec })
    const says = (want: JsonObject) => (t: KubeObject | undefined) =>
      Object.entries(want).every(([key, value]) => (t?.['status'] as JsonObject)[key] === value)
    await waitFor(plane.client, templateResource, { name: 't' }, says({ observedGeneration: 2, failed: 1 }))
    expect(phaseOf((await createAndObserve('new')).first)).toBe('Active')
    expect(await plane.client.get(configMapResource, { namespace: 'new', name: 'one' })).toMatchObject({
      data: { a: '2' },
    })
    const done = says({ matched: 2, failed: 1, synced: 1 })
    const { status } = (await waitFor(plane.client, templateResource, { name: 't' }, done)) as KubeObject
    expect(status).toHaveProperty('waiting', 0)
  })
})

describe('the controller populates a namespace after its creation', () => {
  /** It comes to the same in the end. */
  const comesLater = async (want: readonly string[]): Promise<void> => {
    const { first, answered } = await createAndObserve('team')
    expect([phaseOf(first), phaseOf(answered)]).toEqual(['Initializing', 'Active'])
    expect((await populated('team')).map((o) => o.metadata.name).sort()).toEqual([...want].sort())
  }

  test('where an object must come after others', async () => {
    const spec = { ports: [{ port: 80 }] }
    await template([object('v1', 'Service', 'web', { spec }), configMap('one')])
    await comesLater(['one'])
    expect(await plane.client.get(core('services'), { namespace: 'team', name: 'web' })).toBeDefined()
  })

  test('where an object comes with every namespace, and is to be adopted', async () => {
    const named = { ...object('v1', 'ServiceAccount', 'default', {}), imagePullSecrets: [{ name: 'pull' }] }
    await template([named, configMap('one')], { adopt: true })
    await comesLater(['default', 'one'])
  })

  test('where two quotas count each other', async () => {
    const quota = (name: string): JsonObject =>
      object('v1', 'ResourceQuota', name, { spec: { hard: { resourcequotas: '5' } } })
    await template([quota('a'), quota('b')])
    await comesLater(['a', 'b'])
    for (const { status } of await populated('team')) expect(status).toMatchObject({ used: { resourcequotas: '2' } })
  })

  test('where a policy refuses one of its objects: the others are made all the same', async () => {
    await plane.client.create(admissionGroup('validatingadmissionpolicies'), {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        },
        validations: [{ expression: "object.metadata.name != 'two'" }],
      },
    })
    await plane.client.create(admissionGroup('validatingadmissionpolicybindings'), {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    })
    await template([configMap('one'), configMap('two')], { failurePolicy: 'Ignore' })
    await comesLater(['one'])
  })

  test('where a webhook is asked about an object: it finds the namespace', async () => {
    await using server = await startWebhookServer()
    const found: unknown[] = []
    server.answer = ({ namespace = '' }) => {
      found.push(plane.client.get(namespaceResource, { name: namespace }).then(phaseOf))
      return { allowed: true }
    }
    await plane.client.create(admissionGroup('validatingwebhookconfigurations'), {
      metadata: { name: 'w' },
      webhooks: [
        {
          name: 'w.ex.io',
          clientConfig: { url: `${server.url}/w`, caBundle: server.caBundle },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['serviceaccounts'] }],
          objectSelector: { matchExpressions: [{ key: templateLabel, operator: 'Exists' }] },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    await template([object('v1', 'ServiceAccount', 'deployer', {})])
    await comesLater(['deployer'])
    expect(await Promise.all(found)).toEqual(['Initializing'])
  })

  test('where a policy may find its parameters in the namespace', async () => {
    await plane.client.create(admissionGroup('validatingadmissionpolicies'), {
      metadata: { name: 'p' },
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts'] },
          ],
        },
        validations: [{ expression: "'ca.crt' in params.data" }],
      },
    })
    await plane.client.create(admissionGroup('validatingadmissionpolicybindings'), {
      metadata: { name: 'p' },
      spec: {
        policyName: 'p',
        paramRef: { name: 'kube-root-ca.crt', parameterNotFoundAction: 'Deny' },
        validationActions: ['Deny'],
      },
    })
    await template([object('v1', 'ServiceAccount', 'deployer', {})])
    await comesLater(['deployer'])
  })
})

test('a template that is deleted while namespaces come leaves nothing behind', async () => {
  for (let round = 0; round < rounds; round++) {
    const name = `t${round}`
    await template([configMap('one')], { deletionPolicy: 'Delete', rollout: { maxPrune: '100%' } }, name)
    const creates = Array.from({ length: 12 }, (_, i) =>
      plane.client.create(namespaceResource, { metadata: { name: `n-${round}-${i}` } }),
    )
    // Some are there by now, some are on their way, some are still to come.
    await creates[round % 12]
    const more = Array.from({ length: 4 }, (_, i) =>
      plane.client.create(namespaceResource, { metadata: { name: `m-${round}-${i}` } }),
    )
    await plane.client.delete(templateResource, { name })
    await Promise.all([...creates, ...more])
    await waitFor(plane.client, templateResource, { name }, isGone)
    const { items } = await plane.client.list(configMapResource, { labelSelector: templateLabel })
    expect(items.map((o) => `${o.metadata.namespace}/${o.metadata.name}`)).toEqual([])
  }
})

const rounds = 2
