/**
 * The design document 'Namespace Initializer', sentence by sentence, and what was decided beyond it. A test is called
 * after the sentence it holds to; `initializers.test.ts` beside it goes into the corners.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client, WatchEvent } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const core = (resource: string) => ({ group: '', version: 'v1', resource })
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const configurationsPath = '/apis/admissionregistration.k8s.io/v1alpha1/namespaceinitializerconfigurations'
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

let plane: TestControlPlane
let admin: Client
/** A controller's service account: `initialize`, and nothing but what its work needs. */
let controller: Client
/** May do everything with namespaces and their content, but not `initialize`. */
let dev: Client
let guest: Client
let count = 0

const controllerName = 'system:serviceaccount:kube-system:ns-initializer-sa'
const fresh = (): string => `ns-${++count}`
const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name }))
const usual = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

async function grant(user: string, rules: JsonObject[]): Promise<void> {
  const name = user.replaceAll(':', '-')
  await admin.create(rbac('clusterroles'), { metadata: { name }, rules })
  await admin.create(rbac('clusterrolebindings'), {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}

beforeAll(async () => {
  plane = await startControlPlane()
  admin = plane.client
  controller = plane.clientAs(controllerName)
  dev = plane.clientAs('dev')
  guest = plane.clientAs('guest')
  const everything = ['namespaces', 'namespaces/status', 'configmaps', 'pods', 'pods/status', 'serviceaccounts/token']
  await grant('dev', [{ apiGroups: [''], resources: everything, verbs: usual }])
  await grant('guest', [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] }])
  await grant(controllerName, [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'patch', 'update', 'initialize'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  ])
  await admin.create(configurations, { metadata: { name: 'b' }, initializers: named('one.ex.io', 'two.ex.io') })
})
afterAll(() => plane[Symbol.asyncDispose]())

const begin = (name: string, by = dev): Promise<KubeObject> =>
  by.create(namespaces, { metadata: { name } }, { includeUninitialized: true })
const get = (name: string, by = dev): Promise<KubeObject> => by.get(namespaces, { name })
const act = (name: string, initializers: JsonObject, by = controller): Promise<KubeObject> =>
  by.patch(namespaces, { name }, { spec: { initializers } })
const pendingOf = (o: KubeObject | undefined): string[] =>
  ((o?.['spec'] as { initializers?: { pending?: { name: string }[] } })?.initializers?.pending ?? []).map((p) => p.name)
const listed = async (by: Client): Promise<string[]> =>
  (await by.list(namespaces)).items.map((n) => n.metadata.name ?? '')
const conditionOf = (o: KubeObject, type: string): JsonObject | undefined =>
  ((o['status'] as { conditions?: JsonObject[] }).conditions ?? []).find((c) => c['type'] === type)

async function finish(name: string): Promise<KubeObject> {
  await act(name, { pending: named('two.ex.io') })
  return act(name, { pending: [] })
}

async function codeOf(asked: Promise<unknown>): Promise<number> {
  try {
    await asked
    return 200
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return status.code
  }
}

/** Events from now on; `stop` ends it and answers what came. */
async function watched(
  by: Client,
  includeUninitialized = false,
): Promise<{ stop(): Promise<WatchEvent[]>; seen: WatchEvent[] }> {
  const { metadata } = await by.list(namespaces)
  const ending = new AbortController()
  const seen: WatchEvent[] = []
  const running = (async () => {
    const options = { resourceVersion: metadata.resourceVersion ?? '', includeUninitialized, signal: ending.signal }
    for await (const event of by.watch(namespaces, options)) seen.push(event)
  })()
  const stop = async (): Promise<WatchEvent[]> => {
    // What was written before this namespace has been seen when it has.
    const mark = fresh()
    await admin.create(namespaces, { metadata: { name: mark }, spec: { initializers: { pending: [] } } })
    const began = performance.now()
    while (!seen.some((e) => e.object.metadata.name === mark) && performance.now() - began < 30_000) {
      await admin.get(namespaces, { name: mark })
    }
    ending.abort()
    await running
    return seen.filter((e) => e.object.metadata.name !== mark)
  }
  return { stop, seen }
}
const typesOf = (events: readonly WatchEvent[], name: string): string[] =>
  events.filter((e) => e.object.metadata.name === name).map((e) => e.type)

