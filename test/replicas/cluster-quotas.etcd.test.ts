/** Quota over several namespaces on three replicas of one etcd: exact at every revision, whichever of them writes. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClusterResourceQuota, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { StorageChoice } from '../../src/storage/storage-choice.ts'
import { clusterQuotaSteps, contestClusterQuotas, contestMoves } from '../support/contested-cluster-quota.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { MortalReplicas } from './mortal-replicas.ts'

/** The nightly run takes longer. */
const long = process.env['BOROUGH_LONG'] !== undefined
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

class Replicas implements AsyncDisposable {
  readonly planes: readonly ControlPlane[]

  constructor(planes: readonly ControlPlane[]) {
    this.planes = planes
  }

  client(i: number, username = 'kubernetes-admin'): Client {
    const plane = this.planes[i % this.planes.length]
    if (plane === undefined) throw new Error('no replicas')
    return plane.client({ username, groups: ['system:masters', 'system:authenticated'] })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const plane of this.planes) await plane[Symbol.asyncDispose]()
  }
}

describe.skipIf(etcdVersion === undefined)(`three replicas${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let count = 0

  beforeAll(async () => {
    etcd = await EtcdServer.start()
  }, 120_000)
  afterAll(() => etcd?.[Symbol.asyncDispose](), 120_000)

  const choice = (): StorageChoice => ({
    engine: 'etcd',
    endpoints: [new URL(etcd.endpoint).host],
    prefix: `/run-${++count}`,
  })

  /** On a store of their own. */
  async function replicas(): Promise<Replicas> {
    const storage = choice()
    return new Replicas(await Promise.all([0, 1, 2].map(() => createControlPlane({ ...defaultConfig, storage }))))
  }

  it('keep every account equal to a recount at every revision', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(clusterQuotaSteps, async (steps) => {
        await using own = await replicas()
        const clients = Array.from({ length: 8 }, (_, i) => own.client(i, `user-${i % 4}`))
        const [{ core } = { core: undefined }] = own.planes
        if (core === undefined) throw new Error('no replicas')
        await contestClusterQuotas(clients, core.storage, steps)
      }),
      { numRuns: long ? 60 : 4, endOnFailure: true },
    )
  })

  it('keep every account equal to a recount while one after the other is killed', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(clusterQuotaSteps, async (steps) => {
        const storage = choice()
        const open = (): Promise<Storage> => openStorage({ storage, clock: systemClock, log: silentLog })
        await using observer = await open()
        await using own = await MortalReplicas.start(storage, open, 3)
        const clients = Array.from({ length: 8 }, (_, i) => own.client(i, `user-${i % 4}`))
        const killing = async (): Promise<void> => {
          for (let i = 0; i < 6; i++) await own.kill(i, i)
        }
        await Promise.all([contestClusterQuotas(clients, observer, steps, true), killing()])
      }),
      { numRuns: long ? 30 : 2, endOnFailure: true },
    )
  })

  it('let nothing by while namespaces move and quotas come and go', { timeout: 600_000 }, async () => {
    await using own = await replicas()
    const clients = Array.from({ length: 6 }, (_, i) => own.client(i))
    const [{ core } = { core: undefined }] = own.planes
    if (core === undefined) throw new Error('no replicas')
    await contestMoves(clients, core.storage, long ? 60 : 8)
  })

  it('give out exactly what there is, over all namespaces, wherever asked', { timeout: 120_000 }, async () => {
    await using own = await replicas()
    await own.client(0).create(clusterQuotaResource, {
      metadata: { name: 'q' },
      spec: {
        selector: { labels: { matchLabels: { kind: 'team' } } },
        quota: { hard: { configmaps: '40', 'count/namespaces': '5' } },
      },
    })
    const outcome = async (work: Promise<unknown>): Promise<number> => {
      try {
        await work
        return 201
      } catch (error) {
        return findStatusError(error)?.code ?? 0
      }
    }
    // The first quota there is, at a replica that may not have seen it yet.
    const named = Array.from({ length: 12 }, (_, i) => `ns-${i}`)
    const made = await Promise.all(
      named.map((name, i) =>
        outcome(own.client(i).create(namespaces, { metadata: { name, labels: { kind: 'team' } } })),
      ),
    )
    expect(made.filter((code) => code === 201)).toHaveLength(5)
    const there = named.filter((_, i) => made[i] === 201)
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        outcome(
          own.client(i).create(configMaps, { metadata: { name: `c-${i}`, namespace: there[i % there.length] ?? '' } }),
        ),
      ),
    )
    // Each namespace has its kube-root-ca.crt.
    expect(created.filter((code) => code === 201)).toHaveLength(35)
    expect(created.filter((code) => code === 403)).toHaveLength(25)
    for (const i of [0, 1, 2]) {
      const { status } = (await own.client(i).get(clusterQuotaResource, { name: 'q' })) as ClusterResourceQuota
      expect(status?.total?.used).toEqual({ configmaps: '40', 'count/namespaces': '5' })
    }
    const observed = await waitFor(own.client(1), clusterQuotaResource, { name: 'q' }, (quota) => {
      const { status } = (quota ?? {}) as ClusterResourceQuota
      return status?.observedGeneration === 1
    })
    expect(observed).toBeDefined()
  })
})
