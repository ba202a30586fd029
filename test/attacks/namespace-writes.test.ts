/**
 * A tenant who may write namespaces in every way there is, and is no holder of `use`: none of the ways takes a guard
 * off a namespace, an open one or one that waits, or off a protected object. Each way is tried with what would, beside
 * a harmless change that comes through where the way is one; what is stored says what it came to.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { jsonEqual } from '../../src/kube/json-value.ts'
import { clusterRoleBindingsResource, clusterRolesResource } from '../../src/kube/rbac.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startPopulate } from '../../src/populate/populate.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { allow, clusterRole, clusterRoleBinding, user } from '../support/fake-rbac-source.ts'
import { type OtherCluster, otherAdmissions, otherKubeconfig, startOtherCluster } from '../support/other-cluster.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const enforce = 'pod-security.kubernetes.io/enforce'
const creator = 'authorization.k8s.io/creator'
const pending = 'policy/namespace-template-pending'
const setBy = 'policy.borough.dev/set-by-templates'
const optOut = 'policy/namespace-template-opt-out'
const protectedBy = 'policy.borough.dev/protected-by'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const json = 'application/json-patch+json'
const apply = 'application/apply-patch+yaml'

/** What is to change in a map of the metadata; null takes the key out. */
interface Change {
  readonly labels?: Readonly<Record<string, string | null>>
  readonly annotations?: Readonly<Record<string, string | null>>
  readonly ownerReferences?: readonly JsonObject[]
}

const owned = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'c0ffee00-0000-4000-8000-000000000000' }]
const ofNamespace: readonly Change[] = [
  { labels: { [enforce]: null } },
  { labels: { [enforce]: 'privileged' } },
  { labels: { [`${enforce}-version`]: 'v1.0' } },
  { labels: { kind: null } },
  { labels: { kind: 'free' } },
  { labels: { [creator]: 'mallory' } },
  { labels: { [creator]: null } },
  { labels: { [pending]: null } },
  { labels: { [pending]: 'false' } },
  { annotations: { [creator]: 'mallory' } },
  { annotations: { [creator]: null } },
  { annotations: { [setBy]: null, 'borough.dev/owner': 'mallory' } },
  { annotations: { [setBy]: '{}' } },
  { annotations: { [optOut]: 'true' } },
]
const ofObject: readonly Change[] = [
  { labels: { [protectedBy]: null } },
  { labels: { [protectedBy]: 'other' } },
  { labels: { 'policy.borough.dev/namespace-template': null } },
  { annotations: { note: 'theirs' } },
  { ownerReferences: owned },
]
interface Content {
  readonly data?: unknown
  readonly spec?: unknown
  readonly status?: { readonly phase?: string }
}

const harmless: Change = { labels: { note: 'x' } }

const changed = (
  before: Readonly<Record<string, string>> = {},
  change: Readonly<Record<string, string | null>> = {},
): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...before, ...change }).filter((e): e is [string, string] => e[1] !== null))

type Send = (wire: Wire, path: string, now: KubeObject, change: Change) => Promise<{ readonly status: number }>

const put =
  (withVersion: boolean): Send =>
  (wire, path, now, { labels, annotations, ownerReferences }) => {
    const { resourceVersion, managedFields: _, ...metadata } = now.metadata
    return wire.call('PUT', path, {
      ...now,
      metadata: {
        ...metadata,
        ...(withVersion ? { resourceVersion } : {}),
        ...(ownerReferences === undefined ? {} : { ownerReferences }),
        labels: changed(metadata.labels, labels),
        annotations: changed(metadata.annotations, annotations),
      },
    })
  }

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
const operations = (now: KubeObject, { labels = {}, annotations = {}, ownerReferences }: Change): JsonObject[] => [
  ...Object.entries({ labels, annotations }).flatMap(([part, map]) => [
    ...(now.metadata[part as 'labels'] === undefined ? [{ op: 'add', path: `/metadata/${part}`, value: {} }] : []),
    ...Object.entries(map).flatMap(([key, value]) => {
      const path = `/metadata/${part}/${escaped(key)}`
      if (value !== null) return [{ op: 'add', path, value }]
      return now.metadata[part as 'labels']?.[key] === undefined ? [] : [{ op: 'remove', path }]
    }),
  ]),
  ...(ownerReferences === undefined ? [] : [{ op: 'add', path: '/metadata/ownerReferences', value: ownerReferences }]),
]

