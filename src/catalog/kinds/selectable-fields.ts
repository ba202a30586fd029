/**
 * Fields that field selectors know besides metadata.name and metadata.namespace. Keys are `resource` or
 * `resource.group`.
 * @see AddFieldLabelConversionFunc in pkg/apis/<group>/<version>/conversion.go of Kubernetes 1.36
 */
import type { KubeObject } from '../../kube/types.ts'

export type SelectableFields = Readonly<Record<string, (object: KubeObject) => string>>

/** `a.b` as upstream prints it for selection: absent numbers are 0, absent booleans false. */
const at =
  (path: string, absent = ''): ((object: KubeObject) => string) =>
  (object) => {
    let value: unknown = object
    for (const step of path.split('.')) {
      value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined
    }
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : absent
  }

const fields = (...paths: readonly string[]): SelectableFields => Object.fromEntries(paths.map((p) => [p, at(p)]))
const firstOf =
  (...paths: readonly string[]): ((object: KubeObject) => string) =>
  (object) =>
    paths.map((p) => at(p)(object)).find((v) => v !== '') ?? ''

const eventReference = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

const coreEvent: SelectableFields = {
  ...fields(...eventReference.map((f) => `involvedObject.${f}`), 'reason', 'type'),
  reportingComponent: at('reportingComponent'),
  source: firstOf('source.component', 'reportingComponent'),
}
const newEvent: SelectableFields = {
  ...fields(...eventReference.map((f) => `regarding.${f}`), 'reason', 'type'),
  reportingController: at('reportingController'),
}

export const selectableFields: Readonly<Record<string, SelectableFields>> = {
  events: coreEvent,
  'events.events.k8s.io': newEvent,
  namespaces: fields('status.phase'),
  nodes: { 'spec.unschedulable': at('spec.unschedulable', 'false') },
  pods: {
    ...fields(
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ),
    'spec.hostNetwork': at('spec.hostNetwork', 'false'),
  },
  replicationcontrollers: { 'status.replicas': at('status.replicas', '0') },
  secrets: fields('type'),
  services: fields('spec.clusterIP', 'spec.type'),
  'certificatesigningrequests.certificates.k8s.io': fields('spec.signerName'),
  'jobs.batch': { 'status.successful': at('status.succeeded', '0') },
  'replicasets.apps': { 'status.replicas': at('status.replicas', '0') },
  'resourceslices.resource.k8s.io': fields('spec.nodeName', 'spec.driver'),
}
