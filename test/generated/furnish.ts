/** A plane in which every plugin has something to do: else most of them leave a variation alone. */
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { send } from '../support/send.ts'
import { widgetDefinition } from './subjects.ts'

const everything = [
  { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['*'] },
] as const

const objects: readonly (readonly [path: string, body: object])[] = [
  [
    '/api/v1/namespaces/default/limitranges',
    {
      metadata: { name: 'limits' },
      spec: {
        limits: [
          { type: 'Container', default: { cpu: '1', memory: '1Gi' }, max: { cpu: '4' } },
          { type: 'Pod', max: { memory: '8Gi' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Mi' } },
        ],
      },
    },
  ],
  [
    '/api/v1/namespaces/default/resourcequotas',
    {
      metadata: { name: 'all' },
      spec: { hard: { pods: '1k', services: '1k', 'limits.cpu': '1k', 'requests.storage': '1Ti' } },
    },
  ],
  [
    '/api/v1/namespaces/default/resourcequotas',
    { metadata: { name: 'far' }, spec: { hard: { pods: '1k' }, scopes: ['CrossNamespacePodAffinity'] } },
  ],
  [
    '/apis/node.k8s.io/v1/runtimeclasses',
    {
      metadata: { name: 'r' },
      handler: 'h',
      overhead: { podFixed: { cpu: '1m' } },
      scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'x', operator: 'Exists' }] },
    },
  ],
  [
    '/api/v1/namespaces/default/pods',
    { metadata: { name: 'waiting' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  ],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'p' }, value: 1, globalDefault: true }],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    {
      metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'a.io/b',
    },
  ],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    {
      metadata: { name: 'i', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'a.io/b' },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    {
      metadata: { name: 'judges' },
      spec: {
        matchConstraints: { resourceRules: everything },
        validations: [{ expression: "object.metadata.name != 'forbidden'" }],
      },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    { metadata: { name: 'judges' }, spec: { policyName: 'judges', validationActions: ['Warn'] } },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
    {
      metadata: { name: 'marks' },
      spec: {
        matchConstraints: { resourceRules: [{ ...everything[0], resources: ['pods', 'widgets'] }] },
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'IfNeeded',
        mutations: [
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: {
              expression: "Object{metadata: Object.metadata{annotations: {'marked': 'yes'}}}",
            },
          },
        ],
      },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
    { metadata: { name: 'marks' }, spec: { policyName: 'marks' } },
  ],
]

/** @param onFault told of every error that the server logs: what is no refusal, or a fault of its own */
export async function startFurnished(onFault: (fault: string) => void): Promise<TestControlPlane> {
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: ({ error }: Readonly<Record<string, unknown>>, message: string) =>
      onFault(`${message}: ${error instanceof Error ? error.stack : String(error)}`),
  }
  const plane = await startControlPlane({ log })
  await furnish(plane)
  return plane
}

/** @param plane as its administrator */
export async function furnish(plane: Pick<TestControlPlane, 'client' | 'fetch'>): Promise<void> {
  const levels = { 'pod-security.kubernetes.io/warn': 'restricted', 'pod-security.kubernetes.io/audit': 'baseline' }
  await must(plane, 'PATCH', '/api/v1/namespaces/default', { metadata: { labels: levels } })
  for (const [path, body] of objects) await must(plane, 'POST', path, body)
  await install(plane, definition({ schema: widgetDefinition as never, version: { subresources: { status: {} } } }))
}

async function must(plane: Pick<TestControlPlane, 'fetch'>, method: string, path: string, body: object): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const answer = await send(plane, path, { method, type, body })
  if (answer.code >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
}
