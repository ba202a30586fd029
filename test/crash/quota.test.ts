/**
 * Exact quota over crashes: a server is killed while many writers create, change, move and remove what its quotas
 * count, and store and change the quotas themselves. After each restart the account of every quota equals a recount of
 * what is there, and goes on from there. BOROUGH_CRASH_RUNS sets the number of kills.
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { openRemote } from '../../src/client/remote.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { BoroughProcess } from '../interop/borough-process.ts'

const kills = Number(process.env['BOROUGH_CRASH_RUNS'] ?? 2)
const writers = 16
const namespace = 'contested'
const core = (resource: string): { group: string; version: string; resource: string } => ({
  group: '',
  version: 'v1',
  resource,
})

const pick = <T>(choices: readonly T[]): T => choices[Math.floor(Math.random() * choices.length)] as T
const hard = (): Record<string, string> => ({
  configmaps: pick(['12', '20', '40']),
  'count/pods': '40',
  pods: pick(['8', '20']),
  'requests.cpu': pick(['3', '9']),
  services: '9',
  'services.nodeports': pick(['6', '12']),
  resourcequotas: '10',
})

const podOf = (name: string): KubeObject => ({
  metadata: { name, namespace },
  spec: {
    containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: pick(['100m', '250m', '1']) } } }],
  },
})

function serviceOf(name: string): KubeObject {
  const ports = Array.from({ length: pick([1, 2, 3]) }, (_, i) => ({ name: `p${i}`, port: i + 1 }))
  return { metadata: { name, namespace }, spec: { type: pick(['ClusterIP', 'NodePort']), ports } }
}

type Act = (client: Client, name: string) => Promise<unknown>

const acts: readonly Act[] = [
  (client, name) => client.create(core('configmaps'), { metadata: { name, namespace } }),
  (client, name) => client.create(core('configmaps'), { metadata: { name, namespace } }),
  (client, name) => client.delete(core('configmaps'), { name, namespace }),
  (client) => client.deleteCollection(core('configmaps'), { namespace, labelSelector: 'kept!=yes' }),
  (client, name) => client.create(core('pods'), podOf(name)),
  (client, name) => client.create(core('pods'), podOf(name)),
  (client, name) => client.delete(core('pods'), { name, namespace }),
  (client, name) =>
    client.patch(
      core('pods'),
      { name, namespace },
      { status: { phase: pick(['Running', 'Succeeded', 'Failed']) } },
      { subresource: 'status' },
    ),
  (client, name) => client.create(core('services'), serviceOf(name)),
  (client, name) => client.patch(core('services'), { name, namespace }, { spec: serviceOf(name)['spec'] }),
  (client, name) => client.delete(core('services'), { name, namespace }),
  (client, name) =>
    client.create(core('resourcequotas'), { metadata: { name: `more-${name}`, namespace }, spec: { hard: hard() } }),
  (client) => client.patch(core('resourcequotas'), { name: 'always', namespace }, { spec: { hard: hard() } }),
  (client, name) => client.delete(core('resourcequotas'), { name: `more-${name}`, namespace }),
]

/** Everybody works until the server is gone. Resolves when `enough` answers have come. */
function work(client: Client, enough: number): { readonly enough: Promise<void>; readonly ended: Promise<unknown> } {
  let answers = 0
  let tell: () => void = () => {}
  const reached = new Promise<void>((resolve) => {
    tell = resolve
  })
  const writer = async (): Promise<void> => {
    for (;;) {
      try {
        await pick(acts)(client, `n-${Math.floor(Math.random() * 12)}`)
      } catch (error) {
        const { code } = findStatusError(error) ?? {}
        // No answer any more: it was killed.
        if (code === undefined) return
        // Refusals are part of the game; anything else is not.
        if (![403, 404, 409].includes(code)) throw error
      }
      if (++answers >= enough) tell()
    }
  }
  return { enough: reached, ended: Promise.all(Array.from({ length: writers }, writer)) }
}

interface Measured {
  status?: { phase?: string }
  spec?: { type?: string; ports?: unknown[]; containers?: { resources?: { requests?: { cpu?: string } } }[] }
}

const milli = (cpu: string): number => (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000)

/** By hand, from what can be read: nothing of what the server counts with. */
async function recount(client: Client): Promise<Record<string, number>> {
  const list = async (resource: string): Promise<Measured[]> =>
    (await client.list(core(resource), { namespace })).items as Measured[]
  const [configmaps, pods, services, quotas] = await Promise.all(
    ['configmaps', 'pods', 'services', 'resourcequotas'].map(list),
  )
  const live = (pods ?? []).filter((p) => !['Succeeded', 'Failed'].includes(p.status?.phase ?? ''))
  return {
    configmaps: configmaps?.length ?? 0,
    'count/pods': pods?.length ?? 0,
    pods: live.length,
    'requests.cpu': live.reduce((sum, p) => sum + milli(p.spec?.containers?.[0]?.resources?.requests?.cpu ?? '0'), 0),
    services: services?.length ?? 0,
    'services.nodeports': (services ?? [])
      .filter((s) => s.spec?.type === 'NodePort')
      .reduce((sum, s) => sum + (s.spec?.ports?.length ?? 0), 0),
    resourcequotas: quotas?.length ?? 0,
  }
}

async function verify(client: Client, told: string): Promise<void> {
  const want = await recount(client)
  const { items } = await client.list(core('resourcequotas'), { namespace })
  expect(items.length, told).toBeGreaterThan(0)
  for (const quota of items) {
    const { used = {} } = quota['status'] as { used?: Record<string, string> }
    const numbers = Object.entries(used).map(([name, text]) => [
      name,
      name === 'requests.cpu' ? milli(text) : Number(text),
    ])
    expect({ quota: quota.metadata.name, used: Object.fromEntries(numbers) as unknown }, told).toEqual({
      quota: quota.metadata.name,
      used: want,
    })
  }
}

it(`a killed server finds every quota equal to a recount, ${kills} times in a row`, {
  timeout: 30_000 + kills * 15_000,
}, async () => {
  await using server = await BoroughProcess.start(['--no-population'])
  const kubeconfigPath = join(server.dataDir, 'admin.kubeconfig')
  const open = (): Client => openRemote({ kubeconfigPath, userAgent: 'crash-test' }).client
  let client = open()
  await client.create(core('namespaces'), { metadata: { name: namespace } })
  await client.create(core('resourcequotas'), { metadata: { name: 'always', namespace }, spec: { hard: hard() } })
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
    // Nothing is held up by a recount that died halfway: who comes next goes on with it.
    await client.patch(core('resourcequotas'), { name: 'always', namespace }, { spec: { hard: hard() } })
    await client.deleteCollection(core('configmaps'), { namespace })
    await client.create(core('configmaps'), { metadata: { generateName: 'after-', namespace } })
    await verify(client, `${told}, and a change`)
  }
})
