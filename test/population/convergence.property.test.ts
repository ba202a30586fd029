/**
 * Whatever is done to templates, labels, objects and the controller itself, in whatever order: in the end every
 * namespace holds exactly what its templates say, and nothing that no template made was ever touched.
 *
 * The model knows nothing of how it is done. It is a table of templates, namespaces and foreign objects, and a function
 * from it to what must be there.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventRecorder } from '../../src/apis/events/recorder.ts'
import { ConfigMapRecords } from '../../src/apis/templates/config-map-records.ts'
import { populationControllers } from '../../src/apis/templates/reconcile.ts'
import { templateControllerName } from '../../src/apis/templates/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { runController } from '../../src/controller/run-controller.ts'
import { isNotFound } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { serviceAccountUser } from '../../src/kube/user.ts'
import { configMap, configMapResource, namespaceResource, templateLabel, templateResource } from './population-world.ts'

const tiers = ['x', 'y'] as const
const templateNames = ['a', 'b', 'c'] as const
const namespaceNames = ['n0', 'n1', 'n2'] as const
const objectNames = ['o0', 'o1', 'o2'] as const
const metaKey = 'example.com/meta'
/** Templates that set the same key with different values are in conflict, and one of them fails. */
const keysOf = (shared: boolean): ((template: string) => string) => (shared ? () => metaKey : (t) => `${metaKey}-${t}`)

interface ModelTemplate {
  /** Namespaces with one of these tiers. */
  readonly tiers: readonly string[]
  /** object → value */
  readonly objects: Readonly<Record<string, string>>
  /** What it sets as a label on the namespace. */
  readonly meta: string | undefined
}

interface ModelNamespace {
  readonly tier: string
  /** A parameter of every template. */
  readonly size: string | undefined
}

interface Model {
  /** The label that a template sets on namespaces. */
  readonly keyOf: (template: string) => string
  readonly templates: Map<string, ModelTemplate>
  readonly namespaces: Map<string, ModelNamespace>
  /** `namespace/object` → the object as it was made */
  readonly foreign: Map<string, KubeObject>
}

/** `namespace/object` → template and value */
function wanted({ keyOf, templates, namespaces, foreign }: Model): Record<string, string> {
  const there: Record<string, string> = {}
  for (const [namespace, { tier, size = 's' }] of namespaces) {
    for (const name of [...templates.keys()].sort()) {
      const template = templates.get(name)
      if (!template?.tiers.includes(tier)) continue
      for (const [object, value] of Object.entries(template.objects)) {
        const at = `${namespace}/${object}`
        if (!foreign.has(at)) there[at] ??= `${name} ${value}${size}`
      }
      // Two that set the same key: the first by name.
      if (template.meta !== undefined) there[`${namespace} ${keyOf(name)}`] ??= `${name}-${template.meta}${size}`
    }
  }
  return there
}

