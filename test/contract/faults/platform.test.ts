/**
 * What is refused of kinds about the platform, and of scaling. Each whole. Compared with a kube-apiserver 1.20; where
 * 1.36 words it otherwise, with its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notDns1035, notLabel, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'lease',
    name: 'of no duration',
    put: { 'spec.leaseDurationSeconds': 0, 'spec.leaseTransitions': -1 },
    faults: [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  },
  {
    of: 'coreEvent',
    name: 'about something elsewhere',
    put: { 'involvedObject.namespace': 'other' },
    faults: ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  },
  {
    of: 'event',
    name: 'about nothing, of nobody',
    put: { reportingController: '', reportingInstance: '', action: '', reason: '' },
    faults: [
      'reportingController: Required value',
      'reportingController: Invalid value: "": name part must be non-empty',
      `reportingController: Invalid value: "": ${notQualified}`,
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Required value',
    ],
  },
  {
    of: 'event',
    name: 'of a controller whose name is none',
    put: { reportingController: 'a b' },
    faults: [`reportingController: Invalid value: "a b": ${notQualified}`],
  },
  {
    of: 'event',
    name: 'that says too much',
    put: {
      reportingInstance: 'x'.repeat(129),
      action: 'x'.repeat(129),
      reason: 'x'.repeat(129),
      note: 'x'.repeat(1025),
    },
    faults: [
      'reportingInstance: Invalid value: "": can have at most 128 characters',
      'action: Invalid value: "": can have at most 128 characters',
      'reason: Invalid value: "": can have at most 128 characters',
      'message: Invalid value: "": can have at most 1024 characters',
    ],
  },
  {
    of: 'coreEvent',
    name: 'with a time, of nobody: its field has the name of the version',
    put: { eventTime: '2026-01-01T00:00:00.000000Z', type: 'Some', reason: 'é'.repeat(65) },
    faults: [
      'reportingComponent: Required value',
      'reportingComponent: Invalid value: "": name part must be non-empty',
      `reportingComponent: Invalid value: "": ${notQualified}`,
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Invalid value: "": can have at most 128 characters',
    ],
  },
  {
    of: 'event',
    name: 'without a time, with what the old library tells',
    put: {
      eventTime: undefined,
      deprecatedFirstTimestamp: '2026-01-01T00:00:00Z',
      deprecatedLastTimestamp: '2026-01-01T00:00:00Z',
      deprecatedCount: 1,
      deprecatedSource: { component: 'c' },
    },
    faults: [
      'eventTime: Required value',
      'firstTimestamp: Invalid value: "": needs to be unset',
      'lastTimestamp: Invalid value: "": needs to be unset',
      'count: Invalid value: "": needs to be unset',
      'source: Invalid value: "": needs to be unset',
    ],
  },
  {
    of: 'event',
    name: 'that is a series of one',
    put: { series: { count: 1, lastObservedTime: null } },
    faults: ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
  },
  {
    of: 'event',
    name: 'that is to tell something else',
    update: { note: 'n', reason: 's', type: 'Warning', action: 'b', reportingController: 'c', reportingInstance: 'j' },
    faults: [
      'reason: Invalid value: "s": field is immutable',
      'message: Invalid value: "n": field is immutable',
      'reason: Invalid value: "s": field is immutable',
      'type: Invalid value: "Warning": field is immutable',
      'action: Invalid value: "b": field is immutable',
      'reportingController: Invalid value: "c": field is immutable',
      'reportingInstance: Invalid value: "j": field is immutable',
    ],
  },
  {
    of: 'event',
    name: 'that is to be a series of one',
    update: { series: { count: 1, lastObservedTime: '2026-01-01T00:00:00.000000Z' } },
    faults: ['series.count: Invalid value: "": should be at least 2'],
  },
  {
    of: 'event',
    name: 'of a type that nobody knows',
    put: { type: 'Some' },
    faults: ['type: Invalid value: "": has invalid value: Some'],
  },
  {
    of: 'runtimeClass',
    name: 'whose handler is none',
    put: { handler: 'A_B' },
    faults: [`handler: Invalid value: "A_B": ${notLabel}`],
  },
  {
    of: 'runtimeClass',
    name: 'that is to get another handler',
    update: { handler: 'i' },
    faults: ['handler: Invalid value: "i": field is immutable'],
  },
  {
    of: 'apiService',
    name: 'whose name does not say what it is',
    put: { 'metadata.name': 'v2.a.io' },
    faults: ['metadata.name: Invalid value: "v2.a.io": must be `spec.version+"."+spec.group`: "v1.a.io"'],
  },
  {
    of: 'apiService',
    name: 'of a group and version that are none',
    put: { 'metadata.name': 'V1.a_b', 'spec.group': 'a_b', 'spec.version': 'V1' },
    faults: [`spec.group: Invalid value: "a_b": ${notSubdomain}`, `spec.version: Invalid value: "V1": ${notDns1035}`],
  },
  {
    of: 'apiService',
    name: 'without version and priorities',
    put: { 'metadata.name': '.a.io', 'spec.version': '', 'spec.groupPriorityMinimum': 0, 'spec.versionPriority': 1001 },
    faults: [
      `spec.version: Invalid value: "": ${notDns1035}`,
      'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
      'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
    ],
  },
  {
    of: 'apiService',
    name: 'of its own server that is not trusted',
    put: { 'spec.service': undefined, 'spec.caBundle': 'YQ==' },
    faults: [
      'spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle',
      'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
    ],
  },
  {
    of: 'apiService',
    name: 'of a service without name',
    put: { 'spec.service': { name: '', namespace: '' }, 'spec.caBundle': 'YQ==' },
    faults: [
      'spec.service.namespace: Required value',
      'spec.service.name: Required value',
      'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
    ],
  },
  {
    of: 'csiNode',
    name: 'with drivers that can not be told apart',
    put: {
      'spec.drivers': [
        { name: '', nodeID: '' },
        { name: 'd', nodeID: 'n' },
        { name: 'd', nodeID: 'n' },
      ],
    },
    faults: [
      'spec.drivers[0].name: Required value',
      `spec.drivers[0].name: Invalid value: "": ${notSubdomain}`,
      'spec.drivers[0].nodeID: Required value',
      'spec.drivers[2].name: Duplicate value: "d"',
    ],
  },
  {
    of: 'csiDriver',
    name: 'of a policy that nobody knows',
    put: { 'spec.fsGroupPolicy': 'Some' },
    faults: [
      'spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    ],
  },
  {
    of: 'csiDriver',
    name: 'that is to attach no more',
    update: { 'spec.attachRequired': false, 'spec.volumeLifecycleModes': ['Ephemeral'] },
    faults: [
      'spec.attachedRequired: Invalid value: false: field is immutable',
      'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
    ],
  },
  {
    of: 'attachment',
    name: 'of nothing to nothing',
    put: { spec: { attacher: '', nodeName: '', source: {} } },
    faults: [
      'spec.attacher: Required value',
      `spec.attacher: Invalid value: "": ${notSubdomain}`,
      `spec.nodeName: Invalid value: "": ${notSubdomain}`,
      'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ],
  },
  {
    of: 'attachment',
    name: 'that is to be somewhere else',
    update: { 'spec.nodeName': 'm' },
    faults: [
      'spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},' +
        '"NodeName":"m"}: field is immutable',
    ],
  },
  {
    of: 'autoscaler',
    name: 'of nothing to less',
    put: { 'spec.minReplicas': 0, 'spec.maxReplicas': -1 },
    faults: [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero ' +
        'replicas',
    ],
  },
  {
    of: 'autoscaler',
    name: 'of more to less',
    put: { 'spec.minReplicas': 5, 'spec.maxReplicas': 4 },
    faults: ['spec.maxReplicas: Invalid value: 4: must be greater than or equal to `minReplicas`'],
  },
  {
    of: 'autoscaler',
    name: 'of nothing',
    put: { 'spec.scaleTargetRef': { apiVersion: 'a/v1', kind: '', name: 'a/b' } },
    faults: [
      'spec.scaleTargetRef.kind: Required value',
      'spec.scaleTargetRef.name: Invalid value: "a/b": may not contain \'/\'',
    ],
  },
  {
    of: 'autoscaler1',
    name: 'for no use at all',
    put: { 'spec.targetCPUUtilizationPercentage': 0 },
    faults: ['spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0'],
  },
  {
    of: 'autoscaler',
    name: 'by no use at all',
    put: { 'spec.metrics[0].resource.target.averageUtilization': 0 },
    faults: ['spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0'],
  },
  {
    of: 'autoscaler',
    name: 'with rules that are none',
    put: {
      'spec.behavior': {
        scaleUp: {
          stabilizationWindowSeconds: -1,
          selectPolicy: 'Some',
          policies: [{ type: 'Some', value: 0, periodSeconds: 0 }],
        },
        scaleDown: { stabilizationWindowSeconds: 3601, policies: [{ type: 'Pods', value: 1, periodSeconds: 1801 }] },
      },
    },
    faults: [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
      'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Some": supported values: "Disabled", "Max", "Min"',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Some": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    ],
  },
  {
    of: 'autoscaler',
    name: 'with rules for nothing',
    put: { 'spec.behavior': { scaleUp: { policies: [] } } },
    faults: ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'],
  },
  {
    of: 'budget',
    name: 'with two measures',
    put: { 'spec.maxUnavailable': 1 },
    faults: [
      'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":1,' +
        '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  },
  {
    of: 'budget',
    name: 'of parts that are none',
    put: { 'spec.minAvailable': 'x' },
    faults: [
      'spec.minAvailable: Invalid value: "x": a valid percent string must be a numeric string followed by ' +
        "an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  },
  {
    of: 'budget',
    name: 'of more than all',
    put: { 'spec.minAvailable': '101%' },
    faults: ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
  },
  {
    of: 'budget',
    name: 'of a policy that nobody knows, for a selector that is none',
    put: { 'spec.unhealthyPodEvictionPolicy': 'Some', 'spec.selector': { matchLabels: { 'a b': '' } } },
    faults: [
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "Some": supported values: "AlwaysAllow", "IfHealthyBudget"',
      `spec.selector.matchLabels: Invalid value: "a b": ${notQualified}`,
    ],
  },
  {
    of: 'priority',
    name: 'that is the system’s',
    put: { 'metadata.name': 'system-x' },
    faults: [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use " +
        'only. error: system-x is not a known system priority class',
    ],
  },
  {
    of: 'priority',
    name: 'that is the system’s, of another value',
    put: { 'metadata.name': 'system-node-critical', value: 5 },
    faults: [
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use " +
        'only. error: value of system-node-critical PriorityClass must be 2000001000',
    ],
  },
  {
    of: 'priority',
    name: 'above all others',
    put: { value: 1000000001 },
    faults: ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
  },
  {
    of: 'priority',
    name: 'of a policy that nobody knows',
    put: { preemptionPolicy: 'Some' },
    faults: ['preemptionPolicy: Unsupported value: "Some": supported values: "PreemptLowerPriority", "Never"'],
  },
  {
    of: 'priority',
    name: 'that is to count for more',
    update: { value: 2 },
    faults: ['value: Forbidden: may not be changed in an update.'],
  },
  {
    of: 'priority',
    name: 'that is to push nobody aside',
    update: { preemptionPolicy: 'Never' },
    faults: ['preemptionPolicy: Invalid value: "Never": field is immutable'],
  },
]

describeFaults('of the platform', rows)