describe('implementation details', () => {
  test(
    '"The namespace initialization controllers register themselves by creating ' +
      'NamespaceInitializerConfiguration resources"',
    async () => {
      const name = fresh()
      const only = { namespaceSelector: { matchLabels: { only: name } } }
      await admin.create(configurations, {
        metadata: { name: `z-${name}` },
        initializers: [{ name: 'new.ex.io', ...only }],
      })
      const object = { metadata: { name, labels: { only: name } } }
      const created = await dev.create(namespaces, object, { includeUninitialized: true })
      expect(pendingOf(created)).toEqual(['one.ex.io', 'two.ex.io', 'new.ex.io'])
    },
  )

  test(
    '"The namespace initialization controllers must run under a service account granted initialize RBAC ' +
      'permission"',
    async () => {
      const name = fresh()
      await begin(name)
      expect(await codeOf(act(name, { pending: named('two.ex.io') }, dev))).toBe(403)
      expect(pendingOf(await act(name, { pending: named('two.ex.io') }))).toEqual(['two.ex.io'])
    },
  )

  test(
    '"The NamespaceInitializers admission controller aggregates all configurations and generates ' +
      'spec.initializers in this namespace resource"',
    async () => {
      expect((await begin(fresh()))['spec']).toEqual({
        finalizers: ['kubernetes'],
        initializers: { pending: named('one.ex.io', 'two.ex.io') },
      })
    },
  )

  test('"Namespace initialization controllers get notified about the newly created namespace"', async () => {
    const name = fresh()
    const watch = await watched(controller)
    await begin(name)
    expect(typesOf(await watch.stop(), name)[0]).toBe('ADDED')
  })

  test('"They start creating resources inside namespace and also update spec.initializers" to be removed', async () => {
    const name = fresh()
    await begin(name)
    await controller.create(core('configmaps'), { metadata: { namespace: name, name: 'made' } })
    await finish(name)
    expect(await dev.get(core('configmaps'), { namespace: name, name: 'made' })).toBeDefined()
  })

  test(
    '"will check all resource operations against initialize RBAC permission if they are inside a namespace ' +
      'which is being initialized"',
    async () => {
      const name = fresh()
      await begin(name)
      const container = { name: 'c', image: 'i' }
      await admin.create(core('configmaps'), { metadata: { namespace: name, name: 'there' } })
      await admin.create(core('pods'), { metadata: { namespace: name, name: 'p' }, spec: { containers: [container] } })
      const path = `/api/v1/namespaces/${name}`
      const asDev = { username: 'dev', groups: ['system:authenticated'] }
      const there = { metadata: { namespace: name, name: 'there' } }
      const writes: Record<string, Parameters<typeof send>[2] & { path: string }> = {
        create: { method: 'POST', path: '/configmaps', body: { metadata: { name: 'x' } } },
        update: { method: 'PUT', path: '/configmaps/there', body: there },
        patch: {
          method: 'PATCH',
          path: '/configmaps/there',
          body: { data: { a: '1' } },
          type: 'application/merge-patch+json',
        },
        'apply of what is new': {
          method: 'PATCH',
          path: '/configmaps/y?fieldManager=t',
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'y' } },
          type: 'application/apply-patch+yaml',
        },
        delete: { method: 'DELETE', path: '/configmaps/there' },
        deletecollection: { method: 'DELETE', path: '/configmaps' },
        'a sub-resource': {
          method: 'PATCH',
          path: '/pods/p/status',
          body: { status: {} },
          type: 'application/merge-patch+json',
        },
        'a dry run': { method: 'POST', path: '/configmaps?dryRun=All', body: { metadata: { name: 'x' } } },
      }
      const codes = async (): Promise<Record<string, number>> => {
        const found: Record<string, number> = {}
        for (const [what, { path: at, ...sent }] of Object.entries(writes)) {
          found[what] = (await send(plane, `${path}${at}`, { ...sent, user: asDev })).code
        }
        return found
      }
      expect(new Set(Object.values(await codes()))).toEqual(new Set([429]))
      await finish(name)
      expect(Object.values(await codes()).every((code) => code < 300)).toBe(true)
    },
  )

  test('reads inside it are not held back: RBAC alone says who may', async () => {
    const name = fresh()
    await begin(name)
    expect((await dev.list(core('configmaps'), { namespace: name })).items.length).toBeGreaterThan(0)
    expect(await codeOf(guest.list(core('configmaps'), { namespace: name }))).toBe(403)
  })
})

