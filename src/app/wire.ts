/**
 * Makes the server out of its parts, and names the concrete classes. The order is that in which state flows: storage →
 * watch cache → authorization, features → registry → pipeline → clients.
 */

import { namespaceResource } from '../apis/namespaces/types.ts'
import { openWebhookClient } from '../apis/webhooks/open-webhook-client.ts'
import { Diagnostics } from '../base/diagnostics.ts'
import { sliceBegan, Turns } from '../base/turns.ts'
import { type Catalog, loadCatalog } from '../catalog/catalog.ts'
import { storeParts } from '../encryption/store-health.ts'
import { damagedDeciders } from '../feature/damaged-deciders.ts'
import type { FeatureContext, FeatureParts } from '../feature/feature.ts'
import { strategiesOf } from '../feature/strategies.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import { CacheLister } from '../registry/cache-lister.ts'
import { CacheStoreView } from '../registry/cache-store-view.ts'
import { FoldedCommits } from '../registry/folded-commits.ts'
import { createRegistry } from '../registry/generic-registry.ts'
import { objectRules } from '../registry/object-rules.ts'
import { ownScope } from '../registry/own-scope.ts'
import type { Registry } from '../registry/registry.ts'
import { WatchPermits } from '../registry/watch-permits.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { isShared } from '../storage/storage-choice.ts'
import { StoreReporter } from '../storage/store-report.ts'
import { WatchCache } from '../watch/watch-cache.ts'
import { type OpenAuthorizer, openAuthorizer } from './authorizer.ts'
import type { Config } from './config.ts'
import { decidingParts, type Features } from './features.ts'

/** The parts that the HTTP side and the controllers are built on. */
export interface Core extends AsyncDisposable, OpenAuthorizer {
  readonly config: Config
  readonly features: Features
  readonly catalog: Catalog
  readonly storage: Storage
  readonly storeReporter: StoreReporter
  readonly cache: WatchCache
  readonly registry: Registry
  /** One for the process: all that takes long takes turns. */
  readonly turns: Turns
  readonly evaluator: FeatureContext['evaluator']
  readonly lister: CacheLister
  readonly diagnostics: Diagnostics
  /** Of each feature, in their order. */
  readonly parts: readonly FeatureParts[]
  readonly strategyOf: FeatureContext['strategyOf']
  /** An object of the core group, from the cache. */
  readonly find: CacheLister['findCore']
}

export async function wireCore(
  config: Config,
  storage: Storage,
  features: Features,
  leadership: { readonly leading: boolean; isOwn(holder: string): boolean },
): Promise<Core> {
  const { clock, ids, log } = config
  const leads = { isLeading: () => leadership.leading, isOwnLease: (holder: string) => leadership.isOwn(holder) }
  const diagnostics = new Diagnostics()
  const turns = turnsOf(clock, diagnostics)
  const { catalog, declared } = catalogOf(features)
  const typeOf: FeatureContext['typeOf'] = (resource) => requiredType(catalog.types, resource)
  const cache = await WatchCache.start({ storage, clock, log })
  const lister = new CacheLister(cache, catalog.types)
  const stored = new CacheStoreView(cache)
  const { authorizer, namespacesOf } = openAuthorizer(config, { lister, stored, typeOf }, cache.damaged)
  const watchPermits = new WatchPermits().follow(lister, typeOf(namespaceResource))
  const webhookClient = openWebhookClient(config, { lister, typeOf })
  const folded = isShared(config) ? new FoldedCommits({ storage, clock, random: Math.random }) : undefined
  const parts: FeatureParts[] = []
  const strategyOf = strategiesOf(parts, catalog)
  const rules = objectRules({ catalog, declared, clock, log, turns, strategyOf })
  const context: FeatureContext = {
    ...{ clock, ids, log },
    catalog,
    lister,
    authorizer,
    webhookClient,
    diagnostics,
    turns,
    ...leads,
    typeOf,
    ...rules,
    stored,
    records: recordsOf(storage, folded),
    writeRecords: (decide) => registry.writeRecords(decide),
    create: async (type, object, user) => void (await registry.create(ownScope(type, user), object)),
  }
  for (const feature of features.list) parts.push(feature.open(context))
  const storeReporter = new StoreReporter(storage, config, leads.isLeading)
  parts.push(damagedDeciders(cache.damaged), storeParts(storage, storeReporter))

  const registry: Registry = createRegistry({
    storage,
    watchPermits,
    folded,
    cache,
    types: catalog.types,
    clock,
    turns,
    ids,
    ...rules,
    ...decidingParts(parts),
  })

  return {
    config,
    features,
    catalog,
    storage,
    storeReporter,
    cache,
    registry,
    turns,
    lister,
    authorizer,
    evaluator: rules.evaluator,
    diagnostics,
    namespacesOf,
    parts,
    strategyOf,
    find: (...named) => lister.findCore(...named),
    async [Symbol.asyncDispose]() {
      webhookClient[Symbol.dispose]()
      rules.evaluator[Symbol.dispose]()
      await cache[Symbol.asyncDispose]()
    },
  }
}

/** What takes long tells who began it. */
export const turnsOf = (clock: Config['clock'], diagnostics: Diagnostics): Turns =>
  new Turns({ now: () => clock.monotonic(), began: (owner) => diagnostics.publish(sliceBegan, owner) })

function recordsOf(storage: Storage, folded: FoldedCommits | undefined): FeatureContext['records'] {
  const { openedCommitMs } = storage
  return folded === undefined
    ? storage
    : { openedCommitMs, commit: (transaction: Transaction) => folded.commit(transaction, false) }
}

/** `declared`: the kinds that features bring. */
function catalogOf(features: Features): { readonly catalog: Catalog; readonly declared: readonly ResourceType[] } {
  const catalog = loadCatalog()
  const declared = features.list.flatMap(({ kinds = [] }) => kinds).map((kind) => catalog.declare(kind))
  catalog.types.change({ add: declared })
  return { catalog, declared }
}
