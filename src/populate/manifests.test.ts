/** What an administrator applies, looked at as a whole: parts that name each other must mean each other. */
import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import { findKinds, manifests } from './manifests.ts'
import { webhookConfigurations } from './webhook-configurations.ts'

const namespace = 'elsewhere'
const all = manifests({ namespace, image: 'borough:1', kinds: await findKinds(['v1/ConfigMap'], undefined) })
const of = (kind: string): KubeObject[] => all.filter((o) => o.kind === kind)
const the = (kind: string): KubeObject => {
  const [found, ...others] = of(kind)
  if (found === undefined || others.length > 0) throw new Error(`${others.length + 1} of ${kind}`)
  return found
}

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly args: readonly string[]
  readonly livenessProbe: JsonObject
  readonly readinessProbe: JsonObject
}
interface PodTemplate {
  readonly metadata: { readonly labels: JsonObject }
  readonly spec: JsonObject & { readonly serviceAccountName: string; readonly containers: readonly Container[] }
}
const pod = (the('Deployment')['spec'] as unknown as { readonly template: PodTemplate }).template
const container = pod.spec.containers[0] as Container

describe('the objects of an installation', () => {
  test('its processes are of no group of root', () => {
    expect(pod.spec['securityContext']).toMatchObject({ runAsUser: 65532, runAsGroup: 65532 })
  })

  test('all that lives in a namespace lives in the one that was asked for, but its rights in kube-system', () => {
    const elsewhere = all.filter((o) => o.metadata.namespace !== undefined && o.metadata.namespace !== namespace)
    expect(elsewhere.map((o) => `${o.kind} ${o.metadata.namespace}`)).toEqual([
      'Role kube-system',
      'RoleBinding kube-system',
    ])
    expect(container.args.slice(-2)).toEqual(['--namespace', namespace])
  })

  test('every selector is that of the pods', () => {
    const { labels } = pod.metadata
    expect(the('Deployment')['spec']).toMatchObject({ selector: { matchLabels: labels }, replicas: 2 })
    expect(the('Service')['spec']).toMatchObject({ selector: labels })
    expect(the('PodDisruptionBudget')['spec']).toMatchObject({ selector: { matchLabels: labels }, minAvailable: 1 })
    expect(the('NetworkPolicy')['spec']).toMatchObject({ podSelector: { matchLabels: labels } })
  })

  test('one port, by one name', () => {
    expect(container.ports).toEqual([{ name: 'webhooks', containerPort: 9443 }])
    expect(container.args).toContain('0.0.0.0:9443')
    expect(the('Service')['spec']).toMatchObject({ ports: [{ port: 443, targetPort: 'webhooks' }] })
    expect(the('NetworkPolicy')['spec']).toMatchObject({ ingress: [{ ports: [{ port: 'webhooks' }] }] })
    for (const probe of [container.livenessProbe, container.readinessProbe])
      expect(probe).toMatchObject({ httpGet: { port: 'webhooks', scheme: 'HTTPS' } })
  })

  test('it runs where pod security is `restricted`, which its namespace enforces', () => {
    expect(the('Namespace').metadata.labels).toEqual({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    expect(pod.spec).toMatchObject({
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { requests: { cpu: expect.any(String), memory: expect.any(String) }, limits: { memory: '512Mi' } },
    })
  })

  test('every role is bound to its account and to nobody else', () => {
    const account = the('ServiceAccount').metadata
    expect(pod.spec.serviceAccountName).toBe(account.name)
    const roles = [...of('ClusterRole'), ...of('Role')]
    const bindings = [...of('ClusterRoleBinding'), ...of('RoleBinding')]
    expect(bindings.map((b) => b['roleRef'])).toEqual(
      roles.map((r) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: r.kind, name: r.metadata.name })),
    )
    for (const binding of bindings)
      expect(binding['subjects']).toEqual([{ kind: 'ServiceAccount', namespace, name: account.name }])
  })
})

describe('the webhook configurations', () => {
  interface Webhook {
    readonly name: string
    readonly namespaceSelector: { readonly matchExpressions: readonly JsonObject[] }
  }
  const configurations = webhookConfigurations({
    place: { service: { namespace, name: 'borough-population' } },
    caBundle: 'PEM',
    namespace,
    policies: 'none',
    hasConditions: false,
    failOpen: false,
  })
  const webhooks = configurations.flatMap((c) => c['webhooks'] as unknown as Webhook[])

  test.each(webhooks)('$name fails closed, and a dead pod can not stop the cluster', (webhook) => {
    expect(webhook).toMatchObject({
      // Namespaces report their deletion, and end it, by sub-resources.
      failurePolicy: /^(relabel|protect-status)\./.test(webhook.name) ? 'Ignore' : 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchPolicy: 'Equivalent',
      clientConfig: { caBundle: Buffer.from('PEM').toString('base64'), service: { namespace, port: 443 } },
    })
    expect(webhook.namespaceSelector.matchExpressions).toContainEqual({
      key: 'kubernetes.io/metadata.name',
      operator: 'NotIn',
      values: [namespace, 'kube-node-lease', 'kube-public', 'kube-system'],
    })
  })

  test('writes in a namespace are asked about only while its gate is shut', () => {
    const hold = webhooks.find((w) => w.name.startsWith('hold.'))
    expect(hold?.namespaceSelector.matchExpressions[0]).toEqual({
      key: 'policy/namespace-template-pending',
      operator: 'Exists',
    })
  })
})
