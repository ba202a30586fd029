/** What a template would do, told before it does it; and back to what it said before. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PlannedNamespace, planTemplates, type TemplatePlan } from '../../src/apis/templates/plan.ts'
import { rollbackTemplate } from '../../src/apis/templates/rollback.ts'
import { templateResource as templateTypes } from '../../src/apis/templates/types.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  configMap,
  configMapResource,
  ofUsers,
  PopulationWorld,
  refusal,
  templateResource,
} from './population-world.ts'

let world: PopulationWorld
beforeEach(async () => {
  world = await PopulationWorld.start()
})
afterEach(() => world[Symbol.asyncDispose]())

const never = new AbortController().signal
const plans = (...templates: KubeObject[]): Promise<readonly TemplatePlan[]> =>
  planTemplates({ client: world.admin, clock: systemClock, signal: never }, templates)
const draft = (name: string, objects: readonly JsonObject[], spec: JsonObject = {}): KubeObject => ({
  apiVersion: 'policy/v1alpha1',
  kind: 'NamespaceTemplate',
  metadata: { name },
  spec: { namespaces: ofUsers, ...spec, templates: [...objects] },
})
const plan = async (...args: Parameters<typeof draft>): Promise<TemplatePlan | undefined> =>
  (await plans(draft(...args)))[0]

/** Everything of a namespace that a plan must not change. */
const everything = async (): Promise<unknown> => [
  (await world.admin.list(configMapResource)).items,
  (await world.admin.list(templateResource)).items.map((t) => [t.metadata.name, t['spec']]),
]

