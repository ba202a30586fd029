import { describe, expect, test } from 'vitest'
import { badRequest, thrown } from '../../../test/support/refusal.ts'
import type { Column, ResourceType } from '../../kube/resource-type.ts'
import { parseIncludeObject, renderTable } from '../../kube/table.ts'
import type { KubeObject } from '../../kube/types.ts'
import { columnsOf } from './columns-of.ts'

const now = Date.parse('2026-01-10T00:00:00Z')
const meta = (more: Partial<KubeObject['metadata']> = {}): KubeObject['metadata'] => ({
  name: 'a',
  creationTimestamp: '2026-01-09T23:55:00Z',
  ...more,
})

function typeOf(resource: string, group = '', more: Partial<ResourceType> = {}): ResourceType {
  return {
    group,
    version: 'v1',
    resource,
    kind: 'Thing',
    listKind: 'ThingList',
    singular: 'thing',
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
    subresources: new Map(),
    schema: { type: 'object' },
    storageName: resource,
    stored: true,
    custom: false,
    ...more,
  }
}

const cells = (
  type: ResourceType,
  object: Omit<KubeObject, 'metadata'> & { metadata?: KubeObject['metadata'] },
): unknown[] => columnsOf(type).cells({ metadata: meta(), ...object }, now)

const running = { running: { startedAt: '2026-01-09T23:56:00Z' } }

describe('the table of pods', () => {
  const pods = typeOf('pods')
  const spec = { containers: [{ name: 'c' }, { name: 'd' }] }
  const cases: {
    name: string
    given: Omit<KubeObject, 'metadata'> & { metadata?: KubeObject['metadata'] }
    want: unknown[]
  }[] = [
    {
      name: 'shows a running pod',
      given: {
        spec: { ...spec, nodeName: 'n1' },
        status: {
          phase: 'Running',
          podIPs: [{ ip: '10.0.0.1' }],
          containerStatuses: [
            { name: 'c', ready: true, restartCount: 0, state: running },
            { name: 'd', ready: false, restartCount: 0, state: running },
          ],
        },
      },
      want: ['a', '1/2', 'Running', '0', '5m', '10.0.0.1', 'n1', '<none>', '<none>'],
    },
    {
      name: 'shows why a container waits, and when it last restarted',
      given: {
        spec,
        status: {
          phase: 'Running',
          containerStatuses: [
            {
              name: 'c',
              restartCount: 4,
              state: { waiting: { reason: 'CrashLoopBackOff' } },
              lastState: { terminated: { finishedAt: '2026-01-09T23:59:30Z' } },
            },
          ],
        },
      },
      want: ['a', '0/2', 'CrashLoopBackOff', '4 (30s ago)', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'counts the init containers that are done',
      given: {
        spec: { ...spec, initContainers: [{ name: 'i' }, { name: 'j' }] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'i', restartCount: 0, state: { terminated: { exitCode: 0 } } },
            { name: 'j', restartCount: 2, state: running },
          ],
        },
      },
      want: ['a', '0/2', 'Init:1/2', '2', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'shows how an init container failed',
      given: {
        spec: { ...spec, initContainers: [{ name: 'i' }] },
        status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 3 } } }] },
      },
      want: ['a', '0/2', 'Init:ExitCode:3', '0', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'counts sidecars among the containers',
      given: {
        spec: { ...spec, initContainers: [{ name: 's', restartPolicy: 'Always' }] },
        status: {
          phase: 'Running',
          initContainerStatuses: [{ name: 's', started: true, ready: true, restartCount: 1, state: running }],
          containerStatuses: [{ name: 'c', ready: true, restartCount: 2, state: running }],
        },
      },
      want: ['a', '2/3', 'Running', '3', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'says NotReady when one container is done and the pod is not ready',
      given: {
        spec,
        status: {
          phase: 'Running',
          containerStatuses: [
            { name: 'c', state: { terminated: { exitCode: 0, reason: 'Completed' } } },
            { name: 'd', ready: true, state: running },
          ],
        },
      },
      want: ['a', '1/2', 'NotReady', '0', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'says that a pod is held by a scheduling gate',
      given: { spec, status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } },
      want: ['a', '0/2', 'SchedulingGated', '0', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'says that a pod is going',
      given: { metadata: meta({ deletionTimestamp: '2026-01-10T00:00:00Z' }), spec, status: { phase: 'Running' } },
      want: ['a', '0/2', 'Terminating', '0', '5m', '<none>', '<none>', '<none>', '<none>'],
    },
    {
      name: 'counts open readiness gates',
      given: {
        spec: { ...spec, readinessGates: [{ conditionType: 'x' }, { conditionType: 'y' }] },
        status: {
          phase: 'Pending',
          conditions: [
            { type: 'x', status: 'True' },
            { type: 'y', status: 'False' },
          ],
        },
      },
      want: ['a', '0/2', 'Pending', '0', '5m', '<none>', '<none>', '<none>', '1/2'],
    },
  ]
  test.each(cases)('$name', ({ given, want }) => expect(cells(pods, given)).toEqual(want))

  test('marks finished pods', () => {
    const conditions = columnsOf(pods).conditions
    expect(conditions?.({ metadata: {}, status: { phase: 'Succeeded' } })).toEqual([
      { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
    ])
    expect(conditions?.({ metadata: {}, status: { phase: 'Running' } })).toBeUndefined()
  })
})

