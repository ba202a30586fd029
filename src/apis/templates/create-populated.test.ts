import { describe, expect, test } from 'vitest'
import type { AlsoCreate, Attributes, DecidedWrite, DecisionView, Seen } from '../../admission/admission.ts'
import { Turns } from '../../base/turns.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { resolveNameOnly } from './clones.ts'
import { namespacePopulation, type PopulatedCreateDeps } from './create-populated.ts'
import { contentDigest } from './marks.ts'
import { compileMatcher } from './match.ts'
import { applyAnnotation, creatorKey, type NamespaceTemplate, pendingLabel, templateFinalizer } from './types.ts'

const typeOf = (group: string, resource: string, kind: string): ResourceType =>
  ({ group, version: 'v1', resource, kind, storageName: resource, namespaced: true }) as ResourceType
const types = [
  typeOf('', 'configmaps', 'ConfigMap'),
  typeOf('', 'resourcequotas', 'ResourceQuota'),
  typeOf('', 'pods', 'Pod'),
]
const templateType = typeOf('policy', 'namespacetemplates', 'NamespaceTemplate')

const configMap = (name: string, data: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})
const quota = (name: string, hard: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name },
  spec: { hard },
})

/** One that has been in force for a while. */
const template = (
  objects: readonly JsonObject[],
  { metadata, kinds = ['v1/ConfigMap', 'v1/ResourceQuota', 'v1/Pod'] }: { metadata?: object; kinds?: string[] } = {},
): NamespaceTemplate => ({
  metadata: { name: 't', uid: 'u', generation: 1, finalizers: [templateFinalizer], ...metadata },
  spec: { templates: [...objects] },
  status: { kinds },
})

const shut = { initializers: { pending: [{ name: 'namespace-template' }] } }
const team = (more: Partial<KubeObject> = {}): KubeObject => ({
  spec: shut,
  ...more,
  metadata: { name: 'team', annotations: { [creatorKey]: 'dev' }, ...more.metadata },
})

interface Given {
  readonly templates?: readonly NamespaceTemplate[]
  readonly namespace?: KubeObject
  readonly deps?: Partial<PopulatedCreateDeps>
}

function createAlso({ templates = [template([configMap('a')])], namespace = team(), deps = {} }: Given): {
  readonly also: AlsoCreate | undefined
  /** What is to be recorded with it. */
  readonly recorded: readonly AppliedObject[]
} {
  const recorded: AppliedObject[] = []
  const plugin = namespacePopulation({
    authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
    templateType,
    turns: new Turns(),
    clones: resolveNameOnly,
    user: { username: 'controller', groups: [] },
    records: {
      written(_view, namespace, applied) {
        expect(namespace).toBe('team')
        recorded.push(...applied)
        return record
      },
    },
    observe: () => {},
    matchers: () => templates.map(compileMatcher),
    findKind: (_, kind) => types.find((t) => t.kind === kind),
    now: () => 'now',
    firstApplied: (_, config, manager) => ({
      ...structuredClone(config),
      metadata: { ...config.metadata, managedFields: [{ manager, operation: 'Apply', time: 'then' }] },
    }),
    ...deps,
  })
  return {
    also: plugin.createAlso?.({ type: namespaceResource as ResourceType, object: namespace } as Attributes),
    recorded,
  }
}

const record: DecidedWrite = { key: 'record', value: undefined, expect: 'absent' }

const namesOf = (also: AlsoCreate | undefined): string[] | undefined =>
  also?.objects.map(({ object }) => object.metadata.name ?? '')

describe('a namespace is created with what its templates hold', () => {
  test('under a gate that is open, and written as the controller writes', () => {
    const { also } = createAlso({})
    expect(also).toMatchObject({
      bestEffort: { first: { metadata: { name: 'team' }, spec: { initializers: { pending: [] } } } },
      opens: 'team',
      user: { username: 'controller' },
      fieldManager: 'namespace-template',
    })
    expect(also?.objects).toEqual([
      {
        type: types[0],
        object: {
          ...configMap('a'),
          metadata: {
            name: 'a',
            namespace: 'team',
            labels: { 'policy/namespace-template-name': 't' },
            managedFields: [{ manager: 'namespace-template', operation: 'Apply', time: 'then' }],
          },
        },
      },
    ])
  })

  test('while other initializers are still to come', () => {
    const pending = [{ name: 'namespace-template' }, { name: 'other.ex.io' }]
    const { also } = createAlso({ namespace: team({ spec: { initializers: { pending } } }) })
    expect(also?.bestEffort?.first['spec']).toEqual({ initializers: { pending: [{ name: 'other.ex.io' }] } })
  })

  test('quotas last, for they count what comes before them', () => {
    const objects = [quota('q', { pods: '1' }), configMap('a'), quota('r', { pods: '2' })]
    expect(namesOf(createAlso({ templates: [template(objects)] }).also)).toEqual(['a', 'q', 'r'])
  })

  test('each with objects, a place and a time of its own', () => {
    const templates = [template([configMap('same'), configMap('own', { of: '$(NAMESPACE)' })])]
    const made = ['one', 'two'].map((name) => {
      const { also } = createAlso({ templates, namespace: team({ metadata: { name } }) })
      return also?.objects.map(({ object }) => object) ?? []
    })
    const told = made.map((objects) =>
      objects.map(({ metadata, data }) => [metadata.namespace, metadata.managedFields?.[0]?.time, data]),
    )
    expect(told).toEqual([
      [
        ['one', 'then', {}],
        ['one', 'then', { of: 'one' }],
      ],
      [
        ['two', 'now', {}],
        ['two', 'then', { of: 'two' }],
      ],
    ])
    const [one, two] = made.map((objects) => objects[0] as KubeObject)
    expect(one?.['data']).not.toBe(two?.['data'])
    expect(one?.metadata.managedFields).not.toBe(two?.metadata.managedFields)
  })

  test('and it is recorded, as the objects are stored', () => {
    const { also, recorded } = createAlso({})
    const stored = { ...configMap('a'), metadata: { name: 'a', uid: 'x', labels: { mutated: 'yes' } } } as KubeObject
    const see = <T extends KubeObject>(type: ResourceType<T>) => ({
      key: 'k',
      expect: 7,
      object: (type === templateType ? template([]) : stored) as T,
    })
    const decision = also?.bestEffort?.decide({ see, queuedIn: () => undefined })
    expect(decision?.writes).toEqual([record])
    expect(recorded).toEqual([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'a',
        uid: 'x',
        template: 't',
        generation: 1,
        digest: expect.stringMatching(/^.{16}$/),
        content: contentDigest(stored),
      },
    ])
  })
})

