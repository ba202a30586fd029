/**
 * The sequence that upstream's API tests run for a kind: find it in discovery, create, read, list across namespaces and
 * by label, watch, patch, update, status, delete one, delete the rest.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
const namespace = 'operations'

beforeAll(async () => {
  // Without the one that writes statuses, too.
  const controllers = (name: string): boolean => name !== 'priority-and-fairness-controller'
  plane = await startControlPlane({ population: false, controllers })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const labels = { app: 'a' }
const selector = { matchLabels: labels }
const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels }, spec: podSpec }
const jobTemplate = { spec: { template: { spec: { ...podSpec, restartPolicy: 'OnFailure' } } } }
const condition = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'set by a test' }

interface Kind {
  /** `v1` or `group/v1`, and the plural. */
  readonly gv: string
  readonly resource: string
  readonly kind: string
  readonly cluster?: true
  /** Everything but metadata. A function where objects must differ. */
  readonly body: object | ((n: number) => object)
  readonly name?: (n: number) => string
  /** What a patch of the status sets, and is found afterwards. */
  readonly status?: object
  /** A write to the status leaves annotations as they were. */
  readonly keepsAnnotations?: true
}

const kinds: readonly Kind[] = [
  { gv: 'v1', resource: 'configmaps', kind: 'ConfigMap', body: { data: { k: 'v' } } },
  { gv: 'v1', resource: 'secrets', kind: 'Secret', body: { stringData: { k: 'v' } } },
  { gv: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount', body: { automountServiceAccountToken: false } },
  { gv: 'v1', resource: 'podtemplates', kind: 'PodTemplate', body: { template } },
  {
    gv: 'v1',
    resource: 'limitranges',
    kind: 'LimitRange',
    body: { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } },
  },
  { gv: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota', body: { spec: { hard: { 'count/x.ex.io': '1' } } } },
  {
    gv: 'v1',
    resource: 'endpoints',
    kind: 'Endpoints',
    body: { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] },
  },
  {
    gv: 'v1',
    resource: 'services',
    kind: 'Service',
    body: { spec: { ports: [{ port: 80 }] } },
    status: { conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  },
  {
    gv: 'v1',
    resource: 'replicationcontrollers',
    kind: 'ReplicationController',
    body: { spec: { selector: labels, template } },
    status: { readyReplicas: 0, replicas: 0, conditions: [condition] },
  },
  {
    gv: 'v1',
    resource: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    body: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    status: { conditions: [condition] },
  },
  {
    gv: 'v1',
    resource: 'persistentvolumes',
    kind: 'PersistentVolume',
    cluster: true,
    body: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } } },
    status: { message: 'StatusUpdate', reason: 'E2E' },
  },
  { gv: 'v1', resource: 'nodes', kind: 'Node', cluster: true, body: {}, status: { conditions: [condition] } },
  {
    gv: 'v1',
    resource: 'events',
    kind: 'Event',
    body: { involvedObject: { namespace: 'operations', name: 'x' }, reason: 'Test', type: 'Normal' },
  },
  {
    gv: 'events.k8s.io/v1',
    resource: 'events',
    kind: 'Event',
    body: {
      regarding: { namespace: 'operations', name: 'x' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'ex.io/c',
      reportingInstance: 'i',
      action: 'Do',
      reason: 'Test',
      type: 'Normal',
    },
  },
  {
    gv: 'apps/v1',
    resource: 'deployments',
    kind: 'Deployment',
    body: { spec: { selector, template } },
    status: { conditions: [condition] },
  },
  {
    gv: 'apps/v1',
    resource: 'replicasets',
    kind: 'ReplicaSet',
    body: { spec: { selector, template } },
    status: { replicas: 0, conditions: [condition] },
  },
  {
    gv: 'apps/v1',
    resource: 'statefulsets',
    kind: 'StatefulSet',
    body: { spec: { selector, template, serviceName: 's' } },
    status: { replicas: 0, conditions: [condition] },
  },
  {
    gv: 'apps/v1',
    resource: 'daemonsets',
    kind: 'DaemonSet',
    body: { spec: { selector, template } },
    status: {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
      conditions: [condition],
    },
  },
  { gv: 'apps/v1', resource: 'controllerrevisions', kind: 'ControllerRevision', body: { data: { a: 1 }, revision: 1 } },
  {
    gv: 'batch/v1',
    resource: 'jobs',
    kind: 'Job',
    body: { spec: { template: jobTemplate.spec.template } },
    status: { startTime: '2026-01-01T00:00:00Z' },
  },
  {
    gv: 'batch/v1',
    resource: 'cronjobs',
    kind: 'CronJob',
    body: { spec: { schedule: '* * * * *', jobTemplate } },
    status: { lastScheduleTime: '2026-01-01T00:00:00Z' },
  },
  {
    gv: 'autoscaling/v1',
    resource: 'horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
    body: { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } } },
    status: { currentReplicas: 1, desiredReplicas: 1 },
  },
  {
    gv: 'autoscaling/v2',
    resource: 'horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
    body: { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } } },
    status: { currentReplicas: 1, desiredReplicas: 1 },
  },
  {
    gv: 'policy/v1',
    resource: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    body: { spec: { minAvailable: 1, selector } },
    status: {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      disruptedPods: { 'pod-0': '2026-01-01T00:00:00Z' },
    },
  },
  {
    gv: 'coordination.k8s.io/v1',
    resource: 'leases',
    kind: 'Lease',
    body: { spec: { holderIdentity: 'me', leaseDurationSeconds: 30, acquireTime: '2026-01-01T00:00:00.000005Z' } },
  },
  {
    gv: 'discovery.k8s.io/v1',
    resource: 'endpointslices',
    kind: 'EndpointSlice',
    body: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [] },
  },
  {
    gv: 'networking.k8s.io/v1',
    resource: 'ingresses',
    kind: 'Ingress',
    body: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    status: { loadBalancer: { ingress: [{ ip: '169.1.1.1' }] } },
  },
  {
    gv: 'networking.k8s.io/v1',
    resource: 'ingressclasses',
    kind: 'IngressClass',
    cluster: true,
    body: { spec: { controller: 'ex.io/c' } },
  },
  {
    gv: 'networking.k8s.io/v1',
    resource: 'networkpolicies',
    kind: 'NetworkPolicy',
    body: { spec: { podSelector: {} } },
  },
  {
    gv: 'networking.k8s.io/v1',
    resource: 'ipaddresses',
    kind: 'IPAddress',
    cluster: true,
    name: (n) => `192.168.0.${n}`,
    body: { spec: { parentRef: { resource: 'services', name: 's', namespace: 'n' } } },
  },
  {
    gv: 'networking.k8s.io/v1',
    resource: 'servicecidrs',
    kind: 'ServiceCIDR',
    cluster: true,
    body: (n: number) => ({ spec: { cidrs: [`10.${n}.0.0/16`] } }),
    status: { conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  },
  { gv: 'node.k8s.io/v1', resource: 'runtimeclasses', kind: 'RuntimeClass', cluster: true, body: { handler: 'h' } },
  { gv: 'scheduling.k8s.io/v1', resource: 'priorityclasses', kind: 'PriorityClass', cluster: true, body: { value: 1 } },
  {
    gv: 'storage.k8s.io/v1',
    resource: 'storageclasses',
    kind: 'StorageClass',
    cluster: true,
    body: { provisioner: 'ex.io/p' },
  },
  {
    gv: 'storage.k8s.io/v1',
    resource: 'csidrivers',
    kind: 'CSIDriver',
    cluster: true,
    body: { spec: { attachRequired: false } },
  },
  { gv: 'storage.k8s.io/v1', resource: 'csinodes', kind: 'CSINode', cluster: true, body: { spec: { drivers: [] } } },
  {
    gv: 'storage.k8s.io/v1',
    resource: 'csistoragecapacities',
    kind: 'CSIStorageCapacity',
    body: { storageClassName: 's', capacity: '1Gi' },
  },
  {
    gv: 'storage.k8s.io/v1',
    resource: 'volumeattachments',
    kind: 'VolumeAttachment',
    cluster: true,
    body: { spec: { attacher: 'a.ex.io', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
    status: { attached: true },
    keepsAnnotations: true,
  },
  {
    gv: 'storage.k8s.io/v1',
    resource: 'volumeattributesclasses',
    kind: 'VolumeAttributesClass',
    cluster: true,
    body: { driverName: 'ex.io/d', parameters: { a: 'b' } },
  },
  {
    gv: 'flowcontrol.apiserver.k8s.io/v1',
    resource: 'flowschemas',
    kind: 'FlowSchema',
    cluster: true,
    body: {
      spec: {
        matchingPrecedence: 10000,
        priorityLevelConfiguration: { name: 'global-default' },
        distinguisherMethod: { type: 'ByUser' },
      },
    },
    status: { conditions: [{ ...condition, type: 'Dangling', status: 'False' }] },
    keepsAnnotations: true,
  },
  {
    gv: 'flowcontrol.apiserver.k8s.io/v1',
    resource: 'prioritylevelconfigurations',
    kind: 'PriorityLevelConfiguration',
    cluster: true,
    body: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2, limitResponse: { type: 'Reject' } } } },
    status: { conditions: [condition] },
    keepsAnnotations: true,
  },
  {
    gv: 'admissionregistration.k8s.io/v1',
    resource: 'validatingadmissionpolicies',
    kind: 'ValidatingAdmissionPolicy',
    cluster: true,
    body: {
      spec: {
        matchConstraints: {
          resourceRules: [
            { operations: ['CREATE'], apiGroups: ['none.ex.io'], apiVersions: ['v1'], resources: ['nothing'] },
          ],
        },
        validations: [{ expression: 'true' }],
      },
    },
  },
  {
    gv: 'admissionregistration.k8s.io/v1',
    resource: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
    cluster: true,
    body: { spec: { policyName: 'p', validationActions: ['Deny'] } },
  },
  { gv: 'rbac.authorization.k8s.io/v1', resource: 'roles', kind: 'Role', body: { rules: [] } },
  {
    gv: 'rbac.authorization.k8s.io/v1',
    resource: 'rolebindings',
    kind: 'RoleBinding',
    body: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [] },
  },
  { gv: 'resource.k8s.io/v1', resource: 'deviceclasses', kind: 'DeviceClass', cluster: true, body: { spec: {} } },
  {
    gv: 'apiregistration.k8s.io/v1',
    resource: 'apiservices',
    kind: 'APIService',
    cluster: true,
    name: (n) => `v1.g${n}.ex.io`,
    body: (n: number) => ({
      spec: {
        group: `g${n}.ex.io`,
        version: 'v1',
        groupPriorityMinimum: 1,
        versionPriority: 1,
        service: { namespace: 'n', name: 's', port: 443 },
        insecureSkipTLSVerify: true,
      },
    }),
    status: { conditions: [condition] },
    keepsAnnotations: true,
  },
]

