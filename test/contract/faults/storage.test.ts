/**
 * What is refused of storage, configuration, quotas and limits. Each whole. Compared with a kube-apiserver 1.20; where
 * 1.36 words it otherwise, with its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notKey, notLabel, notLabelValue, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'claim',
    name: 'to nothing',
    put: { 'spec.accessModes': [], 'spec.resources': {} },
    faults: [
      'spec.accessModes: Required value: at least 1 access mode is required',
      'spec.resources[storage]: Required value',
    ],
  },
  {
    of: 'claim',
    name: 'in modes that nobody knows',
    put: { 'spec.accessModes': ['Some', 'ReadWriteOncePod', 'ReadWriteOnce'], 'spec.volumeMode': 'Some' },
    faults: [
      'spec.accessModes: Unsupported value: "Some": supported values: "ReadOnlyMany", "ReadWriteMany", ' +
        '"ReadWriteOnce", "ReadWriteOncePod"',
      'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
      'spec.volumeMode: Unsupported value: "Some": supported values: "Block", "Filesystem"',
    ],
  },
  {
    of: 'claim',
    name: 'to less than nothing',
    put: {
      'spec.resources.requests.storage': '-1',
      'spec.storageClassName': 'A_',
      'spec.selector': { matchLabels: { 'a b': '' } },
    },
    faults: [
      `spec.selector.matchLabels: Invalid value: "a b": ${notQualified}`,
      'spec.resources[storage]: Invalid value: "-1": must be greater than zero',
      `spec.storageClassName: Invalid value: "A_": ${notSubdomain}`,
    ],
  },
  {
    of: 'claim',
    name: 'that is to be another',
    update: { 'spec.accessModes': ['ReadWriteMany'] },
    faults: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and ' +
        'volumeAttributesClassName for bound claims\nchanged: accessModes',
    ],
  },
  {
    of: 'claim',
    name: 'that is to be of another mode',
    update: { 'spec.volumeMode': 'Block' },
    faults: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and ' +
        'volumeAttributesClassName for bound claims\nchanged: volumeMode',
      'volumeMode: Invalid value: "Block": field is immutable',
    ],
  },
  {
    of: 'claim',
    name: 'that is to shrink below what it has',
    first: { part: 'status', update: { 'status.phase': 'Bound', 'status.capacity': { storage: '1Gi' } } },
    update: { 'spec.resources.requests.storage': '1Mi' },
    faults: ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
  },
  {
    of: 'claim',
    name: 'that is to shrink',
    update: { 'spec.resources.requests.storage': '1Mi' },
    faults: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and ' +
        'volumeAttributesClassName for bound claims\nchanged: resources',
    ],
  },
  {
    of: 'volume',
    name: 'without room and modes',
    put: { 'spec.accessModes': [], 'spec.capacity': {} },
    faults: [
      'spec.accessModes: Required value',
      'spec.capacity: Required value',
      'spec.capacity: Unsupported value: {}: supported values: "storage"',
    ],
  },
  {
    of: 'volume',
    name: 'with room for something else',
    put: { 'spec.capacity': { storage: '-1', cpu: '1' } },
    faults: [
      'spec.capacity: Unsupported value: {"cpu":"1","storage":"-1"}: supported values: "storage"',
      'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
    ],
  },
  {
    of: 'volume',
    name: 'of policies that nobody knows',
    put: { 'spec.persistentVolumeReclaimPolicy': 'Some', 'spec.volumeMode': 'Some', 'spec.storageClassName': 'A_' },
    faults: [
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "Some": supported values: "Delete", "Recycle", "Retain"',
      'spec.volumeMode: Unsupported value: "Some": supported values: "Block", "Filesystem"',
      `spec.storageClassName: Invalid value: "A_": ${notSubdomain}`,
    ],
  },
  {
    of: 'volume',
    name: 'of nothing',
    put: { 'spec.hostPath': undefined },
    faults: ['spec: Required value: must specify a volume type'],
  },
  {
    of: 'volume',
    name: 'of two sorts',
    put: { 'spec.nfs': { server: 's', path: '/' } },
    faults: ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
  },
  {
    of: 'volume',
    name: 'of two sorts, the first of which is wrong',
    put: { 'spec.hostPath': { path: '/a/../b', type: 'Some' }, 'spec.cephfs': { monitors: [] } },
    faults: [
      `spec.hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
      'spec.hostPath.type: Unsupported value: "Some": supported values: "", "BlockDevice", "CharDevice", ' +
        '"Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      'spec.cephFS: Forbidden: may not specify more than 1 volume type',
    ],
  },
  {
    of: 'volume',
    name: 'that empties the whole disk',
    put: { 'spec.hostPath': { path: '//./' }, 'spec.persistentVolumeReclaimPolicy': 'Recycle' },
    faults: ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  },
  {
    of: 'volume',
    name: 'of a node, that does not say of which',
    put: { 'spec.hostPath': undefined, 'spec.local': { path: '/a/..' } },
    faults: [
      `spec.local.path: Invalid value: "/a/..": must not contain '..'`,
      'spec.nodeAffinity: Required value: Local volume requires node affinity',
    ],
  },
  {
    of: 'volume',
    name: 'of a node, nowhere',
    put: { 'spec.hostPath': undefined, 'spec.local': { path: '' }, 'spec.nodeAffinity': {} },
    faults: [
      'spec.nodeAffinity.required: Required value: must specify required node constraints',
      'spec.local.path: Required value',
    ],
  },
  {
    of: 'volume',
    name: 'of a node that can not be',
    put: {
      'spec.nodeAffinity': {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a b', operator: 'In', values: ['b c'] }] }] },
      },
    },
    faults: [
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ' + notQualified,
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "b c": ' +
        notLabelValue,
    ],
  },
  {
    of: 'volume',
    name: 'of a driver, half',
    put: {
      'spec.hostPath': undefined,
      'spec.csi': {
        driver: 'a_b',
        controllerPublishSecretRef: {},
        nodePublishSecretRef: { name: 'A_', namespace: 'B_' },
      },
      'spec.volumeAttributesClassName': 'A_',
    },
    faults: [
      `spec.csi.driver: Invalid value: "a_b": ${notSubdomain}`,
      'spec.csi.volumeHandle: Required value',
      'spec.csi.controllerPublishSecretRef.name: Required value',
      'spec.csi.controllerPublishSecretRef.namespace: Required value',
      `spec.csi.nodePublishSecretRef.name: Invalid value: "A_": ${notSubdomain}`,
      `spec.csi.nodePublishSecretRef.namespace: Invalid value: "B_": ${notLabel}`,
      `spec.volumeAttributesClassName: Invalid value: "A_": ${notSubdomain}`,
    ],
  },
  {
    of: 'volume',
    name: 'of attributes that only drivers have',
    put: { 'spec.volumeAttributesClassName': '' },
    faults: [
      'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
      'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
    ],
  },
  {
    of: 'volume',
    name: 'of a target without name and password',
    put: {
      'metadata.name': 'x'.repeat(60),
      'spec.hostPath': undefined,
      'spec.iscsi': {
        targetPortal: '10.0.0.1',
        iqn: 'foo',
        lun: 0,
        initiatorName: 'iqn.2015-02.com:x',
        chapAuthSession: true,
      },
    },
    faults: [
      'spec.iscsi.targetportal: Invalid value: "10.0.0.1": Total length of <volume name>:<iscsi.targetPortal> must ' +
        'be under 64 characters if iscsi.initiatorName is specified.',
      'spec.iscsi.iqn: Invalid value: "foo": must be valid format',
      'spec.iscsi.secretRef: Required value',
    ],
  },
  {
    of: 'volume',
    name: 'of a target with a password that is nowhere',
    put: {
      'spec.hostPath': undefined,
      'spec.iscsi': { targetPortal: '10.0.0.1', iqn: 'iqn.2015-02.com:x', lun: 0, secretRef: {} },
    },
    faults: ['spec.iscsi.secretRef.name: Required value'],
  },
  {
    of: 'volume',
    name: 'of a file server without a path',
    put: { 'spec.hostPath': undefined, 'spec.nfs': { server: '', path: 'a' } },
    faults: ['spec.nfs.server: Required value', 'spec.nfs.path: Invalid value: "a": must be an absolute path'],
  },
  {
    of: 'volume',
    name: 'of block storage whose password is nowhere',
    put: { 'spec.hostPath': undefined, 'spec.cinder': { volumeID: '', secretRef: {} } },
    faults: [
      'spec.cinder.volumeID: Required value',
      'spec.cinder.secretRef.name: Required value',
      'spec.cinder.secretRef.namespace: Required value',
    ],
  },
  {
    of: 'volume',
    name: 'of a share in a namespace without a name',
    put: { 'spec.hostPath': undefined, 'spec.azureFile': { secretName: 's', shareName: 's', secretNamespace: '' } },
    faults: ['spec.azureFile.secretNamespace: Required value'],
  },
  {
    of: 'volume',
    name: 'of endpoints in a namespace without a name',
    put: { 'spec.hostPath': undefined, 'spec.glusterfs': { endpoints: 'e', path: 'p', endpointsNamespace: '' } },
    faults: [
      'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid ' +
        'namespace name',
    ],
  },
  {
    of: 'volume',
    name: 'of endpoints in a namespace that can not be',
    put: { 'spec.hostPath': undefined, 'spec.glusterfs': { endpoints: 'e', path: 'p', endpointsNamespace: 'B_' } },
    faults: [`spec.glusterfs.endpointsNamespace: Invalid value: "B_": ${notLabel}`],
  },
  {
    of: 'volume',
    name: 'of a plugin without a name, and options that are reserved',
    put: { 'spec.hostPath': undefined, 'spec.flexVolume': { driver: '', options: { 'kubernetes.io/x': '' } } },
    faults: [
      'spec.flexVolume.driver: Required value',
      'spec.flexVolume.options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io and k8s.io ' +
        'namespaces are reserved',
    ],
  },
  {
    of: 'volume',
    name: 'of a cluster without a name, and a password that is nowhere',
    put: { 'spec.hostPath': undefined, 'spec.storageos': { volumeNamespace: 'B_', secretRef: {} } },
    faults: [
      'spec.storageos.volumeName: Required value',
      `spec.storageos.volumeNamespace: Invalid value: "B_": ${notLabel}`,
      'spec.storageos.secretRef.name: Required value',
      'spec.storageos.secretRef.namespace: Required value',
    ],
  },
  {
    of: 'volume',
    name: 'that is to be another',
    update: { 'spec.hostPath.path': '/b', 'spec.volumeMode': 'Block' },
    faults: [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
      'volumeMode: Invalid value: "Block": field is immutable',
    ],
  },
  {
    of: 'storageClass',
    name: 'of nobody',
    put: { provisioner: '', reclaimPolicy: 'Some', volumeBindingMode: 'Some' },
    faults: [
      'provisioner: Required value',
      'reclaimPolicy: Unsupported value: "Some": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Some": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  },
  {
    of: 'storageClass',
    name: 'of a name that is none',
    put: {
      provisioner: 'a b',
      parameters: { '': 'x' },
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'k', values: [] }] }],
    },
    faults: [
      `provisioner: Invalid value: "a b": ${notQualified}`,
      'parameters: Invalid value: "": field can not be empty.',
      'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
    ],
  },
  {
    of: 'storageClass',
    name: 'that is to be another',
    update: {
      provisioner: 'c.io/d',
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    faults: [
      'parameters: Forbidden: updates to parameters are forbidden.',
      'provisioner: Forbidden: updates to provisioner are forbidden.',
      'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ],
  },
  {
    of: 'quota',
    name: 'of what can not be counted',
    put: { 'spec.hard': { cpu: '-1', x: '1', storage: '1', 'a b': '1', pods: '1500m' } },
    faults: [
      `spec.hard[a b]: Invalid value: "a b": ${notQualified}`,
      'spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota',
      'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.hard[pods]: Invalid value: "1500m": must be an integer',
      'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
      'spec.hard[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'spec.hard[x]: Invalid value: "x": must be a standard resource for quota',
    ],
  },
  {
    of: 'quota',
    name: 'of what its scope does not have',
    put: { 'spec.hard': { secrets: '1' }, 'spec.scopes': ['BestEffort', 'Some'] },
    faults: [
      'spec.scopes: Invalid value: ["BestEffort","Some"]: unsupported scope applied to resource',
      'spec.scopes: Invalid value: ["BestEffort","Some"]: unsupported scope',
    ],
  },
  {
    of: 'quota',
    name: 'of scopes that exclude each other',
    put: { 'spec.scopes': ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating'] },
    faults: [
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Terminating","NotTerminating"]: conflicting scopes',
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Terminating","NotTerminating"]: conflicting scopes',
    ],
  },
  {
    of: 'quota',
    name: 'of scopes by expressions that are none',
    put: {
      'spec.scopeSelector': {
        matchExpressions: [
          { scopeName: 'BestEffort', operator: 'In' },
          { scopeName: 'PriorityClass', operator: 'Some' },
          { scopeName: 'PriorityClass', operator: 'Exists', values: ['v'] },
        ],
      },
    },
    faults: [
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exist\' only operator ' +
        'when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ' +
        'ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort',
      'spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when ' +
        "`operator` is 'In' or 'NotIn' for scope selector",
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "Some": not a valid selector operator',
      'spec.scopeSelector.matchExpressions.values: Invalid value: ["v"]: must be no value when `operator` ' +
        "is 'Exist' or 'DoesNotExist' for scope selector",
    ],
  },
  {
    of: 'quota',
    name: 'that is to be of another scope',
    put: { 'spec.scopes': ['BestEffort'] },
    update: { 'spec.scopes': ['NotBestEffort'] },
    faults: ['spec.scopes: Invalid value: ["NotBestEffort"]: field is immutable'],
  },
  {
    of: 'quota',
    name: 'whose account says what can not be counted',
    update: { status: { hard: { x: '1' }, used: { pods: '-1' } } },
    part: 'status',
    faults: [
      'status.hard[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'status.hard[x]: Invalid value: "x": must be a standard resource for quota',
    ],
  },
  {
    of: 'limits',
    name: 'of types that nobody knows',
    put: { 'spec.limits': [{ type: 'a b' }, { type: 'Some' }, { type: 'Some' }] },
    faults: [
      `spec.limits[0].type: Invalid value: "a b": ${notQualified}`,
      'spec.limits[1].type: Invalid value: "Some": must be a standard limit type or fully qualified',
      'spec.limits[2].type: Invalid value: "Some": must be a standard limit type or fully qualified',
      'spec.limits[2].type: Duplicate value: "Some"',
    ],
  },
  {
    of: 'limits',
    name: 'of what can not be counted',
    put: { 'spec.limits': [{ type: 'Container', max: { 'a b': '1', x: '1', pods: '1' } }] },
    faults: [
      `spec.limits[0].max[a b]: Invalid value: "a b": ${notQualified}`,
      'spec.limits[0].max[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers',
      'spec.limits[0].max[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'spec.limits[0].max[x]: Invalid value: "x": must be a standard resource for containers',
      `spec.limits[0].default[a b]: Invalid value: "a b": ${notQualified}`,
      'spec.limits[0].default[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.limits[0].default[pods]: Invalid value: "pods": must be a standard resource for containers',
      'spec.limits[0].default[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'spec.limits[0].default[x]: Invalid value: "x": must be a standard resource for containers',
      `spec.limits[0].defaultRequest[a b]: Invalid value: "a b": ${notQualified}`,
      'spec.limits[0].defaultRequest[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.limits[0].defaultRequest[pods]: Invalid value: "pods": must be a standard resource for containers',
      'spec.limits[0].defaultRequest[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'spec.limits[0].defaultRequest[x]: Invalid value: "x": must be a standard resource for containers',
    ],
  },
  {
    of: 'limits',
    name: 'of pods that begin with something',
    put: { 'spec.limits': [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] },
    faults: [
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
      "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
    ],
  },
  {
    of: 'limits',
    name: 'of claims without bounds',
    put: { 'spec.limits': [{ type: 'PersistentVolumeClaim', default: { storage: '1' } }] },
    faults: [
      'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but ' +
        'neither was provided',
    ],
  },
  {
    of: 'limits',
    name: 'that contradict each other',
    put: {
      'spec.limits': [
        {
          type: 'Container',
          max: { cpu: '2' },
          min: { cpu: '3' },
          default: { cpu: '1' },
          defaultRequest: { cpu: '4' },
          maxLimitRequestRatio: { cpu: '500m' },
        },
      ],
    },
    faults: [
      'spec.limits[0].min[cpu]: Invalid value: "3": min value 3 is greater than max value 2',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than max value 2',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than ' +
        'default limit value 1',
      'spec.limits[0].default[cpu]: Invalid value: "3": min value 3 is greater than default value 1',
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
    ],
  },
  {
    of: 'limits',
    name: 'that begin below the least',
    put: {
      'spec.limits': [
        {
          type: 'Container',
          max: { cpu: '4' },
          min: { cpu: '2' },
          default: { cpu: '5' },
          defaultRequest: { cpu: '1' },
          maxLimitRequestRatio: { cpu: '3' },
        },
      ],
    },
    faults: [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "4": default value 5 is greater than max value 4',
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
    ],
  },
  {
    of: 'map',
    name: 'with keys that are none',
    put: { data: { 'a b': 'x', k: 'v' }, binaryData: { 'c d': 'YQ==', k: 'YQ==' } },
    faults: [
      `data[a b]: Invalid value: "a b": ${notKey}`,
      'data[k]: Invalid value: "k": duplicate of key present in binaryData',
      `binaryData[c d]: Invalid value: "c d": ${notKey}`,
    ],
  },
  {
    of: 'map',
    name: 'that is too large',
    put: { 'data.a': 'x'.repeat(1048577) },
    faults: ['[]: Too long: may not be more than 1048576 bytes'],
  },
  {
    of: 'map',
    name: 'that is immutable and is to be another',
    put: { immutable: true, binaryData: { b: 'YQ==' } },
    update: { immutable: false, data: { a: 'c' }, binaryData: {} },
    faults: [
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
      'binaryData: Forbidden: field is immutable when `immutable` is set',
    ],
  },
  {
    of: 'secret',
    name: 'with keys that are none',
    put: { data: { 'a b': 'YQ==' } },
    faults: [`data[a b]: Invalid value: "a b": ${notKey}`],
  },
  {
    of: 'secret',
    name: 'that is too large',
    put: { 'data.a': Buffer.alloc(1048577).toString('base64') },
    faults: ['data: Too long: may not be more than 1048576 bytes'],
  },
  {
    of: 'secret',
    name: 'that is to be of another type',
    update: { type: 'other' },
    faults: ['type: Invalid value: "other": field is immutable'],
  },
  {
    of: 'secret',
    name: 'that is immutable and is to be another',
    put: { immutable: true },
    update: { immutable: false, data: { a: 'Yg==' } },
    faults: [
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ],
  },
  {
    of: 'secret',
    name: 'of an account that it does not name',
    put: { type: 'kubernetes.io/service-account-token' },
    faults: ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  },
  {
    of: 'secret',
    name: 'without name and password',
    put: { type: 'kubernetes.io/basic-auth' },
    faults: ['data[%s][username]: Required value', 'data[%s][password]: Required value'],
  },
  {
    of: 'secret',
    name: 'without a key',
    put: { type: 'kubernetes.io/ssh-auth' },
    faults: ['data[%s][ssh-privatekey]: Required value'],
  },
  {
    of: 'secret',
    name: 'with an empty key',
    put: { type: 'kubernetes.io/ssh-auth', 'data.ssh-privatekey': '' },
    faults: ['data[%s][ssh-privatekey]: Required value'],
  },
  {
    of: 'secret',
    name: 'without a certificate',
    put: { type: 'kubernetes.io/tls' },
    faults: ['data[tls.crt]: Required value', 'data[tls.key]: Required value'],
  },
  {
    of: 'secret',
    name: 'without what its type holds',
    put: { type: 'kubernetes.io/dockercfg' },
    faults: ['data[.dockercfg]: Required value'],
  },
  {
    of: 'secret',
    name: 'with something else than its type holds',
    put: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'YQ==' } },
    faults: ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be valid JSON'],
  },
]

describeFaults('of storage, configuration, quotas and limits', rows)
