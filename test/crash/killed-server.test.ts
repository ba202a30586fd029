import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { KilledServer } from './killed-server.ts'

/** `node test/crash/killed-server.ts <folder>` tries 1000. */
const kills = 4

const folders: string[] = []
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

it(`a server that is killed under load ${kills} times keeps what clients were promised and invents nothing`, {
  timeout: 60_000 + kills * 20_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'borough-killed-server-'))
  folders.push(folder)
  const server = new KilledServer(join(folder, 'data'), 1)
  for (let i = 0; i < kills; i++) await server.live()
  await server.finish()
  expect(server.tally).toMatchObject({ kills, problems: [] })
  expect(server.tally.acknowledged).toBeGreaterThan(kills)
})
