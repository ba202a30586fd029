/** What is refused of a status, which any client that is given `<resource>/status` may write. Each whole. */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabelValue, notQualified, notSubdomain } from '../../support/name-faults.ts'

const negative = 'Invalid value: -1: must be greater than or equal to 0'
const tooMany = 'cannot be greater than status.replicas'
const notAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const notReason =
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric ' +
  "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or " +
  "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is " +
  "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
const resizeStatuses =
  '"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", ' +
  '"NodeResizePending"'

const all = (value: number, fields: readonly string[]): Record<string, number> =>
  Object.fromEntries(fields.map((field) => [`status.${field}`, value]))
const below = (fields: readonly string[]): string[] => fields.map((field) => `status.${field}: ${negative}`)

const ofDeployments = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
]
const ofDaemonSets = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
]
const ofStatefulSets = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
]
const ofReplicas = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration']
const ofBudgets = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']
const ofJobs = ['active', 'succeeded', 'failed', 'ready', 'terminating']
const ofAutoscalers = ['currentReplicas', 'desiredReplicas']

type Numbers = readonly [of: FaultRow['of'], fields: readonly string[]]

const numbers: readonly Numbers[] = [
  ['deployment', ofDeployments],
  ['daemonSet', ofDaemonSets],
  ['statefulSet', ofStatefulSets],
  ['replicaSet', [...ofReplicas, 'terminatingReplicas']],
  ['replicationController', ofReplicas],
  ['budget', ofBudgets],
  ['job', ofJobs],
  ['autoscaler', ofAutoscalers],
]

type Parts = readonly [of: FaultRow['of'], fields: readonly string[], ready: string]

