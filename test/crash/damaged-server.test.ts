import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encryptionIn, makeServerSpecimens, type ServerSpecimen, tryServer } from './damaged-server.ts'

/** Few here; `node test/crash/damaged-server.ts <folder>` tries 1000. */
const seeds = Array.from({ length: 12 }, (_, i) => i + 1)

let root: string
let specimens: readonly ServerSpecimen[]
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-damaged-server-'))
  specimens = await makeServerSpecimens(root)
}, 60_000)
afterAll(() => rm(root, { recursive: true, force: true }))

it.each(seeds)(
  'a server on a store with bytes changed by seed %i serves what was written, or names the damage',
  {
    timeout: 60_000,
  },
  async (seed) => {
    expect(['refused', 'named', 'sound']).toContain(await tryServer(specimens, root, seed))
  },
)

it('a server on a store of encrypted values that was damaged serves what was written, or names the damage', {
  timeout: 180_000,
}, async () => {
  const folder = join(root, 'encrypted')
  await mkdir(folder)
  const encrypted = await makeServerSpecimens(folder, await encryptionIn(folder))
  for (const seed of seeds.slice(0, 6))
    expect(['refused', 'named', 'sound']).toContain(await tryServer(encrypted, folder, seed))
})
