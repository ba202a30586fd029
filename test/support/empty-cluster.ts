/** Makes a cluster of tests as new: everything goes that is not upstream's own. The kind of templates stays. */
import { setTimeout } from 'node:timers/promises'
import { populationConfig } from '../../src/apis/templates/population-config.ts'
import type { Client, ListOptions } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import { isConflict, isNotFound } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'

const admission = (resource: string) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource })
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const core = (resource: string) => ({ group: '', version: 'v1', resource })
const namespaces = core('namespaces')
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }

const initial = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease'])
const mark = 'borough-tests'
const definitionName = 'namespacetemplates.policy.borough.dev'
const patienceMs = 90_000
/** In every namespace, by the root CA publisher of Kubernetes and that of OpenShift. */
export const publishedAuthorities: ReadonlySet<string | undefined> = new Set([
  'kube-root-ca.crt',
  'openshift-service-ca.crt',
])

export interface Emptying {
  /** The kind of templates stays: a server takes a while to forget and learn one. */
  readonly keepsKind?: boolean
}

/** @throws Error if it holds namespaces, and no test was here before: it may be a cluster that somebody uses */
export async function emptyCluster(client: Client, { keepsKind = true }: Emptying = {}): Promise<void> {
  const configMaps = core('configmaps')
  const { items } = await client.list(namespaces)
  const theirs = items.filter((n) => !initial.has(nameOf(n)))
  const marked = await client.list(configMaps, { namespace: 'kube-public', fieldSelector: `metadata.name=${mark}` })
  if (marked.items.length === 0) {
    if (theirs.length > 0) throw new Error(`this cluster is in use: it has a namespace ${nameOf(theirs[0])}`)
    await client.create(configMaps, { metadata: { namespace: 'kube-public', name: mark } })
  }
  // Before anything else: they may refuse what follows.
  for (const kind of [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'mutatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingadmissionpolicies',
  ])
    await clear(client, admission(kind))
  await clear(client, templates)
  for (const kind of ['rolebindings', 'roles']) await clear(client, rbac(kind), { namespace: 'default' })
  for (const kind of ['configmaps', 'secrets', 'resourcequotas', 'limitranges', 'pods', 'events'])
    await clear(client, core(kind), { namespace: 'default' })
  for (const kind of ['clusterrolebindings', 'clusterroles']) await clear(client, rbac(kind))
  await clear(client, { group: 'apps', version: 'v1', resource: 'controllerrevisions' }, { namespace: 'default' })
  await clear(client, namespaces)
  await clear(client, definitions)
  // The population's own: what it says would hold for the next test.
  await remove(client, configMaps, { metadata: { ...populationConfig } })
  if (!keepsKind) await remove(client, definitions, { metadata: { name: definitionName } })
  await restore(client)
}

/** Upstream's own, and what its controllers make in every namespace. */
function isKept(resource: GroupVersionResource, object: KubeObject): boolean {
  const name = nameOf(object)
  switch (resource.resource) {
    case 'namespaces':
      return initial.has(name)
    case 'configmaps':
      return publishedAuthorities.has(name)
    case 'secrets':
      return object['type'] === 'kubernetes.io/service-account-token'
    case 'customresourcedefinitions':
      return name === definitionName
    case 'clusterroles':
    case 'clusterrolebindings':
      return object.metadata.labels?.['kubernetes.io/bootstrapping'] !== undefined || /^(system|kubeadm):/.test(name)
    default:
      return false
  }
}

async function clear(client: Client, resource: GroupVersionResource, options: ListOptions = {}): Promise<void> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const { items } = await client.list(resource, options).catch((error: unknown) => {
      // Older releases do not serve all of them.
      if (isNotFound(error)) return { items: [] }
      throw error
    })
    const left = items.filter((object) => !isKept(resource, object))
    if (left.length === 0) return
    if (Date.now() > deadline) throw new Error(`${resource.resource} ${left.map(nameOf).join()} do not go`)
    await Promise.all(left.map((object) => remove(client, resource, object)))
    await setTimeout(50)
  }
}

async function remove(client: Client, resource: GroupVersionResource, { metadata }: KubeObject): Promise<void> {
  const ref = {
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    name: metadata.name ?? '',
  }
  try {
    // The controller that would let it go is gone.
    if ((metadata.finalizers ?? []).length > 0) await client.patch(resource, ref, { metadata: { finalizers: null } })
    if (metadata.deletionTimestamp === undefined) await client.delete(resource, ref)
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

/** What tests leave on what stays. */
async function restore(client: Client): Promise<void> {
  const { items } = await client.list(namespaces)
  for (const { metadata } of items) {
    const ours = (key: string): boolean => /borough\.dev\/|^policy\/|^authorization\.k8s\.io\//.test(key)
    const without = (values: Readonly<Record<string, string>> = {}): Record<string, null> =>
      Object.fromEntries(
        Object.keys(values)
          .filter((key) => ours(key))
          .map((key) => [key, null]),
      )
    const [labels, annotations] = [without(metadata.labels), without(metadata.annotations)]
    if (Object.keys({ ...labels, ...annotations }).length > 0)
      await client.patch(namespaces, { name: metadata.name ?? '' }, { metadata: { labels, annotations } })
  }
}

const nameOf = (object: KubeObject | undefined): string => object?.metadata.name ?? ''
