/**
 * Three replicas, each a process of its own, on a real etcd, while clients do to quotas whatever they can (`storm`),
 * and replicas are killed, stopped beyond their lease and started again, etcd is compacted under them, and killed.
 * After every commit, as etcd tells it, all that is counted equals a recount (`QuotaTruth`); and when all is quiet,
 * what every replica shows does.
 *
 * BOROUGH_LONG=<minutes> goes on with faults in random order for so long; BOROUGH_SEED repeats an order.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { type StormFault, StormyReplicas } from './stormy-replicas.ts'

const longMinutes = Number(process.env['BOROUGH_LONG'] ?? 0)
const seed = Number(process.env['BOROUGH_SEED'] ?? 20_261_124)
const timeout = 600_000 + longMinutes * 60_000

describe.skipIf(etcdVersion === undefined)(`quotas${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let replicas: StormyReplicas

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    replicas = await StormyReplicas.start(etcd, seed)
  }, 300_000)
  afterAll(async () => {
    await replicas?.[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  it('are exact at every commit, whatever befalls replicas', { timeout }, async () => {
    const each = replicas.faults()
    const survive = async (fault: StormFault): Promise<void> => {
      const problems = await replicas.round(fault)
      if (problems.length > 0) throw new Error(`seed ${seed}, ${fault.name}:\n${problems.join('\n')}`)
      if (longMinutes > 0) console.log(`${fault.name}: ${replicas.commits} commits were exact`)
    }
    for (const fault of each) await survive(fault)
    const end = performance.now() + longMinutes * 60_000
    while (performance.now() < end) {
      await survive(each[Math.floor(replicas.random() * each.length)] as StormFault)
    }
    expect(replicas.commits).toBeGreaterThan(each.length * 80)
    console.log(`seed ${seed}: ${replicas.summary()}`)
  })
})
