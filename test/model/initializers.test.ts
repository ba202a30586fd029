/**
 * Namespace initializers against a model: create (held or not), act, fail, label, delete, reconfigure, let time pass
 * and restart, in any order. Whatever comes, and after every step:
 *
 *   - what is being initialized is in nobody's list or watch but its creator's and those of holders of `initialize`;
 *   - its content can be written by holders of `initialize` and by nobody else;
 *   - nobody is waited for beyond its deadline, nor once its configuration is gone;
 *   - initializers act in order: every change of a list takes its first entry away, or nothing;
 *   - a held create is answered with what became of its namespace.
 *
 * The model knows when a turn ends, not how long the controller takes to notice: `settled` waits until the server shows
 * what the model says, and fails if it does not get there.
 *
 * BOROUGH_INITIALIZER_RUNS and BOROUGH_SEED widen the search.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Namespace } from '../../src/apis/namespaces/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import type { UserInfo } from '../../src/kube/user.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const configurations = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
}

const user = (username: string): UserInfo => ({ username, groups: ['system:authenticated'] })
const holder = user('holder')
const bob = user('bob')
const eve = user('eve')
const nobody = user('nobody')

const names = ['n0', 'n1', 'n2'] as const
const initializers = ['one.ex.io', 'two.ex.io', 'three.ex.io'] as const
const holdMs = 30_000

interface Configured {
  readonly name: string
  readonly timeoutSeconds?: number
  readonly failurePolicy?: 'Ignore' | 'Fail'
}

type Ending = 'ready' | 'timed out' | 'reported' | 'deleted'

interface Modelled {
  readonly given: boolean
  readonly creator: UserInfo
  readonly pending: readonly string[]
  /** When the turn of `pending[0]` began. */
  readonly beganMs: number
  /** Set by a command that ends it. */
  readonly ended?: Ending
}

interface Held {
  readonly name: string
  readonly dueMs: number
  readonly answer: Promise<Response>
  got?: { readonly code: number; readonly body: JsonObject; readonly warning: string | null }
  /** Any of these is right: two things may fall due at once. */
  want?: readonly ('ready' | 'timed out' | 'reported' | 'deleted' | 'warned')[]
}

interface Model {
  readonly live: Map<string, Modelled>
  readonly configured: Map<string, readonly Configured[]>
}

function merged(model: Model): ReadonlyMap<string, Configured> {
  const all = new Map<string, Configured>()
  for (const [, list] of [...model.configured].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const one of list) if (!all.has(one.name)) all.set(one.name, one)
  }
  return all
}

/** What the controller makes of a namespace by now. `undefined` = it goes, for the reason of `ended`. */
function judged(
  model: Model,
  n: Modelled,
  nowMs: number,
): { readonly pending: readonly string[]; readonly ended?: Ending } {
  if (n.ended !== undefined) return { pending: [], ended: n.ended }
  const known = merged(model)
  let { pending, beganMs } = n
  while (pending.length > 0) {
    const awaited = known.get(pending[0] ?? '')
    if (awaited === undefined) {
      if (n.given) break
    } else {
      const { timeoutSeconds, failurePolicy = 'Fail' } = awaited
      if (timeoutSeconds === undefined || nowMs < beganMs + timeoutSeconds * 1000) break
      if (failurePolicy === 'Fail') return { pending: [], ended: 'timed out' }
    }
    pending = pending.slice(1)
    beganMs = nowMs
  }
  return { pending }
}

const specOf = (n: KubeObject | undefined): NonNullable<Namespace['spec']> => (n as Namespace | undefined)?.spec ?? {}
const pendingOf = (n: KubeObject | undefined): string[] => (specOf(n).initializers?.pending ?? []).map((p) => p.name)
const turnBeganMs = (n: KubeObject): number =>
  Date.parse(
    (n as Namespace).status?.conditions?.find((c) => c.type === 'Initializing')?.lastTransitionTime ??
      n.metadata.creationTimestamp ??
      '',
  )

