/**
 * Makes the server out of its parts, and names the concrete classes. The order is that in which state flows: storage →
 * watch cache → authorization, features → registry → pipeline → clients.
 */

import { CreatorRights, followCreators } from '../apis/namespaces/creator-rights.ts'
import { namespaceResource } from '../apis/namespaces/types.ts'
import { endpointSliceResource, serviceResource } from '../apis/services/types.ts'
import { serviceResolver } from '../apis/webhooks/service-resolver.ts'
import type { Authorizer } from '../authz/authz.ts'
import { NamespaceGrants } from '../authz/namespace-grants.ts'
import { RbacAuthorizer } from '../authz/rbac-authorizer.ts'
import { mastersAuthorizer, unionAuthorizer } from '../authz/union-authorizer.ts'
import type { Clock } from '../base/clock.ts'
import { Diagnostics } from '../base/diagnostics.ts'
import { sliceBegan, Turns } from '../base/turns.ts'
import { type Catalog, loadCatalog } from '../catalog/catalog.ts'
import { extendStrategy, type Strategy } from '../catalog/strategy.ts'
import { WebhookClient } from '../client/webhook-client.ts'
import type { FeatureContext, FeatureParts } from '../feature/feature.ts'
import { qualifiedResource } from '../kube/gvk.ts'
import type { NameView } from '../kube/name-view.ts'
import type { Resource } from '../kube/resource.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import { CacheLister } from '../registry/cache-lister.ts'
import { CacheStoreView } from '../registry/cache-store-view.ts'
import { firstApplied, trackWrites } from '../registry/field-ownership.ts'
import { FoldedCommits } from '../registry/folded-commits.ts'
import { createRegistry } from '../registry/generic-registry.ts'
import type { RegistryDeps } from '../registry/parts.ts'
import type { Lister, Registry } from '../registry/registry.ts'
import { schemaErrors } from '../registry/schema-errors.ts'
import { validateNew } from '../registry/validate-new.ts'
import { WatchPermits } from '../registry/watch-permits.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { isShared } from '../storage/storage-choice.ts'
import { defaultWindowLimits } from '../watch/change-window.ts'
import type { DamagedObjects } from '../watch/damaged-objects.ts'
import { WatchCache } from '../watch/watch-cache.ts'
import { inAdmissionOrder } from './admission-order.ts'
import type { Config } from './config.ts'
import { damagedDeciders, damagedRights } from './damaged-deciders.ts'
import type { Features } from './features.ts'
import { rbacSource } from './rbac-source.ts'
import { ownScope } from './server-scope.ts'

/** The parts that the HTTP side and the controllers are built on. */
export interface Core extends AsyncDisposable {
  readonly config: Config
  readonly features: Features
  readonly catalog: Catalog
  readonly storage: Storage
  readonly cache: WatchCache
  readonly registry: Registry
  /** One for the process: all that takes long takes turns. */
  readonly turns: Turns
  readonly lister: Lister
  readonly authorizer: Authorizer
  readonly diagnostics: Diagnostics
  /** What of the namespaces a user may get, and how that changes; absent where it is not asked for. */
  readonly namespacesOf: ((user: UserInfo) => NameView) | undefined
  /** Of each feature, in their order. */
  readonly parts: readonly FeatureParts[]
  strategyOf(type: ResourceType): Strategy
}

export async function wireCore(
  config: Config,
  storage: Storage,
  features: Features,
  isLeading: () => boolean,
): Promise<Core> {
  const { clock, ids, log } = config
  const { diagnostics, turns } = diagnosticsOf(clock)
  const { catalog, declared } = catalogOf(features)
  const typeOf = <T extends KubeObject>(resource: Resource<T>): ResourceType<T> => requiredType(catalog.types, resource)

  const cache = await WatchCache.start({ storage, clock, log })
  const lister = new CacheLister(cache, catalog.types)
  const { authorizer, grants } = wireAuthorization(config, lister, typeOf, cache.damaged)
  const watchPermits = watchPermitsOf(lister, typeOf(namespaceResource))
  const webhookClient = webhookClientOf(config, lister, typeOf)
  const folded = isShared(config) ? new FoldedCommits({ storage, clock, random: Math.random }) : undefined
  const parts: FeatureParts[] = []
  const strategyOf = strategiesOf(parts, catalog)
  const applyDefaults: Catalog['applyDefaults'] = (type, object) => catalog.applyDefaults(type, object)
  const kinds = { strategyOf, applyDefaults, validateSchema: schemaValidation(declared) }
  const context: FeatureContext = {
    clock,
    ids,
    log,
    catalog,
    lister,
    stored: new CacheStoreView(cache),
    records: folded ? { commit: (transaction: Transaction) => folded.commit(transaction, false) } : storage,
    writeRecords: (decide) => registry.writeRecords(decide),
    authorizer,
    webhookClient,
    diagnostics,
    isLeading,
    typeOf,
    strategyOf,
    validateSchema: kinds.validateSchema,
    validateNew: (type, object) => validateNew(kinds, type, object, formatTime(clock.now())),
    applyNew: firstApplied(clock, applyDefaults),
    async create(type, object, user) {
      await registry.create(ownScope(type, user), object)
    },
  }
  for (const feature of features.list) parts.push(feature.open(context))
  parts.push(damagedDeciders(cache.damaged))

  const registry: Registry = createRegistry({
    storage,
    watchPermits,
    folded,
    cache,
    types: catalog.types,
    clock,
    turns,
    ids,
    ...kinds,
    trackUpdate: trackWrites({ types: catalog.types, strategyOf }, log),
    ...decidingParts(parts),
  })

  return {
    config,
    features,
    catalog,
    storage,
    cache,
    registry,
    turns,
    lister,
    authorizer,
    diagnostics,
    namespacesOf: grants && ((user) => grants.viewOf(user)),
    parts,
    strategyOf,
    async [Symbol.asyncDispose]() {
      webhookClient[Symbol.dispose]()
      await cache[Symbol.asyncDispose]()
    },
  }
}

