/** Durable creates of ConfigMaps on SQLite, in this process: `node bench/create-process.ts [creates] [clients]`. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultConfig } from '../src/app/config.ts'
import { createControlPlane } from '../src/app/control-plane.ts'

const [creates = '2000', clients = '32'] = process.argv.slice(2)
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const text = 'x'.repeat(500)
const dataDir = await mkdtemp(join(tmpdir(), 'borough-creates-'))
try {
  await using plane = await createControlPlane({ ...defaultConfig, dataDir, storage: { engine: 'sqlite' } })
  const client = plane.client()
  let next = 0
  const create = async (through: number): Promise<void> => {
    while (next < through) {
      const metadata = { name: `c${next++}`, namespace: 'default' }
      await client.create(configMaps, { metadata, data: { text } })
    }
  }
  const createAll = (through: number): Promise<unknown> =>
    Promise.all(Array.from({ length: Number(clients) }, () => create(through)))
  // Until the code that they run is compiled.
  const warm = Math.ceil(Number(creates) / 2)
  await createAll(warm)
  const began = performance.now()
  const before = process.cpuUsage()
  await createAll(warm + Number(creates))
  const { user, system } = process.cpuUsage(before)
  const wallMs = (performance.now() - began) / Number(creates)
  process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 / Number(creates), wallMs }))
} finally {
  await rm(dataDir, { recursive: true })
}
