/** One valid object of each built-in kind that has rules, as small as it can be, and where it is created. */
export interface ValidObject {
  readonly path: string
  readonly kind: string
  readonly body: Readonly<Record<string, unknown>>
}

export type ObjectName =
  | 'service'
  | 'endpoints'
  | 'slice'
  | 'deployment'
  | 'replicaSet'
  | 'daemonSet'
  | 'statefulSet'
  | 'replicationController'
  | 'podTemplate'
  | 'revision'
  | 'ingress'
  | 'ingressClass'
  | 'networkPolicy'
  | 'address'
  | 'range'
  | 'lease'
  | 'event'
  | 'coreEvent'
  | 'runtimeClass'
  | 'apiService'
  | 'csiNode'
  | 'csiDriver'
  | 'attachment'
  | 'capacity'
  | 'attributesClass'
  | 'deviceClaim'
  | 'deviceClaimTemplate'
  | 'deviceClass'
  | 'pod'
  | 'node'
  | 'autoscaler'
  | 'autoscaler1'
  | 'budget'
  | 'priority'
  | 'claim'
  | 'volume'
  | 'storageClass'
  | 'job'
  | 'cronJob'
  | 'quota'
  | 'limits'
  | 'map'
  | 'secret'
  | 'validatingWebhook'
  | 'mutatingWebhook'
  | 'policy'
  | 'policyBinding'
  | 'mutatingPolicy'
  | 'mutatingBinding'

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }]
const hook = {
  name: 'a.ex.io',
  clientConfig: { url: 'https://h/x' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  // No other object is to meet it.
  objectSelector: { matchLabels: { none: 'such' } },
  rules,
}

export const validObjects: Readonly<Record<ObjectName, ValidObject>> = {
  service: {
    path: '/api/v1/namespaces/default/services',
    kind: 'Service',
    body: { metadata: { name: 'x' }, spec: { ports: [{ port: 80 }] } },
  },
  endpoints: {
    path: '/api/v1/namespaces/default/endpoints',
    kind: 'Endpoints',
    body: { metadata: { name: 'x' }, subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 80 }] }] },
  },
  slice: {
    path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    kind: 'EndpointSlice',
    body: {
      metadata: { name: 'x' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['1.2.3.4'] }],
      ports: [{ name: 'p', port: 80 }],
    },
  },
  deployment: {
    path: '/apis/apps/v1/namespaces/default/deployments',
    kind: 'Deployment',
    body: {
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  },
  replicaSet: {
    path: '/apis/apps/v1/namespaces/default/replicasets',
    kind: 'ReplicaSet',
    body: {
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  },
  daemonSet: {
    path: '/apis/apps/v1/namespaces/default/daemonsets',
    kind: 'DaemonSet',
    body: {
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  },
  statefulSet: {
    path: '/apis/apps/v1/namespaces/default/statefulsets',
    kind: 'StatefulSet',
    body: {
      metadata: { name: 'x' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'claimed', mountPath: '/data' }] }] },
        },
        serviceName: 's',
        volumeClaimTemplates: [
          {
            metadata: { name: 'claimed' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  },
  replicationController: {
    path: '/api/v1/namespaces/default/replicationcontrollers',
    kind: 'ReplicationController',
    body: {
      metadata: { name: 'x' },
      spec: {
        selector: { a: 'b' },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  },
  podTemplate: {
    path: '/api/v1/namespaces/default/podtemplates',
    kind: 'PodTemplate',
    body: {
      metadata: { name: 'x' },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  },
  revision: {
    path: '/apis/apps/v1/namespaces/default/controllerrevisions',
    kind: 'ControllerRevision',
    body: { metadata: { name: 'x' }, data: { a: 1 }, revision: 1 },
  },
  ingress: {
    path: '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    kind: 'Ingress',
    body: {
      metadata: { name: 'x' },
      spec: {
        rules: [
          {
            host: 'a.io',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  },
  ingressClass: {
    path: '/apis/networking.k8s.io/v1/ingressclasses',
    kind: 'IngressClass',
    body: {
      metadata: { name: 'x' },
      spec: { controller: 'a.io/b', parameters: { kind: 'K', name: 'n', scope: 'Cluster' } },
    },
  },
  address: {
    path: '/apis/networking.k8s.io/v1/ipaddresses',
    kind: 'IPAddress',
    body: { metadata: { name: '10.1.2.3' }, spec: { parentRef: { resource: 'a', name: 'b' } } },
  },
  range: {
    path: '/apis/networking.k8s.io/v1/servicecidrs',
    kind: 'ServiceCIDR',
    body: { metadata: { name: 'x' }, spec: { cidrs: ['10.7.0.0/24'] } },
  },
  networkPolicy: {
    path: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    kind: 'NetworkPolicy',
    body: {
      metadata: { name: 'x' },
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80, protocol: 'TCP' }], from: [{ podSelector: {} }] }] },
    },
  },
  lease: {
    path: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    kind: 'Lease',
    body: { metadata: { name: 'x' }, spec: { leaseDurationSeconds: 1 } },
  },
  event: {
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    kind: 'Event',
    body: {
      metadata: { name: 'x' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'a.io/b',
      reportingInstance: 'i',
      action: 'a',
      reason: 'r',
      type: 'Normal',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
    },
  },
  coreEvent: {
    path: '/api/v1/namespaces/default/events',
    kind: 'Event',
    body: { metadata: { name: 'x' }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } },
  },
  runtimeClass: {
    path: '/apis/node.k8s.io/v1/runtimeclasses',
    kind: 'RuntimeClass',
    body: { metadata: { name: 'x' }, handler: 'h' },
  },
  apiService: {
    path: '/apis/apiregistration.k8s.io/v1/apiservices',
    kind: 'APIService',
    body: {
      metadata: { name: 'v1.a.io' },
      spec: {
        group: 'a.io',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: 'n', name: 's' },
      },
    },
  },
  csiNode: {
    path: '/apis/storage.k8s.io/v1/csinodes',
    kind: 'CSINode',
    body: { metadata: { name: 'x' }, spec: { drivers: [{ name: 'd', nodeID: 'n' }] } },
  },
  csiDriver: {
    path: '/apis/storage.k8s.io/v1/csidrivers',
    kind: 'CSIDriver',
    body: { metadata: { name: 'x' }, spec: {} },
  },
  attachment: {
    path: '/apis/storage.k8s.io/v1/volumeattachments',
    kind: 'VolumeAttachment',
    body: { metadata: { name: 'x' }, spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
  },
  capacity: {
    path: '/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities',
    kind: 'CSIStorageCapacity',
    body: { metadata: { name: 'x' }, storageClassName: 's', capacity: '1Gi' },
  },
  attributesClass: {
    path: '/apis/storage.k8s.io/v1/volumeattributesclasses',
    kind: 'VolumeAttributesClass',
    body: { metadata: { name: 'x' }, driverName: 'd', parameters: { a: 'b' } },
  },
  deviceClaim: {
    path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
    kind: 'ResourceClaim',
    body: {
      metadata: { name: 'x' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'd' } }] } },
    },
  },
  deviceClaimTemplate: {
    path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    body: {
      metadata: { name: 'x' },
      spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'd' } }] } } },
    },
  },
  deviceClass: {
    path: '/apis/resource.k8s.io/v1/deviceclasses',
    kind: 'DeviceClass',
    body: { metadata: { name: 'x' }, spec: {} },
  },
  node: {
    path: '/api/v1/nodes',
    kind: 'Node',
    body: { metadata: { name: 'a-node' } },
  },
  pod: {
    path: '/api/v1/namespaces/default/pods',
    kind: 'Pod',
    body: { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
  autoscaler: {
    path: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
    body: {
      metadata: { name: 'x' },
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    },
  },
  autoscaler1: {
    path: '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
    body: {
      metadata: { name: 'x' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    },
  },
  budget: {
    path: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    body: { metadata: { name: 'x' }, spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } },
  },
  priority: {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    kind: 'PriorityClass',
    body: { metadata: { name: 'x' }, value: 1 },
  },
  claim: {
    path: '/api/v1/namespaces/default/persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    body: {
      metadata: { name: 'x' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  },
  volume: {
    path: '/api/v1/persistentvolumes',
    kind: 'PersistentVolume',
    body: {
      metadata: { name: 'x' },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } },
    },
  },
  storageClass: {
    path: '/apis/storage.k8s.io/v1/storageclasses',
    kind: 'StorageClass',
    body: { metadata: { name: 'x' }, provisioner: 'a.io/b' },
  },
  job: {
    path: '/apis/batch/v1/namespaces/default/jobs',
    kind: 'Job',
    body: {
      metadata: { name: 'x' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
    },
  },
  cronJob: {
    path: '/apis/batch/v1/namespaces/default/cronjobs',
    kind: 'CronJob',
    body: {
      metadata: { name: 'x' },
      spec: {
        schedule: '* * * * *',
        jobTemplate: {
          spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
        },
      },
    },
  },
  quota: {
    path: '/api/v1/namespaces/default/resourcequotas',
    kind: 'ResourceQuota',
    body: { metadata: { name: 'x' }, spec: { hard: { pods: '1' } } },
  },
  limits: {
    path: '/api/v1/namespaces/default/limitranges',
    kind: 'LimitRange',
    body: { metadata: { name: 'x' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } },
  },
  map: {
    path: '/api/v1/namespaces/default/configmaps',
    kind: 'ConfigMap',
    body: { metadata: { name: 'x' }, data: { a: 'b' } },
  },
  secret: {
    path: '/api/v1/namespaces/default/secrets',
    kind: 'Secret',
    body: { metadata: { name: 'x' }, data: { a: 'YQ==' } },
  },
  validatingWebhook: {
    path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    body: { metadata: { name: 'x' }, webhooks: [hook] },
  },
  mutatingWebhook: {
    path: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    kind: 'MutatingWebhookConfiguration',
    body: { metadata: { name: 'x' }, webhooks: [hook] },
  },
  policy: {
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    kind: 'ValidatingAdmissionPolicy',
    body: {
      metadata: { name: 'x' },
      spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] },
    },
  },
  policyBinding: {
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
    body: { metadata: { name: 'x' }, spec: { policyName: 'p', validationActions: ['Deny'] } },
  },
  mutatingPolicy: {
    path: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
    kind: 'MutatingAdmissionPolicy',
    body: {
      metadata: { name: 'x' },
      spec: {
        matchConstraints: { resourceRules: rules },
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
      },
    },
  },
  mutatingBinding: {
    path: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
    kind: 'MutatingAdmissionPolicyBinding',
    body: { metadata: { name: 'x' }, spec: { policyName: 'p' } },
  },
}
