/**
 * Many who create, delete and change what is limited, on one replica or several: at every revision what each quota says
 * is used must be what is there.
 */
import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from './wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const secrets = { group: '', version: 'v1', resource: 'secrets' }
const quotas = { group: '', version: 'v1', resource: 'resourcequotas' }

export interface QuotaStep {
  readonly actor: number
  readonly act: 'create' | 'delete' | 'secret' | 'quota' | 'unquota' | 'raise'
  readonly name: number
}

const actors = 8

export const quotaSteps: fc.Arbitrary<QuotaStep[]> = fc.array(
  fc.record({
    actor: fc.nat(actors - 1),
    act: fc.constantFrom('create', 'delete', 'secret', 'quota', 'unquota', 'raise'),
    name: fc.nat(5),
  }),
  { minLength: 20, maxLength: 60 },
)

/** The actors are spread over the replicas; each takes its steps one after the other. */
export async function contestQuota(
  planes: readonly TestControlPlane[],
  namespace: string,
  steps: readonly QuotaStep[],
): Promise<void> {
  const [first, last] = [planes[0], planes.at(-1)]
  if (!first || !last) throw new Error('no replicas')
  const { metadata } = await first.client.create(namespaces, { metadata: { name: namespace } })
  await Promise.all(
    Array.from({ length: actors }, async (_, actor) => {
      const { client } = planes[actor % planes.length] ?? first
      for (const step of steps.filter((s) => s.actor === actor)) await attempt(() => act(client, namespace, step))
    }),
  )
  await verifyHistory(new Wire(last), namespace, metadata.resourceVersion ?? '')
}

async function act(client: Client, namespace: string, { act: what, name }: QuotaStep): Promise<unknown> {
  const metadata = { name: `n-${name}`, namespace }
  const quota = { name: `q-${name % 2}`, namespace }
  switch (what) {
    case 'create':
      return client.create(configMaps, { metadata })
    case 'secret':
      return client.create(secrets, { metadata: { generateName: 's-', namespace } })
    case 'delete':
      return client.delete(configMaps, metadata)
    case 'quota':
      return client.create(quotas, { metadata: quota, spec: { hard: { configmaps: '4', secrets: '6' } } })
    case 'unquota':
      return client.delete(quotas, quota)
    case 'raise':
      return client.patch(quotas, quota, { spec: { hard: { configmaps: String(3 + name), secrets: '8' } } })
  }
}

/** Refusals are part of the game; anything else is not. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (![403, 404, 409].includes(findStatusError(error)?.code ?? 0)) throw error
  }
}

/** Follows everything that happened, commit by commit. */
async function verifyHistory(its: Wire, namespace: string, from: string): Promise<void> {
  const events: SeenChange[] = []
  // So that nothing refuses the markers.
  await its.must('DELETE', `/api/v1/namespaces/${namespace}/resourcequotas`)
  for (const resource of ['configmaps', 'secrets', 'resourcequotas']) {
    const marker = `end-${resource}`
    const path = `/api/v1/namespaces/${namespace}/${resource}`
    const seen = await its.events(
      `${path}?watch=1&resourceVersion=${from}`,
      (all) => all.at(-1)?.object.metadata.name === marker,
      () => void its.call('POST', path, { metadata: { name: marker }, spec: { hard: { pods: '1' } } }),
    )
    for (const { type, object } of seen) {
      if (object.metadata.name === marker) continue
      events.push({ type, object, resource, revision: Number(object.metadata.resourceVersion) })
    }
  }
  verifyAccounts(events)
}

export interface SeenChange {
  readonly type: string
  readonly object: KubeObject
  /** configmaps, secrets or resourcequotas */
  readonly resource: string
  readonly revision: number
}

/** After each commit, what every quota says is used is what is there. */
export function verifyAccounts(events: SeenChange[]): void {
  const counts: Record<string, Set<string>> = { configmaps: new Set(), secrets: new Set() }
  const accounts = new Map<string, KubeObject>()
  events.sort((a, b) => a.revision - b.revision)
  for (const [commit, changes] of Map.groupBy(events, (e) => Math.floor(e.revision / 1024))) {
    for (const { type, object, resource } of changes) {
      const name = object.metadata.name ?? ''
      if (resource === 'resourcequotas') {
        if (type === 'DELETED') accounts.delete(name)
        else accounts.set(name, object)
      } else if (type === 'DELETED') counts[resource]?.delete(name)
      else counts[resource]?.add(name)
    }
    for (const [name, account] of accounts) {
      const status = account['status'] as { used: Record<string, string> }
      const want = { configmaps: String(counts['configmaps']?.size), secrets: String(counts['secrets']?.size) }
      expect({ commit, name, used: status.used }).toEqual({ commit, name, used: want })
    }
  }
}
