import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../../test/support/refusal.ts'
import { runAtOnce } from '../../base/resumable.ts'
import { qualifiedResource } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { assumeValid } from '../../kube/unvalidated.ts'
import { loadCatalog } from '../catalog.ts'
import { podGraceSeconds } from './core/pod.ts'
import { builtInDefaults, builtInKinds } from './kinds.ts'

const catalog = loadCatalog()
type Given = Record<string, unknown>

function typeOf(name: string): ResourceType {
  const [, group = '', version = '', resource = ''] = /^(?:(.+)\/)?(\S+) (\S+)$/.exec(name) ?? []
  const type = catalog.types.find({ group, version, resource })
  if (!type) throw new Error(`no type ${name}`)
  return type
}

/** As the registry does it: defaults, preparation, validation. */
function write(
  name: string,
  given: Given,
  old?: KubeObject,
  subresource = '',
): { readonly object: KubeObject; readonly errors: string[] } {
  const type = typeOf(name)
  const strategy = catalog.strategyOf(type)
  const context = { subresource, now: '2026-11-22T12:00:00Z' }
  const whole: KubeObject = { metadata: { name: 'a', namespace: 'n', uid: 'u-1' }, ...given }
  const defaulted = catalog.applyDefaults(type, whole)
  const object = assumeValid(strategy.prepare?.(defaulted, old, context) ?? defaulted)
  const errors = runAtOnce(strategy.validate?.(object, old, context) ?? [])
  return { object, errors: faultsOf(errors) }
}
const faults = (name: string, given: Given): string[] => write(name, given).errors

/** Faults of changing one valid object into another. */
function change(name: string, before: Given, after: Given, subresource = ''): string[] {
  const old = write(name, before)
  expect(old.errors, 'the object before').toEqual([])
  return write(name, after, old.object, subresource).errors
}

const template = (more: Given = {}, container: Given = {}): Given => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'nginx', ...container }], ...more },
})
const selector = { matchLabels: { app: 'x' } }
const pod = (spec: Given = {}, container: Given = {}): Given => ({ spec: template(spec, container).spec })

