/** Ends that came while no server ran, and clocks that were set meanwhile. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const hour = 3_600_000
/** The writer of the store takes the time of its commits from the machine. */
const start = Date.now()

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-expiry-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const open = (clock: FakeClock): Promise<ControlPlane> =>
  createControlPlane({ ...defaultConfig, dataDir, storage: { engine: 'sqlite' }, clock })
const left = async (plane: ControlPlane): Promise<number> =>
  (await plane.client().list(namespaces)).items.filter((o) => o.metadata.name?.startsWith('n-')).length

async function fill(clock: FakeClock, count: number): Promise<void> {
  await using plane = await open(clock)
  const client = plane.client()
  const annotations = { 'borough.dev/ttl': '1h' }
  await Promise.all(
    Array.from({ length: count }, (_, i) => client.create(namespaces, { metadata: { name: `n-${i}`, annotations } })),
  )
  // Half an hour before the end they are not warned of, in the last minutes they are.
  await clock.advance(hour - 60_000)
  await expect
    .poll(async () => JSON.stringify((await client.list(namespaces)).items).split('ExpiresSoon').length - 1, {
      timeout: 30_000,
    })
    .toBeGreaterThan(0)
}

test('those that expired while the server was down go after its start, a hundred a second', async () => {
  await fill(new FakeClock(start), 250)
  const clock = new FakeClock(start + 2 * hour)
  await using plane = await open(clock)
  await expect
    .poll(() =>
      plane
        .client()
        .create(configMaps, { metadata: { namespace: 'n-249', name: 'late' } })
        .then(
          () => 201,
          (e) => e.code,
        ),
    )
    .toBe(403)
  for (const [ms, count] of [
    [0, 150],
    [1000, 50],
    [1000, 0],
  ] as const) {
    await clock.advance(ms)
    await expect.poll(() => left(plane), { timeout: 30_000 }).toBe(count)
  }
})

test('a clock that was set back while the server was down suspends expiry until it has caught up', async () => {
  await fill(new FakeClock(start - hour - 120_000), 1)
  // The end of the namespace has come by this clock, not the time of the last commit.
  const behind = new FakeClock(start - 115_000)
  await using plane = await open(behind)
  await behind.advance(10_000)
  const found = await waitFor(plane.client(), namespaces, { name: 'n-0' }, (o) => JSON.stringify(o).includes('Clock'))
  expect(JSON.stringify(found?.['status'])).toContain(
    'nothing expires while the clock of the server is more than a minute behind a commit in the store',
  )
  expect(await left(plane)).toBe(1)
  const leftLater = async (): Promise<number> => {
    await behind.advance(1000)
    return left(plane)
  }
  await expect.poll(leftLater, { timeout: 60_000 }).toBe(0)
})

test('what is created by a clock that was set back ends no sooner than by the time of the store', async () => {
  await fill(new FakeClock(start), 1)
  await using plane = await open(new FakeClock(start - 180_000))
  const annotations = { 'borough.dev/ttl': '10s' }
  const { metadata } = await plane.client().create(namespaces, { metadata: { name: 'n-new', annotations } })
  expect(Date.parse(metadata.annotations?.['borough.dev/expires-at'] ?? '')).toBeGreaterThanOrEqual(
    Math.floor(start / 1000) * 1000 + 10_000,
  )
})