describe('plan', () => {
  const cases: {
    name: string
    given?: (w: PopulationWorld) => Promise<unknown>
    edit: Parameters<typeof draft>
    want: PlannedNamespace['objects']
  }[] = [
    {
      name: 'nothing, where everything is as the template says',
      edit: ['t', [configMap('one'), configMap('two')]],
      want: [],
    },
    {
      name: 'what would be created',
      edit: ['t', [configMap('one'), configMap('two'), configMap('three-$(NAMESPACE)')]],
      want: [{ object: 'ConfigMap/three-team', action: 'create' }],
    },
    {
      name: 'what would be changed, from what to what',
      edit: ['t', [configMap('one', { a: '2', new: 'x' }), configMap('two', {})]],
      want: [
        {
          object: 'ConfigMap/one',
          action: 'change',
          differences: [
            { path: 'data.a', before: '1', after: '2' },
            { path: 'data.new', after: 'x' },
          ],
        },
        { object: 'ConfigMap/two', action: 'change', differences: [{ path: 'data.a', before: '1' }] },
      ],
    },
    {
      name: 'what would be pruned',
      edit: ['t', [configMap('one')]],
      want: [{ object: 'ConfigMap/two', action: 'prune' }],
    },
    {
      name: 'everything as pruned, where the namespace is selected no more',
      edit: ['t', [configMap('one')], { namespaces: { nameSelector: { include: ['other'] } } }],
      want: [
        { object: 'ConfigMap/one', action: 'prune' },
        { object: 'ConfigMap/two', action: 'prune' },
      ],
    },
    {
      name: 'what would be left behind with deletionPolicy Orphan',
      edit: ['t', [configMap('one')], { deletionPolicy: 'Orphan' }],
      want: [{ object: 'ConfigMap/two', action: 'orphan' }],
    },
    {
      name: 'what would be refused, and why: it was there before',
      given: (w) =>
        w.admin.create(configMapResource, { ...configMap('mine'), metadata: { namespace: 'team', name: 'mine' } }),
      edit: ['t', [configMap('one'), configMap('two'), configMap('mine')]],
      want: [
        {
          object: 'ConfigMap/mine',
          action: 'refuse',
          reason: 'AlreadyExists',
          message: 'it was there before and no template created it; spec.adopt: true would take it over',
        },
      ],
    },
    {
      name: 'what would be refused, and why: nobody serves the kind',
      edit: [
        't',
        [configMap('one'), configMap('two'), { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } }],
      ],
      want: [
        {
          object: 'Widget/w',
          action: 'refuse',
          reason: 'UnknownKind',
          message: 'no kind Widget in ex.io/v1 is served',
        },
      ],
    },
  ]
  test.each(cases)('tells $name; and changes nothing', async ({ given, edit, want }) => {
    await world.template('t', [configMap('one'), configMap('two')])
    await world.namespace('team')
    await given?.(world)
    await world.status('t', (s) => s['synced'] === 1)
    const before = await everything()
    const told = await plan(...edit)
    expect(told?.namespaces).toEqual(want.length === 0 ? [] : [{ namespace: 'team', objects: want }])
    expect(told?.isNew).toBe(false)
    expect(await everything()).toEqual(before)
  })

  test('tells of a template that is not there yet', async () => {
    await world.namespaces(2)
    const told = await plan('new', [configMap('one')])
    expect(told).toMatchObject({ template: 'new', isNew: true, matched: 2 })
    expect(told?.namespaces.map((n) => n.namespace)).toEqual(['ns-0', 'ns-1'])
  })

  test('tells what the server would refuse in this namespace', async () => {
    await world.namespace('team', {}, await world.creator('Not_Legal'))
    const told = await plan('t', [configMap('of-$(CREATOR)')])
    expect(told?.namespaces[0]?.objects).toMatchObject([
      { object: 'ConfigMap/of-Not_Legal', action: 'refuse', reason: 'Invalid' },
    ])
  })

  test('throws what the server would say to the template itself', async () => {
    expect((await refusal(plans(draft('t', [{ ...configMap('x'), metadata: {} }])))).code).toBe(422)
  })

  test('is told though the template is written meanwhile, as its status is while it rolls out', async () => {
    await world.template('t', [configMap('one')])
    await world.namespace('team')
    await world.status('t', (s) => s['synced'] === 1)
    const { admin } = world
    let writes = 0
    const client = new Proxy(admin, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        if (key !== 'update') return value.bind(target) as unknown
        return async (...args: unknown[]) => {
          if (args[0] === templateTypes && writes++ < 3) {
            await admin.patch(templateResource, { name: 't' }, { metadata: { annotations: { written: `${writes}` } } })
          }
          return Reflect.apply(value, target, args) as unknown
        }
      },
    })
    const deps = { client, clock: systemClock, signal: never }
    const [told] = await planTemplates(deps, [draft('t', [configMap('one'), configMap('two')])])
    expect(told?.namespaces).toEqual([{ namespace: 'team', objects: [{ object: 'ConfigMap/two', action: 'create' }] }])
    expect(writes).toBe(4)
  })

  test('looks at several templates as if all had been applied', async () => {
    await world.namespace('team')
    const tier = (key: string): JsonObject => ({
      namespaces: { ...ofUsers, labelSelector: { matchExpressions: [{ key, operator: 'DoesNotExist' }] } },
    })
    const [a, b] = await plans(draft('a', [configMap('one')], tier('x')), draft('b', [configMap('one')], tier('y')))
    expect(a?.namespaces[0]?.objects).toEqual([{ object: 'ConfigMap/one', action: 'create' }])
    expect(b?.namespaces[0]?.objects).toMatchObject([{ action: 'refuse', reason: 'Conflict' }])
  })

  test('names the template that loses an object to it, as the answer to its write does', async () => {
    const of = (key: string): JsonObject => ({ namespaces: { labelSelector: { matchLabels: { [key]: 'x' } } } })
    const labels = { team: 'x', env: 'x' }
    await world.template('team', [configMap('about')], of('team'))
    for (const name of ['both-a', 'both-b']) await world.namespace(name, { labels })
    await world.namespace('team-only', { labels: { team: 'x' } })
    await world.status('team', (s) => s['synced'] === 3)
    const first = draft('base', [configMap('other'), configMap('about', { a: '2' })], of('env'))
    const told = await plan('base', [configMap('other'), configMap('about', { a: '2' })], of('env'))
    expect(told?.displaces).toEqual([{ object: 'ConfigMap/about', template: 'team', namespaces: 2 }])
    const warnings = await world.createWarnings('/apis/policy/v1alpha1/namespacetemplates', first)
    expect(warnings).toEqual([
      'spec.templates[1]: where template "team" selects a namespace too, ConfigMap/about comes from this one and ' +
        'no more from that: the first by name gives it',
    ])
    await world.status('team', (s) => s['failed'] === 2 && JSON.stringify(s['failures']).includes('Conflict'))
    const after = await plan('zone', [configMap('about')], of('zone'))
    expect(after?.displaces).toBeUndefined()
  })

  test('says that maxPrune would stop it', async () => {
    await world.template('t', [configMap('one')])
    await world.namespaces(2)
    const told = await plan('t', [], { rollout: { maxPrune: 1 } })
    expect(told?.stop).toBe('it would delete objects in 2 of 2 namespaces, spec.rollout.maxPrune allows 1')
  })

  test('says that a paused rollout would hold it', async () => {
    await world.template('t', [configMap('one')])
    const annotations = { 'policy.borough.dev/pause-rollout': 'true' }
    await world.admin.patch(templateResource, { name: 't' }, { metadata: { annotations } })
    const told = await plan('t', [])
    expect(told?.stop).toBe('its rollout is paused by annotation policy.borough.dev/pause-rollout')
  })

  test('says what the deletion of a template would prune, and that it would stop', async () => {
    await world.template('t', [configMap('one')])
    const names = await world.namespaces(6)
    const before = await everything()
    const signal = never
    const told = await planTemplates({ client: world.admin, clock: systemClock, signal }, [], ['t'])
    expect(told).toEqual([
      {
        template: 't',
        isNew: false,
        isDeletion: true,
        matched: 0,
        namespaces: names.map((namespace) => ({ namespace, objects: [{ object: 'ConfigMap/one', action: 'prune' }] })),
        stop: 'it would delete objects in 6 of 6 namespaces, spec.rollout.maxPrune allows 5 (the default)',
      },
    ])
    expect(await everything()).toEqual(before)
    await expect(planTemplates({ client: world.admin, clock: systemClock, signal }, [], ['other'])).rejects.toThrow(
      'namespacetemplates.policy.borough.dev "other" not found',
    )
  })

  test('does not show what is in a Secret', async () => {
    const secret = (text: string): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      data: { key: Buffer.from(text).toString('base64') },
    })
    await world.template('t', [secret('old')])
    await world.namespace('team')
    const told = await plan('t', [secret('new')])
    expect(told?.namespaces[0]?.objects).toEqual([
      { object: 'Secret/s', action: 'change', differences: [{ path: 'data.key', before: '***', after: '***' }] },
    ])
  })
})

