/**
 * Ends of namespaces on a replica whose clock differs from that of the leader: it deletes and refuses nothing, also
 * when it comes to lead, and what it counts from a creation of its own ends no earlier than by the clock of the leader.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { formatMicroTime } from '../../src/kube/time.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { StorageChoice } from '../../src/storage/storage-choice.ts'
import { lineTo } from '../population/enforcement/killable-storage.ts'
import { waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { ...namespaces, resource: 'configmaps' }
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const lease = { namespace: 'kube-system', name: 'borough-controllers' }
/** Only says that others write to the store; what is opened is handed in. */
const shared: StorageChoice = { engine: 'etcd', endpoints: ['127.0.0.1:1'], prefix: '' }
const second = 1000
const minute = 60 * second
const leaseTiming = { leaseDurationMs: 600, renewDeadlineMs: 400, retryPeriodMs: 100 }
const start = Date.parse('2026-01-01T00:00:00Z')
const at = 'borough.dev/expires-at'
const ttl = 'borough.dev/ttl'
const ahead = 'nothing expires while the clock of the server is more than a minute ahead of that of another replica'

let store: MemoryStorage
let planes: ControlPlane[]
let client: Client

/** From now on `client` asks this one. `differsMs`: its clock, against the leader's. */
async function begin(differsMs: number, leads = false): Promise<void> {
  const beganMs = systemClock.monotonic()
  const clock: Clock = {
    now: () => start + differsMs + systemClock.monotonic() - beganMs,
    monotonic: () => systemClock.monotonic(),
    after: (ms, run) => systemClock.after(ms, run),
  }
  const config = {
    ...defaultConfig,
    storage: shared,
    clock,
    leaseTiming,
    ...(leads ? {} : { controllers: () => false }),
  }
  const plane = await createControlPlane(config, { opened: Promise.resolve(lineTo(store).storage) })
  planes.push(plane)
  client = plane.client()
}

/** Another replica, which leads. */
const specAt = (afterMs: number): object => ({
  holderIdentity: 'other',
  leaseDurationSeconds: 1,
  renewTime: formatMicroTime(start + afterMs),
})
const renew = (afterMs: number): Promise<unknown> => client.patch(leases, lease, { spec: specAt(afterMs) })
const make = async (name: string, annotations: Record<string, string>): Promise<unknown> =>
  (await client.create(namespaces, { metadata: { name, annotations } })).metadata.annotations?.[at]
const put = async (namespace: string): Promise<number> => {
  try {
    await client.create(configMaps, { metadata: { generateName: 'c-', namespace } })
    return 201
  } catch (error) {
    return findStatusError(error)?.code ?? 0
  }
}

beforeEach(async () => {
  store = new MemoryStorage()
  planes = []
  await begin(0)
  await client.create(leases, { metadata: lease, spec: specAt(0) })
  await make('team', { [at]: '2026-01-01T00:03:00Z' })
})
afterEach(async () => {
  for (const plane of planes) await plane[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

test('a clock that is ahead refuses nothing once a renewal has shown it', async () => {
  await begin(5 * minute)
  expect(await put('team')).toBe(403)
  await renew(2 * second)
  expect(await put('team')).toBe(201)
})

test('a minute is no difference', async () => {
  await begin(4 * minute)
  await renew(3 * minute + 30 * second)
  expect(await put('team')).toBe(403)
})

test('a lease from before the start, and one that was given back, say nothing of the time', async () => {
  await begin(5 * minute)
  await client.patch(leases, lease, { spec: { ...specAt(second), holderIdentity: null } })
  expect(await put('team')).toBe(403)
})

test('it ends nothing when it is elected, and its own renewals do not clear it', async () => {
  await begin(5 * minute, true)
  await renew(2 * second)
  const found = await waitFor(client, leases, lease, (held) => !JSON.stringify(held).includes('"other"'))
  expect(found).toBeDefined()
  const team = await waitFor(client, namespaces, { name: 'team' }, (o) => JSON.stringify(o).includes('ClockNotTrusted'))
  expect(JSON.stringify(team?.['status'])).toContain(`It would have expired at 2026-01-01T00:03:00Z`)
  expect(JSON.stringify(team?.['status'])).toContain(ahead)
  expect(team?.metadata.deletionTimestamp).toBeUndefined()
  expect(await put('team')).toBe(201)
})

test('what a clock behind creates lives as long as it says by the clock of the leader', async () => {
  await begin(-30 * minute)
  await renew(2 * second)
  expect(await make('short', { [ttl]: '10m' })).toBe('2026-01-01T00:10:02Z')
  const patched = await client.patch(namespaces, { name: 'short' }, { metadata: { labels: { a: 'b' } } })
  expect(patched.metadata.annotations?.[at]).toBe('2026-01-01T00:10:02Z')
  const past = make('past', { [at]: '2025-12-31T23:50:00Z' })
  await expect(past).rejects.toThrow('must be in the future: it is 2026-01-01T00:00:02Z')
})
