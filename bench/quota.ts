/**
 * Creates per second by 64 clients in one namespace, in-process, without and with a quota that counts them, and that
 * the quota is right at the end; then in twenty namespaces under one ClusterResourceQuota.
 *
 * `node bench/quota.ts [memory|sqlite] [seconds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type ClusterResourceQuota, clusterQuotaResource } from '../src/apis/clusterquotas/types.ts'
import { defaultConfig } from '../src/app/config.ts'
import { createControlPlane } from '../src/app/control-plane.ts'

const [engine = 'sqlite', seconds = '3'] = process.argv.slice(2)
const creators = 64
const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})

const dataDir = await mkdtemp(join(tmpdir(), 'borough-quota-'))
const storage = engine === 'memory' ? ({ engine: 'memory' } as const) : ({ engine: 'sqlite' } as const)
const plane = await createControlPlane({
  ...defaultConfig,
  storage,
  population: false,
  ...(engine === 'memory' ? {} : { dataDir }),
})
const client = plane.client()

async function measure(namespace: string, hard: Record<string, string> | undefined): Promise<void> {
  await client.create(core('namespaces'), { metadata: { name: namespace } })
  if (hard) await client.create(core('resourcequotas'), { metadata: { name: 'q', namespace }, spec: { hard } })
  const end = performance.now() + Number(seconds) * 1000
  let made = 0
  await Promise.all(
    Array.from({ length: creators }, async (_, creator) => {
      for (let i = 0; performance.now() < end; i++) {
        await client.create(core('configmaps'), {
          metadata: { name: `c-${creator}-${i}`, namespace },
          data: { a: 'b' },
        })
        made++
        if (engine === 'memory') await setImmediate()
      }
    }),
  )
  console.log(`${engine} ${namespace}: ${Math.round(made / Number(seconds))} creates/s`)
  if (!hard) return
  const { status } = await client.get(core('resourcequotas'), { namespace, name: 'q' })
  const { used } = status as { used: Record<string, string> }
  const { length } = (await client.list(core('configmaps'), { namespace })).items
  console.log(
    `  used ${used['configmaps']}, stored ${length}: ${used['configmaps'] === String(length) ? 'right' : 'WRONG'}`,
  )
}

/** In many namespaces at once, and a quota over all of them. */
async function measureSeveral(perCreator: boolean): Promise<void> {
  const kind = perCreator ? 'per-creator' : 'together'
  const clients = Array.from({ length: 8 }, (_, i) =>
    plane.client({ username: `user-${i}`, groups: ['system:masters', 'system:authenticated'] }),
  )
  const clientOf = (i: number): typeof client => clients[i % clients.length] ?? client
  const named = Array.from({ length: 20 }, (_, i) => `${kind}-${i}`)
  await Promise.all(
    named.map((name, i) => clientOf(i).create(core('namespaces'), { metadata: { name, labels: { kind } } })),
  )
  await client.create(clusterQuotaResource, {
    metadata: { name: kind },
    spec: {
      selector: { labels: { matchLabels: { kind } } },
      quota: { hard: { configmaps: '10000000', 'count/namespaces': '20' } },
      ...(perCreator ? { perCreator } : {}),
    },
  })
  const began = performance.now()
  const status = async (): Promise<ClusterResourceQuota['status']> =>
    ((await client.get(clusterQuotaResource, { name: kind })) as ClusterResourceQuota).status
  while ((await status())?.observedGeneration !== 1) await setImmediate()
  const countedMs = performance.now() - began
  const end = performance.now() + Number(seconds) * 1000
  let made = 0
  await Promise.all(
    Array.from({ length: creators }, async (_, creator) => {
      for (let i = 0; performance.now() < end; i++) {
        await clientOf(creator).create(core('configmaps'), {
          metadata: { name: `c-${creator}-${i}`, namespace: named[i % named.length] ?? '' },
          data: { a: 'b' },
        })
        made++
        if (engine === 'memory') await setImmediate()
      }
    }),
  )
  console.log(`${engine} 20 namespaces, ${kind}: ${Math.round(made / Number(seconds))} creates/s`)
  const counted = (await status())?.total?.used['configmaps']
  const stored = made + named.length
  console.log(
    `  used ${counted}, stored ${stored}: ${counted === String(stored) ? 'right' : 'WRONG'}; ` +
      `counted in ${countedMs.toFixed(1)} ms`,
  )
}

await measure('free', undefined)
await measure('limited', { configmaps: '10000000', 'count/secrets': '5' })
await measureSeveral(false)
await measureSeveral(true)
await plane[Symbol.asyncDispose]()
await rm(dataDir, { recursive: true })
