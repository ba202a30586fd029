import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isGone, isThere, waitFor } from '../../test/support/wait-for.ts'
import type { Namespace } from '../apis/namespaces/types.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import type { KubeObject } from '../kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../testing/index.ts'
import { InitializationFailed } from './initialization-failed.ts'
import { type InitializeContext, type InitializerOptions, runInitializer } from './run-initializer.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}
const name = 'index.ex.io'

let clock: FakeClock
let plane: TestControlPlane
let admin: Client
let stop: AbortController
let logged: string[]
let runs: Promise<void>[]

beforeEach(async () => {
  clock = new FakeClock()
  plane = await startControlPlane({ clock })
  admin = plane.client
  stop = new AbortController()
  logged = []
  runs = []
  await configure({ name })
})
afterEach(async () => {
  stop.abort()
  await Promise.all(runs)
  await plane[Symbol.asyncDispose]()
})

const say =
  (level: string) =>
  (_fields: object, message: string): void => {
    logged.push(`${level}: ${message}`)
  }
const log: Log = { debug() {}, info() {}, warn: say('warn'), error: say('error') }

const configure = (...initializers: object[]): Promise<KubeObject> =>
  admin.apply(
    configurations,
    {
      apiVersion: 'admissionregistration.k8s.io/v1alpha1',
      kind: 'NamespaceInitializerConfiguration',
      metadata: { name: 'a' },
      initializers,
    },
    { fieldManager: 'test' },
  )

function run(initialize: InitializerOptions['initialize'], more: Partial<InitializerOptions> = {}): Promise<void> {
  const running = runInitializer({ name, client: admin, initialize, signal: stop.signal, clock, log, ...more })
  runs.push(running)
  return running
}

const begin = (namespace: string): Promise<KubeObject> =>
  admin.create(namespaces, { metadata: { name: namespace } }, { includeUninitialized: true })
const seen = (namespace: string, want: (o: KubeObject | undefined) => boolean): Promise<KubeObject | undefined> =>
  waitFor(admin, namespaces, { name: namespace }, want)
const isActive = (o: KubeObject | undefined): boolean => (o as Namespace | undefined)?.status?.phase === 'Active'
const messageOf = (o: KubeObject | undefined): string =>
  (o as Namespace | undefined)?.status?.conditions?.find((c) => c.type === 'Initializing')?.message ?? ''

/** Moves time until it comes true; each round asks the server, so its work gets its turn. */
async function until(done: () => boolean, stepMs = 1000): Promise<void> {
  for (let rounds = 0; rounds < 300; rounds++) {
    if (done()) return
    await clock.advance(stepMs)
    await admin.get(namespaces, { name: 'default' })
  }
  throw new Error('it never came to that')
}