const template = {
  spec: {
    containers: [
      { name: 'c', image: 'i:1' },
      { name: 'd', image: 'j:2' },
    ],
  },
}
const selector = { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'b', operator: 'In', values: ['2', '1'] }] }

describe('the table of', () => {
  const cases: {
    name: string
    type: ResourceType
    given: Omit<KubeObject, 'metadata'> & { metadata?: KubeObject['metadata'] }
    want: unknown[]
  }[] = [
    {
      name: 'deployments shows ready of wanted pods',
      type: typeOf('deployments', 'apps'),
      given: {
        spec: { replicas: 3, template, selector },
        status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 },
      },
      want: ['a', '2/3', 1, 2, '5m', 'c,d', 'i:1,j:2', 'app=x,b in (1,2)'],
    },
    {
      name: 'replica sets shows numbers',
      type: typeOf('replicasets', 'apps'),
      given: { spec: { replicas: 3, template, selector: {} }, status: { replicas: 2 } },
      want: ['a', 3, 2, 0, '5m', 'c,d', 'i:1,j:2', '<none>'],
    },
    {
      name: 'jobs shows how long it took',
      type: typeOf('jobs', 'batch'),
      given: {
        spec: { completions: 2, template, selector },
        status: {
          succeeded: 2,
          startTime: '2026-01-09T23:56:00Z',
          completionTime: '2026-01-09T23:57:05Z',
          conditions: [{ type: 'Complete', status: 'True' }],
        },
      },
      want: ['a', 'Complete', '2/2', '65s', '5m', 'c,d', 'i:1,j:2', 'app=x,b in (1,2)'],
    },
    {
      name: 'cron jobs shows what is unset',
      type: typeOf('cronjobs', 'batch'),
      given: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } }, status: { active: [{}] } },
      want: ['a', '* * * * *', '<none>', '<unset>', 1, '<none>', '5m', 'c,d', 'i:1,j:2', '<none>'],
    },
    {
      name: 'services shows ports with their node ports',
      type: typeOf('services'),
      given: {
        spec: {
          type: 'LoadBalancer',
          clusterIPs: ['10.0.0.1'],
          ports: [
            { port: 80, protocol: 'TCP', nodePort: 30080 },
            { port: 53, protocol: 'UDP' },
          ],
          selector: { b: '2', a: '1' },
        },
      },
      want: ['a', 'LoadBalancer', '10.0.0.1', '<pending>', '80:30080/TCP,53/UDP', '5m', 'a=1,b=2'],
    },
    {
      name: 'endpoints shows three addresses',
      type: typeOf('endpoints'),
      given: { subsets: [{ addresses: [{ ip: '1.1.1.1' }, { ip: '::1' }], ports: [{ port: 80 }, { port: 81 }] }] },
      want: ['a', '1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...', '5m'],
    },
    {
      name: 'endpoint slices shows what is unset',
      type: typeOf('endpointslices', 'discovery.k8s.io'),
      given: { addressType: 'IPv4', ports: [{ port: 80 }, {}], endpoints: [] },
      want: ['a', 'IPv4', '80,*', '<unset>', '5m'],
    },
    {
      name: 'ingresses shows three hosts',
      type: typeOf('ingresses', 'networking.k8s.io'),
      given: { spec: { rules: [{ host: 'a' }, {}, { host: 'b' }, { host: 'c' }, { host: 'd' }], tls: [{}] } },
      want: ['a', '<none>', 'a,b,c + 2 more...', '', '80, 443', '5m'],
    },
    {
      name: 'config maps counts texts and bytes',
      type: typeOf('configmaps'),
      given: { data: { a: '1', b: '2' }, binaryData: { c: '' } },
      want: ['a', 3, '5m'],
    },
    {
      name: 'secrets shows the type',
      type: typeOf('secrets'),
      given: { type: 'Opaque', data: { a: 'MQ==' } },
      want: ['a', 'Opaque', 1, '5m'],
    },
    {
      name: 'namespaces shows the phase',
      type: typeOf('namespaces'),
      given: { status: { phase: 'Terminating' } },
      want: ['a', 'Terminating', '5m'],
    },
    {
      name: 'nodes shows roles from labels',
      type: typeOf('nodes'),
      given: {
        metadata: meta({ labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'db' } }),
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.2' }],
          nodeInfo: { kubeletVersion: 'v1.36.0' },
        },
      },
      want: [
        'a',
        'Ready,SchedulingDisabled',
        'db,worker',
        '5m',
        'v1.36.0',
        '10.0.0.2',
        '<none>',
        '<unknown>',
        '<unknown>',
        '<unknown>',
      ],
    },
    {
      name: 'events shows what it happened to',
      type: typeOf('events'),
      given: {
        type: 'Warning',
        reason: 'Failed',
        message: ' it failed\n',
        involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{c}' },
        source: { component: 'kubelet', host: 'n1' },
        firstTimestamp: '2026-01-09T23:58:00Z',
        lastTimestamp: '2026-01-09T23:59:00Z',
        count: 3,
      },
      want: ['60s', 'Warning', 'Failed', 'pod/p', 'spec.containers{c}', 'kubelet, n1', 'it failed', '2m', 3, 'a'],
    },
    {
      name: 'new events reads the other field names',
      type: typeOf('events', 'events.k8s.io'),
      given: {
        type: 'Normal',
        reason: 'Made',
        note: 'made',
        regarding: { kind: 'Job' },
        reportingController: 'job-controller',
        eventTime: '2026-01-09T23:58:00.000000Z',
        series: { count: 7, lastObservedTime: '2026-01-09T23:59:50.000000Z' },
      },
      want: ['10s', 'Normal', 'Made', 'job', '', 'job-controller', 'made', '2m', 7, 'a'],
    },
    {
      name: 'resource quotas parts requests and limits',
      type: typeOf('resourcequotas'),
      given: {
        status: {
          hard: { pods: '10', 'limits.cpu': '2000m', 'requests.cpu': '1' },
          used: { pods: '3', 'limits.cpu': '500m', 'requests.cpu': '0' },
        },
      },
      want: ['a', 'pods: 3/10, requests.cpu: 0/1', 'limits.cpu: 500m/2', '5m'],
    },
    {
      name: 'role bindings shows who gets what',
      type: typeOf('rolebindings', 'rbac.authorization.k8s.io'),
      given: {
        roleRef: { kind: 'ClusterRole', name: 'admin' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'Group', name: 'g' },
          { kind: 'User', name: 'v' },
          { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        ],
      },
      want: ['a', 'ClusterRole/admin', '5m', 'u, v', 'g', 'n/s'],
    },
    {
      name: 'persistent volumes shows short access modes',
      type: typeOf('persistentvolumes'),
      given: {
        spec: {
          capacity: { storage: '1024Mi' },
          accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'n', name: 'c' },
          storageClassName: 'fast',
          volumeMode: 'Block',
        },
        status: { phase: 'Bound' },
      },
      want: ['a', '1Gi', 'RWO,RWX', 'Retain', 'Bound', 'n/c', 'fast', '<unset>', '', '5m', 'Block'],
    },
    {
      name: 'persistent volume claims shows nothing of a volume it has not',
      type: typeOf('persistentvolumeclaims'),
      given: { spec: { resources: { requests: { storage: '1Gi' } } }, status: { phase: 'Pending' } },
      want: ['a', 'Pending', '', '', '', '', '<unset>', '5m', '<unset>'],
    },
    {
      name: 'storage classes marks the default',
      type: typeOf('storageclasses', 'storage.k8s.io'),
      given: {
        metadata: meta({ annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }),
        provisioner: 'p',
      },
      want: ['a (default)', 'p', 'Delete', 'Immediate', false, '5m'],
    },
    {
      name: 'autoscalers shows metrics as they are and should be',
      type: typeOf('horizontalpodautoscalers', 'autoscaling', { version: 'v2' }),
      given: {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          maxReplicas: 5,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
            { type: 'Pods', pods: { target: { averageValue: '1k' } } },
            { type: 'External', external: { target: { value: '5' } } },
          ],
        },
        status: { currentReplicas: 2, currentMetrics: [{ resource: { current: { averageUtilization: 30 } } }] },
      },
      want: ['a', 'Deployment/d', 'cpu: 30%/80%, <unknown>/1k + 1 more...', '<unset>', 5, 2, '5m'],
    },
    {
      name: 'disruption budgets shows percentages',
      type: typeOf('poddisruptionbudgets', 'policy'),
      given: { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } },
      want: ['a', '50%', 'N/A', 1, '5m'],
    },
    {
      name: 'certificate requests shows what was decided',
      type: typeOf('certificatesigningrequests', 'certificates.k8s.io'),
      given: {
        spec: { signerName: 's', username: 'u', expirationSeconds: 3600 },
        status: { conditions: [{ type: 'Approved' }], certificate: 'x' },
      },
      want: ['a', '5m', 's', 'u', '60m', 'Approved,Issued'],
    },
    {
      name: 'controller revisions shows whose they are',
      type: typeOf('controllerrevisions', 'apps'),
      given: {
        metadata: meta({
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true }],
        }),
        revision: 2,
      },
      want: ['a', 'daemonset.apps/d', 2, '5m'],
    },
    {
      name: 'API services shows why one is unavailable',
      type: typeOf('apiservices', 'apiregistration.k8s.io'),
      given: {
        spec: { service: { namespace: 'n', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'X' }] },
      },
      want: ['a', 'n/s', 'False (X)', '5m'],
    },
    {
      name: 'roles shows when they were made',
      type: typeOf('roles', 'rbac.authorization.k8s.io'),
      given: {},
      want: ['a', '2026-01-09T23:55:00Z'],
    },
    {
      name: 'custom resources without columns shows their age',
      type: typeOf('widgets', 'ex.io', { custom: true }),
      given: {},
      want: ['a', '5m'],
    },
  ]
  test.each(cases)('$name', ({ type, given, want }) => {
    expect(cells(type, given)).toEqual(want)
    expect(columnsOf(type).definitions).toHaveLength(want.length)
  })

  test('every built-in kind has as many cells as columns, even for an empty object', () => {
    const groups: Record<string, string[]> = {
      '': [
        'pods',
        'podtemplates',
        'replicationcontrollers',
        'services',
        'endpoints',
        'persistentvolumes',
        'persistentvolumeclaims',
        'namespaces',
        'configmaps',
        'secrets',
        'serviceaccounts',
        'nodes',
        'events',
        'resourcequotas',
        'componentstatuses',
        'limitranges',
      ],
      apps: ['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'controllerrevisions'],
      batch: ['jobs', 'cronjobs'],
      autoscaling: ['horizontalpodautoscalers'],
      policy: ['poddisruptionbudgets'],
      'scheduling.k8s.io': ['priorityclasses'],
      'node.k8s.io': ['runtimeclasses'],
      'discovery.k8s.io': ['endpointslices'],
      'networking.k8s.io': ['ingresses', 'ingressclasses', 'networkpolicies', 'servicecidrs', 'ipaddresses'],
      'storage.k8s.io': [
        'storageclasses',
        'volumeattributesclasses',
        'volumeattachments',
        'csinodes',
        'csidrivers',
        'csistoragecapacities',
      ],
      'events.k8s.io': ['events'],
      'coordination.k8s.io': ['leases'],
      'flowcontrol.apiserver.k8s.io': ['flowschemas', 'prioritylevelconfigurations'],
      'rbac.authorization.k8s.io': ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
      'certificates.k8s.io': ['certificatesigningrequests'],
      'admissionregistration.k8s.io': [
        'validatingwebhookconfigurations',
        'mutatingwebhookconfigurations',
        'validatingadmissionpolicies',
        'mutatingadmissionpolicies',
        'validatingadmissionpolicybindings',
        'mutatingadmissionpolicybindings',
      ],
      'apiregistration.k8s.io': ['apiservices'],
    }
    const uneven: string[] = []
    for (const [group, resources] of Object.entries(groups)) {
      for (const resource of resources) {
        const columns = columnsOf(typeOf(resource, group))
        const empty = columns.cells({ metadata: {} }, now)
        const garbled = columns.cells({ metadata: {}, spec: 'x', status: [1], data: 5, subsets: {} }, now)
        if (empty.length !== columns.definitions.length || garbled.length !== empty.length) uneven.push(resource)
        if (!columns.definitions.some((d) => d.format === 'name')) uneven.push(`${resource} has no name`)
      }
    }
    expect(uneven).toEqual([])
  })
})