describe('manifests as kubectl makes them are valid', () => {
  const valid: [command: string, type: string, object: Given][] = [
    ['run', 'v1 pods', pod()],
    [
      'create deployment',
      'apps/v1 deployments',
      { spec: { replicas: 1, selector, strategy: {}, template: template({}, { resources: {} }) } },
    ],
    [
      'create job',
      'batch/v1 jobs',
      {
        spec: { template: { metadata: {}, spec: { containers: [{ name: 'a', image: 'b' }], restartPolicy: 'Never' } } },
      },
    ],
    [
      'create cronjob',
      'batch/v1 cronjobs',
      {
        spec: {
          schedule: '*/5 0-3 * jan MON',
          jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }) } },
        },
      },
    ],
    [
      'create service clusterip',
      'v1 services',
      {
        spec: {
          ports: [{ name: '80', port: 80, protocol: 'TCP', targetPort: 80 }],
          selector: { app: 'a' },
          type: 'ClusterIP',
        },
      },
    ],
    ['create service headless', 'v1 services', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }],
    ['create service externalname', 'v1 services', { spec: { type: 'ExternalName', externalName: 'a.example.com' } }],
    ['create service nodeport', 'v1 services', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] } }],
    ['create configmap', 'v1 configmaps', { data: { 'a.b_c-d': '' } }],
    ['create secret generic', 'v1 secrets', { data: { a: 'eA==' } }],
    [
      'create secret docker-registry',
      'v1 secrets',
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30=' } },
    ],
    ['create secret tls', 'v1 secrets', { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }],
    [
      'create quota',
      'v1 resourcequotas',
      {
        spec: {
          hard: { cpu: '1', pods: '2', 'count/deployments.apps': '3', 'requests.nvidia.com/gpu': '4' },
          scopes: [],
        },
      },
    ],
    ['create quota --scopes', 'v1 resourcequotas', { spec: { hard: { pods: '2' }, scopes: ['BestEffort'] } }],
    [
      'create ingress',
      'networking.k8s.io/v1 ingresses',
      {
        spec: {
          rules: [
            {
              host: '*.foo.com',
              http: {
                paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
              },
            },
          ],
        },
      },
    ],
    [
      'create ingress --default-backend',
      'networking.k8s.io/v1 ingresses',
      { spec: { defaultBackend: { service: { name: 's', port: { name: 'web' } } } } },
    ],
    ['create pdb', 'policy/v1 poddisruptionbudgets', { spec: { minAvailable: '50%', selector } }],
    ['create priorityclass', 'scheduling.k8s.io/v1 priorityclasses', { value: 1000 }],
    [
      'autoscale',
      'autoscaling/v2 horizontalpodautoscalers',
      { spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' } } },
    ],
    [
      'autoscale (v1)',
      'autoscaling/v1 horizontalpodautoscalers',
      {
        spec: {
          maxReplicas: 2,
          targetCPUUtilizationPercentage: 50,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
        },
      },
    ],
    ['apply a statefulset', 'apps/v1 statefulsets', { spec: { serviceName: 's', selector, template: template() } }],
    ['apply a daemonset', 'apps/v1 daemonsets', { spec: { selector, template: template() } }],
    ['apply a replicaset', 'apps/v1 replicasets', { spec: { selector, template: template() } }],
    ['apply a controller', 'v1 replicationcontrollers', { spec: { template: template() } }],
    [
      'apply a network policy',
      'networking.k8s.io/v1 networkpolicies',
      {
        spec: {
          podSelector: {},
          egress: [
            {
              to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
              ports: [{ port: 53, protocol: 'UDP' }],
            },
          ],
        },
      },
    ],
    [
      'apply a claim',
      'v1 persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ],
    [
      'apply a volume',
      'v1 persistentvolumes',
      { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
    ],
    [
      'apply a limit range',
      'v1 limitranges',
      {
        spec: {
          limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '2' } }],
        },
      },
    ],
    ['apply a storage class', 'storage.k8s.io/v1 storageclasses', { provisioner: 'ex.io/x' }],
    ['apply endpoints', 'v1 endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }],
    [
      'apply a webhook',
      'admissionregistration.k8s.io/v1 validatingwebhookconfigurations',
      {
        webhooks: [
          {
            name: 'a.b.io',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            rules: [{ operations: ['CREATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods'] }],
            clientConfig: { url: 'https://x/y' },
          },
        ],
      },
    ],
    ['renew a lease', 'coordination.k8s.io/v1 leases', { spec: { leaseDurationSeconds: 15 } }],
    ['record an event', 'v1 events', { involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' }, type: 'Normal' }],
    [
      'record an event (new library)',
      'events.k8s.io/v1 events',
      {
        regarding: { namespace: 'n' },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'ex.io/c',
        reportingInstance: 'i',
        action: 'Do',
        reason: 'Done',
        type: 'Normal',
      },
    ],
  ]
  it.each(valid)('kubectl %s', (_, type, object) => {
    expect(faults(type, object)).toEqual([])
  })

  it('and so is a stateful set that mounts what its claim templates bring', () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const given = {
      spec: {
        serviceName: 'db',
        selector: { matchLabels: { app: 'db' } },
        template: {
          metadata: { labels: { app: 'db' } },
          spec: { containers: [{ name: 'db', image: 'db', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
        },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      },
    }
    expect(faults('apps/v1 statefulsets', given)).toEqual([])
  })

  it('and so is a pod that uses nearly everything', () => {
    const spec = {
      initContainers: [
        { name: 'i', image: 'x', restartPolicy: 'Always', startupProbe: { exec: { command: ['true'] } } },
      ],
      volumes: [
        { name: 'v', configMap: { name: 'm', items: [{ key: 'k', path: 'a/b' }] } },
        { name: 'w', persistentVolumeClaim: { claimName: 'c' } },
        {
          name: 'token',
          projected: {
            sources: [
              { serviceAccountToken: { path: 't', expirationSeconds: 3607 } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
            ],
          },
        },
      ],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { operator: 'Exists' },
      ],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
      ],
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: selector } },
          ],
        },
      },
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['a.b'] }],
    }
    const container = {
      env: [
        { name: 'A.b', value: 'x' },
        { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'm' } }],
      ports: [{ name: 'http', containerPort: 80 }],
      volumeMounts: [
        { name: 'v', mountPath: '/v', subPath: 'a' },
        { name: 'token', mountPath: '/t' },
      ],
      resources: { limits: { cpu: '1', 'nvidia.com/gpu': '1' }, requests: { cpu: '500m' } },
      livenessProbe: { httpGet: { port: 'http' } },
      lifecycle: { preStop: { sleep: { seconds: 5 } } },
      securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false },
    }
    expect(faults('v1 pods', pod(spec, container))).toEqual([])
  })
})

