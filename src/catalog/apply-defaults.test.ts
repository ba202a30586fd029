import { describe, expect, it } from 'vitest'
import type { Unvalidated } from '../kube/types.ts'
import { Defaulter } from './apply-defaults.ts'
import { loadCatalog } from './catalog.ts'

const catalog = loadCatalog()

/** What decoding and defaulting make of an object: `<group/version> <resource>`. */
function defaulted(type: string, object: Record<string, unknown>): Unvalidated {
  const [, group = '', version = '', resource = ''] = /^(?:(.+)\/)?(\S+) (\S+)$/.exec(type) ?? []
  const found = catalog.types.find({ group, version, resource })
  if (!found) throw new Error(`no type ${type}`)
  return catalog.applyDefaults(found, { metadata: { name: 'a' }, ...object })
}

const container = {
  imagePullPolicy: 'Always',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
}
const podSpec = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
}
const template = { spec: { containers: [{ name: 'c', image: 'nginx' }] } }
const fullTemplate = {
  metadata: {},
  spec: { ...podSpec, containers: [{ name: 'c', image: 'nginx', ...container }] },
}

const cases: { name: string; type: string; given: Record<string, unknown>; want: Record<string, unknown> }[] = [
  {
    name: 'a pod gets everything a pod has',
    type: 'v1 pods',
    given: template,
    want: { spec: { ...fullTemplate.spec, enableServiceLinks: true }, status: {} },
  },
  {
    name: 'requests are taken from limits, key by key',
    type: 'v1 pods',
    given: {
      spec: {
        containers: [
          { name: 'c', image: 'a:1', resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } },
        ],
      },
    },
    want: {
      spec: {
        ...podSpec,
        enableServiceLinks: true,
        containers: [
          {
            name: 'c',
            image: 'a:1',
            ...container,
            imagePullPolicy: 'IfNotPresent',
            resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } },
          },
        ],
      },
      status: {},
    },
  },
  {
    name: 'both names of the service account are shown, ports get the host network, probes their numbers',
    type: 'v1 pods',
    given: {
      spec: {
        serviceAccount: 'robot',
        hostNetwork: true,
        containers: [
          { name: 'c', image: 'a', ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 'web' } } },
        ],
      },
    },
    want: {
      spec: {
        ...podSpec,
        enableServiceLinks: true,
        hostNetwork: true,
        serviceAccount: 'robot',
        serviceAccountName: 'robot',
        containers: [
          {
            name: 'c',
            image: 'a',
            ...container,
            ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
            livenessProbe: {
              httpGet: { path: '/', port: 'web', scheme: 'HTTP' },
              failureThreshold: 3,
              periodSeconds: 10,
              successThreshold: 1,
              timeoutSeconds: 1,
            },
          },
        ],
      },
      status: {},
    },
  },
  {
    name: 'a list that Go always prints is null where nobody set it',
    type: 'storage.k8s.io/v1 csinodes',
    given: {},
    want: { spec: { drivers: null } },
  },
  {
    name: 'text that Go always prints is empty where nobody set it: what typed clients need to read a Node',
    type: 'v1 nodes',
    given: { status: { nodeInfo: { architecture: 'arm64' }, volumesAttached: [{ name: 'v' }] } },
    want: {
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          architecture: 'arm64',
          bootID: '',
          containerRuntimeVersion: '',
          kernelVersion: '',
          kubeProxyVersion: '',
          kubeletVersion: '',
          machineID: '',
          operatingSystem: '',
          osImage: '',
          systemUUID: '',
        },
        volumesAttached: [{ name: 'v', devicePath: '' }],
      },
    },
  },
  {
    name: 'so is that of a condition',
    type: 'policy/v1 poddisruptionbudgets',
    given: { status: { conditions: [{ type: 'T', status: 'True' }] } },
    want: {
      spec: {},
      status: {
        conditions: [{ type: 'T', status: 'True', message: '', reason: '' }],
        currentHealthy: 0,
        desiredHealthy: 0,
        disruptionsAllowed: 0,
        expectedPods: 0,
      },
    },
  },
  {
    name: 'volumes get modes, and a volume without a source is an empty directory',
    type: 'v1 pods',
    given: {
      spec: {
        containers: [],
        volumes: [
          { name: 'a' },
          { name: 'b', secret: { secretName: 's' } },
          {
            name: 'c',
            projected: {
              sources: [
                { serviceAccountToken: { path: 't' } },
                { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } },
              ],
            },
          },
          { name: 'd', hostPath: { path: '/x' } },
        ],
      },
    },
    want: {
      spec: {
        ...podSpec,
        enableServiceLinks: true,
        containers: [],
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
          {
            name: 'c',
            projected: {
              defaultMode: 420,
              sources: [
                { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
                { downwardAPI: { items: [{ path: 'p', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] } },
              ],
            },
          },
          { name: 'd', hostPath: { path: '/x', type: '' } },
        ],
      },
      status: {},
    },
  },
  {
    name: 'a deployment rolls by quarters; its template is a pod without the pod-only defaults',
    type: 'apps/v1 deployments',
    given: { spec: { selector: { matchLabels: { a: 'b' } }, template } },
    want: {
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        selector: { matchLabels: { a: 'b' } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: fullTemplate,
      },
      status: {},
    },
  },
  {
    name: 'zero replicas and a Recreate strategy stay',
    type: 'apps/v1 deployments',
    given: { spec: { replicas: 0, strategy: { type: 'Recreate' }, template } },
    want: {
      spec: {
        replicas: 0,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: 'Recreate' },
        template: fullTemplate,
      },
      status: {},
    },
  },
  {
    name: 'a stateful set',
    type: 'apps/v1 statefulsets',
    given: { spec: { serviceName: 's', template, volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }] } },
    want: {
      spec: {
        serviceName: 's',
        replicas: 1,
        revisionHistoryLimit: 10,
        podManagementPolicy: 'OrderedReady',
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        template: fullTemplate,
        volumeClaimTemplates: [
          { metadata: { name: 'd' }, spec: { resources: {}, volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
        ],
      },
      status: { replicas: 0, availableReplicas: 0 },
    },
  },
  {
    name: 'a daemon set',
    type: 'apps/v1 daemonsets',
    given: { spec: { template } },
    want: {
      spec: {
        revisionHistoryLimit: 10,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        template: fullTemplate,
      },
      status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    },
  },
  {
    name: 'a job takes the labels of its pods and runs once',
    type: 'batch/v1 jobs',
    given: { spec: { template: { metadata: { labels: { a: 'b' } }, ...template } } },
    want: {
      metadata: { name: 'a', labels: { a: 'b' } },
      spec: {
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        completions: 1,
        parallelism: 1,
        podReplacementPolicy: 'TerminatingOrFailed',
        suspend: false,
        template: { ...fullTemplate, metadata: { labels: { a: 'b' } } },
      },
      status: {},
    },
  },
  {
    name: 'the job inside a cron job is left for when it is made',
    type: 'batch/v1 cronjobs',
    given: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } } },
    want: {
      spec: {
        schedule: '* * * * *',
        concurrencyPolicy: 'Allow',
        failedJobsHistoryLimit: 1,
        successfulJobsHistoryLimit: 3,
        suspend: false,
        jobTemplate: { metadata: {}, spec: { template: fullTemplate } },
      },
      status: {},
    },
  },
  {
    name: 'a service',
    type: 'v1 services',
    given: { spec: { ports: [{ port: 80 }, { port: 81, targetPort: 'x', protocol: 'UDP' }], selector: { a: 'b' } } },
    want: {
      spec: {
        internalTrafficPolicy: 'Cluster',
        ports: [
          { port: 80, protocol: 'TCP', targetPort: 80 },
          { port: 81, protocol: 'UDP', targetPort: 'x' },
        ],
        selector: { a: 'b' },
        sessionAffinity: 'None',
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    },
  },
  {
    name: 'a load balancer with sticky clients',
    type: 'v1 services',
    given: { spec: { type: 'LoadBalancer', sessionAffinity: 'ClientIP', ports: [] } },
    want: {
      spec: {
        allocateLoadBalancerNodePorts: true,
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
        ports: [],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
        type: 'LoadBalancer',
      },
      status: { loadBalancer: {} },
    },
  },
  {
    name: 'a namespace carries its name as a label, whatever was sent',
    type: 'v1 namespaces',
    given: { metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'b', c: 'd' } } },
    want: {
      metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a', c: 'd' } },
      spec: {},
      status: { phase: 'Active' },
    },
  },
  {
    name: 'a nameless namespace does not',
    type: 'v1 namespaces',
    given: { metadata: { generateName: 'a-' } },
    want: { metadata: { generateName: 'a-' }, spec: {}, status: { phase: 'Active' } },
  },
  {
    name: 'stringData goes over into data',
    type: 'v1 secrets',
    given: { data: { a: 'eA==', b: 'eA==' }, stringData: { a: 'y' } },
    want: { data: { a: 'eQ==', b: 'eA==' }, type: 'Opaque' },
  },
  {
    name: 'limits of a container: max becomes default, default becomes request, min fills what is left',
    type: 'v1 limitranges',
    given: {
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      },
    },
    want: {
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '2' },
            min: { memory: '1Mi' },
            default: { cpu: '2' },
            defaultRequest: { cpu: '2', memory: '1Mi' },
          },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      },
    },
  },
  {
    name: 'users and groups of a binding get the group of rbac, service accounts none',
    type: 'rbac.authorization.k8s.io/v1 rolebindings',
    given: {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
        { kind: 'Group', name: 'g', apiGroup: 'x' },
      ],
    },
    want: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
        { kind: 'Group', name: 'g', apiGroup: 'x' },
      ],
    },
  },
  {
    name: 'a network policy with egress rules is about both directions',
    type: 'networking.k8s.io/v1 networkpolicies',
    given: { spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] } },
    want: {
      spec: {
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
        egress: [{ ports: [{ port: 53, protocol: 'TCP' }] }],
      },
    },
  },
  {
    name: 'so does one of v1, which has a field for it',
    type: 'autoscaling/v1 horizontalpodautoscalers',
    given: { spec: { maxReplicas: 3 } },
    want: {
      spec: { maxReplicas: 3, minReplicas: 1, scaleTargetRef: {}, targetCPUUtilizationPercentage: 80 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    },
  },
  {
    name: 'unless its annotation has other metrics',
    type: 'autoscaling/v1 horizontalpodautoscalers',
    given: {
      metadata: { name: 'a', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods"}]' } },
      spec: { maxReplicas: 3 },
    },
    want: {
      metadata: { name: 'a', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods"}]' } },
      spec: { maxReplicas: 3, minReplicas: 1, scaleTargetRef: {} },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    },
  },
  {
    name: 'an autoscaler without metrics looks at the processor',
    type: 'autoscaling/v2 horizontalpodautoscalers',
    given: { spec: { maxReplicas: 3, behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } } },
    want: {
      spec: {
        maxReplicas: 3,
        minReplicas: 1,
        scaleTargetRef: {},
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 0,
            selectPolicy: 'Max',
            policies: [
              { type: 'Pods', value: 4, periodSeconds: 15 },
              { type: 'Percent', value: 100, periodSeconds: 15 },
            ],
          },
          scaleDown: {
            stabilizationWindowSeconds: 0,
            selectPolicy: 'Max',
            policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
          },
        },
      },
      status: { desiredReplicas: 0 },
    },
  },
  {
    name: 'a webhook fails closed after ten seconds and sees everything',
    type: 'admissionregistration.k8s.io/v1 mutatingwebhookconfigurations',
    given: { webhooks: [{ name: 'a.b.c', rules: [{}], clientConfig: { service: { name: 's', namespace: 'n' } } }] },
    want: {
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { service: { name: 's', namespace: 'n', port: 443 } },
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          namespaceSelector: {},
          objectSelector: {},
          reinvocationPolicy: 'Never',
          rules: [{ scope: '*' }],
          timeoutSeconds: 10,
        },
      ],
    },
  },
]

