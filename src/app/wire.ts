/**
 * Makes the house out of its parts, and names the concrete classes. The order is that in which state
 * flows: storage → watch cache → registry, admission and authorization → pipeline → clients.
 */
import { apiServicesResource } from '../apis/apiservices/types.ts'
import { CustomResources } from '../apis/crds/serve.ts'
import { WebhookConversion } from '../apis/crds/webhook-conversion.ts'
import { deadlineOf, mergeConfigurations } from '../apis/initializers/configurations.ts'
import { NamespaceHold } from '../apis/initializers/hold.ts'
import { initializerConfigurationResource, type NamespaceInitializerConfiguration } from '../apis/initializers/types.ts'
import type { NamespaceContent } from '../apis/namespaces/content.ts'
import type { NamespaceLookup } from '../apis/namespaces/lookup.ts'
import { type Namespace, namespaceResource } from '../apis/namespaces/types.ts'
import { nodeResource, podResource } from '../apis/pods/types.ts'
import { quotaAccountant } from '../apis/quotas/accountant.ts'
import { quotaResource } from '../apis/quotas/types.ts'
import { serviceAllocator } from '../apis/services/allocator.ts'
import { portClaims } from '../apis/services/claims.ts'
import { FreeAddresses } from '../apis/services/free-addresses.ts'
import { FreePorts } from '../apis/services/free-ports.ts'
import { ServiceRanges } from '../apis/services/service-ranges.ts'
import type { FollowTaken } from '../apis/services/taken-bits.ts'
import {
  endpointSliceResource,
  ipAddressResource,
  type ServiceCidr,
  serviceCidrResource,
  serviceResource,
} from '../apis/services/types.ts'
import { Births } from '../apis/templates/births.ts'
import { serviceResolver } from '../apis/webhooks/service-resolver.ts'
import type { Authorizer } from '../authz/authz.ts'
import { NamespaceGrants } from '../authz/namespace-grants.ts'
import { RbacAuthorizer } from '../authz/rbac-authorizer.ts'
import type { RbacSource } from '../authz/rbac-source.ts'
import { mastersAuthorizer, unionAuthorizer } from '../authz/union-authorizer.ts'
import { SizedCache } from '../base/sized-cache.ts'
import { type Catalog, loadCatalog } from '../catalog/catalog.ts'
import { WebhookClient } from '../client/webhook-client.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import type { NameView } from '../kube/name-view.ts'
import { clusterRoleBindingsResource, clusterRolesResource, roleBindingsResource, rolesResource } from '../kube/rbac.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import { CacheLister } from '../registry/cache-lister.ts'
import { trackWrites } from '../registry/field-ownership.ts'
import { FoldedCommits } from '../registry/folded-commits.ts'
import { createRegistry } from '../registry/generic-registry.ts'
import type { SchemaUpdate } from '../registry/parts.ts'
import type { Lister, Registry, WriteScope } from '../registry/registry.ts'
import { schemaErrors } from '../registry/schema-errors.ts'
import type { Strategy } from '../registry/strategy.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { isShared } from '../storage/storage-choice.ts'
import { defaultWindowLimits } from '../watch/change-window.ts'
import { spanOf } from '../watch/type-cache.ts'
import { WatchCache } from '../watch/watch-cache.ts'
import { type AdmissionObservers, admissionPlugins } from './admission-plugins.ts'
import { ownKinds, templateKind } from './catalog.ts'
import type { Config } from './config.ts'
import { endWatches } from './custom-resources.ts'
import { serverUser } from './identities.ts'
import { madeOfAll } from './made-of-all.ts'
import { contentIndex } from './namespace-content.ts'
import { newObjectWriter } from './own-objects.ts'
import { StoredEpochs } from './quota-epochs.ts'
import { strategies } from './strategies.ts'

