/**
 * Creates per second by 64 clients in one namespace, in-process, without and with a quota that counts them, and that
 * the quota is right at the end. `node bench/quota.ts [memory|sqlite] [seconds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
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

await measure('free', undefined)
await measure('limited', { configmaps: '10000000', 'count/secrets': '5' })
await plane[Symbol.asyncDispose]()
await rm(dataDir, { recursive: true })