describe('declared columns', () => {
  const columns: Column[] = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', description: 'Is it?' },
    { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio', priority: 1 },
    { name: 'On', type: 'boolean', jsonPath: '.spec.on' },
    { name: 'Since', type: 'date', jsonPath: '.spec.since' },
    { name: 'All', type: 'string', jsonPath: '.spec.list' },
  ]
  const type = typeOf('widgets', 'ex.io', { custom: true, columns })

  test('show values in the type of the column', () => {
    const given = {
      spec: { size: 3.7, ratio: 0.5, on: true, since: '2026-01-09T23:00:00Z', list: [1, 'x'] },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }
    expect(cells(type, given)).toEqual(['a', 3, 'True', 0.5, true, '60m', '[1,"x"]'])
  })

  test('show null for what is missing or does not fit', () => {
    expect(cells(type, { spec: { size: 'big', ratio: 'x', on: 'yes', since: 'soon' } })).toEqual([
      'a',
      null,
      null,
      null,
      null,
      '<invalid>',
      null,
    ])
  })

  test('describe themselves by their path where they say nothing', () => {
    expect(columnsOf(type).definitions.slice(1, 4)).toEqual([
      {
        name: 'Size',
        type: 'integer',
        format: '',
        description: 'Custom resource definition column (in JSONPath format): .spec.size',
        priority: 0,
      },
      { name: 'Ready', type: 'string', format: '', description: 'Is it?', priority: 0 },
      expect.objectContaining({ name: 'Ratio', priority: 1 }),
    ])
  })

  test('are compiled once for a type', () => expect(columnsOf(type)).toBe(columnsOf(type)))
})

