/**
 * The only file that names concrete classes: it makes the house out of its parts. The order is that in which state
 * flows: storage → watch cache → registry, admission and authorization → pipeline → clients.
 */
import type { AdmissionPlugin } from '../admission/admission.ts'
import { policyAuthors } from '../apis/admissionpolicies/author-rights.ts'
import { compileMutating, mutatingPolicies, type ObservedMutation } from '../apis/admissionpolicies/mutating.ts'
import { PolicyIndex } from '../apis/admissionpolicies/policy-index.ts'
import {
  bindingResource,
  mutatingBindingResource,
  mutatingPolicyResource,
  policyResource,
} from '../apis/admissionpolicies/types.ts'
import { compileValidating, validatingPolicies } from '../apis/admissionpolicies/validating.ts'
import { apiServicesResource } from '../apis/apiservices/types.ts'
import { signingRequestAdmission } from '../apis/certificates/admission.ts'
import type { ClassLookup } from '../apis/classes/class-lookup.ts'
import {
  defaultIngressClass,
  defaultStorageClass,
  ingressClassResource,
  storageClassResource,
} from '../apis/classes/default-class.ts'
import { podPriority, priorityClassResource } from '../apis/classes/priority.ts'
import { podRuntime, runtimeClassResource } from '../apis/classes/runtime-class.ts'
import { definitionLifecycle } from '../apis/crds/admission.ts'
import { CustomResources } from '../apis/crds/serve.ts'
import { definitionResource } from '../apis/crds/types.ts'
import { WebhookConversion } from '../apis/crds/webhook-conversion.ts'
import { namespaceInitializers } from '../apis/initializers/admission.ts'
import { deadlineOf, mergeConfigurations, pendingInitializers } from '../apis/initializers/configurations.ts'
import { NamespaceHold } from '../apis/initializers/hold.ts'
import { initializerConfigurationResource, type NamespaceInitializerConfiguration } from '../apis/initializers/types.ts'
import { limitRanger } from '../apis/limits/admission.ts'
import { type LimitRange, limitRangeResource } from '../apis/limits/types.ts'
import {
  namespaceAutoProvision,
  namespaceExists,
  namespaceFinalization,
  namespaceLifecycle,
} from '../apis/namespaces/admission.ts'
import type { NamespaceContent } from '../apis/namespaces/content.ts'
import type { NamespaceLookup } from '../apis/namespaces/lookup.ts'
import { reservedResourceNames } from '../apis/namespaces/reserved-names.ts'
import { type Namespace, namespaceResource } from '../apis/namespaces/types.ts'
import { defaultTolerations } from '../apis/pods/default-tolerations.ts'
import { nodeResource, podResource } from '../apis/pods/types.ts'
import { quotaAccountant } from '../apis/quotas/accountant.ts'
import { quotaResource } from '../apis/quotas/types.ts'
import { rbacAdmission } from '../apis/rbac/admission.ts'
import { serviceAccountAdmission } from '../apis/serviceaccounts/admission.ts'
import { namespaceBirth } from '../apis/serviceaccounts/birth.ts'
import { addressProtection } from '../apis/services/admission.ts'
import { serviceAllocator } from '../apis/services/allocator.ts'
import { ServiceRanges } from '../apis/services/service-ranges.ts'
import {
  endpointSliceResource,
  ipAddressResource,
  type ServiceCidr,
  serviceCidrResource,
  serviceResource,
} from '../apis/services/types.ts'
import { namespaceTemplates } from '../apis/templates/admission.ts'
import { autoOptOut, populationConfig } from '../apis/templates/auto-opt-out.ts'
import { compileMatcher, type Matcher, matching } from '../apis/templates/match.ts'
import { type NamespaceTemplate, templateResource } from '../apis/templates/types.ts'
import type { ObservedCall } from '../apis/webhooks/call-hook.ts'
import { HookIndex } from '../apis/webhooks/hook-index.ts'
import { mutatingWebhooks } from '../apis/webhooks/mutating.ts'
import { serviceResolver } from '../apis/webhooks/service-resolver.ts'
import { configurationResources } from '../apis/webhooks/types.ts'
import { validatingWebhooks } from '../apis/webhooks/validating.ts'
import type { Authorizer } from '../authz/authz.ts'
import { NamespaceGrants } from '../authz/namespace-grants.ts'
import { RbacAuthorizer } from '../authz/rbac-authorizer.ts'
import type { RbacSource } from '../authz/rbac-source.ts'
import { mastersAuthorizer, unionAuthorizer } from '../authz/union-authorizer.ts'
import { SizedCache } from '../base/sized-cache.ts'
import { type Catalog, loadCatalog } from '../catalog/catalog.ts'
import { WebhookClient } from '../client/webhook-client.ts'
import type { AskPermission } from '../kube/cel/library/authorizer.ts'
import { ruleErrors } from '../kube/cel/object-rules.ts'
import type { FieldError } from '../kube/field-error.ts'
import { apiVersionOf, type GroupVersionResource, parseApiVersion } from '../kube/gvk.ts'
import type { NameView } from '../kube/name-view.ts'
import {
  clusterRoleBindingsResource,
  clusterRolesResource,
  type Role,
  roleBindingsResource,
  rolesResource,
} from '../kube/rbac.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { decodeObject } from '../kube/schema/decode-object.ts'
import { validateListTypes } from '../kube/schema/list-types.ts'
import { patternsOfOneValidation } from '../kube/schema/pattern.ts'
import { validateMember, validateSchema } from '../kube/schema/validate.ts'
import { formatTime } from '../kube/time.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import { CacheLister } from '../registry/cache-lister.ts'
import { FoldedCommits } from '../registry/folded-commits.ts'
import { createRegistry } from '../registry/generic-registry.ts'
import type { SchemaUpdate } from '../registry/parts.ts'
import type { Lister, Registry, StoredObject, WriteScope } from '../registry/registry.ts'
import type { Strategy } from '../registry/strategy.ts'
import type { Storage, Transaction } from '../storage/storage.ts'
import { defaultWindowLimits } from '../watch/change-window.ts'
import { spanOf } from '../watch/type-cache.ts'
import { WatchCache } from '../watch/watch-cache.ts'
import { type AdmissionName, admissionOrder, ownKinds, templateKind } from './catalog.ts'
import type { Config } from './config.ts'
import { endWatches } from './custom-resources.ts'
import { asShownBy, trackWrites } from './field-ownership.ts'
import { serverUser } from './identities.ts'
import { contentIndex } from './namespace-content.ts'
import { newObjectWriter } from './own-objects.ts'
import { StoredEpochs } from './quota-epochs.ts'
import { isShared } from './storage.ts'
import { strategies } from './strategies.ts'
import { checkTemplateObject } from './template-objects.ts'

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
  nodeExists(name: string): boolean
  /** Admission webhooks are asked from this call on. */
  startWebhooks(): void
  strategyOf(type: ResourceType): Strategy
}

