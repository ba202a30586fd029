/**
 * Quota over several namespaces over crashes: a server is killed while many writers create and delete what is counted,
 * move namespaces in and out of the quotas, and edit the quotas. After each restart every figure equals a recount of
 * what is there. BOROUGH_CRASH_RUNS sets the number of kills.
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ClusterResourceQuota, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { waitFor } from '../support/wait-for.ts'

const kills = Number(process.env['BOROUGH_CRASH_RUNS'] ?? 2)
const writers = 16
const named = ['a', 'b', 'c']
const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})
const pick = <T>(choices: readonly T[]): T => choices[Math.floor(Math.random() * choices.length)] as T
const someName = (): string => `n-${Math.floor(Math.random() * 12)}`

const specOf = (kind: string, hard: Record<string, string>): ClusterResourceQuota['spec'] => ({
  selector: { labels: { matchLabels: { kind } } },
  quota: { hard },
})
const hards: readonly Record<string, string>[] = [
  { configmaps: '20', 'count/namespaces': '9' },
  { configmaps: '30', secrets: '12' },
  { secrets: '9' },
]

type Act = (client: Client, namespace: string) => Promise<unknown>

const acts: readonly Act[] = [
  (client, namespace) => client.create(core('configmaps'), { metadata: { name: someName(), namespace } }),
  (client, namespace) => client.create(core('configmaps'), { metadata: { name: someName(), namespace } }),
  (client, namespace) => client.create(core('secrets'), { metadata: { name: someName(), namespace } }),
  (client, namespace) => client.delete(core('configmaps'), { name: someName(), namespace }),
  (client, namespace) => client.delete(core('secrets'), { name: someName(), namespace }),
  (client, name) =>
    client.patch(core('namespaces'), { name }, { metadata: { labels: { kind: pick(['team', 'other', null]) } } }),
  async (client) => {
    const quota = await client.get(clusterQuotaResource, { name: pick(['team', 'other']) })
    return client.update(clusterQuotaResource, { ...quota, spec: specOf(quota.metadata.name ?? '', pick(hards)) })
  },
]

/** All work until the server is gone. Resolves when `enough` answers have come. */
function work(client: Client, enough: number): { readonly enough: Promise<void>; readonly ended: Promise<unknown> } {
  const reached = Promise.withResolvers<void>()
  let answers = 0
  const writer = async (): Promise<void> => {
    for (;;) {
      try {
        await pick(acts)(client, pick(named))
      } catch (error) {
        const { code } = findStatusError(error) ?? {}
        // No answer any more: it was killed.
        if (code === undefined) return
        // Refusals are part of the game; anything else is not.
        if (![403, 404, 409].includes(code)) throw error
      }
      if (++answers >= enough) reached.resolve()
    }
  }
  return { enough: reached.promise, ended: Promise.all(Array.from({ length: writers }, writer)) }
}

/** By hand, from what can be read: nothing of what the server counts with. */
async function verify(client: Client, told: string): Promise<void> {
  for (const name of ['team', 'other']) {
    const { spec, status } = (await waitFor(client, clusterQuotaResource, { name }, (found) => {
      const { metadata, status } = found as ClusterResourceQuota
      return status?.observedGeneration === metadata.generation
    })) as ClusterResourceQuota
    expect(status).toBeDefined()
    const { items } = await client.list(core('namespaces'), { labelSelector: `kind=${name}` })
    const count = async (resource: string): Promise<number> => {
      if (resource === 'count/namespaces') return items.length
      const lists = items.map(({ metadata }) => client.list(core(resource), { namespace: metadata.name ?? '' }))
      return (await Promise.all(lists)).reduce((sum, list) => sum + list.items.length, 0)
    }
    const want: Record<string, string> = {}
    for (const limited of Object.keys(spec?.quota?.hard ?? {})) want[limited] = String(await count(limited))
    const read = (await client.get(clusterQuotaResource, { name })) as ClusterResourceQuota
    expect({ name, used: read.status?.total?.used, namespaces: read.status?.namespaceCount }, told).toEqual({
      name,
      used: want,
      namespaces: items.length,
    })
  }
}

it(`a killed server finds every figure equal to a recount, ${kills} times in a row`, {
  timeout: 30_000 + kills * 20_000,
}, async () => {
  await using server = await BoroughProcess.start(['--no-population'])
  const kubeconfigPath = join(server.dataDir, 'admin.kubeconfig')
  const open = (): Client => openRemote({ kubeconfigPath, userAgent: 'crash-test' }).client
  let client = open()
  for (const name of named) await client.create(core('namespaces'), { metadata: { name, labels: { kind: 'team' } } })
  for (const name of ['team', 'other']) {
    const quota: KubeObject = { metadata: { name }, spec: specOf(name, hards[0] ?? {}) }
    await client.create(clusterQuotaResource, quota)
  }
  for (let kill = 0; kill < kills; kill++) {
    const answers = 100 + Math.floor(Math.random() * 500)
    const working = work(client, answers)
    await Promise.race([working.enough, working.ended])
    await server.end('SIGKILL')
    await working.ended
    await server.start()
    client = open()
    const told = `kill ${kill}, after ${answers} answers`
    await verify(client, told)
    // A namespace whose count died halfway is free again, and a relabelling goes on.
    await client.create(core('secrets'), { metadata: { generateName: 'after-', namespace: 'a' } }).catch(refusedOnly)
    await client.patch(core('namespaces'), { name: 'a' }, { metadata: { labels: { kind: null } } })
    await client.create(core('secrets'), { metadata: { generateName: 'after-', namespace: 'a' } })
    await verify(client, `${told}, and a change`)
  }
})

function refusedOnly(error: unknown): void {
  if (findStatusError(error)?.code !== 403) throw error
}
