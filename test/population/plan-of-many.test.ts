/** A plan over more namespaces than are asked about one by one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askedOfAlike } from '../../src/apis/templates/alike-answers.ts'
import { type PlannedNamespace, planTemplates, type TemplatePlan } from '../../src/apis/templates/plan.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Progress } from '../../src/base/progress.ts'
import { planText } from '../../src/cli/plan-text.ts'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { configMap, configMapResource, PopulationWorld } from './population-world.ts'

const count = askedOfAlike + 60
const names = Array.from({ length: count }, (_, i) => `team-${String(i).padStart(3, '0')}`)
/** Under way at once, when the question has been answered often enough. */
const underWay = 16
/** Of those that are asked first, and of those that would not be asked any more. */
const full = 'team-000'
const changedByHand = `team-${count - 1}`
/** Owners that a server might judge otherwise than those of the namespaces that are asked first. */
const odd: Readonly<Record<string, string>> = {
  [`team-${count - 2}`]: 'Zoë Müller',
  [`team-${count - 3}`]: `user-${'0'.repeat(80)}`,
}
const ordinary = `team-${count - 4}`

const account = (suffix: string, by = 'by'): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: `$(NAMESPACE)-${suffix}`, annotations: { of: `${by} $(CREATOR)\nfor $(OWNER)` } },
})

