/**
 * What is refused of containers and volumes. Each whole. Compared with a kube-apiserver 1.20; where 1.36 words it
 * otherwise, with its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notKey, notLabel, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'pod',
    name: 'without containers',
    put: { 'spec.containers': [] },
    faults: ['spec.containers: Required value'],
  },
  {
    of: 'pod',
    name: 'that is to have another container',
    update: { 'spec.containers[1]': { name: 'd', image: 'i' } },
    faults: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
  },
  {
    of: 'pod',
    name: 'that is to begin with something else',
    update: { 'spec.initContainers': [{ name: 'd', image: 'i' }] },
    faults: ['spec.initContainers: Forbidden: pod updates may not add or remove containers'],
  },
  {
    of: 'pod',
    name: 'with containers that can not be told apart',
    put: {
      'spec.containers': [
        { name: '', image: '' },
        { name: 'A', image: ' i' },
        { name: 'c', image: 'i' },
        { name: 'c', image: 'i' },
      ],
    },
    faults: [
      'spec.containers[0].name: Required value',
      'spec.containers[0].image: Required value',
      `spec.containers[1].name: Invalid value: "A": ${notLabel}`,
      'spec.containers[1].image: Invalid value: " i": must not have leading or trailing whitespace',
      'spec.containers[3].name: Duplicate value: "c"',
    ],
  },
  {
    of: 'pod',
    name: 'with policies of a container that nobody knows',
    put: {
      'spec.containers[0].terminationMessagePolicy': 'Some',
      'spec.containers[0].imagePullPolicy': 'Some',
      'spec.containers[0].restartPolicy': 'Some',
    },
    faults: [
      'spec.containers[0].terminationMessagePolicy: Unsupported value: "Some": supported values: "File", ' +
        '"FallbackToLogsOnError"',
      'spec.containers[0].imagePullPolicy: Unsupported value: "Some": supported values: "Always", ' +
        '"IfNotPresent", "Never"',
      'spec.containers[0].restartPolicy: Unsupported value: "Some": supported values: "Always", "Never", "OnFailure"',
    ],
  },
  {
    of: 'pod',
    name: 'with ports that can not be told apart',
    put: {
      'spec.containers[0].ports': [
        { name: '--', containerPort: 0 },
        { name: 'p', containerPort: 70000, protocol: 'X' },
        { name: 'p', containerPort: 1, hostPort: 70000 },
        { containerPort: 2, hostPort: 3 },
        { containerPort: 4, hostPort: 3 },
      ],
    },
    faults: [
      'spec.containers[0].ports[0].name: Invalid value: "--": must contain at least one letter (a-z)',
      'spec.containers[0].ports[0].name: Invalid value: "--": must not contain consecutive hyphens',
      'spec.containers[0].ports[0].name: Invalid value: "--": must not begin or end with a hyphen',
      'spec.containers[0].ports[0].containerPort: Required value',
      'spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
      'spec.containers[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'spec.containers[0].ports[2].name: Duplicate value: "p"',
      'spec.containers[0].ports[2].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
      'spec.containers[0].ports[4].hostPort: Duplicate value: "TCP//3"',
    ],
  },
  {
    of: 'pod',
    name: 'with a port that its host does not have',
    put: { 'spec.hostNetwork': true, 'spec.containers[0].ports': [{ containerPort: 1, hostPort: 2 }] },
    faults: [
      'spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true',
    ],
  },
  {
    of: 'pod',
    name: 'with variables that are none',
    put: {
      'spec.containers[0].env': [
        { name: '' },
        { name: 'a=b' },
        { name: 'a', valueFrom: {} },
        { name: 'b', value: 'v', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'd', valueFrom: { secretKeyRef: { name: '', key: '' }, configMapKeyRef: { name: 'A_', key: 'a b' } } },
      ],
    },
    faults: [
      'spec.containers[0].env[0].name: Required value',
      'spec.containers[0].env[1].name: Invalid value: "a=b": a valid environment variable name must consist ' +
        "only of printable ASCII characters other than '='",
      'spec.containers[0].env[2].valueFrom: Invalid value: "": must specify one of: `fieldRef`, ' +
        '`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      'spec.containers[0].env[3].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      `spec.containers[0].env[4].valueFrom.configMapKeyRef.name: Invalid value: "A_": ${notSubdomain}`,
      `spec.containers[0].env[4].valueFrom.configMapKeyRef.key: Invalid value: "a b": ${notKey}`,
      `spec.containers[0].env[4].valueFrom.secretKeyRef.name: Invalid value: "": ${notSubdomain}`,
      'spec.containers[0].env[4].valueFrom.secretKeyRef.key: Required value',
      'spec.containers[0].env[4].valueFrom: Invalid value: "": may not have more than one field specified at a time',
    ],
  },
  {
    of: 'pod',
    name: 'with variables from no field',
    put: {
      'spec.containers[0].env': [
        { name: 'a', valueFrom: { fieldRef: { fieldPath: '' } } },
        { name: 'b', valueFrom: { resourceFieldRef: { resource: '' } } },
      ],
    },
    faults: [
      'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Required value',
      'spec.containers[0].env[1].valueFrom.resourceFieldRef.resource: Required value',
    ],
  },
  {
    of: 'pod',
    name: 'with variables from nowhere',
    put: {
      'spec.containers[0].envFrom': [{ prefix: 'a=b' }, { configMapRef: { name: '' }, secretRef: { name: 'A_' } }],
    },
    faults: [
      'spec.containers[0].envFrom[0].prefix: Invalid value: "a=b": a valid environment variable name must ' +
        "consist only of printable ASCII characters other than '='",
      'spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      'spec.containers[0].envFrom[1].configMapRef.name: Required value',
      `spec.containers[0].envFrom[1].secretRef.name: Invalid value: "A_": ${notSubdomain}`,
      'spec.containers[0].envFrom: Invalid value: "": may not have more than one field specified at a time',
    ],
  },
  {
    of: 'pod',
    name: 'that mounts what is not there',
    put: {
      'spec.containers[0].volumeMounts': [
        { name: '', mountPath: '' },
        { name: 'w', mountPath: '/a', subPath: '/x' },
        { name: 'w', mountPath: '/a', subPath: 'x/../y', subPathExpr: '..' },
      ],
      'spec.containers[0].volumeDevices': [{ name: 'w', devicePath: '' }],
    },
    faults: [
      'spec.containers[0].volumeMounts[0].name: Required value',
      'spec.containers[0].volumeMounts[0].name: Not found: ""',
      'spec.containers[0].volumeMounts[0].mountPath: Required value',
      'spec.containers[0].volumeMounts[0].mountPath: Invalid value: "": must not already exist as a path in ' +
        'volumeDevices',
      'spec.containers[0].volumeMounts[1].name: Not found: "w"',
      'spec.containers[0].volumeMounts[1].name: Invalid value: "w": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts.subPath: Invalid value: "/x": must be a relative path',
      'spec.containers[0].volumeMounts[2].name: Not found: "w"',
      'spec.containers[0].volumeMounts[2].mountPath: Invalid value: "/a": must be unique',
      'spec.containers[0].volumeMounts[2].name: Invalid value: "w": must not already exist in volumeDevices',
      'spec.containers[0].volumeMounts.subPath: Invalid value: "x/../y": must not contain \'..\'',
      'spec.containers[0].volumeMounts[2].subPathExpr: Invalid value: "..": subPathExpr and subPath are ' +
        'mutually exclusive',
      'spec.containers[0].volumeMounts.subPathExpr: Invalid value: "..": must not contain \'..\'',
      'spec.containers[0].volumeDevices[0].name: Not found: "w"',
      'spec.containers[0].volumeDevices[0].devicePath: Required value',
      'spec.containers[0].volumeDevices[0].name: Invalid value: "w": must not already exist in volumeMounts',
      'spec.containers[0].volumeDevices[0].devicePath: Invalid value: "": must not already exist as a path ' +
        'in volumeMounts',
    ],
  },
  {
    of: 'pod',
    name: 'whose containers run as nobody that there is',
    put: { 'spec.containers[0].securityContext': { runAsUser: -1, runAsGroup: 2147483648 } },
    faults: [
      'spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.containers[0].securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and ' +
        '2147483647, inclusive',
    ],
  },
  {
    of: 'pod',
    name: 'that is privileged and must not be',
    put: {
      'spec.containers[0].securityContext': {
        allowPrivilegeEscalation: false,
        privileged: true,
        capabilities: { add: ['CAP_SYS_ADMIN'] },
      },
    },
    faults: [
      'spec.containers[0].securityContext: Invalid value: ' +
        '{"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}: cannot ' +
        'set `allowPrivilegeEscalation` to false and `privileged` to true',
      'spec.containers[0].securityContext: Invalid value: ' +
        '{"allowPrivilegeEscalation":false,"privileged":true,"capabilities":{"add":["CAP_SYS_ADMIN"]}}: cannot ' +
        'set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    ],
  },
  {
    of: 'pod',
    name: 'that begins with a probe',
    put: {
      'spec.initContainers': [
        {
          name: 'd',
          image: 'i',
          lifecycle: { postStart: { exec: { command: ['a'] } } },
          livenessProbe: { exec: { command: ['a'] } },
        },
      ],
    },
    faults: [
      'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
      'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without ' +
        'restartPolicy=Always',
    ],
  },
  {
    of: 'pod',
    name: 'with resources that are none',
    put: {
      'spec.containers[0].resources': {
        limits: { cpu: '-1', x: '1', 'a b': '1', 'kubernetes.io/x': '1', 'a.io/b': '1500m' },
        requests: { cpu: '2', memory: '1Gi', 'a.io/b': '1', 'a.io/c': '1' },
        claims: [{ name: '' }, { name: 'q' }, { name: 'q' }],
      },
    },
    faults: [
      `spec.containers[0].resources.limits[a b]: Invalid value: "a b": ${notQualified}`,
      'spec.containers[0].resources.limits[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.containers[0].resources.limits[a.io/b]: Invalid value: "1500m": must be an integer',
      'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.limits[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[x]: Invalid value: "x": must be a standard resource for containers',
      `spec.containers[0].resources.requests[a b]: Invalid value: "a b": ${notQualified}`,
      'spec.containers[0].resources.requests[a b]: Invalid value: "a b": must be a standard resource for containers',
      'spec.containers[0].resources.requests: Invalid value: "1": must be equal to a.io/b limit of 1500m',
      'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of -1',
      'spec.containers[0].resources.requests[x]: Invalid value: "x": must be a standard resource type or ' +
        'fully qualified',
      'spec.containers[0].resources.requests[x]: Invalid value: "x": must be a standard resource for containers',
      'spec.containers[0].resources.claims[0]: Required value',
      'spec.containers[0].resources.claims[1]: Not found: "q": must be one of the names in pod.spec.resourceClaims ' +
        'which is empty',
      'spec.containers[0].resources.claims[2]: Duplicate value: "q"',
      'spec.containers[0].resources.claims[2]: Not found: "q": must be one of the names in pod.spec.resourceClaims ' +
        'which is empty',
    ],
  },
  {
    of: 'pod',
    name: 'that asks for more than it may have',
    put: {
      'spec.containers[0].resources': {
        limits: { cpu: '1', 'hugepages-2Mi': '2Mi' },
        requests: { cpu: '2', 'hugepages-2Mi': '4Mi' },
      },
    },
    faults: [
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      'spec.containers[0].resources.requests: Invalid value: "4Mi": must be equal to hugepages-2Mi limit of 2Mi',
    ],
  },
  {
    of: 'pod',
    name: 'with probes that do nothing',
    put: {
      'spec.containers[0].livenessProbe': {},
      'spec.containers[0].readinessProbe': { exec: { command: [] }, terminationGracePeriodSeconds: 1 },
      'spec.containers[0].startupProbe': {
        exec: { command: ['a'] },
        tcpSocket: { port: 1 },
        successThreshold: 2,
        terminationGracePeriodSeconds: 0,
      },
    },
    faults: [
      'spec.containers[0].livenessProbe: Required value: must specify a handler type',
      'spec.containers[0].readinessProbe.exec.command: Required value',
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set ' +
        'for readinessProbes',
      'spec.containers[0].startupProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
      'spec.containers[0].startupProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0',
      'spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1',
    ],
  },
  {
    of: 'pod',
    name: 'with probes that ask nobody',
    put: {
      'spec.containers[0].livenessProbe': {
        httpGet: { path: '', port: 0, scheme: 'X', httpHeaders: [{ name: 'a b', value: '' }] },
      },
      'spec.containers[0].readinessProbe': { tcpSocket: { port: '--' }, initialDelaySeconds: -1 },
      'spec.containers[0].startupProbe': { grpc: { port: 0 } },
    },
    faults: [
      'spec.containers[0].livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "X": supported values: "HTTP", "HTTPS"',
      'spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header ' +
        "must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is " +
        "'[-A-Za-z0-9]+')",
      'spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: "--": must contain at least one letter (a-z)',
      'spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: "--": must not contain consecutive hyphens',
      'spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: "--": must not begin or end with a hyphen',
      'spec.containers[0].readinessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0',
      'spec.containers[0].startupProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
  },
  {
    of: 'pod',
    name: 'that sleeps less than nothing',
    put: { 'spec.containers[0].lifecycle': { preStop: { sleep: { seconds: -1 } }, postStart: {} } },
    faults: [
      'spec.containers[0].lifecycle.postStart: Required value: must specify a handler type',
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and less than ' +
        'terminationGracePeriodSeconds (30)',
    ],
  },
  {
    of: 'pod',
    name: 'with volumes that can not be told apart',
    put: {
      'spec.volumes': [
        { name: '' },
        { name: 'A', emptyDir: {} },
        { name: 'v', emptyDir: {} },
        { name: 'v', emptyDir: {}, hostPath: { path: '/a' } },
      ],
    },
    faults: [
      'spec.volumes[0].name: Required value',
      `spec.volumes[1].name: Invalid value: "A": ${notLabel}`,
      'spec.volumes[3].hostPath: Forbidden: may not specify more than 1 volume type',
      'spec.volumes[3].name: Duplicate value: "v"',
    ],
  },
  {
    of: 'pod',
    name: 'with a folder of its host that is none',
    put: {
      'spec.volumes': [
        { name: 'a', hostPath: { path: '' } },
        { name: 'c', hostPath: { path: '/a', type: 'Some' } },
        { name: 'b', hostPath: { path: '/a/../b' } },
      ],
    },
    faults: [
      'spec.volumes[0].hostPath.path: Required value',
      'spec.volumes[1].hostPath.type: Unsupported value: "Some": supported values: "", "BlockDevice", ' +
        '"CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      'spec.volumes[2].hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
    ],
  },
  {
    of: 'pod',
    name: 'with room of less than nothing',
    put: { 'spec.volumes': [{ name: 'v', emptyDir: { sizeLimit: '-1' } }] },
    faults: ['spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  },
  {
    of: 'pod',
    name: 'with a secret that is none',
    put: {
      'spec.volumes': [
        {
          name: 'v',
          secret: {
            secretName: '',
            defaultMode: 512,
            items: [
              { key: '', path: '' },
              { key: 'a b', path: '/x', mode: -1 },
            ],
          },
        },
      ],
    },
    faults: [
      'spec.volumes[0].secret.secretName: Required value',
      'spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), ' +
        'both inclusive',
      'spec.volumes[0].secret.items[0].key: Required value',
      'spec.volumes[0].secret.items[0].path: Required value',
      'spec.volumes[0].secret.items[1].path: Invalid value: "/x": must be a relative path',
      'spec.volumes[0].secret.items[1].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), ' +
        'both inclusive',
    ],
  },
  {
    of: 'pod',
    name: 'with a map that is none',
    put: { 'spec.volumes': [{ name: 'v', configMap: { name: '', items: [{ key: 'k', path: 'a/../b' }] } }] },
    faults: [
      'spec.volumes[0].configMap.name: Required value',
      'spec.volumes[0].configMap.items[0].path: Invalid value: "a/../b": must not contain \'..\'',
    ],
  },
  {
    of: 'pod',
    name: 'with volumes that lack what they are',
    put: {
      'spec.volumes': [
        { name: 'a', persistentVolumeClaim: { claimName: '' } },
        { name: 'b', nfs: { server: '', path: '' } },
        { name: 'c', nfs: { server: 's', path: 'x' } },
        { name: 'd', csi: { driver: '' } },
        { name: 'e', csi: { driver: 'd'.repeat(64) } },
        { name: 'f', ephemeral: {} },
      ],
    },
    faults: [
      'spec.volumes[0].persistentVolumeClaim.claimName: Required value',
      'spec.volumes[1].nfs.server: Required value',
      'spec.volumes[1].nfs.path: Required value',
      'spec.volumes[1].nfs.path: Invalid value: "": must be an absolute path',
      'spec.volumes[2].nfs.path: Invalid value: "x": must be an absolute path',
      'spec.volumes[3].csi.driver: Required value',
      `spec.volumes[3].csi.driver: Invalid value: "": ${notSubdomain}`,
      'spec.volumes[4].csi.driver: Too long: may not be more than 63 bytes',
      'spec.volumes[5].ephemeral.volumeClaimTemplate: Required value',
    ],
  },
  {
    of: 'pod',
    name: 'with an image that is none',
    put: { 'spec.volumes': [{ name: 'v', image: { reference: '', pullPolicy: 'Some' } }] },
    faults: [
      'spec.volumes[0].image.reference: Required value',
      'spec.volumes[0].image.pullPolicy: Unsupported value: "Some": supported values: "Always", ' +
        '"IfNotPresent", "Never"',
    ],
  },
  {
    of: 'pod',
    name: 'with fields of its own that are none',
    put: {
      'spec.volumes': [
        {
          name: 'v',
          downwardAPI: {
            defaultMode: -1,
            items: [
              { path: '' },
              {
                path: '/a',
                fieldRef: { fieldPath: 'metadata.name' },
                resourceFieldRef: { resource: 'limits.cpu' },
                mode: 512,
              },
            ],
          },
        },
      ],
    },
    faults: [
      'spec.volumes[0].downwardAPI.defaultMode: Invalid value: -1: must be a number between 0 and 0777 ' +
        '(octal), both inclusive',
      'spec.volumes[0].downwardAPI.path: Required value',
      'spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
      'spec.volumes[0].downwardAPI.path: Invalid value: "/a": must be a relative path',
      'spec.volumes[0].downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be ' +
        'specified simultaneously',
      'spec.volumes[0].downwardAPI.mode: Invalid value: 512: must be a number between 0 and 0777 (octal), ' +
        'both inclusive',
    ],
  },
  {
    of: 'pod',
    name: 'with projections that are none',
    put: {
      'spec.volumes': [
        {
          name: 'v',
          projected: {
            defaultMode: -1,
            sources: [
              {},
              { secret: { name: '' } },
              { configMap: { name: 'n' }, secret: { name: 'n' } },
              { serviceAccountToken: { path: '', expirationSeconds: 599 } },
              { serviceAccountToken: { path: 'p', expirationSeconds: 4294967297 } },
            ],
          },
        },
      ],
    },
    faults: [
      'spec.volumes[0].projected.defaultMode: Invalid value: -1: must be a number between 0 and 0777 ' +
        '(octal), both inclusive',
      'spec.volumes[0].projected.sources[1].secret.name: Required value',
      'spec.volumes[0].projected.sources[2]: Forbidden: may not specify more than 1 volume type per source',
      'spec.volumes[0].projected.sources[3].serviceAccountToken.expirationSeconds: Invalid value: 599: may ' +
        'not specify a duration less than 10 minutes',
      'spec.volumes[0].projected.path: Required value',
      'spec.volumes[0].projected.sources[4].serviceAccountToken.expirationSeconds: Invalid value: ' +
        '4294967297: may not specify a duration larger than 2^32 seconds',
    ],
  },
]

describeFaults('of containers and volumes', rows)