describe('a Table document', () => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(), data: { a: '1' } }
  const request = {
    columns: columnsOf(typeOf('configmaps')),
    objects: [object],
    metadata: { resourceVersion: '7' },
    nowMs: now,
    version: 'v1',
  }

  test('carries metadata of each object unless asked otherwise', () => {
    const table = renderTable({ ...request, includeObject: parseIncludeObject(undefined) })
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '7' } })
    expect(table.columnDefinitions?.map((c) => c.name)).toEqual(['Name', 'Data', 'Age'])
    expect(table.rows).toEqual([
      {
        cells: ['a', 1, '5m'],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
      },
    ])
  })

  test('carries whole objects, or none', () => {
    expect(renderTable({ ...request, includeObject: 'Object' }).rows[0]?.object).toBe(object)
    expect(renderTable({ ...request, includeObject: 'None' }).rows[0]?.object).toBeNull()
  })

  test('leaves definitions out when asked', () => {
    expect(renderTable({ ...request, includeObject: 'None', withDefinitions: false }).columnDefinitions).toBeNull()
  })

  test('is refused for an unknown includeObject', () => {
    expect(thrown(() => parseIncludeObject('Bogus'))).toEqual(
      badRequest(
        'Unable to convert to Table as requested: includeObject: Invalid value: "Bogus": must be ' +
          "'Metadata', 'Object', 'None', or empty",
      ),
    )
  })
})