/** What is taken out was owned by that manager, or stays; what is set is set with force. */
const applied =
  (manager: string): Send =>
  (wire, path, now, { labels = {}, annotations = {}, ownerReferences }) => {
    const { apiVersion, kind } = now
    const own = (map: Readonly<Record<string, string | null>>): Record<string, string> => changed({}, map)
    const given = ownerReferences === undefined ? {} : { ownerReferences }
    const body = { apiVersion, kind, metadata: { labels: own(labels), annotations: own(annotations), ...given } }
    return wire.call('PATCH', `${path}?force=true&fieldManager=${manager}`, body, apply)
  }

const sends: Readonly<Record<string, Send>> = {
  put: put(true),
  'put without a version': put(false),
  'merge patch': (wire, path, _, change) => wire.call('PATCH', path, { metadata: change }, merge),
  'strategic merge patch': (wire, path, _, change) => wire.call('PATCH', path, { metadata: change }, strategic),
  'JSON patch': (wire, path, now, change) => wire.call('PATCH', path, operations(now, change), json),
  'apply by another manager': applied('mallory'),
  'apply by the manager of templates': applied('namespace-template'),
  'apply by the manager that created it': applied('maker'),
  'apply by the manager of labels': applied('namespace-template-label'),
}

const worlds = ['Borough', ...(await otherAdmissions())].filter((w) => w !== 'Borough' || otherKubeconfig === undefined)

