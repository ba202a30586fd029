/**
 * As stops.test.ts, by `borough populate` too, and without a pause between a controller's start and what the
 * administrator does next.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { conditionOf, configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const held = (name: string, data?: Record<string, string>): JsonObject => ({ template: configMap(name, data) })
const disabled = { 'policy/namespace-template-apply': 'disable' }
const beyond = { 'policy.borough.dev/feature-level': '99' }
const none = (annotations: object): Record<string, null> =>
  Object.fromEntries(Object.keys(annotations).map((key) => [key, null]))

/** A template that three namespaces hold a ConfigMap of; one of them may lose it by an edit. */
class Steps {
  readonly #world: AnyWorld
  readonly name: string
  readonly namespaces: readonly string[]

  private constructor(world: AnyWorld, name: string) {
    this.#world = world
    this.name = name
    this.namespaces = [0, 1, 2].map((n) => `${name}-${n}`)
  }

  static async start(world: AnyWorld, name: string): Promise<Steps> {
    const steps = new Steps(world, name)
    await world.template(name, [held('one')], { namespaces: steps.tier('a'), rollout: { maxPrune: 1 } })
    for (const namespace of steps.namespaces) await world.namespace(namespace, { tier: `${name}-a` })
    await world.synced(name, steps.namespaces.length)
    return steps
  }

  tier(value: string): JsonObject {
    return { labelSelector: { matchLabels: { tier: `${this.name}-${value}` } } }
  }

  edit(spec: JsonObject): Promise<unknown> {
    return this.#world.edit(this.name, spec)
  }

  status(want: (status: JsonObject) => boolean): Promise<JsonObject> {
    return this.#world.status(this.name, want)
  }

  annotate(annotations: Readonly<Record<string, string | null>>): Promise<unknown> {
    return this.#world.admin.patch(templateResource, { name: this.name }, { metadata: { annotations } })
  }

  async relabel(labels: Readonly<Record<string, string>>): Promise<void> {
    for (const name of this.namespaces) {
      await this.#world.admin.patch(namespaceResource, { name }, { metadata: { labels } })
    }
  }

  /** It stopped, all is there, and goes when the generation is named. */
  async expectStopped(generation: number): Promise<void> {
    const { admin } = this.#world
    await this.status((s) => conditionOf(s, 'Progressing')?.['reason'] === 'TooManyPrunes')
    for (const namespace of this.namespaces) {
      expect(await admin.get(configMapResource, { namespace, name: 'one' })).toMatchObject({ data: { a: '1' } })
    }
    await this.annotate({ 'policy.borough.dev/confirm-prune': String(generation) })
    await this.status((s) => conditionOf(s, 'Progressing')?.['reason'] === 'Complete')
    for (const namespace of this.namespaces) {
      await waitFor(admin, configMapResource, { namespace, name: 'one' }, isGone)
    }
  }
}

const cases = [
  { what: 'disabled', annotations: disabled, reason: 'Disabled' },
  { what: 'of a newer version', annotations: beyond, reason: 'NewerTemplate' },
].flatMap((kept) =>
  [
    { edit: 'selects none of them', spec: (steps: Steps) => ({ namespaces: steps.tier('typo') }) },
    { edit: 'drops an object', spec: () => ({ objects: [held('two')] }) },
  ].flatMap((edit) => [false, true].map((isRestarted) => ({ ...kept, ...edit, isRestarted }))),
)

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  let count = 0
  beforeAll(async () => {
    world = new AnyWorld(await start())
  })
  afterAll(() => world?.[Symbol.asyncDispose]())
  const begin = (): Promise<Steps> => Steps.start(world, `s${++count}`)

  test.each(cases)(
    'an edit that $edit, of a template that is $what: next controller $isRestarted',
    async ({ annotations, reason, spec, isRestarted }) => {
      const steps = await begin()
      await steps.annotate(annotations)
      await steps.edit(spec(steps))
      const status = await steps.status((s) => s['observedGeneration'] === 2)
      expect(conditionOf(status, 'Progressing')).toMatchObject({ status: 'False', reason })
      if (isRestarted) await world.cluster.restart()
      await steps.annotate(none(annotations))
      await steps.expectStopped(2)
    },
  )

  test.each([false, true])('namespaces that leave a disabled template: next controller %s', async (isRestarted) => {
    const steps = await begin()
    await steps.annotate(disabled)
    await steps.status((s) => s['matched'] === 0)
    await steps.relabel({ tier: 'x' })
    if (isRestarted) await world.cluster.restart()
    await steps.annotate(none(disabled))
    await steps.expectStopped(1)
  })

  test.each([false, true])('an object dropped with a new required value: next controller %s', async (isRestarted) => {
    const steps = await begin()
    await steps.edit({
      parameters: [{ name: 'cost', fromLabel: 'cost', required: true }],
      objects: [held('two', { a: '$(cost)' })],
    })
    await steps.status((s) => s['observedGeneration'] === 2 && s['failed'] === steps.namespaces.length)
    if (isRestarted) await world.cluster.restart()
    await steps.relabel({ cost: '1234' })
    await steps.expectStopped(2)
  })
})
