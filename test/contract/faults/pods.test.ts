/**
 * What is refused of pods as a whole. Each whole. Compared with a kube-apiserver 1.20; where 1.36 words it otherwise,
 * with its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabelValue, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'pod',
    name: 'with policies that nobody knows',
    put: { 'spec.restartPolicy': 'Some', 'spec.dnsPolicy': 'Some' },
    faults: [
      'spec.restartPolicy: Unsupported value: "Some": supported values: "Always", "OnFailure", "Never"',
      'spec.dnsPolicy: Unsupported value: "Some": supported values: "ClusterFirstWithHostNet", ' +
        '"ClusterFirst", "Default", "None"',
    ],
  },
  {
    of: 'pod',
    name: 'that runs as nobody that there is',
    put: { 'spec.securityContext': { runAsUser: -1, runAsGroup: -1, fsGroup: 2147483648 } },
    faults: [
      'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.fsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
    ],
  },
  {
    of: 'pod',
    name: 'with tolerations that are none',
    put: {
      'spec.tolerations': [
        { operator: 'Equal' },
        { key: 'a b', operator: 'Exists', value: 'v' },
        { key: 'k', operator: 'Some', effect: 'Some' },
        { key: 'k', value: 'a b', tolerationSeconds: 1, effect: 'NoSchedule' },
      ],
    },
    faults: [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, ' +
        'which means "match all values and all keys"',
      `spec.tolerations[1].key: Invalid value: "a b": ${notQualified}`,
      'spec.tolerations[1].operator: Invalid value: "v": value must be empty when `operator` is \'Exists\'',
      'spec.tolerations[2].operator: Unsupported value: "Some": supported values: "Equal", "Exists"',
      'spec.tolerations[2].effect: Unsupported value: "Some": supported values: "NoSchedule", ' +
        '"PreferNoSchedule", "NoExecute"',
      'spec.tolerations[3].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when ' +
        '`tolerationSeconds` is set',
      `spec.tolerations[3].operator: Invalid value: "a b": ${notLabelValue}`,
    ],
  },
  {
    of: 'pod',
    name: 'for no node',
    put: {
      'spec.affinity': { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
    },
    faults: [
      'spec.affinity.nodeAffinity.' +
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required ' +
        'value: must have at least one node selector term',
    ],
  },
  {
    of: 'pod',
    name: 'for nodes by expressions that are none',
    put: {
      'spec.affinity': {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a b', operator: 'Some' },
                  { key: 'k', operator: 'In' },
                  { key: 'k', operator: 'Gt' },
                  { key: 'k', operator: 'Exists', values: ['v'] },
                ],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 0, preference: { matchExpressions: [{ key: 'k', operator: 'NotIn' }] } },
          ],
        },
      },
    },
    faults: [
      'spec.affinity.nodeAffinity.' +
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: ' +
        'Invalid value: "Some": not a valid selector operator',
      'spec.affinity.nodeAffinity.' +
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: ' +
        `Invalid value: "a b": ${notQualified}`,
      'spec.affinity.nodeAffinity.' +
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: ' +
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'spec.affinity.nodeAffinity.' +
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: ' +
        "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
      'spec.affinity.nodeAffinity.' +
        'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].values: ' +
        "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.affinity.nodeAffinity.' +
        'preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: ' +
        '0: must be in the range 1-100',
      'spec.affinity.nodeAffinity.' +
        'preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values: ' +
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  },
  {
    of: 'pod',
    name: 'near pods of nowhere',
    put: {
      'spec.affinity': {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: '', labelSelector: { matchLabels: { 'a b': '' } } },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 101, podAffinityTerm: { topologyKey: 'a b', namespaceSelector: { matchLabels: { k: 'a b' } } } },
          ],
        },
      },
    },
    faults: [
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels: ' +
        `Invalid value: "a b": ${notQualified}`,
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required ' +
        'value: can not be empty',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid ' +
        'value: "": name part must be non-empty',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid ' +
        `value: "": ${notQualified}`,
      'spec.affinity.podAntiAffinity.' +
        'preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid ' +
        'value: 101: must be in the range 1-100',
      'spec.affinity.podAntiAffinity.' +
        'preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespaceSelector.matchLabels: ' +
        `Invalid value: "a b": ${notLabelValue}`,
      'spec.affinity.podAntiAffinity.' +
        'preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: ' +
        `Invalid value: "a b": ${notQualified}`,
    ],
  },
  {
    of: 'pod',
    name: 'spread in no way',
    put: {
      'spec.topologySpreadConstraints': [
        { maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Some' },
        {
          maxSkew: 1,
          topologyKey: 'a b',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { 'a b': '' } },
        },
        { maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
    faults: [
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Some": supported values: ' +
        '"DoNotSchedule", "ScheduleAnyway"',
      'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a b, DoNotSchedule}"',
      `spec.topologySpreadConstraints[1].labelSelector.matchLabels: Invalid value: "a b": ${notQualified}`,
    ],
  },
  {
    of: 'pod',
    name: 'with hosts that are none',
    put: { 'spec.hostAliases': [{ ip: 'x', hostnames: ['a_b'] }] },
    faults: [
      'spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      `spec.hostAliases[0].hostnames[0]: Invalid value: "a_b": ${notSubdomain}`,
    ],
  },
  {
    of: 'pod',
    name: 'that ends before it begins',
    put: { 'spec.activeDeadlineSeconds': 0 },
    faults: ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
  },
  {
    of: 'pod',
    name: 'behind gates that are none',
    put: { 'spec.schedulingGates': [{ name: 'a b' }, { name: 'g' }, { name: 'g' }] },
    faults: [
      `spec.schedulingGates[0]: Invalid value: "a b": ${notQualified}`,
      'spec.schedulingGates[2]: Duplicate value: "g"',
    ],
  },
  {
    of: 'pod',
    name: 'with a container for debugging from its birth',
    put: { 'spec.ephemeralContainers': [{ name: 'e', image: 'i' }] },
    faults: ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  },
  {
    of: 'pod',
    name: 'that is to have more time',
    put: { 'spec.activeDeadlineSeconds': 5 },
    update: { 'spec.activeDeadlineSeconds': 6 },
    faults: ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
  },
  {
    of: 'pod',
    name: 'that is to have time without end',
    put: { 'spec.activeDeadlineSeconds': 5 },
    update: { 'spec.activeDeadlineSeconds': undefined },
    faults: ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
  },
  {
    of: 'pod',
    name: 'that is to tolerate less',
    put: { 'spec.tolerations': [{ key: 'k', operator: 'Exists' }] },
    update: { 'spec.tolerations': [] },
    faults: ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  },
  {
    of: 'pod',
    name: 'that is to be called otherwise',
    update: { 'spec.hostname': 'h' },
    faults: [
      'spec: Forbidden: pod updates may not change fields other than ' +
        '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
        '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to ' +
        '1 if it was previously negative)\nchanged: hostname',
    ],
  },
  {
    of: 'pod',
    name: 'that is to be held back too late',
    update: { 'spec.schedulingGates': [{ name: 'g' }] },
    faults: [
      'spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling gate',
      'spec: Forbidden: pod updates may not change fields other than ' +
        '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
        '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to ' +
        '1 if it was previously negative)\nchanged: schedulingGates',
    ],
  },
  {
    of: 'pod',
    name: 'that is to be held back by more',
    put: { 'spec.schedulingGates': [{ name: 'g' }], 'spec.nodeSelector': { a: 'b' } },
    update: { 'spec.schedulingGates': [{ name: 'h' }], 'spec.nodeSelector': { a: 'c' } },
    faults: [
      "spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling gate 'h'",
      'spec.nodeSelector: Invalid value: {"a":"c"}: only additions are allowed (no mutations or deletions)',
    ],
  },
  {
    of: 'pod',
    name: 'whose class of service is to be another',
    update: { 'status.qosClass': 'Guaranteed' },
    part: 'status',
    faults: ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
  },
  {
    of: 'pod',
    name: 'whose ephemeral container is to be restarted',
    update: { 'spec.ephemeralContainers': [{ name: 'd', image: 'i', restartPolicy: 'Always' }] },
    part: 'ephemeralcontainers',
    faults: ['spec.ephemeralContainers[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container'],
  },
  {
    of: 'pod',
    name: 'whose ephemeral container is to be another',
    first: { part: 'ephemeralcontainers', update: { 'spec.ephemeralContainers': [{ name: 'd', image: 'i' }] } },
    update: { 'spec.ephemeralContainers[0].image': 'j' },
    part: 'ephemeralcontainers',
    faults: ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be changed\n'],
  },
  {
    of: 'pod',
    name: 'with a resource that belongs in a quota',
    put: { 'spec.containers[0].resources': { limits: { 'requests.ex.io/a': 1 } } },
    faults: [
      'spec.containers[0].resources.limits[requests.ex.io/a]: Invalid value: "requests.ex.io/a": doesn\'t ' +
        'follow extended resource name standard',
      'spec.containers[0].resources.requests[requests.ex.io/a]: Invalid value: "requests.ex.io/a": doesn\'t ' +
        'follow extended resource name standard',
    ],
  },
  {
    of: 'priority',
    name: 'that is to preempt in some other way',
    put: { preemptionPolicy: 'Some' },
    faults: ['preemptionPolicy: Unsupported value: "Some": supported values: "PreemptLowerPriority", "Never"'],
  },
]

describeFaults('of pods', rows)