describe('runInitializer', () => {
  test('makes new namespaces ready, and those that were waiting when it started', async () => {
    await begin('before')
    void run(async ({ metadata }, client) => {
      await client.create(configMaps, { metadata: { namespace: metadata.name ?? '', name: 'made' } })
    })
    expect(await seen('before', isActive)).toBeDefined()
    const answer = await admin.create(namespaces, { metadata: { name: 'after' } })
    expect(answer['status']).toMatchObject({ phase: 'Active' })
    expect(await admin.get(configMaps, { namespace: 'after', name: 'made' })).toBeDefined()
  })

  test('acts only when its turn has come', async () => {
    await configure({ name: 'first.ex.io' }, { name })
    const called: string[] = []
    void run(async ({ metadata }) => void called.push(metadata.name ?? ''))
    await begin('team')
    await admin.patch(namespaces, { name: 'team' }, { metadata: { labels: { x: 'y' } } })
    await clock.advance(1000)
    expect(called).toEqual([])
    await admin.patch(namespaces, { name: 'team' }, { spec: { initializers: { pending: [{ name }] } } })
    await seen('team', isActive)
    expect(called).toEqual(['team'])
  })

  test('tries an error again, later each time, and says why in the condition', async () => {
    const at: number[] = []
    void run(async () => {
      at.push(clock.now())
      if (at.length < 8) throw new Error('no index', { cause: new Error('no room for it') })
    })
    await begin('team')
    const failing = await seen('team', (o) => messageOf(o).includes('no room'))
    expect(messageOf(failing)).toBe(
      `Waiting for initializer ${name} since 2026-01-01T00:00:00Z: the last attempt failed: no index: no ` +
        'room for it; it is tried again',
    )
    await until(() => at.length === 8, 5)
    await seen('team', isActive)
    const waits = at.slice(1).map((t, i) => t - (at[i] ?? 0))
    expect(waits.at(-1)).toBeGreaterThan((waits[0] ?? 0) * 8)
    expect(logged).toContain('warn: failed, will try again')
  })

  test('InitializationFailed fails the namespace: its message is the answer to who creates it', async () => {
    let calls = 0
    void run(async () => {
      calls++
      throw new InitializationFailed('your team has no indexes left', { reason: 'Forbidden' })
    })
    await expect(admin.create(namespaces, { metadata: { name: 'team' } })).rejects.toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: 'your team has no indexes left',
    })
    await seen('team', isGone)
    expect(calls).toBe(1)
  })

  test('reports progress, the newest of it', async () => {
    let go: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    void run(async (_namespace, _client, { progress }) => {
      void progress('asking')
      void progress('still asking')
      await progress('creating index logs-team (1 of 2)')
      await gate
    })
    await begin('team')
    const during = await seen('team', (o) => messageOf(o).includes('1 of 2'))
    expect(messageOf(during)).toBe(
      `Waiting for initializer ${name} since 2026-01-01T00:00:00Z: creating index logs-team (1 of 2)`,
    )
    expect(during?.['status']).toMatchObject({ phase: 'Initializing' })
    go()
    await seen('team', isActive)
  })

  test('works without the right to report progress, and logs that it may not', async () => {
    const verbs = ['get', 'list', 'watch', 'patch', 'initialize']
    await admin.create(rbac('clusterroles'), {
      metadata: { name: 'i' },
      rules: [{ apiGroups: [''], resources: ['namespaces'], verbs }],
    })
    await admin.create(rbac('clusterrolebindings'), {
      metadata: { name: 'i' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'i' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'i' }],
    })
    void run(async (_n, _c, { progress }) => progress('half way'), { client: plane.clientAs('i') })
    await begin('team')
    await seen('team', isActive)
    expect(logged).toContain('warn: progress could not be reported')
  })

  test('a namespace that others label meanwhile is made ready all the same, without doing the work twice', async () => {
    let calls = 0
    void run(async ({ metadata }, client) => {
      calls++
      await client.patch(namespaces, { name: metadata.name ?? '' }, { metadata: { labels: { meanwhile: 'yes' } } })
    })
    await begin('team')
    expect((await seen('team', isActive))?.metadata.labels).toMatchObject({ meanwhile: 'yes' })
    expect(calls).toBe(1)
  })

  test('work that is done is not done again when the server could not be told', async () => {
    let calls = 0
    let refusals = 3
    const patch: Client['patch'] = (...args) =>
      refusals-- > 0 ? Promise.reject(new Error('connection lost')) : admin.patch(...args)
    const flaky = new Proxy(admin, {
      get: (_, key: keyof Client) => (key === 'patch' ? patch : (admin[key] as CallableFunction).bind(admin)),
    })
    void run(
      async () => {
        calls++
      },
      { client: flaky },
    )
    await begin('team')
    await until(() => refusals < 0, 5)
    await seen('team', isActive)
    expect(calls).toBe(1)
  })

  test.each([
    { name: 'deleted', end: () => admin.delete(namespaces, { name: 'team' }) },
    { name: 'released', end: () => admin.delete(configurations, { name: 'a' }) },
  ])('work for a namespace that is $name is told to stop, and nothing is written', async ({ end }) => {
    const contexts: InitializeContext[] = []
    void run(async (_n, _c, context) => {
      contexts.push(context)
      await new Promise((_resolve, reject) => context.signal.addEventListener('abort', () => reject(new Error('told'))))
    })
    await begin('team')
    await until(() => contexts.length > 0)
    await end()
    await until(() => contexts[0]?.signal.aborted === true)
    await clock.advance(60_000)
    expect(contexts).toHaveLength(1)
    expect(logged).toEqual([])
  })

  test('a namespace made again under the same name is worked on anew', async () => {
    const uids: string[] = []
    void run(async ({ metadata }, _client, { signal }) => {
      uids.push(metadata.uid ?? '')
      if (uids.length === 1) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    })
    await begin('team')
    await until(() => uids.length === 1)
    await admin.delete(namespaces, { name: 'team' })
    await seen('team', isGone)
    await begin('team')
    await seen('team', isActive)
    expect(new Set(uids).size).toBe(2)
  })

  test('never works twice at once on one namespace, nor on more than concurrency at once', async () => {
    const inside = new Set<string>()
    let most = 0
    void run(
      async ({ metadata: { name: namespace = '' } }) => {
        expect(inside.has(namespace)).toBe(false)
        inside.add(namespace)
        most = Math.max(most, inside.size)
        await admin.get(namespaces, { name: namespace })
        inside.delete(namespace)
      },
      { concurrency: 3 },
    )
    await Promise.all(Array.from({ length: 12 }, (_, i) => admin.create(namespaces, { metadata: { name: `n-${i}` } })))
    expect(most).toBe(3)
  })

  test('when it is stopped, work under way is told, and the next run takes the turn up again', async () => {
    let begun = 0
    const first = run(async (_n, _c, { signal }) => {
      begun++
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
    })
    await begin('team')
    await until(() => begun === 1)
    stop.abort()
    await first
    expect(isActive(await admin.get(namespaces, { name: 'team' }))).toBe(false)
    stop = new AbortController()
    void run(async () => void begun++)
    await seen('team', isActive)
    expect(begun).toBe(2)
  })

  test('two processes of one initializer do no harm', async () => {
    const work = async (): Promise<void> => void (await admin.get(namespaces, { name: 'default' }))
    void run(work)
    void run(work)
    await Promise.all(Array.from({ length: 8 }, (_, i) => admin.create(namespaces, { metadata: { name: `n-${i}` } })))
    for (let i = 0; i < 8; i++) expect(isActive(await admin.get(namespaces, { name: `n-${i}` }))).toBe(true)
    await waitFor(admin, namespaces, { name: 'n-0' }, isThere)
    expect(logged).toEqual([])
  })
})