describe('the field', () => {
  test(
    '"When an object is created, the system will populate this list with the current set of initializers": ' +
      'later ones do not join',
    async () => {
      const name = fresh()
      await begin(name)
      await admin.create(configurations, { metadata: { name: `a-${name}` }, initializers: named('late.ex.io') })
      expect(pendingOf(await get(name))).toEqual(['one.ex.io', 'two.ex.io'])
      await admin.delete(configurations, { name: `a-${name}` })
    },
  )

  test('"Only privileged users may set or modify this list"', async () => {
    const name = fresh()
    const given = { metadata: { name }, spec: { initializers: { pending: named('mine.ex.io') } } }
    expect(await codeOf(dev.create(namespaces, given))).toBe(403)
    expect(await codeOf(dev.create(namespaces, { ...given, spec: { initializers: { pending: [] } } }))).toBe(403)
    await begin(name)
    for (const change of [{ pending: [] }, { pending: named('two.ex.io') }, { result: { status: 'Failure' } }]) {
      expect(await codeOf(act(name, change, dev))).toBeGreaterThanOrEqual(403)
    }
    expect(pendingOf(await get(name))).toEqual(['one.ex.io', 'two.ex.io'])
  })

  test('"Once it is empty, it may not be modified further by any user"', async () => {
    const name = fresh()
    await begin(name)
    await finish(name)
    for (const by of [admin, controller]) expect(await codeOf(act(name, { pending: named('one.ex.io') }, by))).toBe(422)
  })

  test('"If nil or empty, this object has been completely initialized"', async () => {
    const name = fresh()
    await begin(name)
    const done = await finish(name)
    expect(done).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } })
    expect(done['spec']).not.toHaveProperty('initializers')
  })

  test('"Pending is a list of initializers that must execute in order before this object is visible"', async () => {
    const name = fresh()
    await begin(name)
    expect(await codeOf(act(name, { pending: named('one.ex.io') }))).toBe(422)
    expect(await codeOf(act(name, { pending: [] }))).toBe(422)
    expect(await listed(guest)).not.toContain(name)
    await finish(name)
    expect(await listed(guest)).toContain(name)
  })

  test(
    '"the initializers struct will be set to nil and the object is considered as initialized and visible to ' +
      'all clients"',
    async () => {
      const name = fresh()
      const watch = await watched(guest)
      await begin(name)
      await dev.patch(namespaces, { name }, { metadata: { labels: { a: 'b' } } })
      await finish(name)
      expect(typesOf(await watch.stop(), name)).toEqual(['ADDED'])
    },
  )

  test(
    '"If result is set with the Failure field, the object will be persisted to storage and then deleted, ' +
      'ensuring that other clients can observe the deletion"',
    async () => {
      const name = fresh()
      const watch = await watched(guest, true)
      await begin(name)
      await act(name, { result: { status: 'Failure', message: 'no index' } })
      await waitFor(admin, namespaces, { name }, isGone)
      const events = (await watch.stop()).filter((e) => e.object.metadata.name === name)
      expect(events[0]?.type).toBe('ADDED')
      expect(events.at(-1)?.type).toBe('DELETED')
      expect(events.some((e) => e.type === 'MODIFIED' && JSON.stringify(e.object['spec']).includes('no index'))).toBe(
        true,
      )
    },
  )

  test('"patchMergeKey=name": a strategic merge patch takes one entry out by its name', async () => {
    const name = fresh()
    await begin(name)
    const answer = await send(plane, `/api/v1/namespaces/${name}`, {
      method: 'PATCH',
      body: { spec: { initializers: { pending: [{ name: 'one.ex.io', $patch: 'delete' }] } } },
      type: 'application/strategic-merge-patch+json',
    })
    expect(answer.code).toBe(200)
    expect(pendingOf(answer.body as KubeObject)).toEqual(['two.ex.io'])
  })
})

