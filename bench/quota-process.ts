/**
 * Processor time of a durable create on SQLite, all threads, without a quota, under a ResourceQuota, and under a
 * ClusterResourceQuota over twenty namespaces: in turns, so that whatever else the machine does befalls all of them.
 *
 * `node bench/quota-process.ts [rounds] [creates a round]`
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type ClusterResourceQuota, clusterQuotaResource } from '../src/apis/clusterquotas/types.ts'
import { defaultConfig } from '../src/app/config.ts'
import { createControlPlane } from '../src/app/control-plane.ts'
import type { Client } from '../src/client/client.ts'

const [rounds = '9', creates = '2000'] = process.argv.slice(2)
const creators = 64
const spaces = 20
const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})
const plenty = { configmaps: '10000000' }

const dataDir = await mkdtemp(join(tmpdir(), 'borough-quota-process-'))
const plane = await createControlPlane({ ...defaultConfig, storage: { engine: 'sqlite' }, population: false, dataDir })
const clients: readonly Client[] = Array.from({ length: 8 }, (_, i) =>
  plane.client({ username: `user-${i}`, groups: ['system:masters', 'system:authenticated'] }),
)
const clientOf = (i: number): Client => clients[i % clients.length] as Client

const nameOf = (kind: string, i: number): string => `${kind}-${i % spaces}`

async function furnish(kind: string): Promise<void> {
  for (let i = 0; i < spaces; i++) {
    const name = nameOf(kind, i)
    await clientOf(i).create(core('namespaces'), { metadata: { name, labels: { kind } } })
    if (kind !== 'limited') continue
    await clientOf(i).create(core('resourcequotas'), {
      metadata: { name: 'q', namespace: name },
      spec: { hard: plenty },
    })
  }
  if (kind !== 'together' && kind !== 'per-creator') return
  const selector = { labels: { matchLabels: { kind } } }
  const spec = { selector, quota: { hard: plenty }, ...(kind === 'per-creator' ? { perCreator: true } : {}) }
  await clientOf(0).create(clusterQuotaResource, { metadata: { name: kind }, spec })
  const isCounted = async (): Promise<boolean> =>
    ((await clientOf(0).get(clusterQuotaResource, { name: kind })) as ClusterResourceQuota).status
      ?.observedGeneration === 1
  while (!(await isCounted())) await setImmediate()
}

let made = 0

async function round(kind: string): Promise<{ readonly cpuUs: number; readonly perSecond: number }> {
  const end = made + Number(creates)
  const began = performance.now()
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: creators }, async (_, creator) => {
      while (made < end) {
        const metadata = { name: `c-${made}`, namespace: nameOf(kind, made++) }
        await clientOf(creator).create(core('configmaps'), { metadata, data: { a: 'b' } })
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - began) / 1000
  return { cpuUs: (user + system) / Number(creates), perSecond: Number(creates) / seconds }
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number

const kinds = ['free', 'limited', 'together', 'per-creator']
for (const kind of kinds) await furnish(kind)
// Until the code that they run is compiled.
for (const kind of kinds) await round(kind)
const measured = new Map(kinds.map((kind) => [kind, [] as Awaited<ReturnType<typeof round>>[]]))
for (let i = 0; i < Number(rounds); i++) for (const kind of kinds) measured.get(kind)?.push(await round(kind))
for (const [kind, results] of measured) {
  const cpuUs = median(results.map((result) => result.cpuUs))
  const perSecond = median(results.map((result) => result.perSecond))
  console.log(`${kind}: ${cpuUs.toFixed(0)} us of processor time a create, ${perSecond.toFixed(0)} creates/s`)
}
await plane[Symbol.asyncDispose]()
await rm(dataDir, { recursive: true })
