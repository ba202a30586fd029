/**
 * What is refused of storage, endpoint slices and runtime classes. Each whole, as a kube-apiserver 1.36 answered it,
 * except what is too long: that was not compared.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel, notLabelValue, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'storageClass',
    name: 'with topologies that say the same',
    put: {
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'a', values: ['v', 'v'] },
            { key: 'a', values: ['w'] },
            { key: 'B c', values: [] },
          ],
        },
        { matchLabelExpressions: [{ key: 'z', values: ['x', 'y'] }] },
        { matchLabelExpressions: [{ key: 'z', values: ['y', 'x'] }] },
      ],
    },
    faults: [
      'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "v"',
      'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"',
      'allowedTopologies[0].matchLabelExpressions[2].values: Required value',
      `allowedTopologies[0].matchLabelExpressions[2].key: Invalid value: "B c": ${notQualified}`,
      'allowedTopologies[2].matchLabelExpressions: Duplicate value: ""',
    ],
  },
  {
    of: 'storageClass',
    name: 'whose topologies are empty',
    put: { allowedTopologies: [{}, { matchLabelExpressions: [] }] },
    faults: [
      'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ],
  },
  {
    of: 'attachment',
    name: 'of an unnamed volume',
    put: { 'spec.source': { persistentVolumeName: '' } },
    faults: [
      'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
      `spec.source.persistentVolumeName: Invalid value: "": ${notSubdomain}`,
    ],
  },
  {
    of: 'attachment',
    name: 'of two volumes',
    put: {
      'spec.source': {
        persistentVolumeName: 'v',
        inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'h' } },
      },
    },
    faults: ['spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  },
  {
    of: 'csiNode',
    name: 'whose drivers are unfit',
    put: {
      'spec.drivers': [
        { name: 'a', nodeID: 'x'.repeat(257), topologyKeys: ['', 'k', 'k', 'A b'], allocatable: { count: -1 } },
      ],
    },
    faults: [
      'spec.drivers[0].nodeID: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' +
        'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' +
        'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' +
        'xxxxxxxxx": must be 256 characters or less',
      'spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
      'spec.drivers[0]: Required value',
      'spec.drivers[0]: Invalid value: "": name part must be non-empty',
      `spec.drivers[0]: Invalid value: "": ${notQualified}`,
      'spec.drivers[0]: Duplicate value: "k"',
      `spec.drivers[0]: Invalid value: "A b": ${notQualified}`,
    ],
  },
  {
    of: 'csiNode',
    name: 'whose drivers become others',
    put: { 'spec.drivers': [{ name: 'a', nodeID: 'n', topologyKeys: ['k'] }] },
    update: { 'spec.drivers': [{ name: 'a', nodeID: 'm', topologyKeys: ['k'], allocatable: { count: 1 } }] },
    faults: [
      'spec.drivers: Invalid value: {"Name":"a","NodeID":"m","TopologyKeys":["k"],"Allocatable":null}: ' +
        'field is immutable',
    ],
  },
  {
    of: 'csiDriver',
    name: 'whose tokens and modes are unfit',
    put: {
      'spec.tokenRequests': [
        { audience: 'a', expirationSeconds: 599 },
        { audience: 'a' },
        { audience: 'b', expirationSeconds: 4294967297 },
      ],
      'spec.volumeLifecycleModes': ['Some'],
      'spec.nodeAllocatableUpdatePeriodSeconds': 9,
    },
    faults: [
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less ' +
        'than 10 minutes',
      'spec.tokenRequests[1].audience: Duplicate value: "a"',
      'spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration ' +
        'larger than 2^32 seconds',
      'spec.volumeLifecycleModes: Unsupported value: "Some": supported values: "Persistent", "Ephemeral"',
      'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
    ],
  },
  {
    of: 'csiDriver',
    name: 'that hides tokens it does not ask for',
    put: { 'spec.serviceAccountTokenInSecrets': true },
    faults: [
      'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but ' +
        'no tokenRequests are specified',
    ],
  },
  {
    of: 'capacity',
    name: 'of nothing, nowhere',
    put: { storageClassName: 'A', capacity: '-1', nodeTopology: { matchLabels: { 'a b': 'c' } } },
    faults: [
      `nodeTopology.matchLabels: Invalid value: "a b": ${notQualified}`,
      `storageClassName: Invalid value: "A": ${notSubdomain}`,
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
  {
    of: 'capacity',
    name: 'that is to be of another class',
    update: { storageClassName: 'other', nodeTopology: { matchLabels: { a: 'b' } } },
    faults: [
      'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
      'storageClassName: Invalid value: "other": field is immutable',
    ],
  },
  {
    of: 'attributesClass',
    name: 'of no driver',
    put: { driverName: '', parameters: { '': 'a' } },
    faults: ['driverName: Required value', 'parameters: Invalid value: "": field can not be empty.'],
  },
  {
    of: 'attributesClass',
    name: 'without parameters',
    put: { driverName: 'a b', parameters: {} },
    faults: [
      `driverName: Invalid value: "a b": ${notQualified}`,
      'parameters: Required value: must contain at least one key/value pair',
    ],
  },
  {
    of: 'attributesClass',
    name: 'with too many parameters',
    put: { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`p${i}`, 'v'])) },
    faults: ['parameters: Too long: may not be more than 512 bytes'],
  },
  {
    of: 'attributesClass',
    name: 'with parameters that are too long',
    put: { parameters: { p: 'x'.repeat(256 * 1024) } },
    faults: ['parameters: Too long: may not be more than 262144 bytes'],
  },
  {
    of: 'attributesClass',
    name: 'that becomes another',
    update: { driverName: 'e', parameters: { a: 'c' } },
    faults: [
      'driverName: Forbidden: updates to driverName are forbidden.',
      'parameters: Forbidden: updates to parameters are forbidden.',
    ],
  },
  {
    of: 'slice',
    name: 'of addresses for no client',
    put: { 'endpoints[0].addresses': ['169.254.0.1', '0.0.0.0', '10.0.0.01', 'fd00::1', '::ffff:10.0.0.1'] },
    faults: [
      'endpoints[0].addresses[0]: Invalid value: "169.254.0.1": may not be in the link-local range ' +
        '(169.254.0.0/16, fe80::/10)',
      'endpoints[0].addresses[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'endpoints[0].addresses[2]: Invalid value: "10.0.0.01": must not have leading 0s',
      'endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address',
      'endpoints[0].addresses[4]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
    ],
  },
  {
    of: 'slice',
    name: 'of addresses in another form',
    put: { addressType: 'IPv6', endpoints: [{ addresses: ['fd00:0::1', '10.0.0.1'] }] },
    faults: [
      'endpoints[0].addresses[0]: Invalid value: "fd00:0::1": must be in canonical form ("fd00::1")',
      'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
    ],
  },
  {
    of: 'slice',
    name: 'of no domains',
    put: { addressType: 'FQDN', endpoints: [{ addresses: ['', 'a', 'A_.b', 'a.b.'] }] },
    faults: [
      'endpoints[0].addresses[0]: Required value',
      'endpoints[0].addresses[1]: Invalid value: "a": should be a domain with at least two segments ' +
        'separated by dots',
      `endpoints[0].addresses[2]: Invalid value: "A_.b": ${notSubdomain}`,
    ],
  },
  {
    of: 'slice',
    name: 'of a domain with a label that is too long',
    put: { addressType: 'FQDN', endpoints: [{ addresses: [`${'x'.repeat(64)}.b`] }] },
    faults: [`endpoints[0].addresses[0]: Invalid value: "${'x'.repeat(64)}": must be no more than 63 characters`],
  },
  {
    of: 'slice',
    name: 'of unfit names',
    put: {
      'endpoints[0]': {
        addresses: ['10.0.0.1'],
        hostname: 'A',
        nodeName: 'B_',
        deprecatedTopology: { 'a b': 'c' },
        hints: {
          forZones: [{ name: 'a b' }, { name: 'z' }, { name: 'z' }],
          forNodes: [{ name: 'A' }, { name: 'n' }, { name: 'n' }],
        },
      },
      ports: [{ name: 'p', port: 1, appProtocol: 'a/b/c' }],
    },
    faults: [
      'ports[0].appProtocol: Invalid value: "a/b/c": a valid label key must consist of alphanumeric ' +
        "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. " +
        "'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' " +
        "(e.g. 'example.com/MyName')",
      `endpoints[0].nodeName: Invalid value: "B_": ${notSubdomain}`,
      `endpoints[0].hostname: Invalid value: "A": ${notLabel}`,
      `endpoints[0].hints.forZones[0].name: Invalid value: "a b": ${notLabelValue}`,
      'endpoints[0].hints.forZones[2].name: Duplicate value: "z"',
      `endpoints[0].hints.forNodes[0].name: Invalid value: "A": ${notSubdomain}`,
      'endpoints[0].hints.forNodes[2].name: Duplicate value: "n"',
    ],
  },
  {
    of: 'slice',
    name: 'with too many hints',
    put: {
      'endpoints[0].hints': {
        forZones: [
          { name: 'z0' },
          { name: 'z1' },
          { name: 'z2' },
          { name: 'z3' },
          { name: 'z4' },
          { name: 'z5' },
          { name: 'z6' },
          { name: 'z7' },
          { name: 'z8' },
        ],
      },
    },
    faults: ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  },
  {
    of: 'runtimeClass',
    name: 'without a handler',
    put: { handler: '' },
    faults: ['handler: Required value'],
  },
  {
    of: 'runtimeClass',
    name: 'with overhead that is none',
    put: { overhead: { podFixed: { 'my.org': '-1' } } },
    faults: [
      'overhead.limits[my.org]: Invalid value: "my.org": must be a standard resource type or fully qualified',
      'overhead.limits[my.org]: Invalid value: "my.org": must be a standard resource for containers',
      'overhead.limits[my.org]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
  {
    of: 'runtimeClass',
    name: 'whose pods go nowhere',
    put: {
      scheduling: {
        nodeSelector: { 'a b': 'c' },
        tolerations: [
          { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 },
          { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 },
          { operator: 'Equal', value: 'a b' },
        ],
      },
    },
    faults: [
      `scheduling.nodeSelector: Invalid value: "a b": ${notQualified}`,
      'scheduling.tolerations[2].operator: Invalid value: "Equal": operator must be Exists when `key` ' +
        'is empty, which means "match all values and all keys"',
      `scheduling.tolerations[2].operator: Invalid value: "a b": ${notLabelValue}`,
      'scheduling.tolerations[1]: Duplicate value: ' +
        '{"Key":"k","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":2}',
    ],
  },
]

describeFaults('of storage, endpoint slices and runtime classes', rows)
