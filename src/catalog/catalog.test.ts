import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Schema } from '../kube/schema/schema.ts'
import { loadCatalog } from './catalog.ts'
import { alwaysByValue, byValueFields, printedEmpty } from './facts/by-value.ts'
import { extensionDescriptions, extensionFields } from './facts/extensions.ts'
import { mergeFacts } from './facts/merge.ts'
import { quantityFields } from './facts/quantities.ts'

const catalog = loadCatalog()
const all = [...catalog.types.all()]

function at(schema: Schema | undefined, path: string): Schema | undefined {
  for (const step of path.split('.')) {
    if (step === '[]') schema = schema?.items
    else if (step === '{}')
      schema = typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined
    else schema = schema?.properties?.get(step)
  }
  return schema
}
const typed = (group: string, version: string, resource: string): ResourceType => {
  const type = catalog.types.find({ group, version, resource })
  if (!type) throw new Error(`no ${group}/${version} ${resource}`)
  return type
}

describe('what is served', () => {
  const lines = all.map((t) => {
    const subs = [...t.subresources.values()].map(
      (s) => `${s.name}(${s.kind.group}/${s.kind.version} ${s.kind.kind}: ${s.verbs})`,
    )
    return `${t.group}/${t.version} ${t.resource} ${t.kind} ${t.namespaced} ${t.verbs} ${subs.join(' ')}`
  })

  it('is every GA resource of Kubernetes 1.36', () => {
    expect(all.length).toBe(68)
    expect(all.filter((t) => t.namespaced).length).toBe(34)
    expect(
      all
        .filter((t) => !t.stored)
        .map((t) => t.resource)
        .sort(),
    ).toEqual([
      'bindings',
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
      'tokenreviews',
    ])
  })

  it('has the verbs and sub-resources that were compared with the 1.36 OpenAPI document', () => {
    const hash = createHash('sha256').update(lines.toSorted().join('\n')).digest('hex')
    expect(hash, lines.join('\n')).toBe('24a7074511999589e9614d748623f7956999b287a46546baddf68eda2edc562b')
  })

  it('lists groups by upstream priority and autoscaling/v2 before v1', () => {
    const groups = [...new Set(all.map((t) => `${t.group}/${t.version}`))]
    expect(groups.slice(0, 9)).toEqual([
      '/v1',
      'apiregistration.k8s.io/v1',
      'apps/v1',
      'events.k8s.io/v1',
      'authentication.k8s.io/v1',
      'authorization.k8s.io/v1',
      'autoscaling/v2',
      'autoscaling/v1',
      'batch/v1',
    ])
    expect(catalog.types.findPreferred('autoscaling', 'horizontalpodautoscalers')?.version).toBe('v2')
  })

  const subresources = [
    { name: 'an eviction has its own group', parent: 'pods', sub: 'eviction', want: 'policy/v1 Eviction create' },
    {
      name: 'a token request too',
      parent: 'serviceaccounts',
      sub: 'token',
      want: 'authentication.k8s.io/v1 TokenRequest create',
    },
    {
      name: 'a scale is of autoscaling',
      parent: 'replicationcontrollers',
      sub: 'scale',
      want: 'autoscaling/v1 Scale get,patch,update',
    },
    { name: 'exec is a stream with options', parent: 'pods', sub: 'exec', want: '/v1 PodExecOptions create,get' },
    { name: 'logs are of the pod itself', parent: 'pods', sub: 'log', want: '/v1 Pod get' },
    { name: 'finalize takes the namespace', parent: 'namespaces', sub: 'finalize', want: '/v1 Namespace update' },
  ]
  it.each(subresources)('$name', ({ parent, sub, want }) => {
    const s = typed('', 'v1', parent).subresources.get(sub)
    expect(`${s?.kind.group}/${s?.kind.version} ${s?.kind.kind} ${s?.verbs}`).toBe(want)
  })

  it('keeps events of both groups in one place, and gives every other resource a place of its own', () => {
    const groupsOf = new Map<string, Set<string>>()
    for (const t of all) groupsOf.set(t.storageName, (groupsOf.get(t.storageName) ?? new Set()).add(t.group))
    expect([...groupsOf].filter(([, groups]) => groups.size > 1).map(([name]) => name)).toEqual(['events'])
    expect(catalog.types.findStorage('events')?.group).toBe('')
  })
})