/** The server under test, over restarts, and what its watchers have seen. */
class World {
  readonly clock = new FakeClock()
  readonly violations: string[] = []
  readonly held: Held[] = []
  /** What eve's watch adds up to: name → uid. */
  readonly eveSees = new Map<string, string>()
  readonly #history = new Map<string, string>()
  readonly #dataDir: string
  #plane: ControlPlane | undefined
  #watching = new AbortController()
  #watches: Promise<void>[] = []
  #stopping = false
  #resume: Record<'eve' | 'holder', string> = { eve: '', holder: '' }

  constructor(dataDir: string) {
    this.#dataDir = dataDir
  }

  get plane(): ControlPlane {
    if (this.#plane === undefined) throw new Error('not started')
    return this.#plane
  }

  async start(): Promise<void> {
    this.#plane = await createControlPlane({
      ...defaultConfig,
      dataDir: this.#dataDir,
      storage: { engine: 'sqlite' },
      clock: this.clock,
      population: false,
      initializationTimeoutMs: holdMs,
    })
    if (this.#resume.eve === '') {
      await this.#grantRights()
      const { items, metadata } = await this.as(eve).list(namespaces)
      for (const { metadata: m } of items) this.eveSees.set(m.name ?? '', m.uid ?? '')
      this.#resume = { eve: metadata.resourceVersion ?? '', holder: metadata.resourceVersion ?? '' }
    }
    this.#stopping = false
    this.#watching = new AbortController()
    this.#watches = [this.#watch('eve'), this.#watch('holder')]
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.plane[Symbol.asyncDispose]()
    this.#watching.abort()
    await Promise.all(this.#watches)
  }

  as(who: UserInfo): ReturnType<ControlPlane['client']> {
    return this.plane.client(who)
  }

  get admin(): ReturnType<ControlPlane['client']> {
    return this.plane.client()
  }

  /** A create as kubectl sends it, which may be held. */
  post(name: string, who: UserInfo): Promise<Response> {
    const body = JSON.stringify({ metadata: { name } })
    const headers = { 'content-type': 'application/json' }
    const url = 'https://model.test/api/v1/namespaces'
    return fetchAdapter(this.plane.serve, who)(new Request(url, { method: 'POST', body, headers }))
  }

  async #grantRights(): Promise<void> {
    const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
    const usual = { apiGroups: [''], resources: ['namespaces', 'configmaps'], verbs: all }
    const initialize = { apiGroups: [''], resources: ['namespaces'], verbs: ['initialize'] }
    for (const who of [holder, bob, eve]) {
      const metadata = { name: who.username }
      await this.admin.create(rbac('clusterroles'), { metadata, rules: who === holder ? [usual, initialize] : [usual] })
      await this.admin.create(rbac('clusterrolebindings'), {
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: who.username },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: who.username }],
      })
    }
  }

  async #watch(who: 'eve' | 'holder'): Promise<void> {
    const events = this.as(who === 'eve' ? eve : holder).watch(namespaces, {
      resourceVersion: this.#resume[who],
      signal: this.#watching.signal,
    })
    try {
      for await (const { type, object } of events) {
        this.#resume[who] = object.metadata.resourceVersion ?? ''
        if (type === 'BOOKMARK') continue
        if (who === 'eve') this.#seenByEve(type, object)
        else if (type !== 'DELETED') this.#seenByHolder(object)
      }
    } catch (error) {
      // A watch that has just begun when the server stops is told to come back, which it does.
      if (!this.#stopping || findStatusError(error)?.code !== 503) throw error
    }
  }

  #seenByEve(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    const { name = '', uid = '' } = object.metadata
    const known = this.eveSees.get(name)
    if (specOf(object).initializers !== undefined) this.violations.push(`eve was shown ${type} ${name}, not ready`)
    if ((type === 'ADDED') === (known !== undefined))
      this.violations.push(`eve was sent ${type} of ${name}, out of place`)
    if (type === 'DELETED') this.eveSees.delete(name)
    else this.eveSees.set(name, uid)
  }

  #seenByHolder(object: KubeObject): void {
    const { uid = '', name } = object.metadata
    const next = pendingOf(object).join()
    const before = this.#history.get(uid)
    this.#history.set(uid, next)
    if (before === undefined || next === before) return
    if (before.split(',').slice(1).join() !== next) this.violations.push(`${name} went from [${before}] to [${next}]`)
  }
}