describe('NamespaceInitializerConfiguration', () => {
  test(
    '"we sort the initializers from different configurations by the name of the configurations; the order from ' +
      'the same configuration is preserved"',
    async () => {
      await admin.create(configurations, { metadata: { name: 'a' }, initializers: named('z.ex.io', 'y.ex.io') })
      await admin.create(configurations, { metadata: { name: 'c' }, initializers: named('y.ex.io', 'x.ex.io') })
      expect(pendingOf(await begin(fresh()))).toEqual(['z.ex.io', 'y.ex.io', 'one.ex.io', 'two.ex.io', 'x.ex.io'])
      for (const name of ['a', 'c']) await admin.delete(configurations, { name })
    },
  )

  test('"Name should be fully qualified" and is required', async () => {
    for (const initializers of [named('log'), named('log.index'), [{}], named('Log.Index.Io')]) {
      expect(
        await codeOf(
          admin.create(configurations, { metadata: { name: fresh() }, initializers: initializers as JsonObject[] }),
        ),
      ).toBe(422)
    }
    const made = await admin.create(configurations, { metadata: { name: 'empty' } })
    expect(made.metadata.name).toBe('empty')
  })

  test(
    '"there\'s no Rules field in the object": it is refused where fields are checked, and dropped where they ' +
      'are not',
    async () => {
      const body = {
        metadata: { name: fresh() },
        initializers: [
          { name: 'never.ex.io', rules: [{ resources: ['x'] }], namespaceSelector: { matchLabels: { never: 'x' } } },
        ],
      }
      const strict = await send(plane, `${configurationsPath}?fieldValidation=Strict`, { method: 'POST', body })
      expect([strict.code, strict.text]).toEqual([
        400,
        expect.stringContaining('unknown field \\"initializers[0].rules\\"'),
      ])
      const made = await send(plane, configurationsPath, { method: 'POST', body })
      expect(made.code).toBe(201)
      expect(made.text).not.toContain('rules')
    },
  )

  test('"patchMergeKey=name" on its initializers', async () => {
    const name = fresh()
    const never = { namespaceSelector: { matchLabels: { never: 'x' } } }
    await admin.create(configurations, {
      metadata: { name },
      initializers: [
        { name: 'p.ex.io', ...never },
        { name: 'q.ex.io', ...never },
      ],
    })
    const answer = await send(plane, `${configurationsPath}/${name}`, {
      method: 'PATCH',
      body: { initializers: [{ name: 'q.ex.io', timeoutSeconds: 5 }] },
      type: 'application/strategic-merge-patch+json',
    })
    expect((answer.body as KubeObject)['initializers']).toMatchObject(
      [
        { name: 'q.ex.io', timeoutSeconds: 5, ...never },
        { name: 'p.ex.io', ...never },
      ].sort((x, y) => (x.name < y.name ? -1 : 1)),
    )
  })
})

describe('status', () => {
  test('"A third value Initializing": clients that check for Active work effectively', async () => {
    const name = fresh()
    expect((await begin(name))['status']).toMatchObject({ phase: 'Initializing' })
    expect((await finish(name))['status']).toMatchObject({ phase: 'Active' })
    const { items } = await admin.list(namespaces, { fieldSelector: 'status.phase=Active' })
    expect(items.map((n) => n.metadata.name)).toContain(name)
  })

  test('"The recommended way is to poll conditions": they say who is awaited, since when, and the end', async () => {
    const name = fresh()
    const began = await begin(name)
    expect(conditionOf(began, 'Initializing')).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/^Waiting for initializer one\.ex\.io since \d{4}-/),
    })
    expect(conditionOf(began, 'Ready')).toMatchObject({ status: 'False' })
    const done = await finish(name)
    expect(conditionOf(done, 'Initializing')).toMatchObject({ status: 'False' })
    expect(conditionOf(done, 'Ready')).toMatchObject({ status: 'True' })
  })

  test('a namespace that nobody initializes has exactly phase Active, and is answered at once', async () => {
    const made = await admin.create(namespaces, {
      metadata: { name: fresh() },
      spec: { initializers: { pending: [] } },
    })
    expect(made['status']).toEqual({ phase: 'Active' })
  })
})

describe('"Feature gate NamespaceInitializers": off', () => {
  test('the field is dropped on create and update, there are no conditions, and content is not held back', async () => {
    await using off = await startControlPlane({ featureGates: { NamespaceInitializers: false }, population: false })
    await off.client.create(configurations, { metadata: { name: 'a' }, initializers: named('one.ex.io') })
    const initializers = { pending: named('one.ex.io') }
    const made = await off.client.create(namespaces, { metadata: { name: 'team' }, spec: { initializers } })
    expect([made['spec'], made['status']]).toEqual([{ finalizers: ['kubernetes'] }, { phase: 'Active' }])
    const patched = await off.client.patch(namespaces, { name: 'team' }, { spec: { initializers } })
    expect(patched['spec']).toEqual({ finalizers: ['kubernetes'] })
    await off.client.create(core('configmaps'), { metadata: { namespace: 'team', name: 'x' } })
    expect(await listed(off.client)).toContain('team')
  })
})

