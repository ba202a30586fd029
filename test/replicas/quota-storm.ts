/**
 * Clients that do to quotas over several namespaces what they can: content comes and goes, namespaces move from one
 * quota to another, are deleted and made anew, born with a template's objects; quotas change what they select, count
 * and limit, on whose account, and are made again under their names. Each asks whichever replica, and gives up on one
 * that is silent: what it asked for may happen all the same.
 */
import { clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { pause } from './faults.ts'

type Random = () => number

const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})
const [namespaces, configMaps, secrets, pods, resourceQuotas] = [
  core('namespaces'),
  core('configmaps'),
  core('secrets'),
  core('pods'),
  core('resourcequotas'),
]
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }

const namespacesThere = 8
const quotasThere = 4
const namesThere = 12
export const users: readonly string[] = ['ann', 'bob', 'cid']
const kinds = ['team', 'team', 'other', 'both', null] as const
/** A client that hears nothing for so long gives up. */
const patienceMs = 4_000
const lostMs = 50

/** What it may be answered: refused, lost a race, not now, not in time. Anything else is a fault. */
const expected = new Set([403, 404, 409, 422, 429, 503, 504])

export interface StormTotals {
  readonly answers: Map<string, number>
  readonly faults: string[]
}

export interface StormOptions {
  /** As the user, at whichever replica is named by the number. */
  readonly client: (replica: number, user: string) => Client
  readonly random: Random
  readonly totals: StormTotals
}

/** `creator`: of the template; it goes once before anything else. */
export async function createTemplate(client: Client): Promise<void> {
  await client.create(templates, {
    metadata: { name: 'born-with' },
    spec: {
      namespaces: { labelSelector: { matchLabels: { kind: 'team' } } },
      templates: templateObjects(2),
    },
  })
}

/** One after the other until the signal aborts. */
export async function storm({ client, random, totals }: StormOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const act = chosen(random)
    const at = client(whole(random, 3), one(random, users))
    const patience = AbortSignal.timeout(patienceMs)
    let said = 'done'
    try {
      await acts[act](at, random, AbortSignal.any([signal, patience]))
    } catch (error) {
      const code = findStatusError(error)?.code
      said = String(code ?? 'lost')
      if (code !== undefined && !expected.has(code)) totals.faults.push(`${act} was answered ${code}: ${String(error)}`)
    }
    // At one that is down every request is lost at once.
    if (said === 'lost') await pause(lostMs)
    const counted = `${act} ${said}`
    totals.answers.set(counted, (totals.answers.get(counted) ?? 0) + 1)
  }
}

type Act = (client: Client, random: Random, signal: AbortSignal) => Promise<unknown>

const somewhere = (random: Random): string => `ns-${whole(random, namespacesThere)}`
const content = (random: Random, prefix: string): { name: string; namespace: string } => ({
  name: `${prefix}-${whole(random, namesThere)}`,
  namespace: somewhere(random),
})
const quotaName = (random: Random): string => `q-${whole(random, quotasThere)}`