describe('defaults', () => {
  it.each(cases)('$name', ({ type, given, want }) => {
    const once = defaulted(type, given)
    expect(once).toEqual({ metadata: { name: 'a' }, ...want })
    expect(defaulted(type, once), 'a second time changes nothing').toEqual(once)
  })

  const images = [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.25', 'IfNotPresent'],
    ['registry.example.com:5000/team/nginx', 'Always'],
    ['registry.example.com:5000/team/nginx:1', 'IfNotPresent'],
    ['nginx@sha256:0000000000000000000000000000000000000000000000000000000000000000', 'IfNotPresent'],
    ['NotAnImage', 'IfNotPresent'],
    ['', 'IfNotPresent'],
  ]
  it.each(images)('image %s is pulled: %s', (image, policy) => {
    const pod = defaulted('v1 pods', { spec: { containers: [{ name: 'c', image }] } })
    expect(pod).toMatchObject({ spec: { containers: [{ imagePullPolicy: policy }] } })
  })

  it('rounds amounts up to thousandths', () => {
    const hard = { cpu: '100u', memory: '1500u', pods: '3' }
    const quota = defaulted('v1 resourcequotas', { spec: { hard } })
    expect(quota).toMatchObject({ spec: { hard: { cpu: '1m', memory: '2m', pods: '3' } } })
  })

  it('never changes what it is given', () => {
    const given = { metadata: { name: 'a' }, data: { a: 'eA==' }, stringData: { b: 'x' } }
    const before = structuredClone(given)
    const type = catalog.types.find({ group: '', version: 'v1', resource: 'secrets' })
    if (!type) throw new Error('no secrets')
    expect(catalog.applyDefaults(type, given)).toEqual({
      metadata: { name: 'a' },
      data: { a: 'eA==', b: 'eA==' },
      type: 'Opaque',
    })
    expect(given).toEqual(before)
  })

  it('leaves what does not fit the schema for the decoder to refuse', () => {
    const given = { spec: { containers: 'many', volumes: [7], securityContext: [] } }
    expect(defaulted('v1 pods', given)).toMatchObject(given)
  })

  it('leaves custom resources alone', () => {
    const type = catalog.declare({
      group: 'ex.io',
      version: 'v1',
      resource: 'as',
      kind: 'A',
      namespaced: true,
      properties: {},
    })
    const object = { metadata: { name: 'a' }, spec: null }
    expect(catalog.applyDefaults({ ...type, custom: true }, object)).toEqual({ metadata: { name: 'a' }, spec: null })
  })

  it('gives kinds of ours the defaults in their schema', () => {
    const type = catalog.declare({
      group: 'ex.io',
      version: 'v1',
      resource: 'as',
      kind: 'A',
      namespaced: true,
      properties: { mode: { type: 'string', default: 'Fast' } },
    })
    expect(catalog.applyDefaults(type, { metadata: { name: 'a' } })).toEqual({ metadata: { name: 'a' }, mode: 'Fast' })
  })

  it('has rules only for types that exist', () => {
    const names = [...new Defaulter(() => []).typeNames]
    expect(names.length).toBeGreaterThan(60)
    for (const name of names) expect(() => catalog.schemaOf(name)).not.toThrow()
  })
})