describe.each(kinds)('$kind of $gv', ({ gv, resource, kind, cluster, body, name, status, keepsAnnotations }) => {
  const root = gv === 'v1' ? '/api/v1' : `/apis/${gv}`
  const all = `${root}/${resource}`
  const at = cluster ? all : `${root}/namespaces/${namespace}/${resource}`
  const label = { 'e2e-test': `${resource}-${gv.split('/').length}-${gv.includes('v2')}` }
  const labelled = `labelSelector=e2e-test%3D${label['e2e-test']}`
  const make = (n: number): Promise<AnswerBody> =>
    wire.must('POST', at, {
      apiVersion: gv,
      kind,
      metadata: { ...(name ? { name: name(n) } : { generateName: 'e2e-' }), labels: label },
      ...(typeof body === 'function' ? (body as (n: number) => object)(n) : body),
    })

  it('is in discovery', async () => {
    const resources = (await wire.must('GET', root)) as unknown as { resources: { name: string; kind: string }[] }
    expect(resources.resources.find((r) => r.name === resource)?.kind).toBe(kind)
    if (status) expect(resources.resources.map((r) => r.name)).toContain(`${resource}/status`)
    if (gv === 'v1') return
    const [group = '', version = ''] = gv.split('/')
    const groups = (await wire.must('GET', '/apis')) as unknown as { groups: { name: string; versions: object[] }[] }
    expect(groups.groups.find((g) => g.name === group)?.versions).toContainEqual({ groupVersion: gv, version })
  })

  it('does what upstream tests of every kind', async () => {
    const made = [await make(1), await make(2), await make(3)]
    const [first] = made as [AnswerBody, ...AnswerBody[]]
    const place = `${at}/${first.metadata.name}`
    expect(first).toMatchObject({ apiVersion: gv, kind })
    expect((await wire.must('GET', place)).metadata.uid).toBe(first.metadata.uid)
    const list = await wire.must('GET', `${at}?${labelled}`)
    expect(list.items).toHaveLength(3)
    expect((await wire.must('GET', `${all}?${labelled}`)).items).toHaveLength(3)

    const watched = wire.events(
      `${at}?watch=true&${labelled}&resourceVersion=${list.metadata.resourceVersion}`,
      (seen) => seen.some((e) => e.type === 'DELETED'),
    )
    const patch = { metadata: { annotations: { patched: 'true' } } }
    const patched = await wire.must('PATCH', place, patch, 'application/merge-patch+json')
    expect(patched.metadata.annotations?.['patched']).toBe('true')
    const updated = await wire.must('PUT', place, {
      ...patched,
      metadata: { ...patched.metadata, annotations: { ...patched.metadata.annotations, updated: 'true' } },
    })
    expect(updated.metadata.annotations).toMatchObject({ patched: 'true', updated: 'true' })

    if (status) {
      const annotated = { metadata: { annotations: { patchedstatus: 'true' } }, status }
      const shown = await wire.must('PATCH', `${place}/status`, annotated, 'application/merge-patch+json')
      expect(shown).toMatchObject(
        keepsAnnotations ? { ...annotated, metadata: { annotations: updated.metadata.annotations } } : annotated,
      )
      const read = await wire.must('GET', `${place}/status`)
      expect(read.status).toMatchObject(status)
      expect((await wire.must('PUT', `${place}/status`, read)).status).toEqual(read.status)
    }

    await wire.must('DELETE', place, { gracePeriodSeconds: 0, propagationPolicy: 'Background' })
    // A finalizer of the kind's own (claims and volumes in use) is its controller's, and stays out of the way here.
    const left = await wire.call('GET', place)
    if (left.status === 200) {
      expect(left.body.metadata.deletionTimestamp).toBeDefined()
      // The collector takes `orphan` away by itself: then the object may be gone already.
      const freed = await wire.call('PATCH', place, { metadata: { finalizers: null } }, 'application/merge-patch+json')
      expect([200, 404]).toContain(freed.status)
    }
    expect((await wire.call('GET', place)).status).toBe(404)
    const types = (await watched).map((e) => e.type)
    expect([types.includes('MODIFIED'), types.at(-1)]).toEqual([true, 'DELETED'])

    await wire.must('DELETE', `${at}?${labelled}`)
    const rest = await wire.must('GET', `${at}?${labelled}`)
    expect(rest.items.filter((i: KubeObject) => i.metadata.deletionTimestamp === undefined)).toEqual([])
  })
})
