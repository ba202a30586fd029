/** Field ownership with the schemas of the catalogue, against managedFields as Kubernetes writes them. */
import { describe, expect, it } from 'vitest'
import { type Catalog, loadCatalog } from '../../src/catalog/catalog.ts'
import { applyConfiguration } from '../../src/kube/apply/apply-configuration.ts'
import { trackUpdate } from '../../src/kube/apply/track-update.ts'
import { apiVersionOf } from '../../src/kube/gvk.ts'
import type { ResourceType } from '../../src/kube/resource-type.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'

const catalog: Catalog = loadCatalog()
const now = '2026-01-01T00:00:00Z'

function typeOf(group: string, resource: string): ResourceType {
  const type = catalog.types.findPreferred(group, resource)
  if (!type) throw new Error(`no ${resource}.${group}`)
  return type
}

const object = (type: ResourceType, fields: JsonObject, metadata: object = {}): KubeObject => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  ...fields,
  metadata: { name: 'x', namespace: 'ns', ...metadata },
})

const inputOf = (type: ResourceType) => ({
  schema: type.schema,
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  now,
  manager: 'kubectl-create',
  resetFields: { 'f:status': {} },
})

describe('who owns the fields of built-in kinds', () => {
  const container = {
    name: 'nginx',
    image: 'nginx',
    imagePullPolicy: 'Always',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ports: [{ containerPort: 80, protocol: 'TCP' }],
    env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }],
    livenessProbe: { httpGet: { path: '/', port: 80, scheme: 'HTTP' }, periodSeconds: 10 },
    volumeMounts: [{ mountPath: '/etc', name: 'v' }],
  }
  const podSpec = {
    containers: [container],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    volumes: [{ name: 'v', configMap: { defaultMode: 420, name: 'cm' } }],
  }
  const podFields = {
    'f:containers': {
      'k:{"name":"nginx"}': {
        '.': {},
        'f:env': {
          '.': {},
          'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:valueFrom': { '.': {}, 'f:fieldRef': {} } },
        },
        'f:image': {},
        'f:imagePullPolicy': {},
        'f:livenessProbe': {
          '.': {},
          'f:httpGet': { '.': {}, 'f:path': {}, 'f:port': {}, 'f:scheme': {} },
          'f:periodSeconds': {},
        },
        'f:name': {},
        'f:ports': {
          '.': {},
          'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
        },
        'f:resources': {},
        'f:terminationMessagePath': {},
        'f:terminationMessagePolicy': {},
        'f:volumeMounts': { '.': {}, 'k:{"mountPath":"/etc"}': { '.': {}, 'f:mountPath': {}, 'f:name': {} } },
      },
    },
    'f:dnsPolicy': {},
    'f:restartPolicy': {},
    'f:schedulerName': {},
    'f:securityContext': {},
    'f:terminationGracePeriodSeconds': {},
    'f:volumes': {
      '.': {},
      'k:{"name":"v"}': { '.': {}, 'f:configMap': { '.': {}, 'f:defaultMode': {}, 'f:name': {} }, 'f:name': {} },
    },
  }

  const creates: {
    name: string
    group: string
    resource: string
    fields: JsonObject
    metadata?: object
    want: unknown
  }[] = [
    {
      name: 'a pod',
      group: '',
      resource: 'pods',
      fields: { spec: podSpec, status: {} },
      metadata: { labels: { run: 'nginx' } },
      want: { 'f:metadata': { 'f:labels': { '.': {}, 'f:run': {} } }, 'f:spec': podFields },
    },
    {
      name: 'a deployment',
      group: 'apps',
      resource: 'deployments',
      fields: {
        spec: {
          progressDeadlineSeconds: 600,
          replicas: 1,
          revisionHistoryLimit: 10,
          selector: { matchLabels: { app: 'a' } },
          strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' }, type: 'RollingUpdate' },
          template: { metadata: { labels: { app: 'a' } }, spec: podSpec },
        },
        status: {},
      },
      want: {
        'f:spec': {
          'f:progressDeadlineSeconds': {},
          'f:replicas': {},
          'f:revisionHistoryLimit': {},
          'f:selector': {},
          'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
          'f:template': { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } }, 'f:spec': podFields },
        },
      },
    },
    {
      name: 'a namespace',
      group: '',
      resource: 'namespaces',
      fields: { spec: {}, status: {} },
      metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
      want: { 'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/metadata.name': {} } } },
    },
    {
      name: 'a service',
      group: '',
      resource: 'services',
      fields: {
        spec: { ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], selector: { a: 'b' }, type: 'ClusterIP' },
      },
      want: {
        'f:spec': {
          'f:ports': {
            '.': {},
            'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} },
          },
          'f:selector': {},
          'f:type': {},
        },
      },
    },
    {
      name: 'a role binding',
      group: 'rbac.authorization.k8s.io',
      resource: 'rolebindings',
      fields: {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
      },
      want: { 'f:roleRef': {}, 'f:subjects': {} },
    },
    {
      name: 'a resource quota',
      group: '',
      resource: 'resourcequotas',
      fields: { spec: { hard: { pods: '10' } } },
      want: { 'f:spec': { 'f:hard': { '.': {}, 'f:pods': {} } } },
    },
  ]
  it.each(creates)('$name', ({ group, resource, fields, metadata, want }) => {
    const type = typeOf(group, resource)
    const tracked = trackUpdate({ ...inputOf(type), live: undefined, next: object(type, fields, metadata) })
    expect(tracked.metadata.managedFields?.[0]?.fieldsV1).toEqual(want)
  })

  it('an applied deployment keeps what others added, and loses only its own', () => {
    const type = typeOf('apps', 'deployments')
    const config = (containers: JsonObject[]): KubeObject =>
      object(type, { spec: { selector: { matchLabels: { a: 'b' } }, template: { spec: { containers } } } })
    const input = { ...inputOf(type), manager: 'm' }
    const first = applyConfiguration({
      ...input,
      live: undefined,
      config: config([
        { name: 'a', image: 'a', ports: [{ containerPort: 80 }] },
        { name: 'b', image: 'b' },
      ]),
    })
    const scaled = trackUpdate({
      ...input,
      manager: 'hpa',
      subresource: 'scale',
      live: first,
      next: { ...first, spec: { ...(first['spec'] as object), replicas: 3 } },
    })
    const second = applyConfiguration({ ...input, live: scaled, config: config([{ name: 'a', image: 'a2' }]) })
    expect(second['spec']).toEqual({
      selector: { matchLabels: { a: 'b' } },
      replicas: 3,
      template: { spec: { containers: [{ name: 'a', image: 'a2' }] } },
    })
    expect(second.metadata.managedFields?.map((e) => [e.manager, e.operation, e.subresource, e.fieldsV1])).toEqual([
      [
        'm',
        'Apply',
        undefined,
        {
          'f:spec': {
            'f:selector': {},
            'f:template': {
              'f:spec': { 'f:containers': { 'k:{"name":"a"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
            },
          },
        },
      ],
      ['hpa', 'Update', 'scale', { 'f:spec': { 'f:replicas': {} } }],
    ])
  })
})
