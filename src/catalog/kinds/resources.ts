/**
 * What discovery says about resources and the JavaScript client does not know.
 * Keys are `resource` or `resource.group`, as messages name them.
 * @see the ShortNames and Categories methods of pkg/registry/<group>/<resource>/storage in Kubernetes 1.36
 */
import type { Verb } from '../../kube/resource-type.ts'

export const shortNames: Readonly<Record<string, readonly string[]>> = {
  componentstatuses: ['cs'],
  configmaps: ['cm'],
  endpoints: ['ep'],
  events: ['ev'],
  limitranges: ['limits'],
  namespaces: ['ns'],
  nodes: ['no'],
  persistentvolumeclaims: ['pvc'],
  persistentvolumes: ['pv'],
  pods: ['po'],
  replicationcontrollers: ['rc'],
  resourcequotas: ['quota'],
  serviceaccounts: ['sa'],
  services: ['svc'],
  'certificatesigningrequests.certificates.k8s.io': ['csr'],
  'cronjobs.batch': ['cj'],
  'customresourcedefinitions.apiextensions.k8s.io': ['crd', 'crds'],
  'daemonsets.apps': ['ds'],
  'deployments.apps': ['deploy'],
  'events.events.k8s.io': ['ev'],
  'horizontalpodautoscalers.autoscaling': ['hpa'],
  'ingresses.networking.k8s.io': ['ing'],
  'ipaddresses.networking.k8s.io': ['ip'],
  'networkpolicies.networking.k8s.io': ['netpol'],
  'poddisruptionbudgets.policy': ['pdb'],
  'priorityclasses.scheduling.k8s.io': ['pc'],
  'replicasets.apps': ['rs'],
  'statefulsets.apps': ['sts'],
  'storageclasses.storage.k8s.io': ['sc'],
  'volumeattributesclasses.storage.k8s.io': ['vac'],
}

const all = ['all']
const apiExtensions = ['api-extensions']

export const categories: Readonly<Record<string, readonly string[]>> = {
  pods: all,
  replicationcontrollers: all,
  services: all,
  'cronjobs.batch': all,
  'daemonsets.apps': all,
  'deployments.apps': all,
  'horizontalpodautoscalers.autoscaling': all,
  'jobs.batch': all,
  'replicasets.apps': all,
  'statefulsets.apps': all,
  'apiservices.apiregistration.k8s.io': apiExtensions,
  'customresourcedefinitions.apiextensions.k8s.io': apiExtensions,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': apiExtensions,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': apiExtensions,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': apiExtensions,
  'validatingadmissionpolicies.admissionregistration.k8s.io': apiExtensions,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': apiExtensions,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': apiExtensions,
}

/** Resources whose objects live under another name than their plural. */
export const storageNames: Readonly<Record<string, string>> = {
  'events.events.k8s.io': 'events',
}

/** Where discovery disagrees with OpenAPI. */
export const verbExceptions: Readonly<Record<string, readonly Verb[]>> = {
  componentstatuses: ['get', 'list'],
}

/** Kinds of sub-resources whose bodies are streams: OpenAPI has no models for them. */
export const streamKinds: Readonly<Record<string, string>> = {
  'nodes/proxy': 'NodeProxyOptions',
  'pods/attach': 'PodAttachOptions',
  'pods/exec': 'PodExecOptions',
  'pods/portforward': 'PodPortForwardOptions',
  'pods/proxy': 'PodProxyOptions',
  'services/proxy': 'ServiceProxyOptions',
}