describe.each(worlds)('where %s decide', (world) => {
  let plane: OtherCluster
  let tenant: Wire
  const opened = new AsyncDisposableStack()

  beforeAll(async () => {
    const isBorough = world === 'Borough'
    plane = opened.use(isBorough ? await startControlPlane({ port: 0 }) : await startOtherCluster({ port: 0 }))
    const { client } = plane
    const parts = { client, clock: systemClock, ids: randomIds, log: silentLog, namespace: 'borough-system' }
    if (!isBorough)
      opened.use(
        await startPopulate({
          ...{ ...parts, listen: { host: '127.0.0.1', port: 0 }, reachedAt: 'listen' },
          admission: world as 'policies' | 'webhooks',
        }),
      )
    const grant = async (name: string, ...rules: Parameters<typeof clusterRole>[1][]): Promise<void> => {
      await client.create(clusterRolesResource, clusterRole(name, ...rules))
      await client.create(clusterRoleBindingsResource, clusterRoleBinding(name, name, user(name)))
    }
    const every = 'get,list,update,patch'
    await grant(
      'alice',
      allow('create,get', '', 'namespaces'),
      allow('use', 'policy.borough.dev', 'namespacetemplates'),
    )
    await grant(
      'mallory',
      allow(every, '', 'namespaces,namespaces/status,namespaces/finalize'),
      allow(`${every},create,delete,deletecollection`, '', 'configmaps,resourcequotas,resourcequotas/status'),
    )
    const metadata = { name: 'team', annotations: { 'policy/namespace-template-require-permission': 'true' } }
    const guard = { apiVersion: 'v1', metadata: { name: 'guard' } }
    await client.create(templates, {
      ...{ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata },
      spec: {
        namespaces: { labelSelector: { matchLabels: { kind: 'team' } } },
        namespaceMetadata: { labels: { [enforce]: 'restricted' } },
        objects: [
          { protect: true, template: { ...guard, kind: 'ConfigMap', data: { a: '1' } } },
          { protect: true, template: { ...guard, kind: 'ResourceQuota', spec: { hard: { pods: '3' } } } },
        ],
      },
    })
    const secret = { namespace: 'default', apiVersion: 'v1', kind: 'Secret', name: 'awaited' }
    await client.create(templates, {
      ...{ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata: { name: 'waits' } },
      spec: {
        namespaces: { nameSelector: { include: ['shut'] } },
        objects: [{ cloneFrom: secret }],
      },
    })
    const alice = plane.clientAs('alice')
    const make = (name: string): Promise<unknown> =>
      alice.create(namespaces, { metadata: { name, labels: { kind: 'team' } } }, { fieldManager: 'maker' })
    await make('open')
    await waitFor(client, configMaps, { namespace: 'open', name: 'guard' }, isThere)
    await waitFor(client, namespaces, { name: 'open' }, (found) => found?.metadata.labels?.[pending] === undefined)
    // Borough holds the create of it until it is populated, which it never is.
    const making = make('shut')
    opened.defer(() => making.then(() => undefined))
    await waitFor(client, configMaps, { namespace: 'shut', name: 'guard' }, isThere)
    tenant = new Wire(plane).as('mallory')
  })
  afterAll(() => opened.disposeAsync())

  const read = async (path: string): Promise<KubeObject> => new Wire(plane).must('GET', path)
  /** What guards it. */
  const guardsOf = ({ metadata, ...object }: KubeObject): JsonObject => {
    const { labels: { note: _, ...labels } = {}, annotations = {}, uid = '' } = metadata
    const { ownerReferences = [], deletionTimestamp = '' } = metadata
    const { data = {}, status, spec = {} } = object as Content
    const { phase = '' } = status ?? {}
    return { labels, annotations, uid, ownerReferences, deletionTimestamp, data, spec, phase } as unknown as JsonObject
  }

  interface Breach {
    readonly how: string
    readonly status: number
    readonly now: JsonObject
  }

  /** Answers which ways are open at all, and what came through that must not. */
  async function attack(
    path: string,
    place: string,
    changes: readonly Change[],
  ): Promise<{ readonly open: readonly string[]; readonly breaches: readonly Breach[] }> {
    let guards = guardsOf(await read(path))
    const open: string[] = []
    const breaches: Breach[] = []
    for (const [how, send] of Object.entries(sends)) {
      if ((await send(tenant, `${path}${place}`, await read(path), harmless)).status === 200) open.push(how)
      for (const change of changes) {
        const { status } = await send(tenant, `${path}${place}`, await read(path), change)
        const now = guardsOf(await read(path))
        if (!jsonEqual(now, guards)) breaches.push({ how: `${how}: ${JSON.stringify(change)}`, status, now })
        guards = now
      }
    }
    return { open, breaches }
  }

  const all = Object.keys(sends)
  const whole = all.filter((how) => how.startsWith('put'))

  test.each([
    { at: 'open', ways: all },
    { at: 'open/status', ways: all },
    { at: 'open/finalize', ways: whole },
    { at: 'shut', ways: all },
    { at: 'shut/status', ways: all },
    { at: 'shut/finalize', ways: whole },
  ])('no way at namespaces/$at takes a guard off', { timeout: 120_000 }, async ({ at, ways }) => {
    const [name, place] = at.split('/')
    const path = `/api/v1/namespaces/${name}`
    expect(await attack(path, place === undefined ? '' : `/${place}`, ofNamespace)).toEqual({
      open: ways,
      breaches: [],
    })
  })

  test.each(['configmaps/guard', 'resourcequotas/guard', 'resourcequotas/guard/status'])(
    'no way at %s changes a protected object',
    { timeout: 120_000 },
    async (at) => {
      const [resource, name, place] = at.split('/')
      const path = `/api/v1/namespaces/open/${resource}/${name}`
      expect(await attack(path, place === undefined ? '' : `/${place}`, ofObject)).toEqual({ open: [], breaches: [] })
    },
  )

  test('a protected object is not deleted, one by one or with all', async () => {
    const path = '/api/v1/namespaces/open/configmaps'
    const { uid } = (await read(`${path}/guard`)).metadata
    expect((await tenant.call('DELETE', `${path}/guard`)).status).toBe(403)
    await tenant.call('DELETE', path)
    expect((await read(`${path}/guard`)).metadata).toMatchObject({ uid })
    expect((await read(`${path}/guard`)).metadata.deletionTimestamp).toBeUndefined()
  })
})