describe('a dry run of a namespace', () => {
  test('shows what new labels would bring and take away, and changes nothing', async () => {
    await world.template('t', [configMap('one')], { namespaces: { labelSelector: { matchLabels: { tier: 'a' } } } })
    await world.namespace('team', { labels: { tier: 'a' } })
    await world.namespace('bare')
    const label = (tier: string | null): object => ({ metadata: { labels: { tier } } })
    expect(await world.patchWarnings('/api/v1/namespaces/team?dryRun=All', label(null))).toEqual([
      'would prune ConfigMap/one',
    ])
    expect(await world.patchWarnings('/api/v1/namespaces/bare?dryRun=All', label('a'))).toEqual([
      'would create ConfigMap/one',
    ])
    expect(await world.data('team', 'one')).toEqual({ a: '1' })
    expect(await world.data('bare', 'one')).toBeUndefined()
  })
})

describe('revisions', () => {
  const revisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' }
  const kept = async (): Promise<number[]> =>
    (await world.admin.list(revisions, { namespace: 'kube-system' })).items
      .map((r) => Number(r['revision']))
      .sort((a, b) => a - b)

  test('every generation is kept, the last ten of them, and all go with the template', async () => {
    await world.template('t', [configMap('one')])
    const edit = (n: number) => world.edit('t', { templates: [configMap('one', { a: String(n) })] })
    for (let n = 2; n <= 11; n++) await edit(n)
    // Until then the first may be found to be in force.
    await world.status('t', (s) => s['observedGeneration'] === 11)
    await edit(12)
    await expect.poll(kept).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    await world.admin.delete(templateResource, { name: 't' })
    await waitFor(world.admin, templateResource, { name: 't' }, (t) => t === undefined)
    await expect.poll(kept).toEqual([])
  })

  test('rollback returns to the previous generation, and namespaces follow', async () => {
    await world.template('t', [configMap('one')])
    await world.namespace('team')
    await world.edit('t', { templates: [configMap('one', { a: '2' })] })
    await world.status('t', (s) => s['observedGeneration'] === 2 && s['synced'] === 1)
    await expect.poll(kept).toEqual([1, 2])
    const request = { name: 't', dryRun: true }
    expect(await rollbackTemplate(world.admin, request, never)).toEqual({ from: 2, to: 1, generation: 3 })
    expect(await world.data('team', 'one')).toEqual({ a: '2' })
    await rollbackTemplate(world.admin, { ...request, dryRun: false }, never)
    await world.status('t', (s) => s['observedGeneration'] === 3 && s['synced'] === 1)
    expect(await world.data('team', 'one')).toEqual({ a: '1' })
    await rollbackTemplate(world.admin, { name: 't', generation: 2, dryRun: false }, never)
    await world.status('t', (s) => s['observedGeneration'] === 4 && s['synced'] === 1)
    expect(await world.data('team', 'one')).toEqual({ a: '2' })
  })

  test('rollback to what is not kept says what is', async () => {
    await world.template('t', [configMap('one')])
    await expect.poll(kept).toEqual([1])
    await expect(rollbackTemplate(world.admin, { name: 't', dryRun: false }, never)).rejects.toThrow(
      'an earlier generation of t (now 1) is not in kube-system: no other is kept',
    )
  })

  test('revisions of an earlier template of the same name do not stand for the new one', async () => {
    await world.template('t', [configMap('one')])
    await expect.poll(kept).toEqual([1])
    await world.admin.delete(templateResource, { name: 't' })
    await waitFor(world.admin, templateResource, { name: 't' }, (t) => t === undefined)
    await world.template('t', [configMap('two')])
    await expect
      .poll(async () => {
        const { items } = await world.admin.list(revisions, { namespace: 'kube-system' })
        return items.map((r) => JSON.stringify(r['data']).includes('"two"'))
      })
      .toEqual([true])
  })
})
