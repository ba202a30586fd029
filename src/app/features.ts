/**
 * What the server is made of, in the order in which it is opened. A feature that is optional can be left out here:
 * mirror pods, population, webhooks; own namespaces are a flag of the authorizer.
 */

import { inAdmissionOrder } from '../admission/admission-order.ts'
import { admissionPolicies } from '../apis/admissionpolicies/feature.ts'
import { apiServices } from '../apis/apiservices/feature.ts'
import { certificates } from '../apis/certificates/feature.ts'
import { classes } from '../apis/classes/feature.ts'
import { clusterResourceQuotas } from '../apis/clusterquotas/feature.ts'
import type { AdmissionSettings } from '../apis/controlplane/admission-settings.ts'
import { customResourceDefinitions } from '../apis/crds/feature.ts'
import { eventExpiry } from '../apis/events/feature.ts'
import { ExpiryClock, type ExpiryTemplates, expiry, hasExpired, settledExpiry } from '../apis/expiry/feature.ts'
import { flowControlFeature } from '../apis/flowschemas/feature.ts'
import { garbageCollection } from '../apis/garbage-collection/feature.ts'
import { InitializerConfigurations, initializers, NamespaceHold } from '../apis/initializers/feature.ts'
import { limitRanges } from '../apis/limits/feature.ts'
import { mirrorPods } from '../apis/mirrorpods/feature.ts'
import { namespaces } from '../apis/namespaces/feature.ts'
import { pods } from '../apis/pods/feature.ts'
import { resourceQuotas } from '../apis/quotas/feature.ts'
import { rbac } from '../apis/rbac/feature.ts'
import { serviceAccounts } from '../apis/serviceaccounts/feature.ts'
import { services } from '../apis/services/feature.ts'
import { population, selectTemplates, TemplateIndex, templateControllerName } from '../apis/templates/feature.ts'
import { webhooks } from '../apis/webhooks/feature.ts'
import { controllersLease } from '../controller/lease.ts'
import type { ControllerRules, Feature, FeatureParts } from '../feature/feature.ts'
import type { RegistryDeps } from '../registry/parts.ts'
import { isShared } from '../storage/storage-choice.ts'
import type { Config } from './config.ts'

/** What the wiring hands to features. */
export interface FeatureDeps {
  readonly admission: AdmissionSettings
  readonly caCert: string
  readonly signClientCertificate: Parameters<typeof certificates>[0]
  readonly flowControl: Parameters<typeof flowControlFeature>[0]
}

export interface Features {
  readonly list: readonly Feature[]
  /** Creates of namespaces that wait. */
  readonly hold: NamespaceHold
}

export function featuresOf(config: Config, deps: FeatureDeps): Features {
  const hold = new NamespaceHold(config.clock)
  const configurations = new InitializerConfigurations()
  const templates = new TemplateIndex()
  const expiryClock = new ExpiryClock(config.clock)
  const ends: ExpiryTemplates = {
    templatesOf: (namespace) => selectTemplates(templates.matchers(), namespace),
    anyTemplateExpires: () => templates.anyExpires(),
  }
  const isGated = config.featureGates.NamespaceInitializers
  return {
    hold,
    list: [
      customResourceDefinitions,
      namespaces({
        extraAdmission: config.extraAdmission,
        initializers: isGated,
        deadlineOf: (namespace, initializer) => configurations.deadlineOf(namespace, initializer),
        settleExpiry: settledExpiry({ clock: expiryClock, ...ends }),
        hasExpired: hasExpired(expiryClock),
      }),
      serviceAccounts(deps.caCert),
      rbac,
      garbageCollection(config),
      eventExpiry,
      limitRanges,
      services({ ranges: config.serviceRanges, nodePorts: config.serviceNodePorts }),
      resourceQuotas(deps.admission.limitedResources),
      clusterResourceQuotas({ isShared: isShared(config), recordsCreators: config.population || isGated }),
      pods(deps.admission.podSecurity),
      classes,
      certificates(deps.signClientCertificate),
      apiServices,
      flowControlFeature(deps.flowControl),
      admissionPolicies,
      webhooks(deps.admission.webhookKubeconfigs),
      mirrorPods(config.manifests),
      initializers({
        enabled: isGated,
        configurations,
        hold,
        isPopulated: (namespace) => templates.isMatched(namespace),
      }),
      expiry({ ...ends, expiryClock, controllersLease }),
      population({
        enabled: config.population,
        hasInitializers: isGated,
        templates,
        // What the audit log is to tell of comes by requests of its own.
        populatesOnCreate:
          config.population && isGated && config.controllers(templateControllerName) && config.audit === undefined,
      }),
    ],
  }
}

export const controllerRulesOf = (list: readonly Feature[]): ControllerRules =>
  Object.fromEntries(list.flatMap(({ controllerRules = {} }) => Object.entries(controllerRules)))

type Deciding = Required<Pick<RegistryDeps, 'admission' | 'accountants' | 'beforeRead' | 'projections'>>

/** What features have to say about requests. */
export const decidingParts = (parts: readonly FeatureParts[]): Deciding => ({
  admission: inAdmissionOrder(parts.flatMap(({ admission = [] }) => admission)),
  accountants: parts.flatMap(({ accountants = [] }) => accountants),
  beforeRead: new Map(parts.flatMap(({ beforeRead = [] }) => [...beforeRead])),
  projections: new Map(parts.flatMap(({ projections = [] }) => [...projections])),
})
