/**
 * The admission plugins, each with what it may know of the house. In which order they are asked stands in `catalog.ts`.
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
import { compileValidating, type ObservedCheck, validatingPolicies } from '../apis/admissionpolicies/validating.ts'
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
import { type CustomResourceDefinition, definitionResource } from '../apis/crds/types.ts'
import { namespaceInitializers } from '../apis/initializers/admission.ts'
import { pendingInitializers } from '../apis/initializers/configurations.ts'
import type { NamespaceInitializer } from '../apis/initializers/types.ts'
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
import { defaultTolerations } from '../apis/pods/default-tolerations.ts'
import { type ObservedFault, type ObservedJudgement, podSecurity } from '../apis/pods/security/admission.ts'
import { podResource } from '../apis/pods/types.ts'
import { rbacAdmission } from '../apis/rbac/admission.ts'
import { serviceAccountAdmission } from '../apis/serviceaccounts/admission.ts'
import { namespaceBirth } from '../apis/serviceaccounts/birth.ts'
import { addressProtection } from '../apis/services/admission.ts'
import { serviceResource } from '../apis/services/types.ts'
import { namespaceTemplates } from '../apis/templates/admission.ts'
import { autoOptOut, populationConfig } from '../apis/templates/auto-opt-out.ts'
import { namespacePopulation } from '../apis/templates/birth.ts'
import type { Births } from '../apis/templates/births.ts'
import { compileMatcher, type Matcher, matching } from '../apis/templates/match.ts'
import { type NamespaceTemplate, templateControllerName, templateResource } from '../apis/templates/types.ts'
import type { ObservedCall } from '../apis/webhooks/call-hook.ts'
import { HookIndex } from '../apis/webhooks/hook-index.ts'
import { mutatingWebhooks } from '../apis/webhooks/mutating.ts'
import { configurationResources } from '../apis/webhooks/types.ts'
import { validatingWebhooks } from '../apis/webhooks/validating.ts'
import type { Authorizer } from '../authz/authz.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { WebhookClient } from '../client/webhook-client.ts'
import type { AskPermission } from '../kube/cel/library/authorizer.ts'
import type { FieldError } from '../kube/field-error.ts'
import { type GroupVersionResource, parseApiVersion } from '../kube/gvk.ts'
import { clusterRolesResource, type Role, rolesResource } from '../kube/rbac.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { decodeObject } from '../kube/schema/decode-object.ts'
import { formatTime } from '../kube/time.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import { serviceAccountUser } from '../kube/user.ts'
import { asShownBy, firstApplied } from '../registry/field-ownership.ts'
import type { Lister, StoredObject } from '../registry/registry.ts'
import type { Strategy } from '../registry/strategy.ts'
import { type AdmissionName, admissionOrder } from './catalog.ts'
import type { Config } from './config.ts'
import { madeOfAll } from './made-of-all.ts'
import type { NewObject } from './own-objects.ts'
import { checkTemplateObject } from './template-objects.ts'

export interface AdmissionParts {
  readonly config: Config
  readonly catalog: Catalog
  readonly lister: Lister
  readonly authorizer: Authorizer
  readonly namespaces: NamespaceLookup
  readonly content: NamespaceContent
  readonly webhookClient: WebhookClient
  readonly caPem: string
  readonly observers: AdmissionObservers
  readonly newObject: NewObject
  readonly births: Births
  /** All configurations merged. */
  readonly initializers: () => readonly NamespaceInitializer[]
  typeOf(resource: GroupVersionResource): ResourceType
  strategyOf(type: ResourceType): Strategy
  validateSchema(type: ResourceType, object: KubeObject): FieldError[]
  /** As the server itself. */
  create(type: ResourceType, object: KubeObject): Promise<void>
}

/** What admission tells of its work; set once there is somebody to listen. */
export interface AdmissionObservers {
  webhookCalled(call: ObservedCall): void
  /** With what its templates hold. */
  namespaceBorn(): void
  policyMutated(mutation: ObservedMutation): void
  policyChecked(check: ObservedCheck): void
  podJudged(judgement: ObservedJudgement): void
  podJudgementFailed(fault: ObservedFault): void
}

export interface Admission {
  /** In the order in which they are asked. */
  readonly plugins: readonly AdmissionPlugin[]
  /** Webhooks and policies are asked from this call on. */
  start(): void
}

