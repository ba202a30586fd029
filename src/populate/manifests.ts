/** Everything that an administrator applies to run `borough populate` in a cluster, as objects. */
import { optOutAnnotation } from '../apis/templates/types.ts'
import { loadCatalog } from '../catalog/catalog.ts'
import type { Discovery, ServedKind } from '../client/client.ts'
import { parseApiVersion } from '../kube/gvk.ts'
import type { KubeObject } from '../kube/types.ts'
import { templateDefinition } from './definition.ts'
import { accountName, containerPort, installName } from './names.ts'
import { rightsManifests } from './rights.ts'

export interface ManifestOptions {
  readonly namespace: string
  /** Of the container. */
  readonly image: string
  /** Kinds that templates hold. */
  readonly kinds: readonly ServedKind[]
}

/** In the order in which they are applied. */
export function manifests({ namespace, image, kinds }: ManifestOptions): KubeObject[] {
  return [
    namespaceManifest(namespace),
    templateDefinition(),
    ...rightsManifests(namespace, kinds),
    serviceManifest(namespace),
    ...deploymentManifests(namespace, image),
    networkPolicyManifest(namespace),
  ]
}

/** No template is for it: a quota or a network policy of theirs must not be able to stop what applies them. */
export const namespaceManifest = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    annotations: { [optOutAnnotation]: 'true' },
  },
})

const labels = { 'app.kubernetes.io/name': installName }

export const serviceManifest = (namespace: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: installName, namespace, labels },
  spec: { selector: labels, ports: [{ name: 'webhooks', port: 443, targetPort: 'webhooks' }] },
})

/** API servers may come from anywhere, and where they listen is not known here: one port in, all ways out. */
export const networkPolicyManifest = (namespace: string): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: installName, namespace, labels },
  spec: {
    podSelector: { matchLabels: labels },
    policyTypes: ['Ingress'],
    ingress: [{ ports: [{ port: 'webhooks', protocol: 'TCP' }] }],
  },
})

/** With 10,000 namespaces: docs/performance.md, and the values of the chart, which are the same. */
const measured = { requests: { cpu: '150m', memory: '320Mi' }, limits: { memory: '512Mi' } }

/** Two, on different machines where there are some: with none left, no namespace can be made. */
export function deploymentManifests(namespace: string, image: string): KubeObject[] {
  const probe = (path: string): object => ({ httpGet: { path, port: 'webhooks', scheme: 'HTTPS' } })
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: installName, namespace, labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: accountName,
            // Without it no namespace can be made: it goes after everything that can be spared.
            priorityClassName: 'system-cluster-critical',
            // Longer than requests under way may take.
            terminationGracePeriodSeconds: 30,
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 65532,
              // Else it is root's, whatever the user.
              runAsGroup: 65532,
              seccompProfile: { type: 'RuntimeDefault' },
            },
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: labels },
              },
            ],
            containers: [
              {
                name: 'populate',
                image,
                args: ['populate', '--listen', `0.0.0.0:${containerPort}`, '--namespace', namespace],
                ports: [{ name: 'webhooks', containerPort }],
                readinessProbe: probe('/readyz'),
                livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
                resources: measured,
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: installName, namespace, labels },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
  ]
}

/** What serves a kind (`v1/ConfigMap`): built-in ones are known, others only to a cluster. */
export async function findServedKind(text: string, discovery: Discovery | undefined): Promise<ServedKind | undefined> {
  const slash = text.lastIndexOf('/')
  const apiVersion = text.slice(0, slash)
  const kind = text.slice(slash + 1)
  const gv = parseApiVersion(apiVersion)
  const type = gv && loadCatalog().types.findKind({ ...gv, kind })
  const served = type ?? (await discovery?.findKind(apiVersion, kind))
  if (served === undefined) return undefined
  const { group, version, resource, namespaced, verbs } = served
  return { group, version, resource, kind, namespaced, verbs }
}

/** @throws Error naming the kind that is not served */
export async function findKinds(texts: Iterable<string>, discovery: Discovery | undefined): Promise<ServedKind[]> {
  const found: ServedKind[] = []
  for (const text of new Set(texts)) {
    const kind = await findServedKind(text, discovery)
    if (kind === undefined) throw new Error(`no kind ${text} is known`)
    found.push(kind)
  }
  return found
}
