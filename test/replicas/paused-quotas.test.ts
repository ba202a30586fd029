/**
 * Quota over several namespaces while a replica is slow: its transaction is stopped between what it was decided on and
 * its commit, and another replica does what it likes meanwhile.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { StorageChoice } from '../../src/storage/storage-choice.ts'
import { StoreHistory } from '../support/contested-cluster-quota.ts'
import { type PausedCommits, pausedCommits } from '../support/paused-commits.ts'
import { waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const secrets = { group: '', version: 'v1', resource: 'secrets' }
const resourceQuotas = { group: '', version: 'v1', resource: 'resourcequotas' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
/** Only says that others write to the store; what is opened is handed in. */
const shared: StorageChoice = { engine: 'etcd', endpoints: ['127.0.0.1:1'], prefix: '' }
const admin = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
const labels = { kind: 'team' }
const spec = { selector: { labels: { matchLabels: labels } }, quota: { hard: { configmaps: '9' } } }

describe('a replica that is stopped between decision and commit', () => {
  let store: MemoryStorage
  let lines: readonly [PausedCommits, PausedCommits]
  let planes: readonly ControlPlane[]
  let slow: Client
  let other: Client
  let history: StoreHistory

  beforeEach(async () => {
    store = new MemoryStorage()
    lines = [pausedCommits(store), pausedCommits(store)]
    const started: ControlPlane[] = []
    for (const { storage } of lines) {
      started.push(
        await createControlPlane({ ...defaultConfig, storage: shared }, { opened: Promise.resolve(storage) }),
      )
    }
    planes = started
    ;[slow, other] = planes.map((plane) => plane.client(admin)) as [Client, Client]
    history = await StoreHistory.from(store)
    await other.create(clusterQuotaResource, { metadata: { name: 'q' }, spec })
  })

  afterEach(async () => {
    for (const plane of planes) await plane[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })

  const used = async (): Promise<unknown> =>
    ((await other.get(clusterQuotaResource, { name: 'q' }))['status'] as { total: unknown } | undefined)?.total

  /** What the slow one was asked before is decided: it answers what it was asked afterwards. */
  const decided = async (): Promise<void> => {
    for (const name of ['first', 'second']) await slow.create(configMaps, { metadata: { name, namespace: 'default' } })
  }

  /** The slow one takes the only namespace off the counter, and stops; another namespace comes to it meanwhile. */
  async function leaveSlowly(): Promise<{ readonly leaving: Promise<unknown>; readonly go: () => void }> {
    await other.create(namespaces, { metadata: { name: 'b', labels } })
    await slow.get(namespaces, { name: 'b' })
    const paused = lines[0].pauseAt('/registry/namespaces/b')
    const leaving = slow.patch(namespaces, { name: 'b' }, { metadata: { labels: { kind: null } } })
    const go = await paused
    await other.create(namespaces, { metadata: { name: 'a', labels } })
    return { leaving, go }
  }

  it('makes a namespace anew that was there, and counted, when it decided', async () => {
    await other.create(namespaces, { metadata: { name: 'a', labels } })
    await slow.get(namespaces, { name: 'a' })
    const paused = lines[0].pauseAt('/registry/namespaces/a')
    const making = slow.create(namespaces, { metadata: { name: 'a', labels } })
    const go = await paused
    await other.delete(namespaces, { name: 'a' })
    await waitFor(other, namespaces, { name: 'a' }, (namespace) => namespace === undefined)
    go()
    await making
    await other.create(configMaps, { metadata: { name: 'c', namespace: 'a' } })
    expect(await used()).toMatchObject({ used: { configmaps: '2' } })
    await history.verify(await store.currentRevision())
  })

  it('charges a counter that its own queue is about to remove', async () => {
    const { leaving, go } = await leaveSlowly()
    const creating = slow.create(configMaps, { metadata: { name: 'c', namespace: 'a' } })
    await decided()
    go()
    await Promise.all([leaving, creating])
    expect(await used()).toMatchObject({ used: { configmaps: '2' } })
    await history.verify(await store.currentRevision())
  })

  it('leaves a counter that its own queue is about to remove', async () => {
    const { leaving, go } = await leaveSlowly()
    const alsoLeaving = slow.patch(namespaces, { name: 'a' }, { metadata: { labels: { kind: null } } })
    await decided()
    await other.create(namespaces, { metadata: { name: 'c', labels } })
    go()
    await Promise.all([leaving, alsoLeaving])
    expect(await used()).toMatchObject({ used: { configmaps: '1' } })
    await history.verify(await store.currentRevision())
  })

  it('charges a ResourceQuota that has come to limit what its own queue knows nothing of', async () => {
    const limits = { name: 'limits', namespace: 'a' }
    await other.create(namespaces, { metadata: { name: 'a' } })
    await other.create(resourceQuotas, { metadata: limits, spec: { hard: { configmaps: '9' } } })
    await slow.get(resourceQuotas, limits)
    const paused = lines[0].pauseAt('/registry/configmaps/a/c')
    const creating = slow.create(configMaps, { metadata: { name: 'c', namespace: 'a' } })
    const go = await paused
    await other.patch(resourceQuotas, limits, { spec: { hard: { secrets: '9' } } })
    const alsoCreating = slow.create(secrets, { metadata: { name: 's', namespace: 'a' } })
    await decided()
    go()
    await Promise.all([creating, alsoCreating])
    const { status } = (await other.get(resourceQuotas, limits)) as { status?: object }
    expect(status).toEqual({ hard: { configmaps: '9', secrets: '9' }, used: { configmaps: '2', secrets: '1' } })
  })
})
