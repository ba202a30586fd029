/**
 * What an API server is told of population: webhook configurations, and policies where it has them. What was there is
 * known before it is changed, so that it can be put back.
 */
import { type Clock, sleep } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { installFieldManager, installName } from './names.ts'
import { holdPolicy } from './policies/hold.ts'
import { namespacePolicies } from './policies/namespace-policies.ts'
import { policyNames } from './policies/policy.ts'
import { protectionPolicy } from './policies/protection.ts'
import {
  exemptNamespaces,
  otherNamespaces,
  type PolicyShare,
  type ServerShare,
  type WebhookConfigurationOptions,
  webhookConfigurations,
} from './webhook-configurations.ts'

/** Who decides about namespaces. `auto`: policies where the API server has those that change objects. */
export type AdmissionBy = 'auto' | 'policies' | 'webhooks'

/** Cuts off what takes too long. */
interface CallOptions {
  readonly signal?: AbortSignal
}

interface Registered {
  readonly webhooks?: readonly { readonly clientConfig?: { readonly caBundle?: string } }[]
}

const registration = { group: 'admissionregistration.k8s.io', version: 'v1' } as const
const registrationApi = `${registration.group}/${registration.version}`
const resources: Readonly<Record<string, GroupVersionResource>> = {
  MutatingAdmissionPolicy: { ...registration, resource: 'mutatingadmissionpolicies' },
  MutatingAdmissionPolicyBinding: { ...registration, resource: 'mutatingadmissionpolicybindings' },
  ValidatingAdmissionPolicy: { ...registration, resource: 'validatingadmissionpolicies' },
  ValidatingAdmissionPolicyBinding: { ...registration, resource: 'validatingadmissionpolicybindings' },
  MutatingWebhookConfiguration: { ...registration, resource: 'mutatingwebhookconfigurations' },
  ValidatingWebhookConfiguration: { ...registration, resource: 'validatingwebhookconfigurations' },
}

/** `matchConditions` of webhooks, on by default. */
const oldestMinorWithConditions = 28

/** @throws Error where policies are asked for and the cluster lacks them */
export async function findServerShare(client: Client, by: AdmissionBy, minor: number): Promise<ServerShare> {
  return { policies: await findPolicyShare(client, by), hasConditions: minor >= oldestMinorWithConditions }
}

async function findPolicyShare(client: Client, by: AdmissionBy): Promise<PolicyShare> {
  const isServed = async (kind: string): Promise<boolean> =>
    (await client.discovery.findKind(registrationApi, kind)) !== undefined
  const validates = await isServed('ValidatingAdmissionPolicy')
  const mutates = await isServed('MutatingAdmissionPolicy')
  if (by === 'policies' && !(validates && mutates))
    throw new Error(
      `--admission=policies needs MutatingAdmissionPolicy in ${registrationApi}, which this cluster does not serve: ` +
        'use --admission=webhooks',
    )
  if (!validates) return 'none'
  return mutates && by !== 'webhooks' ? 'all' : 'protection'
}

export function admissionObjects(options: WebhookConfigurationOptions): KubeObject[] {
  const { policies, namespace } = options
  const other = otherNamespaces(namespace)
  return [
    ...(policies === 'none' ? [] : protectionPolicy()),
    ...(policies === 'all' ? [...namespacePolicies(exemptNamespaces(namespace)), ...holdPolicy(other)] : []),
    ...webhookConfigurations(options),
  ]
}

/** What is on the cluster of what we could put there: by kind and name. */
export async function findAdmission(client: Client, options: CallOptions = {}): Promise<KubeObject[]> {
  const found: KubeObject[] = []
  for (const [kind, resource] of Object.entries(resources)) {
    for (const name of namesOf(kind)) {
      try {
        found.push({ ...(await client.get(resource, { name }, options)), apiVersion: registrationApi, kind })
      } catch (error) {
        // Neither the object nor, on an older cluster, the resource.
        if (!isNotFound(error)) throw error
      }
    }
  }
  return found
}

/** On the anchor: a digest of all that was told with it. */
export const registeredMark = 'policy.borough.dev/registered'

/** The first to come and the first to go: without it nothing of ours is to be there. */
export const isAnchor = ({ kind }: KubeObject): boolean => kind === 'MutatingWebhookConfiguration'

/** As it is on the cluster. */
export const findRegistered = (client: Client, { kind, metadata }: KubeObject): Promise<KubeObject | undefined> =>
  findObject(client, resourceOf(kind), { name: metadata.name ?? '' })

export const findAnchor = (client: Client): Promise<KubeObject | undefined> =>
  findRegistered(client, { kind: 'MutatingWebhookConfiguration', metadata: { name: installName } })

/** Authorities by which API servers know the webhooks, PEM; empty where they are told of none. */
export async function findTrusted(client: Client): Promise<string> {
  const { webhooks = [] } = ((await findAnchor(client)) ?? {}) as Registered
  const bundles = new Set(webhooks.map(({ clientConfig }) => clientConfig?.caBundle ?? ''))
  return [...bundles].map((bundle) => Buffer.from(bundle, 'base64').toString()).join('\n')
}

const anchorFirst = (objects: readonly KubeObject[]): KubeObject[] => [
  ...objects.filter(isAnchor),
  ...objects.filter((object) => !isAnchor(object)),
]

/** Has the cluster hold these and no others of ours. */
export async function installAdmission(client: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of anchorFirst(objects)) {
    const { apiVersion, kind, metadata, ...rest } = object
    const mark = metadata.annotations?.[registeredMark]
    const annotations = mark === undefined ? {} : { annotations: { [registeredMark]: mark } }
    await applyAdmission(client, {
      apiVersion,
      kind,
      metadata: { name: metadata.name, ...annotations },
      ...rest,
    } as KubeObject)
  }
  const kept = new Set(objects.map(identityOf))
  for (const object of await findAdmission(client)) if (!kept.has(identityOf(object))) await remove(client, object)
}

export const applyAdmission = (client: Client, object: KubeObject): Promise<KubeObject> =>
  client.apply(resourceOf(object.kind), object, { fieldManager: installFieldManager, force: true })

/** kube-apiserver reads its policies once a second, those that change objects by themselves. */
const policiesReadMs = 2000

/**
 * Answers what was there, as `resource/name`. The kind stays: with it would go every template.
 * @param clock to let API servers forget what refuses a namespace before what gives it its creator is gone
 */
export async function uninstallAdmission(client: Client, options: CallOptions = {}, clock?: Clock): Promise<string[]> {
  const removed: string[] = []
  let isRefused = false
  // Bindings before their policies.
  for (const object of anchorFirst((await findAdmission(client, options)).reverse())) {
    if (object.kind === 'ValidatingAdmissionPolicy') isRefused = true
    if (clock !== undefined && isRefused && object.kind === 'MutatingAdmissionPolicyBinding') {
      await sleep(clock, policiesReadMs, options.signal)
      isRefused = false
    }
    await remove(client, object, options)
    removed.push(`${resourceOf(object.kind).resource}/${object.metadata.name}`)
  }
  return removed
}

async function remove(client: Client, { kind, metadata }: KubeObject, options: CallOptions = {}): Promise<void> {
  try {
    await client.delete(resourceOf(kind), { name: metadata.name ?? '' }, options)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const namesOf = (kind: string): readonly string[] =>
  kind.includes('Policy') ? Object.values(policyNames) : [installName]

const identityOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`

function resourceOf(kind = ''): GroupVersionResource {
  const resource = resources[kind]
  if (resource === undefined) throw new Error(`${kind} is not installed`)
  return resource
}
