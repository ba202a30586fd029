/** Namespace initializers through the whole server: each test is a sentence of the design document or of ours. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Client, WatchEvent } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { type StartOptions, startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const events = { group: '', version: 'v1', resource: 'events' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

let clock: FakeClock
let plane: TestControlPlane
let admin: Client

async function start(options: StartOptions = {}): Promise<void> {
  await plane?.[Symbol.asyncDispose]()
  clock = new FakeClock()
  plane = await startControlPlane({ clock, ...options })
  admin = plane.client
}

beforeEach(() => start())
afterEach(() => plane[Symbol.asyncDispose]())

const configure = (name: string, ...initializers: JsonObject[]): Promise<KubeObject> =>
  admin.create(configurations, { metadata: { name }, initializers })
const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name }))

/** Not held: answers at once. */
const begin = (name: string, given: Partial<KubeObject> = {}, by = admin): Promise<KubeObject> =>
  by.create(namespaces, { ...given, metadata: { ...given.metadata, name } }, { includeUninitialized: true })

const get = (name: string, by = admin): Promise<KubeObject> => by.get(namespaces, { name })
const pendingOf = (o: KubeObject | undefined): string[] =>
  ((o?.['spec'] as { initializers?: { pending?: { name: string }[] } })?.initializers?.pending ?? []).map((p) => p.name)
const act = (name: string, pending: string[], by = admin): Promise<KubeObject> =>
  by.patch(namespaces, { name }, { spec: { initializers: { pending: named(...pending) } } })
const listed = async (by: Client): Promise<string[]> =>
  (await by.list(namespaces)).items.map((n) => n.metadata.name ?? '')

async function refusal(write: Promise<unknown>): Promise<Status> {
  try {
    await write
  } catch (error) {
    const refused = findStatusError(error)
    if (refused) return refused.toStatus()
    throw error
  }
  throw new Error('was not refused')
}

async function grant(username: string, ...rules: JsonObject[]): Promise<Client> {
  await admin.create(rbac('clusterroles'), { metadata: { name: username }, rules })
  await admin.create(rbac('clusterrolebindings'), {
    metadata: { name: username },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: username },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
  })
  return plane.clientAs(username)
}
const rule = (verbs: string, resources: string): JsonObject => ({
  verbs: verbs.split(' '),
  apiGroups: [''],
  resources: resources.split(' '),
})
const anything = rule('get list watch create update patch delete', 'namespaces configmaps')