const acts = {
  create: (client, random, signal) => {
    const metadata = content(random, 'c')
    return random() < 0.3
      ? client.create(configMaps, { metadata: { namespace: metadata.namespace, generateName: 'g-' } }, { signal })
      : client.create(configMaps, { metadata }, { signal })
  },
  apply: (client, random, signal) => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: content(random, 'c'),
      data: { turn: String(whole(random, 100)) },
    }
    return client.apply(configMaps, object, { fieldManager: 'storm', force: true, signal })
  },
  delete: (client, random, signal) => client.delete(configMaps, content(random, 'c'), { signal }),
  deleteAll: (client, random, signal) => {
    const fieldSelector = 'metadata.name!=kube-root-ca.crt'
    return client.deleteCollection(configMaps, { namespace: somewhere(random), fieldSelector, signal }, { signal })
  },
  held: (client, random, signal) => {
    const metadata = { ...content(random, 'h'), finalizers: ['storm.test/held'] }
    return client.create(secrets, { metadata }, { signal })
  },
  release: async (client, random, signal) => {
    const ref = content(random, 'h')
    await client.delete(secrets, ref, { signal })
    if (random() < 0.8) await client.patch(secrets, ref, { metadata: { finalizers: null } }, { signal })
  },
  pod: (client, random, signal) => {
    const resources = { requests: { cpu: String(1 + whole(random, 2)) } }
    const ends = random() < 0.4 ? { activeDeadlineSeconds: 3600 } : {}
    const spec = { ...ends, containers: [{ name: 'c', image: 'c', resources }] }
    return client.create(pods, { metadata: content(random, 'p'), spec }, { signal })
  },
  phase: (client, random, signal) => {
    const phase = random() < 0.6 ? 'Succeeded' : 'Running'
    return client.patch(pods, content(random, 'p'), { status: { phase } }, { subresource: 'status', signal })
  },
  podGone: (client, random, signal) => client.delete(pods, content(random, 'p'), { gracePeriodSeconds: 0, signal }),
  limit: (client, random, signal) => {
    const metadata = content(random, 'limit')
    const ref = { ...metadata, name: `limit-${whole(random, 2)}` }
    const hard = { configmaps: String(4 + whole(random, 12)), pods: String(2 + whole(random, 5)) }
    if (random() < 0.4) return client.delete(resourceQuotas, ref, { signal })
    if (random() < 0.3) return client.patch(resourceQuotas, ref, { spec: { hard } }, { signal })
    return client.create(resourceQuotas, { metadata: ref, spec: { hard } }, { signal })
  },
  namespace: (client, random, signal) => {
    const kind = one(random, kinds)
    const labels = kind === null ? {} : { kind }
    const annotations: Record<string, string> = random() < 0.3 ? { tier: 'gold' } : {}
    if (random() < 0.3) annotations['borough.dev/owner'] = one(random, users)
    return client.create(namespaces, { metadata: { name: somewhere(random), labels, annotations } }, { signal })
  },
  namespaceGone: (client, random, signal) => client.delete(namespaces, { name: somewhere(random) }, { signal }),
  /** Out of one quota and into another in one update, often. */
  move: (client, random, signal) => {
    const labels = { kind: one(random, kinds) }
    const annotations = random() < 0.3 ? { annotations: { tier: random() < 0.5 ? 'gold' : null } } : {}
    return client.patch(namespaces, { name: somewhere(random) }, { metadata: { labels, ...annotations } }, { signal })
  },
  tryMove: (client, random, signal) => {
    const metadata = { labels: { kind: one(random, kinds) } }
    return client.patch(namespaces, { name: somewhere(random) }, { metadata }, { dryRun: true, signal })
  },
  tryCreate: (client, random, signal) =>
    client.create(configMaps, { metadata: content(random, 'c') }, { dryRun: true, signal }),
  quota: (client, random, signal) =>
    client.create(
      clusterQuotaResource,
      { metadata: { name: quotaName(random) }, spec: randomSpec(random) },
      { signal },
    ),
  quotaGone: (client, random, signal) => client.delete(clusterQuotaResource, { name: quotaName(random) }, { signal }),
  quotaAnew: async (client, random, signal) => {
    const name = quotaName(random)
    await client.delete(clusterQuotaResource, { name }, { signal })
    await client.create(clusterQuotaResource, { metadata: { name }, spec: randomSpec(random) }, { signal })
  },
  edit: async (client, random, signal) => {
    const object: KubeObject = await client.get(clusterQuotaResource, { name: quotaName(random) }, { signal })
    await client.update(clusterQuotaResource, { ...object, spec: randomSpec(random) }, { signal })
  },
  lower: (client, random, signal) => {
    const patch = { spec: { quota: { hard: { configmaps: String(6 + whole(random, 40)) } } } }
    return client.patch(clusterQuotaResource, { name: quotaName(random) }, patch, { signal })
  },
  look: (client, random, signal) => client.get(clusterQuotaResource, { name: quotaName(random) }, { signal }),
  template: (client, random, signal) => {
    const spec = { templates: templateObjects(1 + whole(random, 3)) }
    return client.patch(templates, { name: 'born-with' }, { spec }, { signal })
  },
} satisfies Record<string, Act>

/** How often, of all together. */
const weights: Record<keyof typeof acts, number> = {
  create: 22,
  apply: 4,
  delete: 12,
  deleteAll: 1,
  held: 3,
  release: 3,
  pod: 7,
  phase: 4,
  podGone: 4,
  limit: 4,
  namespace: 8,
  namespaceGone: 1,
  move: 9,
  tryMove: 1,
  tryCreate: 1,
  quota: 3,
  quotaGone: 1,
  quotaAnew: 1,
  edit: 3,
  lower: 3,
  look: 2,
  template: 0.5,
}

function chosen(random: Random): keyof typeof acts {
  const all = Object.entries(weights) as [keyof typeof acts, number][]
  let at = random() * all.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [act, weight] of all) if ((at -= weight) < 0) return act
  return 'create'
}

function randomSpec(random: Random): Record<string, unknown> {
  const selector = one(random, [
    { labels: { matchLabels: { kind: 'team' } } },
    { labels: { matchLabels: { kind: 'other' } } },
    { labels: { matchExpressions: [{ key: 'kind', operator: 'In', values: ['team', 'both'] }] } },
    { labels: { matchExpressions: [{ key: 'kind', operator: 'In', values: ['other', 'both'] }] } },
    { labels: { matchExpressions: [{ key: 'kind', operator: 'Exists' }] } },
    { annotations: { tier: 'gold' } },
  ])
  const per = one(random, [{}, {}, { perCreator: true }, { perOwner: true }])
  const within = (least: number, more: number): string => String(least + whole(random, more))
  if (random() < 0.12) {
    const hard = { pods: within(4, 12), 'requests.cpu': within(6, 20) }
    return { selector, ...per, quota: { hard, scopes: ['Terminating'] } }
  }
  const limits: Record<string, string> = {
    configmaps: within(20, 60),
    secrets: within(5, 30),
    'count/pods': within(5, 30),
    pods: within(5, 20),
    'requests.cpu': within(6, 30),
    'count/namespaces': within(3, 6),
    resourcequotas: within(3, 10),
  }
  const hard = Object.fromEntries(Object.entries(limits).filter(() => random() < 0.5))
  return { selector, ...per, quota: { hard: { configmaps: within(20, 60), ...hard } } }
}

function templateObjects(count: number): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'about' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token' } },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'more' } },
  ].slice(0, count)
}

const whole = (random: Random, below: number): number => Math.floor(random() * below)

function one<T>(random: Random, of: readonly T[]): T {
  return of[whole(random, of.length)] as T
}
