/** The core group. */
import type { DefaultRules } from '../default-rules.ts'
import type { BuiltInKinds } from '../kind.ts'
import { componentStatus } from './component-status.ts'
import { configMap } from './config-map.ts'
import { containerDefaults } from './container.ts'
import { endpoints } from './endpoints.ts'
import { coreEvent, newEvent } from './event.ts'
import { limitRange } from './limit-range.ts'
import { namespace } from './namespace.ts'
import { node } from './node.ts'
import { persistentVolume } from './persistent-volume.ts'
import { persistentVolumeClaim } from './persistent-volume-claim.ts'
import { pod } from './pod.ts'
import { podSpecDefaults } from './pod-spec.ts'
import { podTemplate } from './pod-template.ts'
import { probeDefaults } from './probe.ts'
import { replicationController } from './replication-controller.ts'
import { resourceQuota } from './resource-quota.ts'
import { secret } from './secret.ts'
import { service } from './service.ts'
import { serviceAccount } from './service-account.ts'
import { volumeDefaults } from './volumes.ts'

export const coreKinds: BuiltInKinds = {
  componentstatuses: componentStatus,
  configmaps: configMap,
  endpoints: endpoints,
  events: coreEvent,
  limitranges: limitRange,
  namespaces: namespace,
  nodes: node,
  persistentvolumeclaims: persistentVolumeClaim,
  persistentvolumes: persistentVolume,
  pods: pod,
  podtemplates: podTemplate,
  replicationcontrollers: replicationController,
  resourcequotas: resourceQuota,
  secrets: secret,
  serviceaccounts: serviceAccount,
  services: service,
  'events.events.k8s.io': newEvent,
}

/** Of the types inside pods and their templates. */
export const sharedCoreDefaults: readonly DefaultRules[] = [
  podSpecDefaults,
  containerDefaults,
  probeDefaults,
  volumeDefaults,
]
