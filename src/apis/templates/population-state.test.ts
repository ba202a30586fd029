/** What is asked about all namespaces holds the loop for a slice at most, however many there are. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { systemClock } from '../../base/clock.ts'
import { Turns } from '../../base/turns.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { AppliedRecords } from './applied-records.ts'
import { populationConfig } from './population-config.ts'
import type { PopulationDeps } from './population-deps.ts'
import { PopulationState } from './population-state.ts'
import { TemplateReconciler } from './template-reconciler.ts'
import { type NamespaceTemplate, templateFinalizer, templateResource } from './types.ts'

const count = 3000
/** Of the steps of a walk, each of which takes a tenth of a millisecond here. */
const mostInSlice = 26
const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const
const noRecords: AppliedRecords = {
  follow: async () => {},
  of: () => [],
  announce: async () => {},
  settle: async () => {},
  release: async () => {},
  isComplete: true,
  complete: async () => {},
}

/** The controller's picture of a cluster, and which keys it asks to have looked at in which turn of the loop. */
class World implements AsyncDisposable {
  readonly client = new FakeClient()
  readonly enqueued: string[] = []
  /** Keys in each turn. */
  readonly turns: number[] = []
  readonly state: PopulationState
  readonly templates: TemplateReconciler
  readonly #stop = new AbortController()
  #nowMs = 0
  #seen = 0
  #running: Promise<void> = Promise.resolve()

  constructor() {
    const turns = new Turns({
      now: () => (this.#nowMs += 0.1),
      soon: (run) =>
        setImmediate(() => {
          this.#endTurn()
          run()
        }),
    })
    const deps: PopulationDeps = {
      client: this.client,
      clock: systemClock,
      records: noRecords,
      events: {} as EventRecorder,
      turns,
      onError: (error) => {
        throw error
      },
    }
    this.state = new PopulationState(deps)
    this.templates = new TemplateReconciler(deps, this.state)
  }

  #endTurn(): void {
    this.turns.push(this.enqueued.length - this.#seen)
    this.#seen = this.enqueued.length
  }

  async run(): Promise<void> {
    for (let i = 0; i < count; i++) {
      const metadata = { name: `ns-${i}`, uid: `u${i}`, labels: { for: i % 2 ? 'odd' : 'even' } }
      await this.client.create(namespaceResource, { apiVersion: 'v1', kind: 'Namespace', metadata })
    }
    await this.client.create(templateResource, this.template(1, 'even'))
    this.#running = this.state.watches.run(({ name }) => this.enqueued.push(name), this.#stop.signal)
    await this.until(() => this.enqueued.length >= count)
    await this.until(() => this.state.surveys.isDone(this.version))
    this.#seen = this.enqueued.length = this.turns.length = 0
  }

  get version() {
    const version = this.state.matcherOf('t')
    if (version === undefined) throw new Error('the template is not seen')
    return version
  }

  template(generation: number, wanted: string): NamespaceTemplate {
    return {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name: 't', uid: 't', generation, finalizers: [templateFinalizer] },
      spec: { namespaces: { labelSelector: { matchLabels: { for: wanted } } } },
    }
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise(setImmediate)
    this.#endTurn()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }
}

let world: World
beforeEach(async () => {
  world = new World()
  await world.run()
})
afterEach(() => world[Symbol.asyncDispose]())

const inSlices = (): void => {
  expect(Math.max(...world.turns)).toBeLessThanOrEqual(mostInSlice)
  expect(world.turns.length).toBeGreaterThan(world.enqueued.length / mostInSlice)
}

test('an edit of a template counts and enqueues what it concerns, the former as well, in slices', async () => {
  expect(world.state.matchedNamespaces.counted('t')).toBe(count / 2)
  await world.client.update(templateResource, world.template(2, 'odd'))
  await world.until(() => world.enqueued.length >= count)
  inSlices()
  // Each was looked at before one was enqueued.
  expect(world.turns.findIndex((n) => n > 0)).toBeGreaterThan(count / mostInSlice - 1)
  expect(new Set(world.enqueued).size).toBe(count)
  expect(world.state.matchedNamespaces.counted('t')).toBe(count / 2)
})

test('so does another look at all that a template concerns', async () => {
  world.state.lookAgain('t')
  await world.until(() => world.enqueued.length >= count / 2)
  inSlices()
  expect(new Set(world.enqueued).size).toBe(count / 2)
})

test('so does the end of a pause of all templates', async () => {
  const { namespace, name } = populationConfig
  const config = (paused: string) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } },
    data: { paused },
  })
  await world.client.create(configMaps, config('true'))
  await world.until(() => world.state.isPaused)
  await world.client.update(configMaps, config('false'))
  await world.until(() => world.enqueued.length >= count)
  inSlices()
})

test('so do a thousand whose turn has come at once', async () => {
  await world.client.update(templateResource, world.template(2, 'even'))
  await world.until(() => world.state.matcherOf('t')?.template.metadata.generation === 2)
  const names = Array.from({ length: 1000 }, (_, i) => `ns-${2 * i}`)
  for (const name of names) world.state.rollouts.begin(world.version, name, () => false)
  await world.until(() => world.enqueued.length >= 1500)
  inSlices()
  expect(world.state.rollouts.waiting('t')).toBe(850)
})

test('meanwhile the status says how far it is, and its figures are those of the generation before', async () => {
  const before = { observedGeneration: 1, matched: 1500, synced: 1500 }
  await world.client.update(templateResource, { ...world.template(2, 'odd'), status: before })
  await world.until(() => world.state.surveys.looked('t') >= 500)
  await world.templates.reconcile({ namespace: '', name: 't' }, new AbortController().signal)
  const { status } = await world.client.get(templateResource, { name: 't' })
  const { lastTransitionTime: _, ...progressing } = status?.conditions?.[0] ?? {}
  expect({ ...status, conditions: [progressing] }).toEqual({
    ...before,
    conditions: [
      {
        type: 'Progressing',
        status: 'True',
        reason: 'Surveying',
        message: expect.stringMatching(
          /^\d+ of 3000 namespaces have been looked at; generation 2 reaches none that exists before all have$/,
        ),
      },
    ],
  })
})