describe('the hand-written fact tables', () => {
  const fieldTables: [string, Record<string, string[]>][] = [
    [
      'merge',
      Object.fromEntries(Object.entries(mergeFacts).map(([t, f]) => [t, Object.keys(f).filter((k) => k !== '')])),
    ],
    ['quantities', Object.fromEntries(Object.entries(quantityFields).map(([t, f]) => [t, f.split(' ')]))],
    ['by value', Object.fromEntries(Object.entries(byValueFields).map(([t, f]) => [t, f.split(' ')]))],
    ['printed empty', Object.fromEntries(Object.entries(printedEmpty).map(([t, f]) => [t, f.split(' ')]))],
    ['extensions', Object.fromEntries(Object.keys(extensionFields).map((t) => [t, []]))],
    [
      'descriptions',
      Object.fromEntries(
        Object.entries(extensionDescriptions).map(([t, f]) => [t, Object.keys(f).filter((k) => k !== '')]),
      ),
    ],
  ]
  it.each(fieldTables)('name only fields that exist: %s', (_, table) => {
    expect(Object.keys(table).length).toBeGreaterThan(0)
    for (const [type, fields] of Object.entries(table)) {
      for (const field of fields) expect(catalog.schemaOf(type).properties?.has(field), `${type}.${field}`).toBe(true)
    }
  })
})

describe('schemas of built-in types', () => {
  it('can all be made', () => {
    let fields = 0
    for (const name of catalog.typeNames()) fields += catalog.schemaOf(name).properties?.size ?? 0
    expect(fields).toBeGreaterThan(2400)
  })

  const cases = [
    {
      name: 'a resource list holds quantities',
      path: 'spec.containers.[].resources.limits.{}',
      want: { type: 'quantity' },
    },
    {
      name: 'a probe port is a number or a name',
      path: 'spec.containers.[].livenessProbe.httpGet.port',
      want: { type: 'intOrString' },
    },
    {
      name: 'containers merge by name',
      path: 'spec.containers',
      want: { listType: 'map', listMapKeys: ['name'], patchStrategy: ['merge'], patchMergeKey: 'name' },
    },
    {
      name: 'ports are told apart by protocol too, TCP if it is missing',
      path: 'spec.containers.[].ports',
      want: { listMapKeys: ['containerPort', 'protocol'], patchMergeKey: 'containerPort' },
    },
    {
      name: 'the protocol of a port defaults to TCP',
      path: 'spec.containers.[].ports.[].protocol',
      want: { default: 'TCP' },
    },
    {
      name: 'volumes drop the sources a patch does not name',
      path: 'spec.volumes',
      want: { patchStrategy: ['merge', 'retainKeys'] },
    },
    { name: 'a node selector is replaced whole', path: 'spec.nodeSelector', want: { mapType: 'atomic' } },
    { name: 'finalizers are a set', path: 'metadata.finalizers', want: { listType: 'set', patchStrategy: ['merge'] } },
    { name: 'a spec is held by value', path: 'spec', want: { byValue: true, typeName: 'io.k8s.api.core.v1.PodSpec' } },
    { name: 'a security context is not', path: 'spec.securityContext', want: { type: 'object' }, not: ['byValue'] },
    {
      name: 'creation time is a time',
      path: 'metadata.creationTimestamp',
      want: { format: 'date-time', nullable: true },
    },
  ]
  it.each(cases)('$name', ({ path, want, not }) => {
    const schema = at(typed('', 'v1', 'pods').schema, path)
    expect(schema).toMatchObject(want)
    for (const key of not ?? []) expect(schema).not.toHaveProperty(key)
  })

  it('knows bytes, micro times and types that contain themselves', () => {
    expect(at(typed('', 'v1', 'secrets').schema, 'data.{}')).toMatchObject({ type: 'string', format: 'byte' })
    expect(at(typed('coordination.k8s.io', 'v1', 'leases').schema, 'spec.renewTime')).toMatchObject({
      format: 'micro-time',
    })
    const crd = typed('apiextensions.k8s.io', 'v1', 'customresourcedefinitions').schema
    const props = at(crd, 'spec.versions.[].schema.openAPIV3Schema')
    expect(at(props, 'properties.{}')).toBe(props)
  })

  it('lets a namespace carry initializers', () => {
    const namespace = typed('', 'v1', 'namespaces').schema
    expect(at(namespace, 'spec.initializers.pending')).toMatchObject({ listType: 'map', listMapKeys: ['name'] })
    expect(at(namespace, 'spec.initializers.result.reason')?.type).toBe('string')
    expect(catalog.describe('io.k8s.api.core.v1.NamespaceSpec', 'initializers')).toMatch(/before it may be used/)
  })

  it('describes types and fields', () => {
    expect(catalog.describe('io.k8s.api.core.v1.PodSpec', 'nodeName')).toMatch(/schedule/)
    expect(catalog.describe('io.k8s.api.core.v1.PodSpec')).toBe('PodSpec is a description of a pod.')
    expect(catalog.describe('io.k8s.api.core.v1.PodSpec', 'nonsense')).toBeUndefined()
    expect([...alwaysByValue]).toContain('metadata')
  })

  it('tells what OpenAPI lists as required', () => {
    expect(catalog.alwaysPrinted('io.k8s.api.core.v1.PodSpec')).toEqual(['containers'])
  })
})