/** The parts that the HTTP side and the controllers are built on. */
export interface Core extends AsyncDisposable {
  readonly config: Config
  readonly catalog: Catalog
  readonly storage: Storage
  readonly cache: WatchCache
  readonly registry: Registry
  readonly lister: Lister
  readonly authorizer: Authorizer
  /** What of the namespaces a user may get, and how that changes; absent where it is not asked for. */
  readonly namespacesOf: ((user: UserInfo) => NameView) | undefined
  readonly hold: NamespaceHold
  readonly namespaces: NamespaceLookup
  readonly content: NamespaceContent
  readonly customResources: CustomResources
  /** What was made with its namespace, for the population controller. */
  readonly births: Births
  nodeExists(name: string): boolean
  /** Admission webhooks are asked from this call on. */
  startWebhooks(): void
  strategyOf(type: ResourceType): Strategy
}

export async function wireCore(
  config: Config,
  storage: Storage,
  caPem: string,
  observers: AdmissionObservers,
): Promise<Core> {
  const { clock, ids, log } = config
  const catalog = loadCatalog()
  // Without population this is a cluster like any other, on which the kind can be a custom one.
  const kinds = config.population ? ownKinds : ownKinds.filter(({ kind }) => kind !== templateKind)
  const ownTypes = kinds.map((kind) => catalog.declare(kind))
  catalog.types.change({ add: ownTypes })
  const typeOf = (gvr: GroupVersionResource): ResourceType => requiredType(catalog.types, gvr)

  const cache = await WatchCache.start({ storage, clock, log })
  const lister = new CacheLister(cache, catalog.types)
  const grants = config.listOwnNamespaces ? new NamespaceGrants(clock, grantHistory) : undefined
  const rbac = new RbacAuthorizer(rbacSource(lister, typeOf), clock, grants ? { observer: grants } : {})
  const authorizer = unionAuthorizer([mastersAuthorizer, rbac])
  const namespaceType = typeOf(namespaceResource)
  const namespaces: NamespaceLookup = {
    type: namespaceType,
    find: (name) => lister.find(namespaceType, '', name)?.object as Namespace | undefined,
    refresh: () => lister.refresh(),
  }
  const webhookClient = new WebhookClient({
    clock,
    userAgent: 'kube-apiserver-admission',
    resolve: serviceResolver({
      addresses: config.serviceAddresses,
      findService: (namespace, name) => lister.find(typeOf(serviceResource), namespace, name)?.object,
      slices: (namespace) => [...lister.list(typeOf(endpointSliceResource), namespace)].map((s) => s.object),
      random: Math.random,
    }),
  })
  const convertedObjects = new SizedCache<KubeObject>(convertedBytes)
  const objectMeta = catalog.schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
  const customResources = new CustomResources({
    types: catalog.types,
    lister,
    objectMeta,
    convertBy: (definition) =>
      new WebhookConversion({ client: webhookClient, ids, cache: convertedObjects }, definition),
    onReplaced: (storageName) => endWatches(cache, storageName),
    onFault: (definition, error) => log.error({ definition, error }, 'a definition can not be served'),
  })
  const hold = new NamespaceHold(clock)
  lister.subscribe(namespaceType, (next, old) =>
    hold.changed(next?.name ?? old?.name ?? '', () => next?.object as Namespace | undefined),
  )
  const content = contentIndex(lister, cache, namespaces)
  const initializers = madeOfAll(lister, typeOf(initializerConfigurationResource), (objects) =>
    mergeConfigurations(objects as NamespaceInitializerConfiguration[]),
  )
  const newObject = newObjectWriter(clock, ids)
  const ranges = serviceRanges(lister, typeOf(serviceCidrResource))
  const claims = (type: ResourceType): FollowTaken => {
    return (changed) => lister.subscribe(type, (next, old) => changed((next ?? old)?.name ?? '', next !== undefined))
  }
  const addressType = typeOf(ipAddressResource)
  const freeAddresses = new FreeAddresses(Math.random, claims(addressType))
  const freePorts = new FreePorts(config.serviceNodePorts, Math.random, claims(portClaims(addressType)))

  // Schemas of built-in kinds say types and nothing else, and decoding has checked those.
  const schemaErrorsOf = (type: ResourceType, object: KubeObject, update?: SchemaUpdate): FieldError[] =>
    type.custom || ownTypes.includes(type) ? schemaErrors(type, object, update) : []

  const quotaType = typeOf(quotaResource)
  const nodeExists = (name: string): boolean => lister.find(typeOf(nodeResource), '', name) !== undefined
  const strategyOf = strategies(
    config,
    (type) => customResources.strategyOf(type),
    (type) => catalog.strategyOf(type),
    {
      pods: typeOf(podResource),
      quotas: quotaType,
      apiServices: typeOf(apiServicesResource),
      services: typeOf(serviceResource),
      objectMeta,
      nodeExists,
      initializerDeadline: (namespace, initializer) => deadlineOf(initializers(), namespace, initializer),
    },
  )
  const births = new Births()
  const admission = admissionPlugins({
    config,
    catalog,
    lister,
    authorizer,
    namespaces,
    content,
    webhookClient,
    caPem,
    observers,
    newObject,
    births,
    initializers,
    typeOf,
    strategyOf,
    validateSchema: schemaErrorsOf,
    create: async (type, object) => {
      await registry.create(ownScope(type), object)
    },
  })
  const folded = isShared(config) ? new FoldedCommits({ storage, clock, random: Math.random }) : undefined
  const committing = folded ? { commit: (transaction: Transaction) => folded.commit(transaction, false) } : storage
  const registry: Registry = createRegistry({
    storage,
    folded,
    cache,
    types: catalog.types,
    clock,
    ids,
    strategyOf,
    applyDefaults: (type, object) => catalog.applyDefaults(type, object),
    validateSchema: schemaErrorsOf,
    trackUpdate: trackWrites(catalog.types, log),
    admission: admission.plugins,
    accountants: [
      serviceAllocator({
        addressType,
        freePorts,
        ranges: (family) => ranges.of(family),
        freeAddresses: (range) => freeAddresses.of(range),
        newObject,
      }),
      quotaAccountant({
        quotaType,
        epochs: new StoredEpochs({ storage: committing, cache, clock, log }, quotaType),
        quotas: (namespace) =>
          cache
            .type(quotaType.storageName)
            .collect(spanOf(namespace))
            .values.map((v) => v.name),
        isTerminating: (namespace) => namespaces.find(namespace)?.metadata.deletionTimestamp !== undefined,
        contentOf: (namespace) => lister.contentOf(namespace),
        list: (type, namespace) => [...lister.list(type, namespace)].map((o) => o.object),
      }),
    ],
  })

  return {
    config,
    catalog,
    storage,
    cache,
    registry,
    lister,
    authorizer,
    namespacesOf: grants && ((user) => grants.viewOf(user)),
    hold,
    namespaces,
    content,
    customResources,
    births,
    nodeExists,
    strategyOf,
    startWebhooks: () => admission.start(),
    async [Symbol.asyncDispose]() {
      webhookClient[Symbol.dispose]()
      await cache[Symbol.asyncDispose]()
    },
  }
}