const parts: readonly Parts[] = [
  ['deployment', ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'readyReplicas'],
  ['replicaSet', ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'readyReplicas'],
  ['replicationController', ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'readyReplicas'],
  ['statefulSet', ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'], 'status.readyReplicas'],
]

const status = (row: Omit<FaultRow, 'part'>): FaultRow => ({ ...row, part: 'status' })

const collisions = (of: FaultRow['of'], update: number | undefined): FaultRow => ({
  of,
  name: `counts ${update ?? 'no'} collisions after two`,
  first: { part: 'status', update: { 'status.collisionCount': 2 } },
  part: 'status',
  update: { 'status.collisionCount': update },
  faults: [`status.collisionCount: Invalid value: ${update ?? 0}: cannot be decremented`],
})

describeFaults('of numbers in a status', [
  ...numbers.map(([of, fields]) =>
    status({ of, name: 'with numbers below zero', update: all(-1, fields), faults: below(fields) }),
  ),
  ...parts.flatMap(([of, fields, ready]) => [
    status({
      of,
      name: 'with more of some than there are',
      update: { ...all(2, fields), 'status.replicas': 1 },
      faults: fields.map((field) => `status.${field}: Invalid value: 2: ${tooMany}`),
    }),
    status({
      of,
      name: 'with more available than ready',
      update: { 'status.replicas': 2, 'status.readyReplicas': 1, 'status.availableReplicas': 2 },
      faults: [`status.availableReplicas: Invalid value: 2: cannot be greater than ${ready}`],
    }),
  ]),
  collisions('deployment', 1),
  collisions('daemonSet', undefined),
  collisions('statefulSet', 1),
])

describeFaults('of a status', [
  status({
    of: 'job',
    name: 'with pods that are counted twice, and one without a name',
    update: { 'status.uncountedTerminatedPods': { succeeded: ['a', ''], failed: ['a'] } },
    faults: [
      'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
      'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    ],
  }),
  status({
    of: 'budget',
    name: 'with conditions that say nothing',
    update: {
      'status.conditions': [
        { type: 'A', observedGeneration: -1 },
        { type: 'A', status: 'Maybe' },
      ],
    },
    faults: [
      'status.conditions[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
      'status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero',
      'status.conditions[0].lastTransitionTime: Required value',
      'status.conditions[0].reason: Required value',
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      'status.conditions[1].lastTransitionTime: Required value',
      'status.conditions[1].reason: Required value',
    ],
  }),
  status({
    of: 'budget',
    name: 'with conditions whose words are none',
    update: {
      'status.conditions': [
        { type: 'a b', status: 'True', reason: '1', lastTransitionTime: '2026-01-01T00:00:00Z' },
        {
          type: 'B',
          status: 'True',
          reason: 'r'.repeat(1025),
          message: 'ü'.repeat(16_385),
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
    faults: [
      `status.conditions[0].type: Invalid value: "a b": ${notQualified}`,
      `status.conditions[0].reason: Invalid value: "1": ${notReason}`,
      'status.conditions[1].reason: Too long: may not be more than 1024 bytes',
      'status.conditions[1].message: Too long: may not be more than 32768 bytes',
    ],
  }),
  status({
    of: 'claim',
    name: 'with amounts that no volume has',
    update: {
      'status.capacity': { storage: '-1Gi' },
      'status.allocatedResources': { 'a b': '1', cpu: '1', 'ex.io/iops': '-2', storage: '-500m' },
      'status.allocatedResourceStatuses': { 'kubernetes.io/iops': 'NodeResizePending', storage: 'Some' },
    },
    faults: [
      'status.capacity[storage]: Invalid value: -1073741824: must be a valid resource quantity',
      'status.allocatedResourceStatuses: Unsupported value: "kubernetes.io/iops": supported values: "storage"',
      `status.allocatedResourceStatuses: Unsupported value: "storage": supported values: ${resizeStatuses}`,
      `status.allocatedResources: Invalid value: "a b": ${notQualified}`,
      'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
      'status.allocatedResources[ex.io/iops]: Invalid value: -2: must be a valid resource quantity',
      'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
    ],
  }),
  status({
    of: 'service',
    name: 'that has no load balancer, with an address of one',
    update: { 'status.loadBalancer.ingress': [{ ip: '1.2.3.4' }] },
    faults: ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"],
  }),
  status({
    of: 'service',
    name: 'with addresses of a load balancer that are none',
    put: { 'spec.type': 'LoadBalancer' },
    update: {
      'status.loadBalancer.ingress': [
        { ip: 'a' },
        { hostname: 'A', ipMode: 'VIP' },
        { ip: '1.2.3.4', ipMode: 'Some' },
        { hostname: '1.2.3.4' },
      ],
    },
    faults: [
      `status.loadBalancer.ingress[0].ip: Invalid value: "a": ${notAddress}`,
      'status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set',
      `status.loadBalancer.ingress[1].hostname: Invalid value: "A": ${notSubdomain}`,
      'status.loadBalancer.ingress[2].ipMode: Unsupported value: "Some": supported values: "Proxy", "VIP"',
      'status.loadBalancer.ingress[3].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    ],
  }),
  status({
    of: 'pod',
    name: 'of another class',
    update: { 'status.qosClass': 'Guaranteed' },
    faults: ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
  }),
  status({
    of: 'pod',
    name: 'with what no node says of one',
    update: {
      'status.conditions': [
        { type: 'Ready', status: 'True', observedGeneration: -1 },
        { type: 'a b', status: 'True' },
      ],
      'status.nominatedNodeName': 'A',
      'status.observedGeneration': -1,
      'status.podIP': 'a',
      'status.hostIP': '10.0.0.2',
      'status.hostIPs': [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }],
    },
    faults: [
      'status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer',
      `status.conditions[1].Type: Invalid value: "a b": ${notQualified}`,
      `status.nominatedNodeName: Invalid value: "A": ${notSubdomain}`,
      'status.observedGeneration: Invalid value: -1: must be a non-negative integer',
      `status.podIPs[0]: Invalid value: "a": ${notAddress}`,
      'status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`',
      'status.hostIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for ' +
        'each IP family',
    ],
  }),
])

describeFaults('of nodes', [
  {
    of: 'node',
    name: 'with networks, taints and amounts that there are not',
    put: {
      'spec.podCIDRs': ['a', '10.0.0.0/24'],
      'spec.taints': [
        { key: 'a b', effect: 'NoSchedule', value: 'a b' },
        { key: 'a', effect: 'Some' },
        { key: 'a' },
        { key: 'b', effect: 'NoExecute' },
        { key: 'b', effect: 'NoExecute' },
      ],
      'status.capacity': { cpu: '-1', pods: '1.5' },
      'status.allocatable': { 'ex.io/gpu': '500m' },
    },
    faults: [
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.capacity.pods: Invalid value: "1500m": must be an integer',
      'status.allocatable.ex.io/gpu: Invalid value: "500m": must be an integer',
      'spec.podCIDRs[0]: Invalid value: "a": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      'spec.podCIDRs: Invalid value: ["a","10.0.0.0/24"]: may specify no more than one CIDR for each IP family',
      `metadata.taints[0].key: Invalid value: "a b": ${notQualified}`,
      `metadata.taints[0].value: Invalid value: "a b": ${notLabelValue}`,
      'metadata.taints[1].effect: Unsupported value: "Some": supported values: "NoSchedule", "PreferNoSchedule", ' +
        '"NoExecute"',
      'metadata.taints[2].effect: Required value',
      'metadata.taints[4]: Duplicate value: {"key":"b","effect":"NoExecute"}: taints must be unique by key and ' +
        'effect pair',
    ],
  },
  {
    of: 'node',
    name: 'that goes to another network and provider',
    put: { 'spec.podCIDRs': ['10.0.0.0/24'], 'spec.providerID': 'a' },
    update: { 'spec.podCIDRs': ['10.0.1.0/24'], 'spec.podCIDR': '10.0.1.0/24', 'spec.providerID': 'b' },
    faults: [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ],
  },
  status({
    of: 'node',
    name: 'with an address twice, and less than nothing',
    update: {
      'status.addresses': [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: '10.0.0.1' },
      ],
      'status.allocatable': { memory: '-1Gi' },
    },
    faults: [
      'status.allocatable.memory: Invalid value: "-1Gi": must be greater than or equal to 0',
      'status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"10.0.0.1"}',
    ],
  }),
])
