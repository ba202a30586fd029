/** What a plan tells, on a cluster of a few lines. On whole servers: `test/population/plan.test.ts`. */
import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { append } from '../../base/append.ts'
import { systemClock } from '../../base/clock.ts'
import type { Progress } from '../../base/progress.ts'
import type { Client, ServedKind, WriteOptions } from '../../client/client.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { forbidden, notFound, StatusError } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { type PlannedNamespace, planTemplates, type TemplatePlan } from './plan.ts'
import { templateFieldManager, templateNameLabel, templateResource } from './types.ts'

const kinds: ServedKind[] = [
  ['ConfigMap', 'configmaps'],
  ['Secret', 'secrets'],
  ['Node', 'nodes'],
].map(([kind = '', resource = '']) => {
  return { group: '', version: 'v1', kind, resource, namespaced: kind !== 'Node', verbs: [] }
})
const namespaceResource = { group: '', version: 'v1', resource: 'namespaces' }
const given = (kind: string, name: string, data: JsonObject = { a: '1' }): JsonObject => ({
  ...{ apiVersion: 'v1', kind, metadata: { name }, data },
})

/** Applies merge what they say into what is there. */
class Cluster extends FakeClient {
  readonly refused = new Map<string, Error>()
  readonly asked: string[] = []
  /** What it says to each template that is new. */
  readonly warned: string[] = []
  override readonly discovery = {
    findKind: async (apiVersion: string, kind: string) => {
      if (apiVersion === 'down.io/v1') throw new StatusError('service unavailable', { reason: 'ServiceUnavailable' })
      return kinds.find((k) => k.kind === kind && apiVersion === 'v1')
    },
    kinds: async () => ({ kinds, unavailable: [] }),
  } as never