class System implements AsyncDisposable {
  readonly model: Model
  readonly #plane: ControlPlane
  readonly #admin: Client
  readonly #rollout: JsonObject
  readonly #bears: boolean
  #stop = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  private constructor(plane: ControlPlane, rollout: JsonObject, bears: boolean) {
    this.#plane = plane
    this.#admin = plane.client()
    this.#rollout = rollout
    this.#bears = bears
    const keyOf = keysOf(!bears && rollout['pauseOnFailure'] !== true)
    this.model = { keyOf, templates: new Map(), namespaces: new Map(), foreign: new Map() }
    if (!bears) this.#startController()
  }

  /** `bears`: namespaces are created populated; the server's own controller does the rest and can't be restarted. */
  static async start(rollout: JsonObject, bears: boolean): Promise<System> {
    const controllers = (name: string): boolean => bears || name !== templateControllerName
    const plane = await createControlPlane({ ...defaultConfig, storage: { engine: 'memory' }, controllers })
    return new System(plane, rollout, bears)
  }

  #startController(): void {
    this.#stop = new AbortController()
    const client = this.#plane.client(serviceAccountUser('kube-system', templateControllerName))
    const recorder = { client, clock: systemClock, ids: randomIds, log: silentLog, component: templateControllerName }
    const events = new EventRecorder(recorder)
    const onError = (): void => {}
    const records = new ConfigMapRecords({ client: this.#admin, clock: systemClock, namespace: 'kube-system', onError })
    const specs = populationControllers({ client, clock: systemClock, events, onError, records })
    const runtime = { clock: systemClock, log: silentLog }
    this.#running = Promise.all(specs.map((spec) => runController(spec, runtime, this.#stop.signal)))
  }

  async restart(): Promise<void> {
    if (this.#bears) return
    this.#stop.abort()
    await this.#running
    this.#startController()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#plane[Symbol.asyncDispose]()
  }

  async writeTemplate(name: string, template: ModelTemplate): Promise<void> {
    const spec = {
      namespaces: {
        labelSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: [...template.tiers, name] }] },
      },
      rollout: this.#rollout,
      parameters: [{ name: 'size', fromLabel: 'size', enum: ['s', 'l'], default: 's' }],
      namespaceMetadata: template.meta
        ? { labels: { [this.model.keyOf(name)]: `${name}-${template.meta}$(size)` } }
        : null,
      templates: Object.entries(template.objects).map(([object, value]) => configMap(object, { a: `${value}$(size)` })),
    }
    if (this.model.templates.has(name)) await this.#admin.patch(templateResource, { name }, { spec })
    else await this.#admin.create(templateResource, { metadata: { name }, spec })
    this.model.templates.set(name, template)
  }

  async deleteTemplate(name: string): Promise<void> {
    if (!this.model.templates.delete(name)) return
    await this.#admin.delete(templateResource, { name })
    // Its name is free when everything of it is pruned.
    await this.#until(async () => (await this.#find(templateResource, { name })) === undefined, 'a template goes')
  }

  async label(namespace: string, tier: string): Promise<void> {
    const metadata = { name: namespace, labels: { tier } }
    const known = this.model.namespaces.get(namespace)
    if (known !== undefined) {
      await this.#admin.patch(namespaceResource, { name: namespace }, { metadata: { labels: { tier } } })
    } else {
      await this.#admin.create(namespaceResource, { metadata }, { includeUninitialized: true })
    }
    this.model.namespaces.set(namespace, { tier, size: known?.size })
  }

  async resize(namespace: string, size: string | undefined): Promise<void> {
    const known = this.model.namespaces.get(namespace)
    if (known === undefined) return
    const labels = { size: size ?? null }
    await this.#admin.patch(namespaceResource, { name: namespace }, { metadata: { labels } })
    this.model.namespaces.set(namespace, { ...known, size })
  }

  /** A client takes away, or changes, what a template set on the namespace. */
  async strip(namespace: string, value: string | null): Promise<void> {
    const there = await this.#find(namespaceResource, { name: namespace })
    for (const key of new Set(templateNames.map(this.model.keyOf))) {
      const is = there?.metadata.labels?.[key]
      if (is === undefined || is !== wanted(this.model)[`${namespace} ${key}`]) continue
      const metadata = { labels: { [key]: value } }
      const write = this.#admin.patch(namespaceResource, { name: namespace }, { metadata })
      await expect(write).rejects.toMatchObject({ code: 403 })
    }
  }

  async deleteNamespace(namespace: string): Promise<void> {
    if (!this.model.namespaces.delete(namespace)) return
    for (const at of [...this.model.foreign.keys()]) {
      if (at.startsWith(`${namespace}/`)) this.model.foreign.delete(at)
    }
    await this.#admin.delete(namespaceResource, { name: namespace })
    const gone = async (): Promise<boolean> => (await this.#find(namespaceResource, { name: namespace })) === undefined
    await this.#until(gone, 'a namespace goes')
  }

  /** Somebody makes, or takes away again, an object that no template made. */
  async foreign(namespace: string, name: string): Promise<void> {
    const at = `${namespace}/${name}`
    if (this.model.foreign.delete(at)) {
      await this.#admin.delete(configMapResource, { namespace, name })
      // Nothing of ours watches it: the controller looks again in a minute, or when the namespace changes.
      const look = String(Math.random())
      await this.#admin.patch(namespaceResource, { name: namespace }, { metadata: { annotations: { look } } })
      return
    }
    if (!this.model.namespaces.has(namespace) || wanted(this.model)[at] !== undefined) return
    const object = { ...configMap(name, { a: 'foreign' }), metadata: { namespace, name } }
    this.model.foreign.set(at, await this.#admin.create(configMapResource, object))
  }

  /** Somebody spoils an object that a template made. */
  async spoil(namespace: string, name: string, how: 'change' | 'delete'): Promise<void> {
    if (wanted(this.model)[`${namespace}/${name}`] === undefined) return
    try {
      if (how === 'delete') await this.#admin.delete(configMapResource, { namespace, name })
      else await this.#admin.patch(configMapResource, { namespace, name }, { data: { a: 'spoilt' } })
    } catch (error) {
      // It may not be there yet.
      if (!isNotFound(error)) throw error
    }
  }

  async converged(): Promise<void> {
    const want = wanted(this.model)
    let found: Record<string, string> = {}
    await this.#until(
      async () => {
        found = await this.#populated()
        return JSON.stringify(sorted(found)) === JSON.stringify(sorted(want))
      },
      () => `wanted ${JSON.stringify(sorted(want))}, found ${JSON.stringify(sorted(found))}`,
    )
    for (const object of this.model.foreign.values()) {
      const { namespace = '', name = '' } = object.metadata
      expect(await this.#find(configMapResource, { namespace, name }), 'a foreign object').toEqual(object)
    }
  }

  /** What the templates' statuses say agrees with what is. */
  async statusesAgree(): Promise<void> {
    const want = wanted(this.model)
    for (const [name, template] of this.model.templates) {
      const selected = [...this.model.namespaces].filter(([, { tier }]) => template.tiers.includes(tier))
      const synced = selected.filter(
        ([namespace, { size = 's' }]) =>
          Object.entries(template.objects).every(
            ([o, value]) => want[`${namespace}/${o}`] === `${name} ${value}${size}`,
          ) &&
          (template.meta === undefined ||
            want[`${namespace} ${this.model.keyOf(name)}`] === `${name}-${template.meta}${size}`),
      )
      const expected = { matched: selected.length, synced: synced.length, failed: selected.length - synced.length }
      let found: unknown
      await this.#until(
        async () => {
          const { status, metadata } = await this.#admin.get(templateResource, { name })
          const { matched, synced, failed, observedGeneration, kinds } = (status ?? {}) as JsonObject
          found = { matched, synced, failed }
          const kindsRight = Object.keys(template.objects).length === 0 || String(kinds) === 'v1/ConfigMap'
          return (
            observedGeneration === metadata.generation &&
            kindsRight &&
            JSON.stringify(found) === JSON.stringify(expected)
          )
        },
        () => `template ${name} should say ${JSON.stringify(expected)}, says ${JSON.stringify(found)}`,
      )
    }
  }

  async #populated(): Promise<Record<string, string>> {
    const { items } = await this.#admin.list(configMapResource, { labelSelector: templateLabel })
    const namespaces = await this.#admin.list(namespaceResource, { includeUninitialized: true })
    const set = namespaces.items.flatMap(({ metadata: { name, labels = {} } }) =>
      Object.entries(labels).flatMap(([key, value]) => (key.startsWith(metaKey) ? [[`${name} ${key}`, value]] : [])),
    )
    const objects: Record<string, string> = Object.fromEntries(
      items.map(({ metadata, data }) => [
        `${metadata.namespace}/${metadata.name}`,
        `${metadata.labels?.[templateLabel]} ${(data as { a?: string }).a}`,
      ]),
    )
    return { ...objects, ...(Object.fromEntries(set) as Record<string, string>) }
  }

  async #find(
    resource: typeof configMapResource,
    ref: { readonly namespace?: string; readonly name: string },
  ): Promise<KubeObject | undefined> {
    try {
      return await this.#admin.get(resource, ref)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async #until(holds: () => Promise<boolean>, what: string | (() => string)): Promise<void> {
    const end = performance.now() + patienceMs
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`waited in vain: ${typeof what === 'string' ? what : what()}`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

const patienceMs = 20_000
const sorted = (record: Record<string, string>): unknown => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))