const decidingParts = (
  parts: readonly FeatureParts[],
): Required<Pick<RegistryDeps, 'admission' | 'accountants' | 'beforeRead'>> => ({
  admission: inAdmissionOrder(parts.flatMap(({ admission = [] }) => admission)),
  accountants: parts.flatMap(({ accountants = [] }) => accountants),
  beforeRead: new Map(parts.flatMap(({ beforeRead = [] }) => [...beforeRead])),
})

/** What takes long tells who began it. */
function diagnosticsOf(clock: Clock): { readonly diagnostics: Diagnostics; readonly turns: Turns } {
  const diagnostics = new Diagnostics()
  const began = (owner: object | undefined): void => diagnostics.publish(sliceBegan, owner)
  return { diagnostics, turns: new Turns({ now: () => clock.monotonic(), began }) }
}

/** `declared`: the kinds that features bring. */
function catalogOf(features: Features): { readonly catalog: Catalog; readonly declared: readonly ResourceType[] } {
  const catalog = loadCatalog()
  const declared = features.list.flatMap(({ kinds = [] }) => kinds).map((kind) => catalog.declare(kind))
  catalog.types.change({ add: declared })
  return { catalog, declared }
}

/** Schemas of built-in kinds say types and nothing else, and decoding has checked those. */
function schemaValidation(declared: readonly ResourceType[]): FeatureContext['validateSchema'] {
  return (type, object, update) => (type.custom || declared.includes(type) ? schemaErrors(type, object, update) : [])
}

/** After what decides has subscribed: it must have forgotten the earlier namespace of that name. */
function watchPermitsOf(lister: Lister, namespaceType: ResourceType): WatchPermits {
  const watchPermits = new WatchPermits()
  lister.subscribe(namespaceType, (next, old) => {
    if (next !== undefined && old === undefined) watchPermits.onCreated(next.name)
  })
  return watchPermits
}

type TypeOf = FeatureContext['typeOf']

/** `grants`: what of the namespaces a user may get, where it is asked for. */
function wireAuthorization(
  { clock, listOwnNamespaces }: Config,
  lister: Lister,
  typeOf: TypeOf,
  damaged: DamagedObjects,
): { readonly authorizer: Authorizer; readonly grants: NamespaceGrants | undefined } {
  const grants = listOwnNamespaces ? new NamespaceGrants(clock, grantHistory) : undefined
  if (grants !== undefined) followCreators(grants, (listener) => lister.subscribe(typeOf(namespaceResource), listener))
  const rbac = new RbacAuthorizer(rbacSource(lister, typeOf), clock, grants ? { observer: grants } : {})
  const creators = new CreatorRights(lister, typeOf(namespaceResource), clock)
  return { authorizer: unionAuthorizer([mastersAuthorizer, rbac, creators, damagedRights(damaged)]), grants }
}

function webhookClientOf({ clock, serviceAddresses }: Config, lister: Lister, typeOf: TypeOf): WebhookClient {
  return new WebhookClient({
    clock,
    userAgent: 'kube-apiserver-admission',
    resolve: serviceResolver({
      addresses: serviceAddresses,
      findService: (namespace, name) => lister.find(typeOf(serviceResource), namespace, name)?.object,
      slices: (namespace) => [...lister.list(typeOf(endpointSliceResource), namespace)].map((s) => s.object),
      random: Math.random,
    }),
  })
}

/** Rights are remembered as long as watches can resume from memory. */
const grantHistory = { changes: defaultWindowLimits.changes, ageMs: defaultWindowLimits.ageMs }

/**
 * The catalogue's, extended by the feature that has something to add. Looked up at the first use: features may still be
 * added.
 */
function strategiesOf(parts: readonly FeatureParts[], catalog: Catalog): (type: ResourceType) => Strategy {
  const known = new WeakMap<ResourceType, Strategy>()
  const find = (type: ResourceType): Strategy => {
    const key = qualifiedResource(type)
    const kind = catalog.strategyOf(type)
    for (const { strategies } of parts)
      if (strategies?.[key] !== undefined) return extendStrategy(kind, strategies[key])
    return kind
  }
  return (type) => {
    if (type.custom) return parts.find(({ customStrategy }) => customStrategy)?.customStrategy?.(type) ?? {}
    let strategy = known.get(type)
    if (strategy === undefined) known.set(type, (strategy = find(type)))
    return strategy
  }
}