/** A raw create that may be held. */
function create(name: string, query = '', finalizers: readonly string[] = []): Promise<Response> {
  const body = JSON.stringify({ metadata: { name, finalizers } })
  return plane.fetch(`/api/v1/namespaces${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
}

describe('the list', () => {
  test('is filled from all configurations, sorted by their names, in the order of each, each once', async () => {
    await configure('z', ...named('last.ex.io', 'a.ex.io'))
    await configure('b', ...named('b2.ex.io', 'b1.ex.io'))
    await configure('c', ...named('b1.ex.io', 'a.ex.io'))
    expect(pendingOf(await begin('team'))).toEqual(['b2.ex.io', 'b1.ex.io', 'a.ex.io', 'last.ex.io'])
  })

  test('holds an initializer with a namespaceSelector only where that matches', async () => {
    await configure('a', { name: 'a.ex.io', namespaceSelector: { matchLabels: { tier: 'gold' } } }, ...named('b.ex.io'))
    expect(pendingOf(await begin('plain'))).toEqual(['b.ex.io'])
    expect(pendingOf(await begin('gold', { metadata: { labels: { tier: 'gold' } } }))).toEqual(['a.ex.io', 'b.ex.io'])
  })

  test('puts namespace-template first', async () => {
    await configure('a', ...named('a.ex.io'))
    const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
    const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } }]
    await admin.create(templates, { metadata: { name: 't' }, spec: { templates: objects } })
    expect(pendingOf(await begin('team'))).toEqual(['namespace-template', 'a.ex.io'])
    await waitFor(admin, namespaces, { name: 'team' }, (n) => pendingOf(n).join() === 'a.ex.io')
    expect(await admin.get(configMaps, { namespace: 'team', name: 'one' })).toBeDefined()
  })

  test('can be set only by who holds initialize', async () => {
    const given = { spec: { initializers: { pending: named('mine.ex.io') } } }
    expect(await refusal(begin('team', given, await grant('bob', anything)))).toEqual(
      failure({
        message:
          'namespaces "team" is forbidden: create with initializers denied: it needs the verb "initialize" ' +
          'on the namespace',
        reason: 'Forbidden',
        details: { name: 'team', kind: 'namespaces' },
        code: 403,
      }),
    )
    expect(pendingOf(await begin('team', given))).toEqual(['mine.ex.io'])
  })

  test('given as empty bypasses all initializers', async () => {
    await configure('a', ...named('a.ex.io'))
    const created = await begin('team', { spec: { initializers: { pending: [] } } })
    expect(created).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } })
    expect(created['spec']).not.toHaveProperty('initializers')
  })

  test('with the feature gate off the field is dropped', async () => {
    await start({ featureGates: { NamespaceInitializers: false }, population: false })
    await configure('a', ...named('a.ex.io'))
    const created = await begin('team', { spec: { initializers: { pending: named('a.ex.io') } } })
    expect(created['spec']).toEqual({ finalizers: ['kubernetes'] })
    expect(created['status']).toEqual({ phase: 'Active' })
  })
})

const invalidConfiguration = (faults: readonly string[]): Status =>
  invalidObject({ group: 'admissionregistration.k8s.io', kind: 'NamespaceInitializerConfiguration', name: 'a' }, faults)

describe('a configuration', () => {
  test.each([
    {
      name: 'short',
      want: invalidConfiguration([
        'initializers[0].name: Invalid value: "short": should be a domain with at least three segments ' +
          'separated by dots',
      ]),
    },
    {
      name: 'two.segments',
      want: invalidConfiguration([
        'initializers[0].name: Invalid value: "two.segments": should be a domain with at least three ' +
          'segments separated by dots',
      ]),
    },
    {
      name: 'Not.A.Domain',
      want: invalidConfiguration([
        'initializers[0].name: Invalid value: "Not.A.Domain": a lowercase RFC 1123 subdomain must consist ' +
          "of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric " +
          "character (e.g. 'example.com', regex used for validation is " +
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ]),
    },
    {
      name: 'namespace-template',
      want: invalidConfiguration([
        'initializers[0].name: Forbidden: it is built in: templates that match a namespace put it first by themselves',
      ]),
    },
    {
      name: '',
      want: invalidConfiguration(['initializers[0].name: Required value']),
    },
  ])('that names $name is refused', async ({ name, want }) => {
    expect(await refusal(configure('a', { name }))).toEqual(want)
  })

  test.each([
    {
      given: { timeoutSeconds: 0 },
      want: invalidConfiguration([
        'initializers[0].timeoutSeconds: Invalid value: 0: initializers[0].timeoutSeconds in body should be ' +
          'greater than or equal to 1',
      ]),
    },
    {
      given: { failurePolicy: 'Maybe' },
      want: invalidConfiguration([
        'initializers[0].failurePolicy: Unsupported value: "Maybe": supported values: "Ignore", "Fail"',
      ]),
    },
    {
      given: { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
      want: invalidConfiguration([
        'initializers[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid ' +
          'selector operator',
      ]),
    },
  ])('that makes no sense is refused: $given', async ({ given, want }) => {
    expect(await refusal(configure('a', { name: 'a.ex.io', ...given }))).toEqual(want)
  })
})

test('a configuration that names one initializer twice is refused', async () => {
  expect(await refusal(configure('a', ...named('a.ex.io', 'a.ex.io')))).toEqual(
    invalidConfiguration(['initializers[1].name: Duplicate value: "a.ex.io"']),
  )
})

describe('acting', () => {
  beforeEach(() => configure('a', ...named('one.ex.io', 'two.ex.io')))

  test('goes in order: only the first may remove itself', async () => {
    await begin('team')
    const outOfOrder = invalidObject({ kind: 'Namespace', name: 'team' }, [
      'spec.initializers.pending: Forbidden: initializers act in order: only the first, "one.ex.io", can be removed',
    ])
    expect(await refusal(act('team', ['one.ex.io']))).toEqual(outOfOrder)
    expect(await refusal(act('team', ['two.ex.io', 'one.ex.io']))).toEqual(outOfOrder)
    expect(await refusal(act('team', ['new.ex.io', 'one.ex.io', 'two.ex.io']))).toEqual(outOfOrder)
    expect(pendingOf(await act('team', ['two.ex.io']))).toEqual(['two.ex.io'])
  })

  test('a failure that is reported stays as it is', async () => {
    const fail = (message: string): Promise<KubeObject> =>
      admin.patch(namespaces, { name: 'team' }, { spec: { initializers: { result: { status: 'Failure', message } } } })
    await begin('team', { metadata: { finalizers: ['ex.io/held'] } })
    await fail('no disk')
    expect(await refusal(fail('no power'))).toEqual(
      invalidObject({ kind: 'Namespace', name: 'team' }, [
        'spec.initializers.result: Invalid value: {"status":"Failure","message":"no power","metadata":{}}: ' +
          'field is immutable',
      ]),
    )
    await admin.patch(namespaces, { name: 'team' }, { metadata: { finalizers: null } })
  })

  test('needs the verb initialize', async () => {
    await begin('team')
    const bob = await grant('bob', anything)
    expect(await refusal(act('team', ['two.ex.io'], bob))).toEqual(
      failure({
        message:
          'namespaces "team" is forbidden: update of initializers denied: it needs the verb "initialize" on ' +
          'the namespace',
        reason: 'Forbidden',
        details: { name: 'team', kind: 'namespaces' },
        code: 403,
      }),
    )
    const carol = await grant('carol', anything, rule('initialize', 'namespaces'))
    expect(pendingOf(await act('team', ['two.ex.io'], carol))).toEqual(['two.ex.io'])
  })

  test('phase and conditions tell who is awaited and since when, and then that it is ready', async () => {
    const began = await begin('team')
    const waiting = (since: string): JsonObject => ({
      type: 'Initializing',
      status: 'True',
      reason: 'InitializersPending',
      message: expect.stringContaining(since) as unknown as string,
    })
    expect(began['status']).toMatchObject({
      phase: 'Initializing',
      conditions: expect.arrayContaining([expect.objectContaining(waiting('one.ex.io since 2026-01-01T00:00:00Z'))]),
    })
    await clock.advance(60_000)
    const second = await act('team', ['two.ex.io'])
    expect(second['status']).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          ...waiting('two.ex.io since 2026-01-01T00:01:00Z'),
          lastTransitionTime: '2026-01-01T00:01:00Z',
        }),
      ]),
    })
    const done = await act('team', [])
    expect(done['spec']).toEqual({ finalizers: ['kubernetes'] })
    expect(done['status']).toMatchObject({
      phase: 'Active',
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]),
    })
  })

  test('a namespace that is being deleted is neither ready nor waiting, whatever its initializers do', async () => {
    const conditions = (o: KubeObject): unknown => (o['status'] as { conditions?: unknown }).conditions
    const going = (type: string, lastTransitionTime: string): JsonObject => ({
      type,
      status: 'False',
      reason: 'Terminating',
      message: 'The namespace is being deleted',
      lastTransitionTime,
    })
    const finalizers = ['ex.io/keep']
    await begin('team', { metadata: { finalizers } })
    await begin('ready', { metadata: { finalizers } })
    await act('ready', ['two.ex.io'])
    await act('ready', [])
    await clock.advance(60_000)
    await admin.delete(namespaces, { name: 'ready' })
    expect(conditions(await get('ready'))).toEqual(
      expect.arrayContaining([
        going('Ready', '2026-01-01T00:01:00Z'),
        expect.objectContaining({ type: 'Initializing', status: 'False', reason: 'Initialized' }),
      ]),
    )
    await admin.delete(namespaces, { name: 'team' })
    const before = conditions(await get('team'))
    expect(before).toEqual(
      expect.arrayContaining([
        going('Initializing', '2026-01-01T00:01:00Z'),
        expect.objectContaining({ type: 'Ready', status: 'False' }),
      ]),
    )
    for (const pending of [['two.ex.io'], []]) await act('team', pending)
    expect(conditions(await get('team'))).toEqual(before)
    for (const name of ['team', 'ready']) await admin.patch(namespaces, { name }, { metadata: { finalizers: null } })
  })

  test('a PUT without the field keeps it', async () => {
    const began = await begin('team')
    const { spec: _spec, ...rest } = began
    const next = await admin.update(namespaces, { ...rest, metadata: { ...began.metadata, labels: { x: 'y' } } })
    expect(pendingOf(next)).toEqual(['one.ex.io', 'two.ex.io'])
  })

  test('the last one completes it with an empty list, and it may not be set again', async () => {
    await begin('team')
    await act('team', ['two.ex.io'])
    expect((await act('team', []))['spec']).not.toHaveProperty('initializers')
    expect(await refusal(act('team', ['one.ex.io']))).toEqual(
      invalidObject({ kind: 'Namespace', name: 'team' }, [
        'spec.initializers: Invalid value: {"pending":[{"name":"one.ex.io"}]}: field is immutable once ' +
          'initialization has completed',
      ]),
    )
  })

  test('a failure is kept, then the namespace is deleted, and the held create answers it', async () => {
    const seen: WatchEvent[] = []
    const watching = new AbortController()
    const { metadata } = await admin.list(namespaces)
    const stream = admin.watch(namespaces, {
      resourceVersion: metadata.resourceVersion ?? '',
      includeUninitialized: true,
      signal: watching.signal,
    })
    const watched = (async () => {
      for await (const event of stream) {
        seen.push(event)
        if (event.type === 'DELETED') return
      }
    })()
    const held = create('team')
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    const result = { status: 'Failure', reason: 'Forbidden', code: 403, message: 'no index for you' }
    await admin.patch(namespaces, { name: 'team' }, { spec: { initializers: { result } } })
    const answer = await held
    expect(answer.status).toBe(403)
    expect(await answer.json()).toEqual(failure({ message: 'no index for you', reason: 'Forbidden', code: 403 }))
    await watched
    const failed = seen.find(
      (e) => (e.object['spec'] as JsonObject)['initializers'] && JSON.stringify(e.object).includes('no index'),
    )
    expect(failed?.type).toBe('MODIFIED')
    expect(failed?.object['status']).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Ready', status: 'False', reason: 'InitializationFailed' }),
      ]),
    })
  })

  test('a result that is no failure is refused', async () => {
    await begin('team')
    const patch = admin.patch(
      namespaces,
      { name: 'team' },
      { spec: { initializers: { result: { status: 'Success' } } } },
    )
    expect(await refusal(patch)).toEqual(
      invalidObject({ kind: 'Namespace', name: 'team' }, [
        'spec.initializers.result.status: Invalid value: "Success": must be \'Failure\'',
      ]),
    )
  })

  test('a namespace can be deleted while it is being initialized, and made again', async () => {
    await begin('team')
    await admin.create(configMaps, { metadata: { namespace: 'team', name: 'x' } })
    await admin.delete(namespaces, { name: 'team' })
    await waitFor(admin, namespaces, { name: 'team' }, isGone)
    expect(pendingOf(await begin('team'))).toEqual(['one.ex.io', 'two.ex.io'])
  })

  test('/status and /finalize never touch the list', async () => {
    const began = await begin('team')
    for (const subresource of ['status', 'finalize']) {
      const { initializers: _, ...spec } = began['spec'] as JsonObject
      const next = await admin.update(namespaces, { ...(await get('team')), spec }, { subresource })
      expect(pendingOf(next), subresource).toEqual(['one.ex.io', 'two.ex.io'])
    }
  })
})

describe('who sees it', () => {
  beforeEach(() => configure('a', ...named('one.ex.io')))

  test('it is hidden from lists of others; the creator, holders of initialize and who asks see it', async () => {
    const bob = await grant('bob', anything)
    const eve = await grant('eve', anything)
    await begin('team', {}, bob)
    expect(await listed(eve)).not.toContain('team')
    expect(await listed(bob)).toContain('team')
    expect(await listed(admin)).toContain('team')
    expect((await eve.list(namespaces, { includeUninitialized: true })).items.map((n) => n.metadata.name)).toContain(
      'team',
    )
  })

  test('a read that names it shows it', async () => {
    await begin('team')
    expect((await get('team', await grant('eve', anything))).metadata.name).toBe('team')
  })

  test('for watchers it is ADDED when it is ready, and nothing if it was deleted before', async () => {
    const eve = await grant('eve', anything)
    const from = (await eve.list(namespaces)).metadata.resourceVersion ?? ''
    await begin('never')
    await admin.delete(namespaces, { name: 'never' })
    await waitFor(admin, namespaces, { name: 'never' }, isGone)
    await begin('team')
    await act('team', [])
    const watching = new AbortController()
    for await (const { type, object } of eve.watch(namespaces, { resourceVersion: from, signal: watching.signal })) {
      expect([type, object.metadata.name]).toEqual(['ADDED', 'team'])
      break
    }
    watching.abort()
  })

  test('writing its content: 403 without the right, 429 with Retry-After with it, and initialize may', async () => {
    await begin('team')
    const bob = await grant('bob', anything)
    const write = (by: Client): Promise<KubeObject> =>
      by.create(configMaps, { metadata: { namespace: 'team', name: 'x' } })
    expect(await refusal(write(plane.clientAs('nobody')))).toEqual(
      failure({
        message:
          'configmaps is forbidden: User "nobody" cannot create resource "configmaps" in API group "" in the ' +
          'namespace "team"',
        reason: 'Forbidden',
        details: { kind: 'configmaps' },
        code: 403,
      }),
    )
    expect(await refusal(write(bob))).toEqual(
      failure({
        message: 'namespace "team" is being initialized: waiting for "one.ex.io"; try again in a moment',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    )
    const answer = await plane.fetch('/api/v1/namespaces/team/configmaps', {
      method: 'POST',
      body: JSON.stringify({ metadata: { name: 'x' } }),
      headers: { 'content-type': 'application/json' },
      user: { username: 'bob', groups: ['system:authenticated'] },
    })
    expect(answer.headers.get('retry-after')).toBe('1')
    await write(admin)
    await act('team', [])
    await bob.delete(configMaps, { namespace: 'team', name: 'x' })
    await write(bob)
  })
})

describe('the held create', () => {
  beforeEach(() => configure('a', ...named('one.ex.io')))

  test('answers the namespace as it is when ready', async () => {
    const held = create('team')
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    await act('team', [])
    const answer = await held
    expect(answer.status).toBe(201)
    expect(answer.headers.get('warning')).toBeNull()
    expect(await answer.json()).toMatchObject({ status: { phase: 'Active' } })
  })

  test('includeUninitialized=true answers at once', async () => {
    const answer = await create('team', '?includeUninitialized=true')
    expect(await answer.json()).toMatchObject({ status: { phase: 'Initializing' } })
  })

  test.each([
    { name: 'after 30 s', query: '', ms: 30_000 },
    { name: 'a second before the timeout that the client gave', query: '?timeout=5s', ms: 4000 },
    { name: 'a second before a timeout in Go notation', query: '?timeout=1m0s', ms: 30_000 },
    { name: 'a second before a short one', query: '?timeout=2500ms', ms: 1500 },
  ])('when time runs out, $name, it is 201 with a warning that names who is awaited', async ({ query, ms }) => {
    let answered = false
    const held = create('team', query).then((answer) => {
      answered = true
      return answer
    })
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    await get('team')
    await clock.advance(ms - 1)
    await get('team')
    expect(answered).toBe(false)
    await clock.advance(1)
    const answer = await held
    expect(answer.status).toBe(201)
    expect(answer.headers.get('warning')).toContain('waiting for one.ex.io')
    expect(await answer.json()).toMatchObject({ status: { phase: 'Initializing' } })
  })

  const deletedMeanwhile = failure({
    message: 'Operation cannot be fulfilled on namespaces "team": it was deleted while it was being initialized',
    reason: 'Conflict',
    details: {
      name: 'team',
      kind: 'namespaces',
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace team is being terminated',
          field: 'metadata.deletionTimestamp',
        },
      ],
    },
    code: 409,
  })

  test('a namespace deleted meanwhile is an error', async () => {
    const held = create('team')
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    await admin.delete(namespaces, { name: 'team' })
    expect(await (await held).json()).toEqual(deletedMeanwhile)
  })

  test('a namespace deleted meanwhile that a finalizer holds is an error at once, no success after 30 s', async () => {
    const held = create('team', '', ['ex.io/keep'])
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    await admin.delete(namespaces, { name: 'team' })
    // No time passes here.
    const answer = await held
    expect([answer.status, await answer.json()]).toEqual([409, deletedMeanwhile])
    expect((await get('team'))['status']).toMatchObject({ phase: 'Terminating' })
    await admin.patch(namespaces, { name: 'team' }, { metadata: { finalizers: null } })
  })

  test('a server that goes away answers it as it stands', async () => {
    const held = create('team')
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    await plane[Symbol.asyncDispose]()
    const answer = await held
    expect(answer.status).toBe(201)
    expect(answer.headers.get('warning')).toContain('one.ex.io')
    await start()
  })
})

describe('it can not wedge', () => {
  const eventsOf = async (reason: string): Promise<KubeObject[]> =>
    (await admin.list(events, { namespace: 'team' })).items.filter((e) => e['reason'] === reason)

  test('at its deadline an initializer with failurePolicy Ignore is skipped; the next has its own time', async () => {
    const late = { timeoutSeconds: 10, failurePolicy: 'Ignore' }
    await configure('a', { name: 'one.ex.io', ...late }, { name: 'two.ex.io', ...late })
    await begin('team')
    await until(async () => {
      await clock.advance(5000)
      return pendingOf(await get('team')).join() === 'two.ex.io'
    })
    const skippedAt = clock.now()
    await waitFor(
      admin,
      events,
      { namespace: 'team', name: (await first(() => eventsOf('InitializerSkipped'))).metadata.name ?? '' },
      isThere,
    )
    await until(async () => {
      await clock.advance(5000)
      return pendingOf(await get('team')).length === 0
    })
    expect(clock.now() - skippedAt).toBeGreaterThanOrEqual(10_000)
    expect((await get('team'))['status']).toMatchObject({ phase: 'Active' })
  })

  test('at its deadline an initializer with failurePolicy Fail fails the namespace', async () => {
    await configure('a', { name: 'one.ex.io', timeoutSeconds: 10 })
    const held = create('team')
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    let answered: Response | undefined
    void held.then((answer) => {
      answered = answer
    })
    await until(async () => {
      await clock.advance(1000)
      await get('default')
      return answered !== undefined
    })
    expect(await answered?.json()).toEqual(
      failure({ message: 'initializer one.ex.io did not act within 10 seconds', reason: 'Timeout', code: 504 }),
    )
    expect(clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1) + 10_000)
    await waitFor(admin, namespaces, { name: 'team' }, isGone)
  })

  test('deleting a configuration releases what waits for it', async () => {
    await configure('a', ...named('one.ex.io'))
    const held = create('team')
    await waitFor(admin, namespaces, { name: 'team' }, isThere)
    await admin.delete(configurations, { name: 'a' })
    expect(await (await held).json()).toMatchObject({ status: { phase: 'Active' } })
    expect(await first(() => eventsOf('InitializerReleased'))).toMatchObject({
      message: 'initializer one.ex.io is in no configuration any more: going on without it',
    })
  })

  test('a list that its creator gave waits without a configuration', async () => {
    await begin('given', { spec: { initializers: { pending: named('mine.ex.io') } } })
    await configure('a', ...named('one.ex.io'))
    await begin('team')
    await admin.delete(configurations, { name: 'a' })
    await waitFor(admin, namespaces, { name: 'team' }, (n) => pendingOf(n).length === 0)
    expect(pendingOf(await get('given'))).toEqual(['mine.ex.io'])
  })
})

test('metrics tell, per initializer, who is waited for, how long turns took and how they ended', async () => {
  await configure(
    'a',
    { name: 'one.ex.io', timeoutSeconds: 10, failurePolicy: 'Ignore' },
    { name: 'two.ex.io', timeoutSeconds: 30 },
  )
  const metrics = async (): Promise<string[]> =>
    (await (await plane.fetch('/metrics')).text()).split('\n').filter((l) => l.includes('.ex.io') && !l.includes('le='))
  await metrics()
  await begin('team')
  await begin('late')
  await begin('dropped')
  await admin.delete(namespaces, { name: 'dropped' })
  await waitFor(admin, namespaces, { name: 'dropped' }, isGone)
  const awaiting = 'borough_namespaces_awaiting_initializer'
  expect(await metrics()).toContain(`${awaiting}{initializer="one.ex.io"} 2`)
  await clock.advance(4000)
  await act('team', ['two.ex.io'])
  expect(await metrics()).toEqual(
    expect.arrayContaining([`${awaiting}{initializer="one.ex.io"} 1`, `${awaiting}{initializer="two.ex.io"} 1`]),
  )
  await admin.patch(
    namespaces,
    { name: 'team' },
    { spec: { initializers: { result: { status: 'Failure', message: 'no' } } } },
  )
  await until(async () => {
    await clock.advance(1000)
    return (await listed(admin)).every((name) => name !== 'late' && name !== 'team')
  })
  const duration = 'borough_namespace_initializer_duration_seconds'
  const failures = 'borough_namespace_initializer_failures_total'
  const lines = await metrics()
  expect(lines).toEqual(
    expect.arrayContaining([
      `${awaiting}{initializer="one.ex.io"} 0`,
      `${awaiting}{initializer="two.ex.io"} 0`,
      `${duration}_sum{initializer="one.ex.io",outcome="done"} 4`,
      `${duration}_count{initializer="one.ex.io",outcome="done"} 1`,
      `${duration}_count{initializer="one.ex.io",outcome="skipped"} 1`,
      `${duration}_count{initializer="one.ex.io",outcome="deleted"} 1`,
      `${duration}_count{initializer="two.ex.io",outcome="failed"} 1`,
      `${duration}_count{initializer="two.ex.io",outcome="timeout"} 1`,
      `${failures}{initializer="one.ex.io",reason="deadline"} 1`,
      `${failures}{initializer="two.ex.io",reason="reported"} 1`,
      `${failures}{initializer="two.ex.io",reason="deadline"} 1`,
    ]),
  )
  expect(lines.filter((l) => l.startsWith(failures))).toHaveLength(3)
})

/** Moves on as often as needed, a bounded number of times; every round asks the server, so its work gets its turn. */
async function until(done: () => Promise<boolean>): Promise<void> {
  for (let rounds = 0; rounds < 200; rounds++) if (await done()) return
  throw new Error('it never came to that')
}

async function first(list: () => Promise<KubeObject[]>): Promise<KubeObject> {
  let found: KubeObject | undefined
  await until(async () => {
    found = (await list())[0]
    return found !== undefined
  })
  return found as KubeObject
}