type Step = (system: System) => Promise<void>
const said = (text: string, step: Step): Step =>
  Object.assign(step, { toString: () => text, [fc.toStringMethod]: () => text })

const templateArbitrary = (objects: readonly string[]): fc.Arbitrary<ModelTemplate> =>
  fc.record({
    tiers: fc.subarray([...tiers]),
    objects: fc.dictionary(fc.constantFrom(...objects), fc.constantFrom('1', '2'), { maxKeys: 3 }),
    meta: fc.constantFrom(undefined, undefined, '1', '2'),
  })

const namespace = fc.constantFrom(...namespaceNames)
const object = fc.constantFrom(...objectNames)

/** Steps that may follow one another without waiting. */
const quickStep = (objectsOf: (template: string) => readonly string[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      arbitrary: fc
        .constantFrom(...templateNames)
        .chain((name) =>
          templateArbitrary(objectsOf(name)).map((t) =>
            said(`write ${name} ${JSON.stringify(t)}`, (s) => s.writeTemplate(name, t)),
          ),
        ),
      weight: 4,
    },
    {
      arbitrary: fc
        .tuple(namespace, fc.constantFrom(...tiers, 'none'))
        .map(([n, tier]) => said(`label ${n} ${tier}`, (s) => s.label(n, tier))),
      weight: 4,
    },
    {
      arbitrary: fc
        .tuple(namespace, object, fc.constantFrom('change' as const, 'delete' as const))
        .map(([n, o, how]) => said(`${how} ${n}/${o}`, (s) => s.spoil(n, o, how))),
      weight: 2,
    },
    {
      arbitrary: fc
        .tuple(namespace, fc.constantFrom('s', 'l', undefined))
        .map(([n, size]) => said(`resize ${n} ${size}`, (s) => s.resize(n, size))),
      weight: 3,
    },
    {
      arbitrary: fc
        .tuple(namespace, fc.constantFrom('spoilt', null))
        .map(([n, value]) => said(`strip ${n} ${value}`, (s) => s.strip(n, value))),
      weight: 2,
    },
    { arbitrary: fc.constant(said('restart', (s) => s.restart())), weight: 1 },
    { arbitrary: namespace.map((n) => said(`delete namespace ${n}`, (s) => s.deleteNamespace(n))), weight: 1 },
    {
      arbitrary: fc.constantFrom(...templateNames).map((name) => said(`delete ${name}`, (s) => s.deleteTemplate(name))),
      weight: 1,
    },
  )