/** Real time within which everything happens that needs no time of the model's. */
const patienceMs = 30_000
/** After this the model's clock moves on a little too, for retries: as much as a real server's would. */
const stillMs = 200
const movingMs = 10
/** How much later than the model says the server may do what falls due: conditions have whole seconds. */
const lateMs = 1500

async function settled(model: Model, world: World): Promise<void> {
  const began = performance.now()
  const beganAt = world.clock.now()
  for (;;) {
    const { items } = await world.as(holder).list(namespaces)
    const actual = new Map(items.map((n) => [n.metadata.name ?? '', n]))
    const problem = difference(model, world, actual)
    if (problem === '') {
      adopt(model, world, actual)
      await world.clock.advance((1000 - (world.clock.now() % 1000)) % 1000)
      expect(world.violations).toEqual([])
      return
    }
    const passedMs = performance.now() - began
    if (passedMs > patienceMs) throw new Error(`it never came to that: ${problem}`)
    await pause(passedMs < 5 ? 0 : 2)
    await world.clock.advance(passedMs > stillMs && world.clock.now() - beganAt < lateMs ? movingMs : 0)
  }
}

/** As often as it takes; what waits here needs no time of the model's. */
async function eventually(done: () => boolean): Promise<void> {
  for (const began = performance.now(); !done() && performance.now() - began < patienceMs; ) await pause(1)
}

function difference(model: Model, world: World, actual: ReadonlyMap<string, KubeObject>): string {
  for (const name of names) {
    const n = model.live.get(name)
    const object = actual.get(name)
    const want = n && judged(model, n, world.clock.now())
    if (want === undefined || (want.ended !== undefined && want.ended !== 'ready')) {
      if (object !== undefined) return `${name} is still there`
      continue
    }
    if (object === undefined) return `${name} is missing`
    if (pendingOf(object).join() !== want.pending.join()) {
      return `${name} waits for [${pendingOf(object)}] rather than [${want.pending}]`
    }
    const { phase } = (object as Namespace).status ?? {}
    const wanted = want.pending.length > 0 ? 'Initializing' : 'Active'
    if (phase !== wanted) return `${name} is ${phase} rather than ${wanted}`
  }
  return ''
}