  #refuse(what: string): void {
    this.asked.push(what)
    const refusal = this.refused.get(what)
    if (refusal !== undefined) throw refusal
  }

  override async list(...[resource, options]: Parameters<Client['list']>) {
    this.#refuse(`list ${resource.resource}`)
    const listed = await super.list(resource, options)
    if (options?.labelSelector?.startsWith('!') !== true) return listed as never
    const unlabelled = listed.items.filter(({ metadata }) => metadata.labels?.[templateNameLabel] === undefined)
    return { ...listed, items: unlabelled } as never
  }

  override async create(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions) {
    for (const text of this.warned) options?.onWarning?.(text)
    if (options?.dryRun === true) return { ...object, metadata: { ...object.metadata, generation: 1 } }
    return super.create(resource, object)
  }

  override async update(resource: GroupVersionResource, object: KubeObject, options?: { dryRun?: boolean }) {
    if (options?.dryRun === true) return object
    return super.update(resource, object)
  }

  override async delete(
    resource: GroupVersionResource,
    ref: { readonly name: string; readonly namespace?: string },
    options?: { dryRun?: boolean },
  ) {
    if (options?.dryRun !== true) return super.delete(resource, ref)
    this.#refuse(`delete ${resource.resource} ${ref.namespace}/${ref.name}`)
    const found = await this.get(resource, ref)
    const isHeld = (found.metadata.finalizers ?? []).length > 0
    if (!isHeld) return { kind: 'Status' } as never
    return { ...found, metadata: { ...found.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
  }

  override async apply(...args: unknown[]): Promise<KubeObject> {
    const [resource, object, options] = args as [
      GroupVersionResource,
      KubeObject,
      { dryRun: boolean; mustBeAbsent?: boolean },
    ]
    const { name = '', namespace = '' } = object.metadata
    this.#refuse(`apply ${resource.resource} ${namespace}/${name}`)
    expect(options.dryRun).toBe(true)
    const there = await this.get(resource, { name, namespace }).catch(() => undefined)
    if (there === undefined) return { ...object, metadata: { ...object.metadata, uid: 'new' } }
    const metadata = { ...there.metadata, labels: { ...there.metadata.labels, ...object.metadata.labels } }
    const merged: KubeObject = { ...there, ...object, metadata }
    return { ...merged, data: { ...(there['data'] as object), ...(object['data'] as object) } } as KubeObject
  }

  override async patch(...args: unknown[]): Promise<KubeObject> {
    const [resource, ref] = args as [GroupVersionResource, { name: string; namespace?: string }]
    this.asked.push(`patch ${resource.resource} ${ref.namespace}/${ref.name}`)
    return this.get(resource, ref as never)
  }

  namespace(name: string, more: JsonObject = {}): Promise<KubeObject> {
    const metadata = {
      name,
      labels: { 'kubernetes.io/metadata.name': name, team: 'a' },
      uid: `uid of ${name}`,
      ...more,
    }
    return super.create(namespaceResource, { apiVersion: 'v1', kind: 'Namespace', metadata } as KubeObject)
  }

  template(name: string, spec: JsonObject, metadata: JsonObject = {}): Promise<KubeObject> {
    return super.create(templateResource, templateOf(name, spec, metadata))
  }

  /** As template `t` made it. */
  made(namespace: string, source: JsonObject, template = 't'): Promise<KubeObject> {
    const { kind, metadata } = source as { kind: string; metadata: JsonObject }
    const resource = kinds.find((k) => k.kind === kind) as ServedKind
    const managedFields = [{ manager: templateFieldManager, operation: 'Apply', apiVersion: 'v1', fieldsV1: {} }]
    const labels = { [templateNameLabel]: template }
    const uid = `uid of ${namespace} ${String(metadata['name'])}`
    const whole = { ...source, metadata: { ...metadata, namespace, labels, managedFields, uid } }
    return super.create(resource, whole as unknown as KubeObject)
  }
}

const templateOf = (name: string, spec: JsonObject, metadata: JsonObject = {}): KubeObject =>
  ({
    ...{ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate' },
    metadata: { name, ...metadata },
    spec: { namespaces: { labelSelector: { matchLabels: { team: 'a' } } }, ...spec },
  }) as unknown as KubeObject

let cluster: Cluster
let told: Progress[]
beforeEach(() => {
  cluster = new Cluster()
  told = []
})

async function plan(
  templates: readonly KubeObject[],
  { deletions = [], asksEachUpTo }: { deletions?: string[]; asksEachUpTo?: number } = {},
): Promise<TemplatePlan> {
  const deps = { client: cluster as unknown as Client, clock: systemClock, signal: new AbortController().signal }
  const report = (progress: Progress): void => void told.push(progress)
  const more = asksEachUpTo === undefined ? {} : { asksEachUpTo }
  const plans = await planTemplates({ ...deps, report, ...more }, templates, deletions)
  expect(plans).toHaveLength(templates.length + deletions.length)
  return plans[0] as TemplatePlan
}
/** `n: create ConfigMap/c` */
const lines = ({ namespaces }: { namespaces: readonly PlannedNamespace[] }): string[] =>
  namespaces.flatMap(({ namespace, objects }) =>
    objects.map(({ action, object, reason }) => `${namespace}: ${action} ${object}${reason ? ` ${reason}` : ''}`),
  )

const c = given('ConfigMap', 'c')
const held = { finalizers: ['policy.borough.dev/prune'], generation: 2 }

describe('a new template', () => {
  test('creates what it holds in all that it selects', async () => {
    for (const name of ['b', 'a']) await cluster.namespace(name)
    await cluster.namespace('other', { labels: { team: 'b' } })
    await cluster.namespace('going', { deletionTimestamp: '2030-01-01T00:00:00Z' })
    await cluster.namespace('out', { annotations: { 'policy/namespace-template-opt-out': 'true' } })
    const planned = await plan([templateOf('t', { templates: [c] })])
    expect(planned).toEqual({
      ...{ template: 't', isNew: true, matched: 2 },
      namespaces: ['a', 'b'].map((namespace) => ({
        namespace,
        objects: [{ object: 'ConfigMap/c', action: 'create' }],
      })),
    })
    expect(told).toEqual([
      { doing: 'reading', done: 5, unit: 'namespaces' },
      { doing: 'reading what templates made', done: 1, total: 1, unit: 'kinds' },
      { doing: 'planning t', done: 0, total: 2, unit: 'namespaces' },
      { doing: 'planning t', done: 1, total: 2, unit: 'namespaces' },
    ])
    expect(cluster.writes.filter((what) => !what.startsWith('create namespaces'))).toEqual([])
  })

  test('that is switched off does nothing', async () => {
    await cluster.namespace('a')
    const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
    expect(await plan([templateOf('t', { templates: [c] }, off)])).toEqual({
      ...{ template: 't', isNew: true, matched: 0, namespaces: [] },
    })
  })

  test('says what would be refused, and what can not be known', async () => {
    await cluster.namespace('a')
    cluster.refused.set('apply configmaps a/c', forbidden({ group: '', resource: 'configmaps' }, 'c', 'no'))
    const mine = given('ConfigMap', 'mine', { who: '$(CREATOR)' })
    const planned = await plan([templateOf('t', { templates: [c, mine] })])
    const message = 'it names $(CREATOR), and none is recorded of this namespace'
    expect(planned.namespaces[0]?.objects).toEqual([
      { object: 'ConfigMap/mine', action: 'skip', reason: 'CreatorUnknown', message },
      { object: 'ConfigMap/c', action: 'refuse', reason: 'Forbidden', message: 'configmaps "c" is forbidden: no' },
    ])
  })

  test('takes the place of another template’s objects', async () => {
    await cluster.namespace('a')
    await cluster.template('z', { templates: [c] })
    await cluster.template('b', { templates: [given('ConfigMap', 'other')] })
    const { displaces } = await plan([templateOf('t', { templates: [c] })])
    expect(displaces).toMatchObject([{ object: 'ConfigMap/c', template: 'z' }])
  })
})

test('what the server warns of is told, once, with its template; of a stop the plan speaks itself', async () => {
  const stops = ['is', 'would be', 'is perhaps'].map((word) => `NamespaceTemplate "t" ${word} stopped: so`)
  append(cluster.warned, ['no source', ...stops, 'no source', 'NamespaceTemplate "t" is large'])
  const deps = { client: cluster as unknown as Client, clock: systemClock, signal: new AbortController().signal }
  await cluster.template('there', {})
  const plans = await planTemplates(deps, [templateOf('t', {}), templateOf('there', {})])
  expect(plans.map(({ warnings }) => warnings)).toEqual([['no source', 'NamespaceTemplate "t" is large'], undefined])
})

describe('an edit', () => {
  beforeEach(async () => {
    await cluster.namespace('a')
    await cluster.namespace('b')
    await cluster.template('t', { templates: [c] }, held)
    await cluster.made('a', c)
  })

  test('that changes nothing plans nothing where all is there', async () => {
    const planned = await plan([templateOf('t', { templates: [c] })])
    expect([planned.isNew, planned.matched, lines(planned)]).toEqual([false, 2, ['b: create ConfigMap/c']])
  })

  test('shows what differs', async () => {
    const { namespaces } = await plan([templateOf('t', { templates: [given('ConfigMap', 'c', { a: '2', b: '3' })] })])
    expect(namespaces[0]).toEqual({
      namespace: 'a',
      objects: [
        {
          ...{ object: 'ConfigMap/c', action: 'change' },
          differences: [
            { path: 'data.a', before: '1', after: '2' },
            { path: 'data.b', after: '3' },
          ],
        },
      ],
    })
  })

  test('shows nothing of what Secrets say', async () => {
    await cluster.made('a', given('Secret', 's', { gone: 'x', old: 'x' }))
    const { namespaces } = await plan([
      templateOf('t', { templates: [c, given('Secret', 's', { old: 'y', new: 'z' })] }),
    ])
    expect(namespaces[0]?.objects).toEqual([
      {
        ...{ object: 'Secret/s', action: 'change' },
        differences: [
          { path: 'data.old', before: '***', after: '***' },
          { path: 'data.new', after: '***' },
        ],
      },
    ])
  })

  test('that leaves objects out prunes them, in the order of their names, or lets go of them', async () => {
    for (const name of ['d', 'b', 'e']) await cluster.made('a', given('ConfigMap', name))
    const rest = ['a: prune ConfigMap/b', 'a: prune ConfigMap/d', 'a: prune ConfigMap/e']
    expect(lines(await plan([templateOf('t', { templates: [c] })]))).toEqual([...rest, 'b: create ConfigMap/c'])
    const orphaned = templateOf('t', { templates: [c], deletionPolicy: 'Orphan' })
    expect(lines(await plan([orphaned]))).toEqual([
      ...rest.map((line) => line.replace('prune', 'orphan')),
      'b: create ConfigMap/c',
    ])
    expect(cluster.asked).toContain('patch configmaps a/b')
  })

  test('that selects a namespace no more prunes what is there', async () => {
    const away = templateOf('t', { templates: [c], namespaces: { labelSelector: { matchLabels: { team: 'x' } } } })
    const planned = await plan([away])
    expect([planned.matched, lines(planned)]).toEqual([0, ['a: prune ConfigMap/c']])
  })

  test('that switches it off takes nothing away', async () => {
    const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
    const planned = await plan([templateOf('t', { templates: [] }, off)])
    expect([planned.matched, lines(planned), planned.stop]).toEqual([0, [], undefined])
  })

  test('is stopped where it would prune in too many, or its rollout is paused', async () => {
    const away = { namespaces: { labelSelector: { matchLabels: { team: 'x' } } }, rollout: { maxPrune: 0 } }
    expect((await plan([templateOf('t', { templates: [c], ...away })])).stop).toBe(
      'it would delete objects in 1 of 1 namespaces, spec.rollout.maxPrune allows 0',
    )
    const paused = { annotations: { 'policy.borough.dev/pause-rollout': 'true' } }
    expect((await plan([templateOf('t', { templates: [c] }, paused)])).stop).toBe(
      'its rollout is paused by annotation policy.borough.dev/pause-rollout',
    )
  })

  test('of labels that it set in a namespace concerns it, too', async () => {
    const holders = JSON.stringify({ labels: { env: 't' } })
    const labels = { env: 'prod', team: 'x' }
    await cluster.namespace('labelled', { labels, annotations: { 'policy.borough.dev/set-by-templates': holders } })
    const spec = { templates: [c], rollout: { maxPrune: 0 } }
    const planned = await plan([templateOf('t', spec)])
    expect(lines(planned)).toEqual(['b: create ConfigMap/c', 'labelled: prune label env'])
    expect(planned.stop).toMatch(/^it would delete objects in 1 of 2 namespaces/)
    // What it sets is told key by key.
    const all = { labelSelector: {} }
    const next = templateOf('t', { namespaces: all, namespaceMetadata: { labels: { env: 'dev' } } })
    const { namespaces } = await plan([next])
    const keys = namespaces.map(({ namespace, objects }) => [namespace, objects.find((o) => o.object === 'label env')])
    expect(Object.fromEntries(keys)).toMatchObject({
      b: { action: 'create', differences: [{ path: 'value', after: 'dev' }] },
      labelled: { action: 'change', differences: [{ path: 'value', before: 'prod', after: 'dev' }] },
    })
  })
})

describe('a deletion', () => {
  test('prunes what its template made, and selects nothing', async () => {
    await cluster.namespace('a')
    await cluster.namespace('b')
    await cluster.template('t', { templates: [c] }, held)
    await cluster.made('a', c)
    const planned = await plan([], { deletions: ['t'] })
    expect(planned).toEqual({
      ...{ template: 't', isNew: false, isDeletion: true, matched: 0 },
      namespaces: [{ namespace: 'a', objects: [{ object: 'ConfigMap/c', action: 'prune' }] }],
    })
  })

  test('of one that is switched off prunes too', async () => {
    await cluster.namespace('a')
    const off = { ...held, annotations: { 'policy/namespace-template-apply': 'disable' } }
    await cluster.template('t', { templates: [c] }, off)
    await cluster.made('a', c)
    expect(lines(await plan([], { deletions: ['t'] }))).toEqual(['a: prune ConfigMap/c'])
  })

  test('that nothing holds up is told', async () => {
    await cluster.template('t', { templates: [c] })
    await expect(plan([], { deletions: ['t'] })).rejects.toThrow('template t would be gone at once')
  })
})

describe('of many namespaces', () => {
  beforeEach(async () => {
    for (let i = 0; i < 140; i++) {
      await cluster.namespace(`n${i}`)
      if (i > 0) await cluster.made(`n${i}`, given('ConfigMap', 'c', { a: '0', of: `n${i}` }))
    }
    await cluster.template('t', { templates: [c] }, held)
  })
  const next = templateOf('t', { templates: [given('ConfigMap', 'c', { a: '2', of: '$(NAMESPACE)' })] })

  test('not all are asked what others answer alike; the plan says in how many', async () => {
    const planned = await plan([next], { asksEachUpTo: 139 })
    expect([planned.matched, planned.namespaces.length]).toEqual([140, 140])
    expect(planned.believed).toBeGreaterThan(0)
    const others = planned.namespaces.filter(({ namespace }) => namespace !== 'n0')
    for (const { objects } of others) {
      expect(objects).toEqual([
        { object: 'ConfigMap/c', action: 'change', differences: [{ path: 'data.a', before: '0', after: '2' }] },
      ])
    }
    const all = await plan([next], { asksEachUpTo: 140 })
    expect(all.namespaces).toEqual(planned.namespaces)
    expect(all).not.toHaveProperty('believed')
  })
})

describe('a server', () => {
  test('that does not serve templates is told to be no Borough', async () => {
    cluster.refused.set('list namespacetemplates', notFound({ group: '', resource: 'namespacetemplates' }, ''))
    await expect(plan([templateOf('t', {})])).rejects.toThrow(
      'the server knows no namespacetemplates: it is not Borough, and nobody installed them',
    )
    const no = forbidden({ group: '', resource: 'namespacetemplates' }, '', 'no')
    cluster.refused.set('list namespacetemplates', no)
    await expect(plan([templateOf('t', {})])).rejects.toBe(no)
  })

  test('of which one API does not answer is named with it', async () => {
    const held = { apiVersion: 'down.io/v1', kind: 'Widget', metadata: { name: 'w' } }
    await expect(plan([templateOf('t', { templates: [held] })])).rejects.toThrow(
      'objects of down.io/v1/Widget can not be read, so nobody knows what would be pruned: APIService v1.down.io ' +
        'does not answer (service unavailable)',
    )
  })

  test('that hides what templates made can not be planned for', async () => {
    const no = forbidden({ group: '', resource: 'configmaps' }, '', 'no')
    cluster.refused.set('list configmaps', no)
    await expect(plan([templateOf('t', { templates: [c] })])).rejects.toBe(no)
  })
})