const foreignStep: fc.Arbitrary<Step> = fc
  .tuple(namespace, object)
  .map(([n, o]) => said(`foreign ${n}/${o}`, (s) => s.foreign(n, o)))

async function run(rollout: JsonObject, bursts: readonly (readonly Step[])[], bears = false): Promise<void> {
  await using system = await System.start(rollout, bears)
  for (const [i, name] of namespaceNames.entries()) if (i < 2) await system.label(name, tiers[i] ?? 'none')
  for (const burst of bursts) {
    for (const step of burst) await step(system)
    await system.converged()
  }
  await system.statusesAgree()
}

/** No two templates hold the same object. */
const burstsOfTheirOwn = fc.array(
  fc.array(
    quickStep((template) => objectNames.map((o) => `${template}-${o}`)),
    { minLength: 1, maxLength: 4 },
  ),
  { minLength: 2, maxLength: 8 },
)

const runs = Number(process.env['BOROUGH_POPULATION_RUNS'] ?? 5)

test(
  'templates that share objects, among objects of others, converge to what is declared and touch nothing else',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            {
              arbitrary: fc.array(
                quickStep(() => objectNames),
                { minLength: 1, maxLength: 4 },
              ),
              weight: 4,
            },
            { arbitrary: fc.tuple(foreignStep), weight: 1 },
          ),
          { minLength: 2, maxLength: 8 },
        ),
        (bursts) => run({}, bursts),
      ),
      { numRuns: runs, endOnFailure: true },
    ),
  120_000,
)

test(
  'where namespaces are created with what they are given, they converge to the same',
  () =>
    fc.assert(
      fc.asyncProperty(
        burstsOfTheirOwn,
        fc.constantFrom({}, { maxUnavailable: 1, pauseOnFailure: true }),
        (bursts, rollout) => run(rollout, bursts, true),
      ),
      { numRuns: runs, endOnFailure: true },
    ),
  120_000,
)

test(
  'in waves of one they converge to the same',
  () =>
    fc.assert(
      fc.asyncProperty(burstsOfTheirOwn, (bursts) => run({ maxUnavailable: 1, pauseOnFailure: true }, bursts)),
      { numRuns: runs, endOnFailure: true },
    ),
  120_000,
)