/** Takes over when turns began, and says what held creates must have been answered. */
function adopt(model: Model, world: World, actual: ReadonlyMap<string, KubeObject>): void {
  const now = world.clock.now()
  for (const [name, n] of [...model.live]) {
    const { pending, ended } = judged(model, n, now)
    const object = actual.get(name)
    for (const held of world.held) {
      if (held.name !== name || held.want !== undefined) continue
      const isOver = ended !== undefined || pending.length === 0
      const outcome = isOver ? [ended ?? ('ready' as const)] : []
      if (now >= held.dueMs) held.want = [...outcome, 'warned']
      else if (isOver) held.want = outcome
    }
    if (object === undefined) model.live.delete(name)
    else model.live.set(name, { ...n, pending, beganMs: pending.length > 0 ? turnBeganMs(object) : 0 })
  }
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

async function checkEverything(model: Model, world: World): Promise<void> {
  const now = world.clock.now()
  const known = merged(model)
  for (const [name, n] of model.live) {
    const isWaiting = n.pending.length > 0
    const { timeoutSeconds } = known.get(n.pending[0] ?? '') ?? {}
    if (timeoutSeconds !== undefined) expect(now).toBeLessThan(n.beganMs + timeoutSeconds * 1000 + 1000)
    const write = (who: UserInfo): Promise<number> =>
      codeOf(world.as(who).create(configMaps, { metadata: { namespace: name, name: 'x' } }, { dryRun: true }))
    expect(await write(holder), name).toBe(200)
    expect(await write(bob), name).toBe(isWaiting ? 429 : 200)
    expect(await write(eve), name).toBe(isWaiting ? 429 : 200)
    expect(await write(nobody), name).toBe(403)
    expect((await world.as(eve).get(namespaces, { name })).metadata.name).toBe(name)
  }
  const listed = async (who: UserInfo, includeUninitialized = false): Promise<string[]> => {
    const { items } = await world.as(who).list(namespaces, { includeUninitialized })
    return items.map((n) => n.metadata.name ?? '').filter((name) => (names as readonly string[]).includes(name))
  }
  const all = [...model.live.keys()].sort()
  const ready = all.filter((name) => model.live.get(name)?.pending.length === 0)
  const ofBob = all.filter((name) => model.live.get(name)?.creator === bob)
  expect(await listed(holder)).toEqual(all)
  expect(await listed(eve)).toEqual(ready)
  expect(await listed(eve, true)).toEqual(all)
  expect(await listed(bob)).toEqual(all.filter((name) => ready.includes(name) || ofBob.includes(name)))
  await caughtUp(world, ready)
  await checkAnswers(world)
}

async function caughtUp(world: World, ready: readonly string[]): Promise<void> {
  const seen = (): string[] => [...world.eveSees.keys()].filter((n) => (names as readonly string[]).includes(n)).sort()
  await eventually(() => seen().join() === ready.join())
  expect(seen()).toEqual(ready)
  expect(world.violations).toEqual([])
}

async function checkAnswers(world: World): Promise<void> {
  for (const held of world.held) {
    if (held.want !== undefined) await eventually(() => held.got !== undefined)
    if (held.want === undefined) {
      expect(held.got, `${held.name} was answered too early`).toBeUndefined()
      continue
    }
    expect(held.got, `${held.name} is still held`).toBeDefined()
    if (held.got !== undefined) expect(held.want).toContain(outcomeOf(held.got))
  }
  world.held.splice(0, world.held.length, ...world.held.filter((h) => h.got === undefined))
}

function outcomeOf({ code, body, warning }: NonNullable<Held['got']>): string {
  if (code === 201 && warning === null)
    return (body['status'] as JsonObject)['phase'] === 'Active' ? 'ready' : 'not ready'
  if (code === 201 && warning?.includes('still being initialized')) return 'warned'
  if (code === 504) return 'timed out'
  if (code === 403 && body['message'] === 'not for you') return 'reported'
  if (code === 500) return 'deleted'
  return `${code} ${JSON.stringify(body)}`
}

type Command = fc.AsyncCommand<Model, World>

abstract class Step implements Command {
  check(_model: Readonly<Model>): boolean {
    return true
  }
  abstract act(model: Model, world: World): Promise<void>
  async run(model: Model, world: World): Promise<void> {
    await this.act(model, world)
    await settled(model, world)
    await checkEverything(model, world)
  }
  abstract toString(): string
}

class Configure extends Step {
  readonly name: string
  readonly list: readonly Configured[]
  constructor(name: string, list: readonly Configured[]) {
    super()
    this.name = name
    this.list = list
  }
  async act(model: Model, world: World): Promise<void> {
    const apply = { apiVersion: 'admissionregistration.k8s.io/v1alpha1', kind: 'NamespaceInitializerConfiguration' }
    const object = { ...apply, metadata: { name: this.name }, initializers: [...this.list] }
    await world.admin.apply(configurations, object, { fieldManager: 'model', force: true })
    model.configured.set(this.name, this.list)
  }
  toString(): string {
    return `configure ${this.name} ${JSON.stringify(this.list)}`
  }
}

class Unconfigure extends Step {
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
  override check(model: Readonly<Model>): boolean {
    return model.configured.has(this.name)
  }
  async act(model: Model, world: World): Promise<void> {
    await world.admin.delete(configurations, { name: this.name })
    model.configured.delete(this.name)
  }
  toString(): string {
    return `delete configuration ${this.name}`
  }
}

class Create extends Step {
  readonly name: string
  readonly way: 'bob' | 'bob, held' | 'given' | 'bypass'
  constructor(name: string, way: Create['way']) {
    super()
    this.name = name
    this.way = way
  }
  override check(model: Readonly<Model>): boolean {
    return !model.live.has(this.name)
  }
  async act(model: Model, world: World): Promise<void> {
    const { name, way } = this
    const now = world.clock.now()
    const given = way === 'given' ? ['one.ex.io', 'mine.ex.io'] : way === 'bypass' ? [] : undefined
    const creator = given === undefined ? bob : holder
    const pending = given ?? [...merged(model).keys()]
    model.live.set(name, { given: given !== undefined, creator, pending, beganMs: now })
    if (way === 'bob, held') {
      const held: Held = { name, dueMs: now + holdMs, answer: world.post(name, bob) }
      world.held.push(held)
      void held.answer.then(async (response) => {
        const body = (await response.json()) as JsonObject
        held.got = { code: response.status, body, warning: response.headers.get('warning') }
      })
      return
    }
    const spec = given === undefined ? {} : { spec: { initializers: { pending: given.map((n) => ({ name: n })) } } }
    await world.as(creator).create(namespaces, { metadata: { name }, ...spec }, { includeUninitialized: true })
  }
  toString(): string {
    return `create ${this.name} (${this.way})`
  }
}

/** What somebody writes into the list, and what must come of it. */
class Act extends Step {
  readonly name: string
  readonly what: 'first' | 'first, by bob' | 'second' | 'all' | 'one more' | 'the same'
  constructor(name: string, what: Act['what']) {
    super()
    this.name = name
    this.what = what
  }
  override check(model: Readonly<Model>): boolean {
    const waiting = model.live.get(this.name)?.pending.length
    return waiting !== undefined && (this.what !== 'second' && this.what !== 'all' ? true : waiting > 1)
  }
  async act(model: Model, world: World): Promise<void> {
    const { name, what } = this
    const n = model.live.get(name) as Modelled
    const [first = 'one.ex.io', ...rest] = n.pending
    const next = {
      first: rest,
      'first, by bob': rest,
      second: [first, ...rest.slice(1)],
      all: [],
      'one more': ['new.ex.io', ...n.pending],
      'the same': n.pending,
    }[what]
    const isReady = n.pending.length === 0
    const right = what === 'first' || what === 'the same'
    const code = isReady ? (next.length === 0 ? undefined : 422) : right ? 200 : what === 'first, by bob' ? 403 : 422
    const patch = { spec: { initializers: { pending: next.map((i) => ({ name: i })) } } }
    const who = what === 'first, by bob' ? bob : holder
    const got = await codeOf(world.as(who).patch(namespaces, { name }, patch))
    if (code !== undefined) expect(got, this.toString()).toBe(code)
    if (what === 'first' && !isReady) model.live.set(name, { ...n, pending: rest, beganMs: world.clock.now() })
  }
  toString(): string {
    return `act on ${this.name}: ${this.what}`
  }
}

class Fail extends Step {
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
  override check(model: Readonly<Model>): boolean {
    return (model.live.get(this.name)?.pending.length ?? 0) > 0
  }
  async act(model: Model, world: World): Promise<void> {
    const result = { status: 'Failure', reason: 'Forbidden', code: 403, message: 'not for you' }
    await world.as(holder).patch(namespaces, { name: this.name }, { spec: { initializers: { result } } })
    model.live.set(this.name, { ...(model.live.get(this.name) as Modelled), ended: 'reported' })
  }
  toString(): string {
    return `fail ${this.name}`
  }
}

class Delete extends Step {
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
  override check(model: Readonly<Model>): boolean {
    return model.live.has(this.name)
  }
  async act(model: Model, world: World): Promise<void> {
    await world.as(bob).delete(namespaces, { name: this.name })
    model.live.set(this.name, { ...(model.live.get(this.name) as Modelled), ended: 'deleted' })
  }
  toString(): string {
    return `delete ${this.name}`
  }
}

/** A typed client reads, changes a label and writes back, without the field it does not know. */
class Label extends Step {
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
  override check(model: Readonly<Model>): boolean {
    return model.live.has(this.name)
  }
  async act(_model: Model, world: World): Promise<void> {
    const read = await world.as(bob).get(namespaces, { name: this.name })
    const labels = { ...read.metadata.labels, at: String(world.clock.now()) }
    const { initializers: _, ...spec } = specOf(read)
    await world.as(bob).update(namespaces, { ...read, spec, metadata: { ...read.metadata, labels } })
  }
  toString(): string {
    return `label ${this.name}`
  }
}

class Wait extends Step {
  readonly seconds: number
  constructor(seconds: number) {
    super()
    this.seconds = seconds
  }
  /** From one moment at which something falls due to the next: each finds the world that the one before left. */
  async act(model: Model, world: World): Promise<void> {
    const end = world.clock.now() + this.seconds * 1000
    while (world.clock.now() < end) {
      const now = world.clock.now()
      const known = merged(model)
      const due = [...model.live.values()].map(
        ({ pending, beganMs }) =>
          beganMs + (known.get(pending[0] ?? '')?.timeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000,
      )
      const next = Math.min(end, ...[...due, ...world.held.map((h) => h.dueMs)].filter((t) => t > now))
      await world.clock.advance(next - now)
      await settled(model, world)
    }
  }
  toString(): string {
    return `wait ${this.seconds} s`
  }
}

class Restart extends Step {
  async act(model: Model, world: World): Promise<void> {
    await world.stop()
    for (const held of world.held) held.want ??= ['warned']
    await checkAnswers(world)
    await world.start()
    await settled(model, world)
  }
  toString(): string {
    return 'restart'
  }
}

function commands(): fc.Arbitrary<Iterable<Command>> {
  const name = fc.constantFrom(...names)
  const one: fc.Arbitrary<Configured> = fc
    .record({
      name: fc.constantFrom(...initializers),
      timeoutSeconds: fc.constantFrom(undefined, 7, 18),
      failurePolicy: fc.constantFrom(undefined, 'Ignore' as const, 'Fail' as const),
    })
    .map((r) => Object.fromEntries(Object.entries(r).filter(([, v]) => v !== undefined)) as unknown as Configured)
  const list = fc.uniqueArray(one, { minLength: 1, maxLength: 3, selector: (i) => i.name })
  const configure = fc.tuple(fc.constantFrom('a', 'b'), list).map(([n, l]) => new Configure(n, l))
  const ways = fc.constantFrom(
    'bob' as const,
    'bob, held' as const,
    'bob, held' as const,
    'given' as const,
    'bypass' as const,
  )
  const create = fc.tuple(name, ways).map(([n, way]) => new Create(n, way))
  const whats = fc.constantFrom<Act['what']>('first', 'first', 'first, by bob', 'second', 'all', 'one more', 'the same')
  const act = fc.tuple(name, whats).map(([n, what]) => new Act(n, what))
  return fc.commands(
    [
      configure,
      configure,
      fc.constantFrom('a', 'b').map((n) => new Unconfigure(n)),
      create,
      create,
      create,
      act,
      act,
      act,
      name.map((n) => new Fail(n)),
      name.map((n) => new Delete(n)),
      name.map((n) => new Label(n)),
      fc.constantFrom(3, 8, 20, 40).map((s) => new Wait(s)),
      fc.constantFrom(3, 8, 20, 40).map((s) => new Wait(s)),
      fc.constant(new Restart()),
    ],
    { maxCommands: 24, size: 'max' },
  )
}

test('create, act, fail, time out, delete, reconfigure, restart in any order', { timeout: 600_000 }, async () => {
  const runs = Number(process.env['BOROUGH_INITIALIZER_RUNS'] ?? 5)
  const seed = Number(process.env['BOROUGH_SEED'] ?? 6)
  await fc.assert(
    fc.asyncProperty(commands(), async (sequence) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'borough-initializers-'))
      const world = new World(dataDir)
      try {
        await world.start()
        await fc.asyncModelRun(() => ({ model: { live: new Map(), configured: new Map() }, real: world }), sequence)
      } finally {
        await world.stop()
        await rm(dataDir, { recursive: true })
      }
    }),
    { numRuns: runs, seed },
  )
})