export function admissionPlugins(parts: AdmissionParts): Admission {
  const { config, catalog, lister, authorizer, namespaces, content, webhookClient, caPem, observers } = parts
  const { newObject, births, initializers, strategyOf, typeOf } = parts
  const { clock, ids, log } = config
  const matchers = config.population ? templateMatchers(lister, typeOf(templateResource)) : new Map<string, Matcher>()

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

  const findKind = (apiVersion: string, kind: string): ResourceType | undefined => {
    const gv = parseApiVersion(apiVersion)
    return gv && catalog.types.findKind({ ...gv, kind })
  }

  const provision = async (name: string): Promise<void> => {
    await parts.create(namespaces.type, { metadata: { name } })
  }

  const plugins: Partial<Record<AdmissionName, AdmissionPlugin>> = {
    ...(config.extraAdmission.includes('NamespaceAutoProvision')
      ? { NamespaceAutoProvision: namespaceAutoProvision(namespaces, provision) }
      : {}),
    NamespaceLifecycle: namespaceLifecycle(namespaces),
    CustomResourceDefinitions: definitionLifecycle(
      typeOf(definitionResource),
      (name) => lister.find(typeOf(definitionResource), '', name)?.object as CustomResourceDefinition | undefined,
    ),
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
            findKind,
            checkObject(object) {
              const type = findKind(String(object['apiVersion'] ?? ''), String(object['kind'] ?? ''))
              if (type === undefined) return { errors: [], warnings: [] }
              const { applyDefaults } = catalog
              const now = (): string => formatTime(clock.now())
              return checkTemplateObject(
                { applyDefaults, strategyOf, validateSchema: parts.validateSchema, now },
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
    LimitRanger: limitRanger({
      of: (namespace) => [...lister.list(typeOf(limitRangeResource), namespace)].map((o) => o.object as LimitRange),
      refresh: () => lister.refresh(),
    }),
    ServiceAccount: serviceAccountAdmission({
      find: (namespace, name) => lister.find(typeOf(serviceAccountsResource), namespace, name)?.object,
      refresh: () => lister.refresh(),
      nameSuffix: () => ids.nameSuffix(),
    }),
    PodSecurity: podSecurity({
      namespaces,
      clock,
      *podsIn(namespace) {
        for (const { object } of lister.list(typeOf(podResource), namespace)) yield object
      },
      judged: (judgement) => observers.podJudged(judgement),
      failed: (fault) => observers.podJudgementFailed(fault),
    }),
    Priority: podPriority(classesOf(priorityClassResource)),
    DefaultTolerationSeconds: defaultTolerations,
    DefaultStorageClass: defaultStorageClass(classesOf(storageClassResource)),
    RuntimeClass: podRuntime(classesOf(runtimeClassResource)),
    DefaultIngressClass: defaultIngressClass(classesOf(ingressClassResource)),
    NamespaceBirth: namespaceBirth({
      caPem,
      serviceAccountType: typeOf(serviceAccountsResource),
      configMapType: typeOf(configMapsResource),
      newObject,
    }),
    // What the audit log is to tell of comes by requests of its own.
    ...(populates(config) && config.audit === undefined
      ? {
          NamespacePopulation: namespacePopulation({
            authorizer,
            templateType: typeOf(templateResource),
            user: serviceAccountUser('kube-system', templateControllerName),
            births,
            observe: () => observers.namespaceBorn(),
            matchers: () => matchers.values(),
            findKind,
            now: () => formatTime(clock.now()),
            firstApplied: firstApplied(clock, (type, object) => catalog.applyDefaults(type, object)),
          }),
        }
      : {}),
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
      observe: (check) => observers.policyChecked(check),
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

  return {
    plugins: admissionOrder.flatMap((name) => plugins[name] ?? []),
    start() {
      policies.mutating.start()
      policies.validating.start()
      hooks.mutating.start()
      hooks.validating.start()
    },
  }
}

/** This process populates namespaces, and holds them back until that is done. */
const populates = ({ population, featureGates, controllers }: Config): boolean =>
  population && featureGates.NamespaceInitializers && controllers(templateControllerName)

const serviceAccountsResource = { group: '', version: 'v1', resource: 'serviceaccounts' } as const
const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' } as const

/** How expressions ask whether somebody may do something. */
const askedOf =
  (authorizer: Authorizer): AskPermission =>
  (user, verb, what) =>
    authorizer.authorize('path' in what ? { user, verb, path: what.path } : { user, verb, ...what })

/** Templates with their selectors parsed, following the store. */
function templateMatchers(lister: Lister, type: ResourceType): ReadonlyMap<string, Matcher> {
  const matchers = new Map<string, Matcher>()
  lister.subscribe(type, (next: StoredObject | undefined, old: StoredObject | undefined) => {
    if (next) matchers.set(next.name, compileMatcher(next.object as NamespaceTemplate))
    else if (old) matchers.delete(old.name)
  })
  return matchers
}

function classLookup(lister: Lister, type: ResourceType): ClassLookup {
  return {
    find: (name) => lister.find(type, '', name)?.object,
    // Whoever looks for the default looks at all.
    all: madeOfAll(lister, type, (objects) => objects),
    refresh: () => lister.refresh(),
  }
}