describe('decided beyond the document', () => {
  test('a read that names the namespace shows it to whoever may get namespaces', async () => {
    const name = fresh()
    await begin(name)
    expect((await get(name, guest)).metadata.name).toBe(name)
  })

  test('the creator sees, watches and deletes its own namespace while it is being initialized', async () => {
    const name = fresh()
    const watch = await watched(dev)
    await begin(name)
    expect(await listed(dev)).toContain(name)
    await dev.delete(namespaces, { name })
    await waitFor(admin, namespaces, { name }, isGone)
    const types = typesOf(await watch.stop(), name)
    expect([types[0], types.at(-1)]).toEqual(['ADDED', 'DELETED'])
  })

  test('includeUninitialized=true shows everything in lists and watches', async () => {
    const name = fresh()
    const watch = await watched(guest, true)
    await begin(name)
    const { items } = await guest.list(namespaces, { includeUninitialized: true })
    expect(items.map((n) => n.metadata.name)).toContain(name)
    expect(typesOf(await watch.stop(), name)).toEqual(['ADDED'])
  })

  test('for watchers a namespace deleted before it was ready has never been', async () => {
    const name = fresh()
    const watch = await watched(guest)
    await begin(name)
    await dev.delete(namespaces, { name })
    await waitFor(admin, namespaces, { name }, isGone)
    expect(typesOf(await watch.stop(), name)).toEqual([])
  })

  test('an empty `initializers` in a PUT completes it, like an empty `pending`', async () => {
    const name = fresh()
    await begin(name)
    await act(name, { pending: named('two.ex.io') })
    const read = await get(name, controller)
    const done = await controller.update(namespaces, {
      ...read,
      spec: { finalizers: ['kubernetes'], initializers: {} },
    })
    expect(done['status']).toMatchObject({ phase: 'Active' })
  })

  test('a PUT of a client that does not know the field keeps it', async () => {
    const name = fresh()
    const began = await begin(name)
    const put = await dev.update(namespaces, { ...began, spec: { finalizers: ['kubernetes'] } })
    expect(pendingOf(put)).toEqual(['one.ex.io', 'two.ex.io'])
  })

  test('content: 403 for those who may not write it anyway, 429 with Retry-After for those who may', async () => {
    const name = fresh()
    await begin(name)
    const write = (username: string) =>
      send(plane, `/api/v1/namespaces/${name}/configmaps`, {
        method: 'POST',
        body: { metadata: { name: 'x' } },
        user: { username, groups: ['system:authenticated'] },
      })
    expect((await write('guest')).code).toBe(403)
    const told = await write('dev')
    expect([told.code, told.headers.get('retry-after')]).toEqual([429, '1'])
  })

  test('a held create is not counted as in flight', { timeout: 120_000 }, async () => {
    await using small = await startControlPlane({ port: 0 })
    await small.client.create(configurations, { metadata: { name: 'a' }, initializers: named('one.ex.io') })
    const { connect } = await import('node:http2')
    const { KubeConfig } = await import('@kubernetes/client-node')
    const config = new KubeConfig()
    config.loadFromString(small.kubeconfig)
    const decoded = (text = ''): Buffer => Buffer.from(text, 'base64')
    const user = config.getCurrentUser()
    const session = connect(small.url, {
      ca: decoded(config.getCurrentCluster()?.caData),
      cert: decoded(user?.certData),
      key: decoded(user?.keyData),
    })
    const post = (name: string, query = ''): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { ':method': 'POST', ':path': `/api/v1/namespaces${query}`, 'content-type': 'application/json' }
        const stream = session.request(headers)
        stream.on('response', ({ ':status': status }) => resolve(Number(status)))
        stream.on('error', reject)
        stream.resume()
        stream.end(JSON.stringify({ metadata: { name } }))
      })
    // More than are worked on at once (200 writes), in waves below that.
    const answers: Promise<number>[] = []
    for (let wave = 0; wave < 3; wave++) {
      for (let i = 0; i < 75; i++) answers.push(post(`held-${wave}-${i}`))
      await waitFor(small.client, namespaces, { name: `held-${wave}-74` }, isThere)
    }
    expect(await post('one-more', '?includeUninitialized=true')).toBe(201)
    await small.client.delete(configurations, { name: 'a' })
    expect(new Set(await Promise.all(answers))).toEqual(new Set([201]))
    session.destroy()
  })
})