describe('it is left to the controller', () => {
  const ready = template([configMap('a')])
  const cases: readonly (Given & { readonly name: string })[] = [
    { name: 'where nothing waits for it', namespace: team({ spec: {} }) },
    {
      name: 'where it is not its turn',
      namespace: team({ spec: { initializers: { pending: [{ name: 'x.ex.io' }, { name: 'namespace-template' }] } } }),
    },
    { name: 'where a label shuts the gate too', namespace: team({ metadata: { labels: { [pendingLabel]: 'true' } } }) },
    {
      name: 'where a template does not say yet where its objects are to be found',
      templates: [ready, template([configMap('b')], { kinds: [], metadata: { name: 'u' } })],
    },
    {
      name: 'where a template could go before its objects',
      templates: [template([configMap('a')], { metadata: { finalizers: [] } })],
    },
    {
      name: 'where two templates hold the same object',
      templates: [ready, template([configMap('a')], { metadata: { name: 'u' } })],
    },
    {
      name: 'where an object names a creator whom nobody knows',
      templates: [template([configMap('$(CREATOR)')])],
      namespace: team({ metadata: { annotations: {} } }),
    },
    { name: 'where a kind must come after others', templates: [template([{ ...configMap('a'), kind: 'Pod' }])] },
    {
      name: 'where a kind is not served',
      templates: [template([{ ...configMap('a'), kind: 'Nothing' }], { kinds: ['v1/Nothing'] })],
    },
    {
      name: 'where there are more than a transaction holds',
      templates: [template(Array.from({ length: 90 }, (_, i) => configMap(`c${i}`)))],
    },
    { name: 'where an object does not fit its schema', deps: { firstApplied: () => undefined } },
    {
      name: 'where a quota counts quotas',
      templates: [template([quota('a', { resourcequotas: '5' }), quota('b', {})])],
    },
    {
      name: 'where a quota counts quotas by the newer name',
      templates: [template([quota('a', {}), quota('b', { 'count/resourcequotas': '5' })])],
    },
    ...(['create', 'patch'] as const).map((missing) => ({
      name: `where it may not ${missing} what is to be made`,
      deps: { authorizer: { authorize: ({ verb }: { verb: string }) => ({ allowed: verb !== missing, reason: '' }) } },
    })),
  ]
  test.each(cases)('$name', (given) => expect(createAlso(given).also).toBeUndefined())
})

test('an object that does not fit its schema fits no namespace that comes later, either', () => {
  const given: Given = { templates: [template([configMap('a')])], deps: { firstApplied: () => undefined } }
  expect([createAlso(given).also, createAlso(given).also]).toEqual([undefined, undefined])
})

describe('at the commit', () => {
  const made = template([configMap('a')])
  const cases: readonly {
    readonly name: string
    readonly now: NamespaceTemplate | undefined
    readonly holds: boolean
  }[] = [
    { name: 'holds what holds', now: made, holds: true },
    {
      name: 'does not mind a status that moved on',
      now: { ...made, status: { ...made.status, matched: 7 } },
      holds: true,
    },
    { name: 'minds an edit', now: { ...made, metadata: { ...made.metadata, generation: 2 } }, holds: false },
    {
      name: 'minds another one of that name',
      now: { ...made, metadata: { ...made.metadata, uid: 'v' } },
      holds: false,
    },
    {
      name: 'minds a deletion',
      now: { ...made, metadata: { ...made.metadata, deletionTimestamp: 'now' } },
      holds: false,
    },
    {
      name: 'minds that it is switched off',
      now: { ...made, metadata: { ...made.metadata, annotations: { [applyAnnotation]: 'disable' } } },
      holds: false,
    },
    { name: 'minds that it is gone', now: undefined, holds: false },
  ]
  test.each(cases)('$name', ({ now, holds }) => {
    const view: DecisionView = {
      see: <T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): Seen<T> => {
        if (type !== templateType) return { key: 'o', expect: 'absent', object: undefined }
        expect([namespace, name]).toEqual(['', 't'])
        return { key: 'k', expect: 7, object: now as T | undefined }
      },
      queuedIn: () => undefined,
    }
    const { also } = createAlso({ templates: [made] })
    expect(also?.bestEffort?.decide(view)).toEqual(
      holds ? { guards: [{ key: 'k', expect: 7 }], writes: [record] } : undefined,
    )
  })
})
