/**
 * What an API server is told: which writes it must ask about, and where. Fail closed, and narrow: a process that is
 * gone must not stop the cluster, so system namespaces and its own are left out, writes in a namespace are asked about
 * only while its gate is shut, and deletions never. The status and the finalizing of namespaces are asked about as
 * long as there is an answer: labels can be changed there too, by the few who hold these.
 *
 * Where policies decide about namespaces, webhooks are asked only about those that a template gives labels,
 * annotations or an end, which CEL can't say.
 */

import { expiresAtAnnotation, expirySourceAnnotation, ttlAnnotation } from '../apis/expiry/types.ts'
import {
  askedAnnotation,
  metadataHoldersAnnotation,
  metadataVersionsAnnotation,
  templateResource,
} from '../apis/templates/types.ts'
import { trimEndingSlashes } from '../base/trim-slashes.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import { installName } from './names.ts'
import { heldNamespaces, holdConditions, holdRules } from './policies/hold.ts'
import { ruleOf } from './policies/policy.ts'
import {
  protectedStatusRules,
  protectionConditions,
  protectionRules,
  protectionSelector,
} from './policies/protection.ts'

/** Which of our paths a webhook is served under. */
export const webhookPaths = { admit: '/admit', check: '/check', hold: '/hold', protect: '/protect' } as const

/** How an API server reaches us. */
export type WebhookPlace =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string } }

/** What admission policies take over: nothing, protected objects, or whatever CEL can say. */
export type PolicyShare = 'none' | 'protection' | 'all'

/** What the API server decides by itself. */
export interface ServerShare {
  readonly policies: PolicyShare
  /** It knows `matchConditions` of webhooks: from 1.28 on. */
  readonly hasConditions: boolean
}

export interface WebhookConfigurationOptions extends ServerShare {
  readonly place: WebhookPlace
  /** PEM */
  readonly caBundle: string
  /** Its own: never asked about. */
  readonly namespace: string
  /** Namespaces are created and changed unasked while there is no answer. Templates never are. */
  readonly failOpen: boolean
}

const registration = 'admissionregistration.k8s.io/v1'
/** Webhooks are named below it. */
export const webhookDomain = 'population.borough.dev'

/** `kubernetes.io/metadata.name`; servers before 1.21 set it only on namespaces made since. */
const nameLabel = 'kubernetes.io/metadata.name'

/** The system's, and the one of `borough populate`. */
export const exemptNamespaces = (namespace: string): string[] =>
  ['kube-node-lease', 'kube-public', 'kube-system', namespace].sort()

/** Of a selector of namespaces. */
export const otherNamespaces = (namespace: string): JsonObject => ({
  key: nameLabel,
  operator: 'NotIn',
  values: exemptNamespaces(namespace),
})

const written = ['CREATE', 'UPDATE']
const namespaceRule = ruleOf('', 'v1', written, 'namespaces')
const templateRule = ruleOf(templateResource.group, templateResource.version, written, templateResource.resource)

/** Annotations of namespaces about which there is something to say that no policy says. */
const askedAnnotations = [
  askedAnnotation,
  metadataHoldersAnnotation,
  metadataVersionsAnnotation,
  expiresAtAnnotation,
  expirySourceAnnotation,
  ttlAnnotation,
]
const isAsked: JsonObject = {
  name: 'asked',
  expression:
    '[object, oldObject].exists(o, o != null && has(o.metadata.annotations) && ' +
    `o.metadata.annotations.exists(k, k in [${askedAnnotations.map((key) => `'${key}'`).join(', ')}]))`,
}

export function webhookConfigurations(options: WebhookConfigurationOptions): KubeObject[] {
  const { place, caBundle, policies, hasConditions, failOpen } = options
  const others = otherNamespaces(options.namespace)
  const webhook = (path: keyof typeof webhookPaths, timeoutSeconds: number, name: string = path): JsonObject => ({
    name: `${name}.${webhookDomain}`,
    clientConfig: { ...placeOf(place, webhookPaths[path]), caBundle: Buffer.from(caBundle).toString('base64') },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds,
    namespaceSelector: { matchExpressions: [others] },
  })
  const whenAsked = policies === 'all' ? { matchConditions: [isAsked] } : {}
  const aboutNamespaces = { ...whenAsked, ...(failOpen ? { failurePolicy: 'Ignore' } : {}) }
  /** One webhook for both kinds where they are treated alike. */
  const both = (path: 'admit' | 'check', more: JsonObject = {}): JsonObject[] =>
    policies === 'all' || failOpen
      ? [
          { ...webhook(path, 10, `${path}-namespace`), ...more, ...aboutNamespaces, rules: [namespaceRule] },
          { ...webhook(path, 10), ...more, rules: [templateRule] },
        ]
      : [{ ...webhook(path, 10), ...more, rules: [namespaceRule, templateRule] }]
  const relabel = {
    ...webhook('check', 2, 'relabel'),
    ...whenAsked,
    // Namespaces must go, and say why they do not, while no replica answers.
    failurePolicy: 'Ignore',
    rules: [ruleOf('', 'v1', ['UPDATE'], 'namespaces/status', 'namespaces/finalize')],
  }
  const protectedObjects = {
    objectSelector: protectionSelector,
    ...(hasConditions ? { matchConditions: protectionConditions } : {}),
  }
  const protect = { ...webhook('protect', 5), ...protectedObjects, rules: protectionRules }
  // The status goes on being written while no replica answers.
  const protectStatus = {
    ...webhook('protect', 2, 'protect-status'),
    failurePolicy: 'Ignore',
    ...protectedObjects,
    rules: protectedStatusRules,
  }
  const hold = {
    ...webhook('hold', 5),
    ...(failOpen ? { failurePolicy: 'Ignore' } : {}),
    namespaceSelector: heldNamespaces(others),
    ...(hasConditions ? { matchConditions: holdConditions } : {}),
    rules: holdRules,
  }
  return [
    {
      apiVersion: registration,
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: installName },
      webhooks: both('admit', { reinvocationPolicy: 'IfNeeded' }),
    },
    {
      apiVersion: registration,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: installName },
      webhooks: [
        ...both('check'),
        relabel,
        ...(policies === 'none' ? [protect, protectStatus] : []),
        ...(policies === 'all' ? [] : [hold]),
      ],
    },
  ]
}

function placeOf(place: WebhookPlace, path: string): object {
  if ('url' in place) return { url: `${trimEndingSlashes(place.url)}${path}` }
  return { service: { ...place.service, path, port: 443 } }
}
