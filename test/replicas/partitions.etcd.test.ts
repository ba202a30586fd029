/**
 * Partitions of one direction, below TCP: members of etcd and replicas on machines of their own (network namespaces),
 * of which one hears the other and is not heard. Under load every history stays linearizable, watches stay complete,
 * quota stays exact.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { endProcess, main, startServing } from '../interop/serving-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { type NetSpace, NetSpaces } from '../support/net-spaces.ts'
import { isLeader } from './cluster.ts'
import { EtcdTruth } from './etcd-truth.ts'
import { pause, recovered, supervised } from './faults.ts'
import { clientOf } from './kubeconfig-client.ts'
import { RecordedLoad, randomFrom } from './recorded-load.ts'

const members = 3
const replicas = 2
const lossMs = 3_000

const missing = etcdVersion === undefined ? etcdMissing : NetSpaces.missing()

describe.skipIf(missing !== undefined)(`one way lost${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let net: NetSpaces
  let etcd: readonly EtcdServer[]
  let truth: EtcdTruth
  let load: RecordedLoad
  let clients: readonly Client[]
  const ending: (() => Promise<unknown>)[] = []

  const member = (i: number): NetSpace => net.at(i)
  const replica = (i: number): NetSpace => net.at(members + i)

  beforeAll(async () => {
    net = NetSpaces.make(members + replicas)
    ending.push(async () => net[Symbol.dispose]())
    etcd = await EtcdServer.startCluster(members, { places: net.spaces })
    ending.push(() => Promise.all(etcd.map((each) => each[Symbol.asyncDispose]())))
    const hosts = etcd.map(({ endpoint }) => new URL(endpoint).host)
    const started = await Promise.all(
      Array.from({ length: replicas }, async (_, i) => {
        const { address, within } = replica(i)
        const listen = `${address}:6443`
        const order = [...hosts.slice(i), ...hosts.slice(0, i)]
        const dataDir = await mkdtemp(join(tmpdir(), 'borough-parted-'))
        ending.push(() => rm(dataDir, { recursive: true, force: true }))
        const flags = ['--listen', listen, '--output', 'json', '--log-level=error']
        const args = ['up', '--data-dir', join(dataDir, 'data'), `--storage=etcd://${order.join(',')}`, ...flags]
        const { child, ready } = await supervised(() => startServing<{ kubeconfig: string }>(args, {}, main, within))
        ending.push(() => endProcess(child, 'SIGKILL'))
        return { listen, kubeconfig: ready.kubeconfig }
      }),
    )
    const kubeconfig = await readFile(started[0]?.kubeconfig ?? '', 'utf8')
    clients = started.map((each) => clientOf(kubeconfig, each))
    truth = await EtcdTruth.open(etcd.map(({ endpoint }) => endpoint))
    ending.push(() => truth[Symbol.asyncDispose]())
    load = new RecordedLoad({
      clients,
      changes: () => truth.changes,
      keys: 5,
      contenders: 6,
      random: randomFrom(20_261_123),
    })
    await load.start()
  })

  afterAll(async () => {
    for (const end of ending.reverse()) await end()
  })

  async function leader(except?: number): Promise<number> {
    for (;;) {
      for (const [i, { endpoint }] of etcd.entries())
        if (i !== except && (await isLeader(endpoint).catch(() => false))) return i
      await pause(50)
    }
  }

  /** `ways`: from, to. */
  async function lose(name: string, ways: readonly (readonly [NetSpace, NetSpace])[], until = () => pause(lossMs)) {
    for (const [from, to] of ways) net.lose(from, to)
    await until()
    const before = performance.now()
    net.mend()
    await recovered(clients)
    await load.acknowledges(10)
    console.log(`${name}: all replicas write ${Math.round(performance.now() - before)} ms after it ended`)
  }

  it('breaks no promise, between replicas and etcd and among members of etcd', { timeout: 300_000 }, async () => {
    const all = Array.from({ length: members }, (_, i) => member(i))
    await lose(
      'a replica is not heard by etcd',
      all.map((each) => [replica(0), each]),
    )
    await lose(
      'a replica does not hear etcd',
      all.map((each) => [each, replica(0)]),
    )
    const first = await leader()
    const others = all.filter((_, i) => i !== first)
    await lose(
      'the leader of etcd is not heard by the others, until another leads',
      others.map((each) => [member(first), each]),
      async () => void (await leader(first)),
    )
    const second = await leader()
    await lose('a follower is not heard by the leader', [[member((second + 1) % members), member(second)]])
    const third = await leader()
    await lose('a follower does not hear the leader', [[member(third), member((third + 1) % members)]])
    await lose('a replica hears no member, and one member hears no replica', [
      ...all.map((each) => [each, replica(1)] as const),
      [replica(0), member(1)],
    ])
    const { problems, ...counts } = await load.finish(() => truth.catchUp())
    console.log(`checked: ${JSON.stringify(counts)}`)
    expect(problems.slice(0, 20)).toEqual([])
    expect(counts.acknowledged).toBeGreaterThan(50)
  })
})