describe('a table of types that changes', () => {
  const widget = (version: string, more: { group?: string; storageName?: string } = {}): ResourceType =>
    catalog.declare({
      group: 'ex.io',
      resource: 'widgets',
      kind: 'Widget',
      namespaced: true,
      hasStatus: true,
      properties: { spec: { type: 'object', preserveUnknownFields: true } },
      ...more,
      version,
    })

  it('serves an added kind after the built-in ones, and forgets a removed one', () => {
    const { types } = loadCatalog()
    let changes = 0
    const stop = types.onChange(() => changes++)
    types.change({ add: [widget('v1beta1'), widget('v1'), widget('v2alpha1')] })
    expect(changes).toBe(1)
    expect([...types.all()].slice(-3).map((t) => t.version)).toEqual(['v1', 'v1beta1', 'v2alpha1'])
    expect(types.findPreferred('ex.io', 'widgets')?.version).toBe('v1')
    expect(types.findKind({ group: 'ex.io', version: 'v1beta1', kind: 'Widget' })?.listKind).toBe('WidgetList')
    expect(types.findStorage('widgets.ex.io')?.version).toBe('v1')
    types.change({ remove: [widget('v1'), widget('v7')] })
    expect(types.findPreferred('ex.io', 'widgets')?.version).toBe('v1beta1')
    types.change({ remove: [widget('v1beta1'), widget('v2alpha1')] })
    expect(types.hasGroup('ex.io')).toBe(false)
    expect(types.findStorage('widgets.ex.io')).toBeUndefined()
    types.change({ remove: [widget('v1')] })
    expect(changes).toBe(3)
    stop()
    types.change({ add: [widget('v1')] })
    expect(changes).toBe(3)
  })

  it('replaces a type that is added again under another kind', () => {
    const { types } = loadCatalog()
    types.change({ add: [widget('v1')] })
    types.change({ add: [{ ...widget('v1'), kind: 'Gadget' }] })
    expect(types.findKind({ group: 'ex.io', version: 'v1', kind: 'Widget' })).toBeUndefined()
    expect(types.findKind({ group: 'ex.io', version: 'v1', kind: 'Gadget' })?.resource).toBe('widgets')
  })

  it('lets a kind of two groups share its objects', () => {
    const { types } = loadCatalog()
    const storageName = 'namespacetemplates.policy'
    types.change({
      add: [
        widget('v1alpha1', { group: 'policy', storageName }),
        widget('v1alpha1', { group: 'policy.ex.io', storageName }),
      ],
    })
    expect(types.findStorage(storageName)?.group).toBe('policy')
    expect([...types.all()].filter((t) => t.group === 'policy').map((t) => t.version)).toEqual(['v1', 'v1alpha1'])
  })

  it('gives a declared kind metadata, a status sub-resource and every verb', () => {
    const type = widget('v1')
    expect(at(type.schema, 'metadata.ownerReferences')).toMatchObject({ listMapKeys: ['uid'] })
    expect([...type.subresources.keys()]).toEqual(['status'])
    expect(type.verbs).toContain('deletecollection')
  })
})
