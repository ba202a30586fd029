/**
 * A registry on the memory engine with a handful of kinds, for tests that want semantics and not the whole house.
 */
import type { Accountant, AdmissionPlugin } from '../../src/admission/admission.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import type { Ids } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { Turns } from '../../src/base/turns.ts'
import type { Strategy } from '../../src/catalog/strategy.ts'
import type { Resource } from '../../src/kube/resource.ts'
import type { ResourceType, ResourceTypes, Subresource } from '../../src/kube/resource-type.ts'
import type { KubeObject, Unvalidated } from '../../src/kube/types.ts'
import { unvalidated } from '../../src/kube/unvalidated.ts'
import { createRegistry } from '../../src/registry/generic-registry.ts'
import { kindRules, type SchemaValidation } from '../../src/registry/kind-rules.ts'
import type { RegistryDeps } from '../../src/registry/parts.ts'
import type { Lister, Registry, WriteScope } from '../../src/registry/registry.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { WatchCache, type WatchCacheOptions } from '../../src/watch/watch-cache.ts'

function makeType(resource: string, kind: string, more: Partial<ResourceType> = {}): ResourceType {
  const group = more.group ?? ''
  const version = more.version ?? 'v1'
  const status: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'], kind: { group, version, kind } }
  return {
    group,
    version,
    resource,
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    namespaced: true,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: [],
    categories: [],
    subresources: new Map([['status', status]]),
    schema: {
      type: 'object',
      properties: new Map([
        ['spec', { type: 'any' }],
        ['status', { type: 'any' }],
      ]),
    },
    storageName: group === '' ? resource : `${resource}.${group}`,
    stored: true,
    custom: false,
    ...more,
  }
}

const anyObject = { type: 'object', preserveUnknownFields: true } as const

export const configMaps: ResourceType = makeType('configmaps', 'ConfigMap', {
  subresources: new Map(),
  schema: anyObject,
})
export const namespaces: ResourceType = makeType('namespaces', 'Namespace', { namespaced: false })
export const pods: ResourceType = makeType('pods', 'Pod')
export const quotas: ResourceType = makeType('resourcequotas', 'ResourceQuota')
export const events: ResourceType = makeType('events', 'Event', { subresources: new Map(), schema: anyObject })
export const widgets: ResourceType = makeType('widgets', 'Widget', { group: 'ex.io', custom: true, schema: anyObject })

const allTypes = [configMaps, namespaces, pods, quotas, events, widgets]

export const types: ResourceTypes = {
  find: <T extends KubeObject>({ group, version, resource }: Resource<T>) => {
    const found = allTypes.find((t) => t.group === group && t.version === version && t.resource === resource)
    return found as ResourceType<T> | undefined
  },
  findKind: (gvk) => allTypes.find((t) => t.group === gvk.group && t.version === gvk.version && t.kind === gvk.kind),
  findPreferred: (group, resource) => allTypes.find((t) => t.group === group && t.resource === resource),
  all: () => allTypes,
  findStorage: (storageName) => allTypes.find((t) => t.storageName === storageName),
  hasGroup: (group) => allTypes.some((t) => t.group === group),
  onChange: () => () => {},
}

const specOf = (o: KubeObject): Record<string, unknown> => (o['spec'] ?? {}) as Record<string, unknown>
const statusOf = (o: KubeObject): Record<string, unknown> => (o['status'] ?? {}) as Record<string, unknown>

export const strategies: Readonly<Record<string, Strategy>> = {
  namespaces: {
    tracksGeneration: false,
    returnsDeleted: true,
    storageWordedPreconditions: true,
    selectableFields: { 'status.phase': (o) => String(statusOf(o)['phase'] ?? '') },
    prepare: (next, old, { subresource }) => {
      if (old === undefined) return { ...next, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }
      return subresource === 'finalize' ? next : { ...next, spec: old['spec'] }
    },
    beginDeletion: ({ status: _, ...object }) => {
      const { deletionGracePeriodSeconds: __, ...metadata } = object.metadata
      return { ...object, metadata, status: { phase: 'Terminating' } }
    },
    heldBy: (o) => (specOf(o)['finalizers'] ?? []) as string[],
  },
  pods: {
    returnsDeleted: true,
    selectableFields: {
      'status.phase': (o) => String(statusOf(o)['phase'] ?? ''),
      'spec.nodeName': (o) => String(specOf(o)['nodeName'] ?? ''),
    },
    graceful: {
      graceSeconds: (o, requested) =>
        specOf(o)['nodeName'] ? (requested ?? Number(specOf(o)['terminationGracePeriodSeconds'] ?? 30)) : 0,
    },
  },
  events: { createOnUpdate: true, garbageCollected: false },
  widgets: { unconditionalUpdate: false },
}

/** Predictable: uid-1, uid-2, …; suffixes as given, then counted. */
export function countingIds(suffixes: string[] = []): Ids {
  let uids = 0
  let names = 0
  return { uid: () => `uid-${++uids}`, nameSuffix: () => suffixes.shift() ?? `s${String(++names).padStart(4, '0')}` }
}

export interface Fixture extends AsyncDisposable {
  readonly registry: Registry
  readonly lister: Lister
  readonly storage: Storage
  readonly cache: WatchCache
  readonly clock: FakeClock
  readonly warnings: string[]
  scope(type: ResourceType, name: string, more?: Partial<WriteScope>): WriteScope
}

export interface FixtureOptions {
  readonly storage?: Storage
  readonly clock?: FakeClock
  readonly admission?: readonly AdmissionPlugin[]
  readonly accountant?: Accountant
  readonly deps?: Partial<RegistryDeps>
  readonly validateSchema?: SchemaValidation
  readonly cache?: Partial<WatchCacheOptions>
}

export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const clock = options.clock ?? new FakeClock()
  const storage = options.storage ?? new MemoryStorage({ clock })
  const cache = await WatchCache.start({ storage, clock, log: silentLog, ...options.cache })
  const warnings: string[] = []
  const kinds = {
    strategyOf: options.deps?.strategyOf ?? ((type: ResourceType) => strategies[type.resource] ?? {}),
    applyDefaults: (_: ResourceType, object: KubeObject | Unvalidated) => unvalidated(object),
  }
  const registry = createRegistry({
    storage,
    cache,
    types,
    clock,
    turns: new Turns(),
    ids: countingIds(),
    ...kinds,
    rulesOf: kindRules({ ...kinds, schemaValidationOf: () => options.validateSchema }),
    trackUpdate: ({ next }) => next,
    admission: options.admission ?? [],
    ...(options.accountant ? { accountants: [options.accountant] } : {}),
    ...options.deps,
  })
  return {
    registry,
    lister: registry.lister,
    storage,
    cache,
    clock,
    warnings,
    scope: (type, name, more = {}) => ({
      type,
      namespace: type.namespaced ? 'ns' : '',
      name,
      subresource: '',
      user: { username: 'tester', groups: [] },
      dryRun: false,
      fieldManager: 'test',
      options: {},
      warn: (text) => warnings.push(text),
      caller: { signal: new AbortController().signal },
      ...more,
    }),
    async [Symbol.asyncDispose]() {
      await cache[Symbol.asyncDispose]()
      if (!options.storage) await storage[Symbol.asyncDispose]()
    },
  }
}

/** The object as a client would send it. */
export const configMap = (name: string, data: Record<string, string> = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})