/** What the core tells of its work; set once there is somebody to listen. */
export interface Observers {
  webhookCalled(call: ObservedCall): void
  policyMutated(mutation: ObservedMutation): void
}

export async function wireCore(config: Config, storage: Storage, caPem: string, observers: Observers): Promise<Core> {
  const { clock, ids, log } = config
  const catalog = loadCatalog()
  // Without population this is a cluster like any other, on which the kind can be a custom one.
  const kinds = config.population ? ownKinds : ownKinds.filter(({ kind }) => kind !== templateKind)
  const ownTypes = kinds.map((kind) => catalog.declare(kind))
  catalog.types.change({ add: ownTypes })
  const typeOf = (gvr: GroupVersionResource): ResourceType => {
    const type = catalog.types.find(gvr)
    if (type === undefined) throw new Error(`the catalogue lacks ${gvr.resource} in ${apiVersionOf(gvr)}`)
    return type
  }

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
  const customResources = new CustomResources({
    types: catalog.types,
    lister,
    objectMeta: catalog.schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'),
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
  const matchers = config.population ? templateMatchers(lister, typeOf(templateResource)) : new Map<string, Matcher>()
  const initializers = mergedInitializers(lister, typeOf(initializerConfigurationResource))
  const newObject = newObjectWriter(clock, ids)
  const ranges = serviceRanges(lister, typeOf(serviceCidrResource))

  const hooksOf = (phase: keyof typeof configurationResources): HookIndex =>
    new HookIndex({
      lister,
      types: catalog.types,
      configurationType: typeOf(configurationResources[phase]),
      onFault: (configuration, error) => log.error({ configuration, error }, 'a webhook configuration makes no sense'),
    })
  const hooks = { mutating: hooksOf('mutating'), validating: hooksOf('validating') }
  const webhooks = {
    client: webhookClient,
    clock,
    ids,
    log,
    namespaces,
    convert: async (object: KubeObject, from: ResourceType, to: ResourceType) => asShownBy(object, from, to),
    ask: askedOf(authorizer),
    observe: (call: ObservedCall) => observers.webhookCalled(call),
    settle: (type: ResourceType, object: JsonObject) =>
      catalog.applyDefaults(type, decodeObject(object, type).value as unknown as KubeObject),
  }

  const ofPolicies = {
    lister,
    types: catalog.types,
    onFault: (name: string, error: unknown) =>
      log.error({ name, error }, 'an admission policy or its binding makes no sense'),
  }
  const policies = {
    mutating: new PolicyIndex({
      ...ofPolicies,
      policyType: typeOf(mutatingPolicyResource),
      bindingType: typeOf(mutatingBindingResource),
      compile: compileMutating,
    }),
    validating: new PolicyIndex({
      ...ofPolicies,
      policyType: typeOf(policyResource),
      bindingType: typeOf(bindingResource),
      compile: compileValidating,
    }),
  }

  const classesOf = (resource: GroupVersionResource): ClassLookup => classLookup(lister, typeOf(resource))

  const provision = async (name: string): Promise<void> => {
    await registry.create(ownScope(namespaceType), { metadata: { name } })
  }

  const plugins: Partial<Record<AdmissionName, AdmissionPlugin>> = {
    ...(config.extraAdmission.includes('NamespaceAutoProvision')
      ? { NamespaceAutoProvision: namespaceAutoProvision(namespaces, provision) }
      : {}),
    NamespaceLifecycle: namespaceLifecycle(namespaces),
    CustomResourceDefinitions: definitionLifecycle(typeOf(definitionResource)),
    ...(config.extraAdmission.includes('NamespaceExists') ? { NamespaceExists: namespaceExists(namespaces) } : {}),
    // Without templates too: while a namespace waits for its initializers its creator may see it.
    ...(config.population || config.featureGates.NamespaceInitializers
      ? {
          NamespaceTemplates: namespaceTemplates({
            authorizer,
            matchers: () => matchers.values(),
            optsOutAutomatically: autoOptOut(() => {
              const { namespace, name } = populationConfig
              return config.population ? lister.find(typeOf(configMapsResource), namespace, name)?.object : undefined
            }),
            findKind(apiVersion, kind) {
              const gv = parseApiVersion(apiVersion)
              return gv && catalog.types.findKind({ ...gv, kind })
            },
            checkObject(object) {
              const gv = parseApiVersion(String(object['apiVersion'] ?? ''))
              const type = gv && catalog.types.findKind({ ...gv, kind: String(object['kind'] ?? '') })
              if (type === undefined) return { errors: [], warnings: [] }
              const { applyDefaults } = catalog
              const now = (): string => formatTime(clock.now())
              return checkTemplateObject(
                { applyDefaults, strategyOf, validateSchema: schemaErrorsOf, now },
                type,
                object,
              )
            },
            findClusterRole: (name) => lister.find(typeOf(clusterRolesResource), '', name)?.object as Role | undefined,
          }),
        }
      : {}),
    ...(config.featureGates.NamespaceInitializers
      ? {
          NamespaceInitializers: namespaceInitializers({
            lookup: namespaces,
            authorizer,
            pendingFor: (namespace) =>
              pendingInitializers(initializers(), namespace, matching(matchers.values(), namespace).length > 0),
          }),
        }
      : {}),
    NamespaceFinalization: namespaceFinalization(content),
    ReservedResourceNames: reservedResourceNames,
    LimitRanger: limitRanger({
      of: (namespace) => [...lister.list(typeOf(limitRangeResource), namespace)].map((o) => o.object as LimitRange),
      refresh: () => lister.refresh(),
    }),
    ServiceAccount: serviceAccountAdmission({
      find: (namespace, name) => lister.find(typeOf(serviceAccountsResource), namespace, name)?.object,
      refresh: () => lister.refresh(),
      nameSuffix: () => ids.nameSuffix(),
    }),
    Priority: podPriority(classesOf(priorityClassResource)),
    DefaultTolerationSeconds: defaultTolerations,
    DefaultStorageClass: defaultStorageClass(classesOf(storageClassResource)),
    RuntimeClass: podRuntime(classesOf(runtimeClassResource)),
    DefaultIngressClass: defaultIngressClass(classesOf(ingressClassResource)),
    NamespaceBirth: namespaceBirth({ caPem, newObject }),
    MutatingAdmissionPolicy: mutatingPolicies({
      ...webhooks,
      index: policies.mutating,
      lister,
      types: catalog.types,
      schemaOf: (kind) => catalog.schemaOfKind(kind),
      applyDefaults: (type, object) => catalog.applyDefaults(type, object),
      observe: (mutation) => observers.policyMutated(mutation),
    }),
    ValidatingAdmissionPolicy: validatingPolicies({
      ...webhooks,
      index: policies.validating,
      lister,
      types: catalog.types,
    }),
    MutatingAdmissionWebhook: mutatingWebhooks({ ...webhooks, index: hooks.mutating }),
    ValidatingAdmissionWebhook: validatingWebhooks({ ...webhooks, index: hooks.validating }),
    AdmissionPolicyAuthors: policyAuthors({ authorizer, lister, types: catalog.types }),
    IpAddressProtection: addressProtection(typeOf(serviceResource)),
    CertificateSigningRequests: signingRequestAdmission(authorizer),
    RbacEscalation: rbacAdmission({
      authorizer,
      findRole: (namespace, name) =>
        lister.find(typeOf(namespace === '' ? clusterRolesResource : rolesResource), namespace, name)?.object as
          | Role
          | undefined,
    }),
  }

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
      nodeExists,
      initializerDeadline: (namespace, initializer) => deadlineOf(initializers(), namespace, initializer),
    },
  )
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
    admission: admissionOrder.flatMap((name) => plugins[name] ?? []),
    accountants: [
      serviceAllocator({
        addressType: typeOf(ipAddressResource),
        nodePorts: config.serviceNodePorts,
        ranges: (family) => ranges.of(family),
        newObject,
        random: Math.random,
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
    nodeExists,
    strategyOf,
    startWebhooks() {
      policies.mutating.start()
      policies.validating.start()
      hooks.mutating.start()
      hooks.validating.start()
    },
    async [Symbol.asyncDispose]() {
      webhookClient[Symbol.dispose]()
      await cache[Symbol.asyncDispose]()
    },
  }
}

/** Rights are remembered as long as watches can resume from memory. */
const grantHistory = { changes: defaultWindowLimits.changes, ageMs: defaultWindowLimits.ageMs }

const serviceAccountsResource = { group: '', version: 'v1', resource: 'serviceaccounts' } as const
/** How expressions ask whether somebody may do something. */
const askedOf =
  (authorizer: Authorizer): AskPermission =>
  (user, verb, what) =>
    authorizer.authorize('path' in what ? { user, verb, path: what.path } : { user, verb, ...what })

/** What conversion webhooks made, kept for the next reader. */
const convertedBytes = 64 * 1024 * 1024

const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' } as const

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

/** What is wrong with an object by its schema. List types that were wrong before do not stop an update. */
function schemaErrors(type: ResourceType, object: KubeObject, update: SchemaUpdate | undefined): FieldError[] {
  const value = object as unknown as JsonObject
  const before = update?.old as unknown as JsonObject | undefined
  const compilePattern = patternsOfOneValidation()
  const isStatus = type.custom && update?.subresource === 'status'
  const errors = isStatus
    ? validateMember('status', value, type.schema, { compilePattern }, before)
    : validateSchema(value, type.schema, { compilePattern }, before)
  if (!type.custom) return errors
  if (before === undefined || validateListTypes(before, type.schema).length === 0) {
    errors.push(...validateListTypes(value, type.schema))
  }
  const old = before && { value: before, warn: (text: string) => update?.warn(text) }
  return [...errors, ...ruleErrors(value, type.schema, old, errors)]
}

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

/** Templates with their selectors parsed, following the store. */
function templateMatchers(lister: Lister, type: ResourceType): ReadonlyMap<string, Matcher> {
  const matchers = new Map<string, Matcher>()
  lister.subscribe(type, (next: StoredObject | undefined, old: StoredObject | undefined) => {
    if (next) matchers.set(next.name, compileMatcher(next.object as NamespaceTemplate))
    else if (old) matchers.delete(old.name)
  })
  return matchers
}

function serviceRanges(lister: Lister, type: ResourceType): ServiceRanges {
  const ranges = new ServiceRanges()
  lister.subscribe(type, (next, old) => {
    const name = next?.name ?? old?.name ?? ''
    ranges.changed(name, next?.object as ServiceCidr | undefined)
  })
  return ranges
}

/** Whoever looks for the default looks at all: the list is made anew only when one of them changed. */
function classLookup(lister: Lister, type: ResourceType): ClassLookup {
  let all: readonly KubeObject[] | undefined
  lister.subscribe(type, () => {
    all = undefined
  })
  return {
    find: (name) => lister.find(type, '', name)?.object,
    all: () => (all ??= [...lister.list(type, '')].map(({ object }) => object)),
    refresh: () => lister.refresh(),
  }
}

/** All initializer configurations as one list, made anew only when one of them changed. */
function mergedInitializers(lister: Lister, type: ResourceType): () => ReturnType<typeof mergeConfigurations> {
  let merged: ReturnType<typeof mergeConfigurations> | undefined
  lister.subscribe(type, () => {
    merged = undefined
  })
  return () => {
    merged ??= mergeConfigurations([...lister.list(type, '')].map((s) => s.object as NamespaceInitializerConfiguration))
    return merged
  }
}
