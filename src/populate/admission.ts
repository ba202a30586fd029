/**
 * What an API server is told of population: webhook configurations, and policies where it has them. What was there is
 * known before it is changed, so that it can be put back.
 */
import type { Client } from '../client/client.ts'
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
  type WebhookConfigurationOptions,
  webhookConfigurations,
} from './webhook-configurations.ts'

/** Who decides about namespaces. `auto`: policies where the API server has those that change objects. */
export type AdmissionBy = 'auto' | 'policies' | 'webhooks'

/** Cuts off what takes too long. */
interface CallOptions {
  readonly signal?: AbortSignal
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

/** @throws Error where policies are asked for and the cluster lacks them */
export async function findPolicyShare(client: Client, by: AdmissionBy): Promise<PolicyShare> {
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

/** Has the cluster hold these and no others of ours. */
export async function installAdmission(client: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { apiVersion, kind, metadata, ...rest } = object
    const wanted = { apiVersion, kind, metadata: { name: metadata.name }, ...rest } as KubeObject
    await client.apply(resourceOf(kind), wanted, { fieldManager: installFieldManager, force: true })
  }
  const kept = new Set(objects.map(identityOf))
  for (const object of await findAdmission(client)) if (!kept.has(identityOf(object))) await remove(client, object)
}

/** Answers what was there, as `resource/name`. The kind stays: with it would go every template. */
export async function uninstallAdmission(client: Client, options: CallOptions = {}): Promise<string[]> {
  const removed: string[] = []
  // Bindings before their policies.
  for (const object of (await findAdmission(client, options)).reverse()) {
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
