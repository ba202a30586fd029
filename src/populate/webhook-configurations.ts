/**
 * What an API server is told: which writes it must ask about, and where. Fail closed, and narrow: a process that is
 * gone must not stop the cluster, so system namespaces and its own are left out, writes in a namespace are asked about
 * only while its gate is shut, and deletions never. The status and the finalizing of namespaces are asked about as
 * long as there is an answer: labels can be changed there too, by the few who hold these.
 */
import { pendingLabel, templateResource } from '../apis/templates/types.ts'
import type { KubeObject } from '../kube/types.ts'
import { installName } from './names.ts'
import { protectionRules, protectionSelector } from './protection-policy.ts'

/** Which of our paths a webhook is served under. */
export const webhookPaths = { admit: '/admit', check: '/check', hold: '/hold', protect: '/protect' } as const

/** How an API server reaches us. */
export type WebhookPlace =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string } }

export interface WebhookConfigurationOptions {
  readonly place: WebhookPlace
  /** PEM */
  readonly caBundle: string
  /** Its own: never asked about. */
  readonly namespace: string
  /** Protected objects are the business of a policy in the API server. */
  readonly hasPolicies: boolean
}

const registration = 'admissionregistration.k8s.io/v1'
const domain = 'population.borough.dev'

/** `kubernetes.io/metadata.name`; servers before 1.21 set it only on namespaces made since. */
const nameLabel = 'kubernetes.io/metadata.name'

/** Where it is decided which templates are for a namespace, and what templates say. */
const rules = [
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['namespaces'],
    scope: '*',
  },
  {
    apiGroups: [templateResource.group],
    apiVersions: [templateResource.version],
    operations: ['CREATE', 'UPDATE'],
    resources: [templateResource.resource],
    scope: '*',
  },
]

export function webhookConfigurations({
  place,
  caBundle,
  namespace,
  hasPolicies,
}: WebhookConfigurationOptions): KubeObject[] {
  const others = {
    key: nameLabel,
    operator: 'NotIn',
    values: ['kube-node-lease', 'kube-public', 'kube-system', namespace].sort(),
  }
  const webhook = (path: keyof typeof webhookPaths, timeoutSeconds: number, name: string = path): object => ({
    name: `${name}.${domain}`,
    clientConfig: { ...placeOf(place, webhookPaths[path]), caBundle: Buffer.from(caBundle).toString('base64') },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds,
  })
  const toOthers = { namespaceSelector: { matchExpressions: [others] } }
  return [
    {
      apiVersion: registration,
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: installName },
      webhooks: [{ ...webhook('admit', 10), ...toOthers, rules, reinvocationPolicy: 'IfNeeded' }],
    },
    {
      apiVersion: registration,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: installName },
      webhooks: [
        { ...webhook('check', 10), ...toOthers, rules },
        {
          ...webhook('check', 2, 'relabel'),
          ...toOthers,
          // Namespaces must go, and say why they do not, while no replica answers.
          failurePolicy: 'Ignore',
          rules: [
            {
              apiGroups: [''],
              apiVersions: ['v1'],
              operations: ['UPDATE'],
              resources: ['namespaces/status', 'namespaces/finalize'],
              scope: '*',
            },
          ],
        },
        ...(hasPolicies
          ? []
          : [{ ...webhook('protect', 5), ...toOthers, objectSelector: protectionSelector, rules: protectionRules }]),
        {
          ...webhook('hold', 5),
          namespaceSelector: { matchExpressions: [{ key: pendingLabel, operator: 'Exists' }, others] },
          rules: [
            {
              apiGroups: ['*'],
              apiVersions: ['*'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['*/*'],
              scope: 'Namespaced',
            },
          ],
        },
      ],
    },
  ]
}

function placeOf(place: WebhookPlace, path: string): object {
  if ('url' in place) return { url: `${place.url.replace(/\/+$/, '')}${path}` }
  return { service: { ...place.service, path, port: 443 } }
}