describe('what is wrong is said in upstream words', () => {
  const cases: { name: string; type: string; given: Given; want: string[] }[] = [
    {
      name: 'a pod without containers',
      type: 'v1 pods',
      given: { spec: { containers: [] } },
      want: ['spec.containers: Required value'],
    },
    {
      name: 'names: missing, bad, twice',
      type: 'v1 pods',
      given: { spec: { containers: [{ image: 'i' }, { name: 'a', image: 'i' }, { name: 'a', image: 'i' }] } },
      want: ['spec.containers[0].name: Required value', 'spec.containers[2].name: Duplicate value: "a"'],
    },
    {
      name: 'an image',
      type: 'v1 pods',
      given: { spec: { containers: [{ name: 'a' }, { name: 'b', image: ' x' }] } },
      want: [
        'spec.containers[0].image: Required value',
        'spec.containers[1].image: Invalid value: " x": must not have leading or trailing whitespace',
      ],
    },
    {
      name: 'a restart policy',
      type: 'v1 pods',
      given: pod({ restartPolicy: 'Sometimes' }),
      want: ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    },
    {
      name: 'ports',
      type: 'v1 pods',
      given: pod(
        {},
        {
          ports: [
            {},
            { containerPort: 70000 },
            { containerPort: 1, protocol: 'ICMP' },
            { name: 'A', containerPort: 2 },
          ],
        },
      ),
      want: [
        'spec.containers[0].ports[0].containerPort: Required value',
        'spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[2].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
        'spec.containers[0].ports[3].name: Invalid value: "A": must contain only alpha-numeric characters ' +
          '(a-z, 0-9), and hyphens (-)',
        'spec.containers[0].ports[3].name: Invalid value: "A": must contain at least one letter (a-z)',
      ],
    },
    {
      name: 'environment',
      type: 'v1 pods',
      given: pod(
        {},
        {
          env: [
            { value: 'x' },
            { name: 'a=b' },
            { name: 'c', valueFrom: {} },
            { name: 'd', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          envFrom: [{}],
        },
      ),
      want: [
        'spec.containers[0].env[0].name: Required value',
        'spec.containers[0].env[1].name: Invalid value: "a=b": a valid environment variable name must ' +
          `consist only of printable ASCII characters other than '='`,
        'spec.containers[0].env[2].valueFrom: Invalid value: "": must specify one of: `fieldRef`, ' +
          '`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
        'spec.containers[0].env[3].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
        'spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      ],
    },
    {
      name: 'mounts and volumes',
      type: 'v1 pods',
      given: pod(
        {
          volumes: [
            { name: 'v', emptyDir: {}, hostPath: { path: '/' } },
            { name: 'v', secret: {} },
          ],
        },
        {
          volumeMounts: [
            { name: 'x', mountPath: '/a' },
            { name: 'v', mountPath: '/a', subPath: '../b' },
          ],
        },
      ),
      want: [
        'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
        'spec.volumes[1].secret.secretName: Required value',
        'spec.containers[0].volumeMounts[0].name: Not found: "x"',
        'spec.containers[0].volumeMounts[1].name: Not found: "v"',
        'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
        `spec.containers[0].volumeMounts.subPath: Invalid value: "../b": must not contain '..'`,
      ],
    },
    {
      name: 'resources',
      type: 'v1 pods',
      given: pod(
        {},
        { resources: { limits: { cpu: '1', foo: '1', 'a.b/c': '1500m' }, requests: { cpu: '2', memory: '-1' } } },
      ),
      want: [
        'spec.containers[0].resources.limits[a.b/c]: Invalid value: "1500m": must be an integer',
        'spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource type or ' +
          'fully qualified',
        'spec.containers[0].resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
        'spec.containers[0].resources.requests[a.b/c]: Invalid value: "1500m": must be an integer',
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource type ' +
          'or fully qualified',
        'spec.containers[0].resources.requests[foo]: Invalid value: "foo": must be a standard resource for containers',
        'spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
      ],
    },
    {
      name: 'probes',
      type: 'v1 pods',
      given: pod(
        {},
        {
          livenessProbe: { successThreshold: 2 },
          readinessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 1 } },
        },
      ),
      want: [
        'spec.containers[0].livenessProbe: Required value: must specify a handler type',
        'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
        'spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
      ],
    },
    {
      name: 'a deployment without a selector',
      type: 'apps/v1 deployments',
      given: { spec: { template: template() } },
      want: [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
      ],
    },
    {
      name: 'a deployment that would not find its pods',
      type: 'apps/v1 deployments',
      given: {
        spec: { replicas: -1, selector: { matchLabels: { app: 'y' } }, template: template({ restartPolicy: 'Never' }) },
      },
      want: [
        'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
      ],
    },
    {
      name: 'an empty selector',
      type: 'apps/v1 statefulsets',
      given: { spec: { selector: {}, template: template() } },
      want: ['spec.selector: Invalid value: {}: empty selector is invalid for statefulset'],
    },
    {
      name: 'a rolling update that can not move',
      type: 'apps/v1 deployments',
      given: {
        spec: { selector, template: template(), strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
      },
      want: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    },
    {
      name: 'a job that never ends',
      type: 'batch/v1 jobs',
      given: { spec: { template: template() } },
      want: ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    },
    {
      name: 'a cron job without sense',
      type: 'batch/v1 cronjobs',
      given: {
        spec: {
          schedule: 'daily',
          timeZone: 'Moon/Tycho',
          concurrencyPolicy: 'Maybe',
          jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
        },
      },
      want: [
        'spec.schedule: Invalid value: "daily": expected exactly 5 fields, found 1: [daily]',
        'spec.timeZone: Invalid value: "Moon/Tycho": unknown time zone Moon/Tycho',
        'spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"',
      ],
    },
    { name: 'a service without ports', type: 'v1 services', given: { spec: {} }, want: ['spec.ports: Required value'] },
    {
      name: 'service ports',
      type: 'v1 services',
      given: { spec: { ports: [{ port: 0 }, { name: 'x', port: 80, nodePort: 30000 }] } },
      want: [
        'spec.ports[0].name: Required value',
        'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
        "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      ],
    },
    {
      name: 'keys of a config map',
      type: 'v1 configmaps',
      given: { data: { '..a': '', b: '' }, binaryData: { b: '' } },
      want: [
        'data[..a]: Invalid value: "..a": must not start with \'..\'',
        'data[b]: Invalid value: "b": duplicate of key present in binaryData',
      ],
    },
    {
      name: 'a docker secret without JSON, and never its content in the message',
      type: 'v1 secrets',
      given: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'c2VjcmV0' } },
      want: ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be valid JSON'],
    },
    {
      name: 'a token secret without its account',
      type: 'v1 secrets',
      given: { type: 'kubernetes.io/service-account-token' },
      want: ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    },
    {
      name: 'names and amounts of a quota',
      type: 'v1 resourcequotas',
      given: { spec: { hard: { foo: '1', pods: '-1', secrets: '1500m', storage: '1' } } },
      want: [
        'spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
        'spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota',
        'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
        'spec.hard[secrets]: Invalid value: "1500m": must be an integer',
        'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
      ],
    },
    {
      name: 'scopes of a quota',
      type: 'v1 resourcequotas',
      given: {
        spec: {
          hard: { services: '1' },
          scopes: ['BestEffort', 'NotBestEffort', 'Odd'],
          scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] },
        },
      },
      want: [
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope applied to resource',
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope applied to resource',
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: unsupported scope',
        'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","Odd"]: conflicting scopes',
        'spec.scopeSelector.matchExpressions.scopeName: Invalid value: ["PriorityClass"]: unsupported scope ' +
          'applied to resource',
        'spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when ' +
          "`operator` is 'In' or 'NotIn' for scope selector",
      ],
    },
    {
      name: 'limits',
      type: 'v1 limitranges',
      given: {
        spec: {
          limits: [
            { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } },
            { type: 'Container' },
            { type: 'Pod', default: { cpu: '1' } },
            { type: 'PersistentVolumeClaim' },
            { type: 'Thing' },
          ],
        },
      },
      want: [
        'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
        'spec.limits[1].type: Duplicate value: "Container"',
        "spec.limits[2].default: Forbidden: may not be specified when `type` is 'Pod'",
        'spec.limits[3].limits: Required value: either minimum or maximum storage value is required, but ' +
          'neither was provided',
        'spec.limits[4].type: Invalid value: "Thing": must be a standard limit type or fully qualified',
      ],
    },
    {
      name: 'peers of a network policy',
      type: 'networking.k8s.io/v1 networkpolicies',
      given: {
        spec: {
          podSelector: {},
          ingress: [{ from: [{}, { podSelector: {}, ipBlock: { cidr: '10.0.0.1' } }] }],
          policyTypes: ['Sideways'],
        },
      },
      want: [
        'spec.ingress[0].from[0]: Required value: must specify a peer',
        'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "10.0.0.1": must be a valid CIDR value, (e.g. ' +
          '10.9.8.0/24 or 2001:db8::/64)',
        'spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer',
        'spec.policyTypes[0]: Unsupported value: "Sideways": supported values: "Ingress", "Egress"',
      ],
    },
    {
      name: 'an ingress',
      type: 'networking.k8s.io/v1 ingresses',
      given: {
        spec: {
          rules: [
            {
              host: '1.2.3.4',
              http: {
                paths: [
                  { path: 'x', pathType: 'Exact', backend: { service: { name: 's', port: {} } } },
                  { backend: {} },
                ],
              },
            },
          ],
        },
      },
      want: [
        'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
        'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
        'spec.rules[0].http.paths[0].backend: Required value: port name or number is required',
        'spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified',
      ],
    },
    {
      name: 'a claim',
      type: 'v1 persistentvolumeclaims',
      given: { spec: { accessModes: ['Sometimes'] } },
      want: [
        'spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany", ' +
          '"ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        'spec.resources[storage]: Required value',
      ],
    },
    {
      name: 'an autoscaler',
      type: 'autoscaling/v2 horizontalpodautoscalers',
      given: { spec: { minReplicas: 2, maxReplicas: 1, scaleTargetRef: { kind: 'D' } } },
      want: [
        'spec.maxReplicas: Invalid value: 1: must be greater than or equal to `minReplicas`',
        'spec.scaleTargetRef.name: Required value',
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
      ],
    },
    {
      name: 'a disruption budget',
      type: 'policy/v1 poddisruptionbudgets',
      given: { spec: { minAvailable: 1, maxUnavailable: '101%' } },
      want: [
        'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"101%",' +
          '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
        'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
      ],
    },
    {
      name: 'a webhook',
      type: 'admissionregistration.k8s.io/v1 mutatingwebhookconfigurations',
      given: { webhooks: [{ name: 'short', rules: [{ operations: [] }], clientConfig: {} }] },
      want: [
        'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
        'webhooks[0].rules[0].operations: Required value',
        'webhooks[0].rules[0].apiGroups: Required value',
        'webhooks[0].rules[0].apiVersions: Required value',
        'webhooks[0].rules[0].resources: Required value',
        'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
        'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
        'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
      ],
    },
    {
      name: 'a webhook with values nobody knows',
      type: 'admissionregistration.k8s.io/v1 validatingwebhookconfigurations',
      given: {
        webhooks: [
          {
            name: 'a.ex.io',
            clientConfig: { url: 'http://u@h/p?q=1#f' },
            failurePolicy: 'Maybe',
            matchPolicy: 'Nearly',
            sideEffects: 'Some',
            timeoutSeconds: 31,
            admissionReviewVersions: ['v2', 'v2', 'V'],
            rules: [
              {
                operations: ['*', 'READ'],
                apiGroups: ['*', 'apps'],
                apiVersions: ['v1', ''],
                resources: ['pods/*', 'pods/log', '*', 'pods'],
                scope: 'World',
              },
            ],
          },
          {
            name: 'a.ex.io',
            clientConfig: { service: { name: 's', namespace: 'n', port: 0, path: 'x//Y' } },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
      want: [
        'webhooks[0].rules[0].operations: Invalid value: ["*","READ"]: if \'*\' is present, must not specify ' +
          'other operations',
        'webhooks[0].rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", ' +
          '"CREATE", "DELETE", "UPDATE"',
        'webhooks[0].rules[0].apiGroups: Invalid value: ["*","apps"]: if \'*\' is present, must not specify ' +
          'other API groups',
        'webhooks[0].rules[0].apiVersions[1]: Required value',
        'webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if \'pods/*\' is present, must not ' +
          'specify pods/log',
        'webhooks[0].rules[0].resources: Invalid value: ["pods/*","pods/log","*","pods"]: if \'*\' is ' +
          'present, must not specify other resources without subresources',
        'webhooks[0].rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"',
        'webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"',
        'webhooks[0].matchPolicy: Unsupported value: "Nearly": supported values: "Equivalent", "Exact"',
        'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
        'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; ' +
          'desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "q=1": query parameters are not permitted in the URL',
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
        expect.stringContaining('webhooks[0].admissionReviewVersions[2]: Invalid value: "V": a DNS-1035 label must'),
        'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2","V"]: must include at least one of v1, v1beta1',
        'webhooks[1].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and ' +
          '65535, inclusive',
        'webhooks[1].clientConfig.service.path: Invalid value: "x//Y": must start with a \'/\'',
        'webhooks[1].clientConfig.service.path: Invalid value: "x//Y": segment[0] may not be empty',
        'webhooks[1].clientConfig.service.path: Invalid value: "x//Y": segment[1] may not be empty',
        expect.stringContaining(
          'webhooks[1].clientConfig.service.path: Invalid value: "x//Y": segment[2]: a lowercase',
        ),
        'webhooks[1].name: Duplicate value: "a.ex.io"',
      ],
    },
    {
      name: 'an event about another namespace',
      type: 'v1 events',
      given: { involvedObject: { namespace: 'm' } },
      want: ['involvedObject.namespace: Invalid value: "m": does not match event.namespace'],
    },
  ]
  it.each(cases)('$name', ({ type, given, want }) => {
    expect(faults(type, given)).toEqual(want)
  })
})

describe('what may change', () => {
  const service = { spec: { type: 'NodePort', clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30001 }] } }
  const claim = (storage: string, more: Given = {}): Given => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more },
  })
  const cases: { name: string; type: string; before: Given; after: Given; want: RegExp[] }[] = [
    {
      name: 'the image of a pod',
      type: 'v1 pods',
      before: pod({}, { image: 'nginx:1' }),
      after: pod({}, { image: 'nginx:2' }),
      want: [],
    },
    {
      name: 'new tolerations of a pod',
      type: 'v1 pods',
      before: pod(),
      after: pod({ tolerations: [{ operator: 'Exists' }] }),
      want: [],
    },
    {
      name: 'not the environment of a pod',
      type: 'v1 pods',
      before: pod(),
      after: pod({}, { env: [{ name: 'A' }] }),
      want: [/^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`/],
    },
    {
      name: 'not the number of containers',
      type: 'v1 pods',
      before: pod(),
      after: { spec: { containers: [] } },
      want: [
        /^spec.containers: Required value/,
        /^spec.containers: Forbidden: pod updates may not add or remove containers$/,
      ],
    },
    {
      name: 'a gate may go',
      type: 'v1 pods',
      before: pod({ schedulingGates: [{ name: 'a' }] }),
      after: pod({ nodeSelector: { x: 'y' } }),
      want: [],
    },
    {
      name: 'a gate may not come',
      type: 'v1 pods',
      before: pod(),
      after: pod({ schedulingGates: [{ name: 'a' }] }),
      want: [/^spec.schedulingGates: Forbidden/, /^spec: Forbidden/],
    },
    {
      name: 'the template of a deployment',
      type: 'apps/v1 deployments',
      before: { spec: { selector, template: template() } },
      after: { spec: { replicas: 0, selector, template: template({}, { image: 'x' }) } },
      want: [],
    },
    {
      name: 'not the selector of a deployment',
      type: 'apps/v1 deployments',
      before: { spec: { selector, template: template() } },
      after: { spec: { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, template: template() } },
      want: [/^spec.selector: Invalid value: .*: field is immutable$/],
    },
    {
      name: 'not the service name of a stateful set',
      type: 'apps/v1 statefulsets',
      before: { spec: { selector, template: template() } },
      after: { spec: { serviceName: 'x', selector, template: template() } },
      want: [
        /^spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', .* and 'minReadySeconds' are forbidden$/,
      ],
    },
    {
      name: 'not a frozen config map',
      type: 'v1 configmaps',
      before: { immutable: true, data: { a: 'b' } },
      after: { data: {} },
      want: [/^immutable: Forbidden/, /^data: Forbidden: field is immutable when `immutable` is set$/],
    },
    {
      name: 'not the type of a secret',
      type: 'v1 secrets',
      before: {},
      after: { type: 'x/y' },
      want: [/^type: Invalid value: "x\/y": field is immutable$/],
    },
    {
      name: 'not the address of a service',
      type: 'v1 services',
      before: service,
      after: { spec: { ...service.spec, clusterIP: '10.0.0.2' } },
      want: [/^spec.clusterIPs\[0\]: Invalid value: \["10.0.0.2"\]: may not change once set$/],
    },
    {
      name: 'but a service keeps what is left out',
      type: 'v1 services',
      before: service,
      after: { spec: { type: 'NodePort', ports: [{ port: 80 }] } },
      want: [],
    },
    {
      name: 'the name of the volume of a claim, once',
      type: 'v1 persistentvolumeclaims',
      before: claim('1Gi'),
      after: claim('1Gi', { volumeName: 'v' }),
      want: [],
    },
    {
      name: 'not the size of an unbound claim',
      type: 'v1 persistentvolumeclaims',
      before: claim('1Gi'),
      after: claim('2Gi'),
      want: [/^spec: Forbidden: spec is immutable after creation except/],
    },
    {
      name: 'not the value of a priority',
      type: 'scheduling.k8s.io/v1 priorityclasses',
      before: { value: 1 },
      after: { value: 2 },
      want: [/^value: Forbidden: may not be changed in an update.$/],
    },
    {
      name: 'not the provisioner of a class',
      type: 'storage.k8s.io/v1 storageclasses',
      before: { provisioner: 'a/b' },
      after: { provisioner: 'a/c' },
      want: [/^provisioner: Forbidden: updates to provisioner are forbidden.$/],
    },
    {
      name: 'not the scopes of a quota',
      type: 'v1 resourcequotas',
      before: { spec: { hard: { pods: '1' } } },
      after: { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } },
      want: [/^spec.scopes: Invalid value: \["BestEffort"\]: field is immutable$/],
    },
  ]
  it.each(cases)('$name', ({ type, before, after, want }) => {
    const got = change(type, before, after)
    expect(got.length, got.join('\n')).toBe(want.length)
    want.forEach((pattern, i) => expect(got[i]).toMatch(pattern))
  })

  it('a job keeps its template, but may be told to wait', () => {
    const job = { spec: { template: template({ restartPolicy: 'Never' }) } }
    const old = write('batch/v1 jobs', job)
    const spec = old.object['spec'] as Given
    expect(write('batch/v1 jobs', { spec: { ...spec, suspend: true, parallelism: 3 } }, old.object).errors).toEqual([])
    const other = { ...spec, template: template({ restartPolicy: 'OnFailure' }) }
    expect(write('batch/v1 jobs', { spec: other }, old.object).errors).toEqual([
      expect.stringMatching(/^spec.template: Invalid value: .*: field is immutable$/),
    ])
  })

  it('only ephemeral containers are taken from their sub-resource', () => {
    const old = write('v1 pods', pod())
    const sent = pod({ nodeName: 'x', ephemeralContainers: [{ name: 'e', image: 'i' }] })
    const { object, errors } = write('v1 pods', sent, old.object, 'ephemeralcontainers')
    expect(errors).toEqual([])
    expect(object).toMatchObject({ spec: { ephemeralContainers: [{ name: 'e' }] }, status: { phase: 'Pending' } })
    expect(object['spec']).not.toHaveProperty('nodeName')
    expect(write('v1 pods', pod(), object, 'ephemeralcontainers').errors).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n',
    ])
  })
})

describe('what the server adds', () => {
  it('a pod begins pending, with its class of service', () => {
    const classes = [
      [{}, 'BestEffort'],
      [{ requests: { cpu: '1' } }, 'Burstable'],
      [{ limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
      [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } }, 'Burstable'],
      [{ limits: { cpu: '0' } }, 'BestEffort'],
    ] as const
    for (const [resources, qosClass] of classes) {
      expect(write('v1 pods', pod({}, { resources })).object['status']).toEqual({ phase: 'Pending', qosClass })
    }
  })

  it('a job finds its pods by its uid', () => {
    const { object } = write('batch/v1 jobs', { spec: { template: template({ restartPolicy: 'Never' }) } })
    expect(object).toMatchObject({
      spec: {
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
        template: { metadata: { labels: { app: 'x', 'job-name': 'a', 'controller-uid': 'u-1' } } },
      },
    })
  })

  it('a headless service has its address in both fields', () => {
    const { object } = write('v1 services', { spec: { clusterIP: 'None', ports: [] } })
    expect(object['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] })
  })

  it('a service that becomes a name elsewhere loses its address', () => {
    const old = write('v1 services', { spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } }).object
    const { object, errors } = write(
      'v1 services',
      { spec: { ...(old['spec'] as Given), type: 'ExternalName', externalName: 'x.y' } },
      old,
    )
    expect(errors).toEqual([])
    expect(object['spec']).not.toHaveProperty('clusterIPs')
  })

  it('a service that needs no ports of nodes any more loses what came with them', () => {
    const ports = [{ port: 80, nodePort: 30080 }]
    const old = write('v1 services', {
      spec: { type: 'LoadBalancer', ports, externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 },
    }).object
    const spec = { ...(old['spec'] as Given), type: 'ClusterIP' }
    const { object, errors } = write('v1 services', { spec }, old)
    expect(errors).toEqual([])
    for (const field of ['externalTrafficPolicy', 'healthCheckNodePort', 'allocateLoadBalancerNodePorts']) {
      expect(object['spec']).not.toHaveProperty(field)
    }
    expect(object['spec']).toMatchObject({ type: 'ClusterIP', ports: [{ port: 80 }] })
    expect(JSON.stringify(object['spec'])).not.toContain('nodePort')
    // What was changed along with the type is meant, and wrong.
    const changed = write('v1 services', { spec: { ...spec, externalTrafficPolicy: 'Cluster' } }, old)
    expect(changed.errors).not.toEqual([])
  })

  const graces: [name: string, pod: Given, requested: number | undefined, want: number][] = [
    ['a pod on no node needs none', pod(), undefined, 0],
    ['the default', pod({ nodeName: 'x' }), undefined, 30],
    ['its own', pod({ nodeName: 'x', terminationGracePeriodSeconds: 5 }), undefined, 5],
    ['what was asked for', pod({ nodeName: 'x' }), 1, 1],
    ['none when it has ended', { ...pod({ nodeName: 'x' }), status: { phase: 'Failed' } }, 9, 0],
  ]
  it.each(graces)('grace of a deleted pod: %s', (_, object, requested, want) => {
    expect(podGraceSeconds({ metadata: { name: 'a' }, ...object }, requested)).toBe(want)
  })
})

describe('the table of kinds', () => {
  const types = [...catalog.types.all()]
  it('names only resources that exist', () => {
    const resources = new Set(types.map(qualifiedResource))
    expect(Object.keys(builtInKinds).length).toBeGreaterThan(50)
    expect(Object.keys(builtInKinds).filter((name) => !resources.has(name))).toEqual([])
  })

  it('names only versions and sub-resources that exist', () => {
    for (const [name, { streamKinds = {}, conversions = {}, strategy }] of Object.entries(builtInKinds)) {
      const versions = types.filter((type) => qualifiedResource(type) === name)
      for (const version of Object.keys(conversions)) expect(versions.map((type) => type.version)).toContain(version)
      for (const subresource of [...Object.keys(streamKinds), ...Object.keys(strategy?.keptMetadata ?? {})]) {
        expect(
          versions.some((type) => type.subresources.has(subresource)),
          `${name}/${subresource}`,
        ).toBe(true)
      }
    }
  })

  it('has the defaults of a type in one place', () => {
    const names = builtInDefaults.flatMap((rules) => Object.keys(rules))
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
  })

  it('gives each kind what upstream gives it', () => {
    expect(catalog.strategyOf(typeOf('coordination.k8s.io/v1 leases'))).toMatchObject({
      createOnUpdate: true,
      unconditionalUpdate: false,
    })
    expect(catalog.strategyOf(typeOf('v1 pods'))).toMatchObject({
      returnsDeleted: true,
      tracksGeneration: true,
    })
    expect(catalog.strategyOf(typeOf('v1 nodes'))).toMatchObject({ keepsNewStatus: true })
    expect(catalog.strategyOf(typeOf('v1 configmaps'))).toEqual({
      tracksGeneration: false,
      validate: expect.any(Function) as unknown,
    })
    expect(catalog.strategyOf(typeOf('v1 events'))).toMatchObject({ garbageCollected: false })
    expect(catalog.strategyOf(typeOf('batch/v1 jobs'))).toMatchObject({ orphansDependents: true })
    expect(catalog.strategyOf(typeOf('v1 replicationcontrollers'))).toMatchObject({ orphansDependents: true })
    expect(catalog.strategyOf(typeOf('batch/v1 cronjobs'))).not.toHaveProperty('orphansDependents')
    const own = catalog.declare({
      group: 'x',
      version: 'v1',
      resource: 'as',
      kind: 'A',
      namespaced: true,
      properties: {},
    })
    expect(catalog.strategyOf(own)).toEqual({})
  })

  it('reads selectable fields as they are printed', () => {
    const fieldsOf = (name: string, object: Given): Record<string, string> =>
      Object.fromEntries(
        Object.entries(catalog.strategyOf(typeOf(name)).selectableFields ?? {}).map(([k, f]) => [
          k,
          f({ metadata: {}, ...object }),
        ]),
      )
    expect(fieldsOf('v1 pods', { spec: { nodeName: 'x' }, status: { phase: 'Running' } })).toMatchObject({
      'spec.nodeName': 'x',
      'spec.hostNetwork': 'false',
      'status.phase': 'Running',
      'status.podIP': '',
    })
    expect(fieldsOf('v1 events', { involvedObject: { kind: 'Pod' }, reportingComponent: 'c' })).toMatchObject({
      'involvedObject.kind': 'Pod',
      source: 'c',
    })
    expect(fieldsOf('apps/v1 replicasets', {})).toEqual({ 'status.replicas': '0' })
  })
})