let world: PopulationWorld
beforeAll(async () => {
  world = await PopulationWorld.start()
  await world.template('t', [configMap('one'), configMap('two'), account('self')])
  for (const [i, name] of names.entries())
    await world.namespace(name, { annotations: { 'borough.dev/owner': odd[name] ?? `user-${i}` } })
  await world.admin.patch(configMapResource, { namespace: changedByHand, name: 'one' }, { data: { more: 'mine' } })
  const hard = { 'count/configmaps': '3' }
  const quota = { metadata: { namespace: full, name: 'full' }, spec: { hard } }
  await world.admin.create({ group: '', version: 'v1', resource: 'resourcequotas' }, quota)
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

/** Counts requests that a plan would send for each object. */
function counted(client: Client): { readonly client: Client; readonly asked: Map<string, number> } {
  const asked = new Map<string, number>()
  const note = (what: string): void => {
    asked.set(what, (asked.get(what) ?? 0) + 1)
  }
  const counting = new Proxy(client, {
    get(target, verb) {
      const value: unknown = Reflect.get(target, verb, target)
      if (typeof value !== 'function') return value
      return (...args: [unknown, { readonly name?: string; readonly metadata?: { readonly name?: string } }]) => {
        note(`${String(verb)} ${args[1]?.name ?? args[1]?.metadata?.name}`)
        return value.apply(target, args) as unknown
      }
    },
  })
  return { client: counting, asked }
}

interface Told {
  readonly plan: TemplatePlan
  readonly asked: ReadonlyMap<string, number>
  readonly progress: readonly Progress[]
}

async function plan(objects: readonly JsonObject[], asksEachUpTo = 50, self = account('self')): Promise<Told> {
  const template = {
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name: 't' },
    spec: { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [...objects, self] },
  } as KubeObject
  const { client, asked } = counted(world.admin)
  const progress: Progress[] = []
  const report = (done: Progress): number => progress.push(done)
  const signal = new AbortController().signal
  const [told] = await planTemplates({ client, clock: systemClock, signal, asksEachUpTo, report }, [template])
  if (told === undefined) throw new Error('there is no plan')
  return { plan: told, asked, progress }
}

const inAll = (objects: PlannedNamespace['objects']): PlannedNamespace[] =>
  names.map((namespace) => ({ namespace, objects }))
const between = (least: number, most: number, value = 0): boolean => value >= least && value <= most

describe('a plan over many namespaces', () => {
  test('asks some what the others would answer alike, and says so', async () => {
    const { plan: told, asked, progress } = await plan([configMap('one', { a: '2' }), configMap('two')])
    const differences = [{ path: 'data.a', before: '1', after: '2' }]
    expect(told.namespaces).toEqual(inAll([{ object: 'ConfigMap/one', action: 'change', differences }]))
    expect(between(askedOfAlike, askedOfAlike + underWay + 2, asked.get('apply one'))).toBe(true)
    expect(between(askedOfAlike, askedOfAlike + underWay + 2, asked.get('get one'))).toBe(true)
    expect(between(count - askedOfAlike - underWay - 2, count - askedOfAlike, told.believed)).toBe(true)
    expect(planText(told)).toContain(
      `\nNot all was asked in ${told.believed} namespaces: others, where it would be the same, answered alike. ` +
        '--each asks in all.\n',
    )
    expect(new Set(progress.map(({ doing }) => doing))).toEqual(
      new Set(['reading', 'reading what templates made', 'planning t']),
    )
    expect(progress.at(-1)?.total).toBe(count)
  })

  test('asks each where it is told to', async () => {
    const edit = [configMap('one', { a: '2' }), configMap('two')]
    const { plan: told, asked } = await plan(edit, Number.POSITIVE_INFINITY)
    expect(asked.get('apply one')).toBe(count)
    expect(told).not.toHaveProperty('believed')
    expect(planText(told)).not.toContain('--each')
    const { believed: _, ...some } = (await plan(edit)).plan
    expect(some).toEqual(told)
  })

  test('asks each where what it would be given is different', async () => {
    // No word of its own: it is not known for a name.
    const { plan: told, asked } = await plan([configMap('one', { a: '$(NAMESPACE)x' }), configMap('two')])
    expect(asked.get('apply one')).toBe(count)
    expect(told).not.toHaveProperty('believed')
    expect(told.namespaces.map(({ objects }) => objects[0]?.differences)).toEqual(
      names.map((name) => [{ path: 'data.a', before: '1', after: `${name}x` }]),
    )
  })

  test('asks some where names, owners and creators alone are different, and tells them of each', async () => {
    const edit = [account('of'), configMap('one', { a: '$(NAMESPACE)' })]
    const { plan: told, asked } = await plan([...edit, configMap('two')])
    const { believed, ...some } = told
    const { plan: each } = await plan([...edit, configMap('two')], Number.POSITIVE_INFINITY)
    expect(some).toEqual(each)
    expect(some.namespaces.map(({ objects }) => objects)).toEqual(
      names.map((name) => [
        { object: `ServiceAccount/${name}-of`, action: 'create' },
        { object: 'ConfigMap/one', action: 'change', differences: [{ path: 'data.a', before: '1', after: name }] },
      ]),
    )
    expect(between(30, count - askedOfAlike, believed)).toBe(true)
    expect(asked.has(`apply ${ordinary}-of`)).toBe(false)
    for (const name of Object.keys(odd)) expect(asked.has(`apply ${name}-of`), name).toBe(true)
  })

  test('asks some where what is there is different by these alone', async () => {
    const edit = [configMap('one'), configMap('two')]
    const { plan: told, asked } = await plan(edit, 50, account('self', 'of'))
    const { believed, ...some } = told
    const { plan: each } = await plan(edit, Number.POSITIVE_INFINITY, account('self', 'of'))
    expect(some).toEqual(each)
    const owner = (name: string, i: number): string => odd[name] ?? `user-${i}`
    expect(some.namespaces.map(({ objects }) => objects[0]?.differences)).toEqual(
      names.map((name, i) => {
        const [before, after] = ['by', 'of'].map((by) => `${by} kubernetes-admin\nfor ${owner(name, i)}`)
        return [{ path: 'metadata.annotations.of', before, after }]
      }),
    )
    expect(between(30, count - askedOfAlike, believed)).toBe(true)
    expect(asked.has(`get ${ordinary}-self`)).toBe(false)
    for (const name of Object.keys(odd)) expect(asked.has(`get ${name}-self`), name).toBe(true)
  })

  test('asks each where one of those that are asked first refuses', async () => {
    const { plan: told, asked } = await plan([configMap('one'), configMap('two'), configMap('three')])
    // The one that refuses is asked once more, for its reason.
    expect(asked.get('apply three')).toBe(count + 1)
    expect(told).not.toHaveProperty('believed')
    const [first, ...others] = inAll([{ object: 'ConfigMap/three', action: 'create' }])
    expect(told.namespaces.slice(1)).toEqual(others)
    expect(told.namespaces[0]).toMatchObject({ ...first, objects: [{ action: 'refuse', reason: 'Forbidden' }] })
  })

  test('tells what goes in the same order of each', async () => {
    const { plan: told } = await plan([])
    expect(told.namespaces).toEqual(
      inAll([
        { object: 'ConfigMap/one', action: 'prune' },
        { object: 'ConfigMap/two', action: 'prune' },
      ]),
    )
  })

  test('prunes are asked in some, and told in all', async () => {
    const { plan: told, asked } = await plan([configMap('one')])
    expect(told.namespaces).toEqual(inAll([{ object: 'ConfigMap/two', action: 'prune' }]))
    expect(between(askedOfAlike, askedOfAlike + underWay + 2, asked.get('delete two'))).toBe(true)
  })
})
