/**
 * What `borough populate` puts on a cluster at its start, and takes off again when it is told to: the kind, and the
 * webhook configurations, and a policy. Its account and rights are an administrator's business (`rights.ts`).
 */
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import { isAlreadyExists, isForbidden, isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { definitionName, templateDefinition } from './definition.ts'
import { namespaceManifest } from './manifests.ts'
import { installFieldManager, installName } from './names.ts'
import { protectionPolicy } from './protection-policy.ts'
import { type WebhookConfigurationOptions, webhookConfigurations } from './webhook-configurations.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' } as const
const registration = { group: 'admissionregistration.k8s.io', version: 'v1' } as const
const configurations: Readonly<Record<string, GroupVersionResource>> = {
  MutatingWebhookConfiguration: { ...registration, resource: 'mutatingwebhookconfigurations' },
  ValidatingWebhookConfiguration: { ...registration, resource: 'validatingwebhookconfigurations' },
  ValidatingAdmissionPolicy: { ...registration, resource: 'validatingadmissionpolicies' },
  ValidatingAdmissionPolicyBinding: { ...registration, resource: 'validatingadmissionpolicybindings' },
}

/** How long a server may take to serve a kind that it was told of. */
const establishMs = 30_000

const applied = { fieldManager: installFieldManager, force: true } as const

/** Resolves when the kind is served. @throws Error if it is not after half a minute */
export async function installDefinition(client: Client, clock: Clock, signal: AbortSignal): Promise<void> {
  const installed = await client.apply(definitions, templateDefinition(), { ...applied, signal })
  if (isEstablished(installed)) return
  const late = new AbortController()
  const timer = clock.after(establishMs, () => late.abort())
  let last = installed
  try {
    const { resourceVersion = '' } = installed.metadata
    const fieldSelector = `metadata.name=${definitionName}`
    const changes = client.watch(definitions, {
      fieldSelector,
      resourceVersion,
      signal: AbortSignal.any([signal, late.signal]),
    })
    for await (const { type, object } of changes) {
      if (type === 'BOOKMARK') continue
      last = object
      if (isEstablished(object)) return
    }
  } finally {
    timer.cancel()
  }
  const refused = conditionsOf(last).find((c) => c.type === 'NamesAccepted' && c.status === 'False')
  throw new Error(`the cluster does not serve ${definitionName}${refused?.message ? `: ${refused.message}` : ''}`)
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly message?: string
}

const conditionsOf = ({ status }: KubeObject): readonly Condition[] =>
  (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? []

const isEstablished = (definition: KubeObject): boolean =>
  conditionsOf(definition).some((c) => c.type === 'Established' && c.status === 'True')

/** The namespace of its own. Who may not make namespaces has been given one. */
export async function ensureNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(namespaces, namespaceManifest(name))
  } catch (error) {
    if (!isAlreadyExists(error) && !isForbidden(error)) throw error
  }
}

/** Where the server has admission policies, what they can say is theirs: it holds while none of our processes lives. */
export async function installAdmission(
  client: Client,
  options: Omit<WebhookConfigurationOptions, 'hasPolicies'>,
): Promise<void> {
  const policies = await client.discovery.findKind('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy')
  const hasPolicies = policies !== undefined
  const objects = [...(hasPolicies ? protectionPolicy() : []), ...webhookConfigurations({ ...options, hasPolicies })]
  for (const object of objects) await client.apply(resourceOf(object), object, applied)
}

/** Answers what was there, as `kind/name`. The kind stays: with it would go every template. */
export async function uninstallWebhooks(client: Client, signal: AbortSignal): Promise<string[]> {
  const removed: string[] = []
  for (const resource of Object.values(configurations)) {
    try {
      await client.delete(resource, { name: installName }, { signal })
      removed.push(`${resource.resource}/${installName}`)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  return removed
}

function resourceOf({ kind = '' }: KubeObject): GroupVersionResource {
  const resource = configurations[kind]
  if (resource === undefined) throw new Error(`${kind} is not installed`)
  return resource
}