/** A create by the server itself. */
const ownScope = (type: ResourceType): WriteScope => ({
  type,
  namespace: '',
  name: '',
  subresource: '',
  user: serverUser,
  dryRun: false,
  fieldManager: 'borough',
  options: {},
  warn: () => {},
  caller: { signal: new AbortController().signal },
})

/** Rights are remembered as long as watches can resume from memory. */
const grantHistory = { changes: defaultWindowLimits.changes, ageMs: defaultWindowLimits.ageMs }

/** What conversion webhooks made, kept for the next reader. */
const convertedBytes = 64 * 1024 * 1024

function rbacSource(lister: Lister, typeOf: (gvr: GroupVersionResource) => ResourceType): RbacSource {
  const resources = {
    ClusterRole: clusterRolesResource,
    ClusterRoleBinding: clusterRoleBindingsResource,
    Role: rolesResource,
    RoleBinding: roleBindingsResource,
    Namespace: namespaceResource,
  } as const
  return {
    subscribe: (kind, listener) => lister.subscribe(typeOf(resources[kind]), listener),
    findNamespace: (name) => lister.find(typeOf(namespaceResource), '', name)?.object,
  }
}

function serviceRanges(lister: Lister, type: ResourceType): ServiceRanges {
  const ranges = new ServiceRanges()
  lister.subscribe(type, (next, old) => {
    const name = next?.name ?? old?.name ?? ''
    ranges.changed(name, next?.object as ServiceCidr | undefined)
  })
  return ranges
}
