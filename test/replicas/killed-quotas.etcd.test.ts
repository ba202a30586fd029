/**
 * Three replicas, each a process of its own, on a real etcd. One after the other is killed by SIGKILL in the middle of
 * creates that race for the last of a quota: what it was doing is done as a whole or not at all. Never is more there
 * than allowed, no room is lost, and what the status says is what is there, at every revision.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClusterResourceQuota, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { StoreHistory } from '../support/contested-cluster-quota.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { clientOf } from './kubeconfig-client.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const configMaps = core('configmaps')
/** Each replica is killed once; in a nightly run four times. */
const kills = process.env['BOROUGH_LONG'] === undefined ? 3 : 12
const teams = ['team-0', 'team-1', 'team-2', 'team-3']
/** Over all of them, `kube-root-ca.crt` of each included. */
const allowed = 40
/** In the first of them, by a ResourceQuota of its own. */
const allowedInFirst = 8
const writersEach = 5
const createsEach = 8

interface Outcome {
  readonly at: number
  readonly place: string
  readonly said: 'created' | 'refused' | 'lost'
}

describe.skipIf(etcdVersion === undefined)(`three replicas${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let observer: Storage
  const replicas: BoroughProcess[] = []
  let kubeconfig = ''

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    const { host } = new URL(etcd.endpoint)
    const flags = [`--storage=etcd://${host}`, '--log-level=error']
    replicas.push(...(await Promise.all([0, 1, 2].map(() => BoroughProcess.start(flags)))))
    kubeconfig = (await replicas[0]?.adminKubeconfig()) ?? ''
    const storage = { engine: 'etcd', endpoints: [host], prefix: '' } as const
    observer = await openStorage({ storage, clock: systemClock, log: silentLog })
  }, 300_000)
  afterAll(async () => {
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await observer?.[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  const replica = (i: number): BoroughProcess => replicas[i % replicas.length] as BoroughProcess
  const client = (i: number): Client => clientOf(kubeconfig, replica(i))

  /** Of one replica, until it has made all its attempts or is gone. */
  async function writer(at: number, name: string, onCreated: () => void): Promise<Outcome[]> {
    const outcomes: Outcome[] = []
    const own = client(at)
    for (let i = 0; i < createsEach; i++) {
      const namespace = teams[(at + i) % teams.length] ?? ''
      const place = `${namespace}/${name}-${i}`
      try {
        await own.create(configMaps, { metadata: { namespace, name: `${name}-${i}` } })
        outcomes.push({ at, place, said: 'created' })
        onCreated()
      } catch (error) {
        const status = findStatusError(error)
        if (status !== undefined && status.code !== 403) throw error
        outcomes.push({ at, place, said: status === undefined ? 'lost' : 'refused' })
      }
    }
    return outcomes
  }

  /** What creates left, by a replica that lives. */
  async function present(by: Client): Promise<string[]> {
    const lists = await Promise.all(teams.map((namespace) => by.list(configMaps, { namespace })))
    return lists
      .flatMap(({ items }) => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`))
      .filter((place) => !place.endsWith('/kube-root-ca.crt'))
  }

  async function expectExact(by: Client): Promise<string[]> {
    const there = await present(by)
    expect(there.length + teams.length).toBeLessThanOrEqual(allowed)
    const quota = (await by.get(clusterQuotaResource, { name: 'q' })) as ClusterResourceQuota
    expect(quota.status?.total?.used).toEqual({ configmaps: String(there.length + teams.length) })
    const inFirst = there.filter((place) => place.startsWith('team-0/')).length + 1
    expect(inFirst).toBeLessThanOrEqual(allowedInFirst)
    const own: KubeObject = await by.get(core('resourcequotas'), { namespace: 'team-0', name: 'own' })
    expect(own['status']).toEqual({
      hard: { configmaps: String(allowedInFirst) },
      used: { configmaps: String(inFirst) },
    })
    return there
  }

  it('of which one is killed in a race for the last of a quota give out all there is and no more', {
    timeout: 600_000,
  }, async () => {
    const selector = { labels: { matchLabels: { kind: 'team' } } }
    const spec = { selector, quota: { hard: { configmaps: String(allowed) } } }
    await client(0).create(clusterQuotaResource, { metadata: { name: 'q' }, spec })
    for (const name of teams)
      await client(1).create(core('namespaces'), { metadata: { name, labels: { kind: 'team' } } })
    const own = { metadata: { namespace: 'team-0', name: 'own' }, spec: { hard: { configmaps: `${allowedInFirst}` } } }
    await client(2).create(core('resourcequotas'), own)
    const history = await StoreHistory.from(observer)
    const { entries } = await observer.range(prefixSpan('/registry/borough/quotaaccount/'))
    expect(entries).toHaveLength(teams.length)

    for (let round = 0; round < kills; round++) {
      const victim = round % replicas.length
      const others = [0, 1, 2].filter((i) => i !== victim)
      const survivor = client(others[0] ?? 0)
      let created = 0
      let killed: Promise<unknown> | undefined
      const onCreated = (): void => {
        if (++created === 5 + 4 * round) killed = replica(victim).end('SIGKILL')
      }
      const racing = [0, 1, 2].flatMap((at) =>
        Array.from({ length: writersEach }, (_, w) => writer(at, `r${round}-${at}-${w}`, onCreated)),
      )
      const outcomes = (await Promise.all(racing)).flat()
      expect(killed).toBeDefined()
      await killed

      // What was acknowledged is there, and nothing that was refused.
      const places = (said: Outcome['said']): string[] => outcomes.filter((o) => o.said === said).map((o) => o.place)
      const there = await expectExact(survivor)
      expect(there).toEqual(expect.arrayContaining(places('created')))
      expect(there.filter((place) => places('refused').includes(place))).toEqual([])
      expect(outcomes.filter(({ at, said }) => said === 'lost' && at !== victim)).toEqual([])
      expect(places('lost').length).toBeGreaterThan(0)

      // And no room went with the replica: what is left can be had.
      for (let i = there.length + teams.length; i < allowed; i++) {
        await survivor.create(configMaps, { metadata: { namespace: 'team-1', name: `last-${round}-${i}` } })
      }
      const one = { metadata: { namespace: 'team-2', name: `too-many-${round}` } }
      await expect(client(others[1] ?? 0).create(configMaps, one)).rejects.toMatchObject({ code: 403 })
      for (const i of others) await expectExact(client(i))

      await replica(victim).start()
      await expectExact(client(victim))
      for (const namespace of teams) {
        const fieldSelector = 'metadata.name!=kube-root-ca.crt'
        await client(victim).deleteCollection(configMaps, { namespace, fieldSelector })
      }
      expect(await expectExact(survivor)).toEqual([])
    }
    const observed = await waitFor(
      client(0),
      clusterQuotaResource,
      { name: 'q' },
      (q) => (q as ClusterResourceQuota | undefined)?.status?.observedGeneration === 1,
    )
    expect(observed).toBeDefined()
    await history.verify(await observer.currentRevision())
  })
})
