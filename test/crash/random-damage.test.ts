import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSpecimens, type Specimen, tryDamage } from './random-damage.ts'
import { makeBackups, tryBackups } from './tampered-backups.ts'
import { openEncrypted, tamperingWith } from './tampering.ts'

/** Few here; `node test/crash/random-damage.ts <folder>` tries 1000. The last ones have found something once. */
const seeds = [...Array.from({ length: 25 }, (_, i) => i + 1), 50, 1440, 1479, 1752, 3101, 700_861]

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

const others = Array.from({ length: 8 }, (_, i) => i + 1)

it.each(others)('two places, pages and ends of files, damaged by seed %i, are harmless or named', async (seed) => {
  const tamper = tamperingWith(specimens.map(({ directory }) => directory))
  expect(['refused', 'named', 'sound']).toContain(await tryDamage(specimens, root, seed, tamper))
})

it('the same damage to a store whose values are encrypted is harmless or named', async () => {
  const folder = join(root, 'encrypted')
  await mkdir(folder)
  const encrypted = await makeSpecimens(folder, await openEncrypted(folder))
  const tamper = tamperingWith(encrypted.map(({ directory }) => directory))
  for (const seed of others) {
    expect(['refused', 'named', 'sound']).toContain(await tryDamage(encrypted, folder, seed, tamper))
  }
})

it('of backups that were damaged nothing is restored but what was backed up', async () => {
  const folder = join(root, 'backups')
  await mkdir(folder)
  const backups = await makeBackups(folder)
  for (const seed of others) expect(['refused', 'sound']).toContain(await tryBackups(backups, folder, seed))
})
