/** Nodes. @see pkg/registry/core/node/strategy.go, pkg/apis/core/v1/defaults.go of Kubernetes 1.36 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf, wide } from '../cell-text.ts'
import { type DefaultRule, findStruct } from '../default-rules.ts'
import { booleanAt, conditionAt, listAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWith } from '../kind.ts'
import { selectableAt } from '../selectable-fields.ts'
import { checkNode } from './node-validation.ts'

const defaultStatus: DefaultRule = (status) => {
  const capacity = findStruct(status, 'capacity')
  if (capacity && status.allocatable === undefined) status.allocatable = { ...capacity }
}

function nodeRoles(node: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/'
  const roles = Object.entries(node.metadata.labels ?? {}).map(([key, value]) => {
    if (key.startsWith(prefix)) return key.slice(prefix.length)
    return key === 'kubernetes.io/role' ? value : ''
  })
  return [...new Set(roles.filter((r) => r !== ''))].sort().join(',') || '<none>'
}

function nodeStatus(node: KubeObject): string {
  const ready = conditionAt(node, 'Ready')
  const status = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return booleanAt(node, 'spec', 'unschedulable') ? `${status},SchedulingDisabled` : status
}

function nodeAddress(node: KubeObject, type: string): string {
  const found = listAt(node, 'status', 'addresses').find((a) => textAt(a, 'type') === type)
  return found === undefined ? '<none>' : textAt(found, 'address')
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it takes pods.'),
    column('Roles', 'string', 'What it is for, from its labels.'),
    ageColumn,
    column('Version', 'string', 'The version of its kubelet.'),
    wide('Internal-IP', 'string', 'Its address inside.'),
    wide('External-IP', 'string', 'Its address outside.'),
    wide('OS-Image', 'string', 'Its operating system.'),
    wide('Kernel-Version', 'string', 'Its kernel.'),
    wide('Container-Runtime', 'string', 'What runs its containers.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    nodeStatus(o),
    nodeRoles(o),
    ageOf(o, now),
    textAt(o, 'status', 'nodeInfo', 'kubeletVersion'),
    nodeAddress(o, 'InternalIP'),
    nodeAddress(o, 'ExternalIP'),
    textAt(o, 'status', 'nodeInfo', 'osImage') || '<unknown>',
    textAt(o, 'status', 'nodeInfo', 'kernelVersion') || '<unknown>',
    textAt(o, 'status', 'nodeInfo', 'containerRuntimeVersion') || '<unknown>',
  ],
}

export const node: BuiltInKind = {
  shortNames: ['no'],
  streamKinds: { proxy: 'NodeProxyOptions' },
  strategy: {
    validate: validateWith(checkNode),
    keepsNewStatus: true,
    selectableFields: { 'spec.unschedulable': selectableAt('spec.unschedulable', 'false') },
  },
  defaults: { 'io.k8s.api.core.v1.NodeStatus': [defaultStatus] },
  columns,
}
