import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSpecimens, type Specimen, tryDamage } from './random-damage.ts'

/** Few here; `node test/crash/random-damage.ts` tries 1000. The last ones have found something once. */
const seeds = [...Array.from({ length: 25 }, (_, i) => i + 1), 50, 1440, 1479, 1752, 3101]

let root: string
let specimens: readonly Specimen[]
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-random-damage-'))
  specimens = await makeSpecimens(root)
})
afterAll(() => rm(root, { recursive: true, force: true }))

it.each(seeds)('bytes changed by seed %i are harmless or named, and no acknowledged write is missing', async (seed) => {
  expect(['refused', 'named', 'sound']).toContain(await tryDamage(specimens, root, seed))
})
