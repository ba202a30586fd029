/**
 * The disk of one member of etcd stands still, is slow, or is full, under load: three replicas go on, every history
 * stays linearizable, and the member comes back.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findStatusError } from '../../src/kube/status-error.ts'
import { etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { SmallDisk } from '../support/small-disk.ts'
import { ReplicaCluster } from './cluster.ts'
import { EtcdTruth } from './etcd-truth.ts'
import { pause, recovered } from './faults.ts'
import { RecordedLoad, randomFrom } from './recorded-load.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
/** Two segments of etcd's log, of 64 MB each, and its database. */
const diskMebibytes = 240

function whyNot(): string | undefined {
  if (etcdVersion === undefined) return etcdMissing
  const scratch = mkdtempSync(join(tmpdir(), 'borough-small-'))
  const why = SmallDisk.missing(scratch)
  rmSync(scratch, { recursive: true })
  return why
}

const missing = whyNot()

describe.skipIf(missing !== undefined)(
  `a member's disk${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    let cluster: ReplicaCluster
    let truth: EtcdTruth
    let load: RecordedLoad
    const disks: SmallDisk[] = []

    beforeAll(async () => {
      cluster = await ReplicaCluster.start({
        prepareMember(folder, i) {
          disks[i] = SmallDisk.mount(join(folder, 'data'), diskMebibytes)
        },
      })
      truth = await EtcdTruth.open(cluster.members.map(({ endpoint }) => endpoint))
      load = new RecordedLoad({
        clients: cluster.clients(),
        changes: () => truth.changes,
        keys: 5,
        contenders: 6,
        random: randomFrom(20_261_124),
      })
      await load.start()
    })

    afterAll(async () => {
      for (const disk of disks) disk.thaw()
      await truth?.[Symbol.asyncDispose]()
      await Promise.all((cluster?.members ?? []).map((member) => member.stop()))
      for (const disk of disks) disk[Symbol.dispose]()
      await cluster?.[Symbol.asyncDispose]()
      for (const disk of disks) rmSync(dirname(disk.place), { recursive: true, force: true })
    })

    async function befall(name: string, run: () => Promise<void>): Promise<void> {
      const began = performance.now()
      await run()
      const ended = performance.now()
      await recovered(cluster.clients())
      await load.acknowledges(15)
      console.log(
        `${name} (${Math.round(ended - began)} ms): all replicas write ${Math.round(performance.now() - ended)} ms ` +
          `after it ended; no write anywhere for at most ${Math.round(load.longestSilence(began))} ms`,
      )
    }

    /** Writes until the member has ended, as etcd does when it can't write; what writers hear is their affair. */
    async function writeUntilEnded(member: number): Promise<void> {
      const [client] = cluster.clients()
      const metadata = { name: 'big', namespace: 'default' }
      await client?.create(configMaps, { metadata })
      for (let i = 0; cluster.members[member]?.isRunning === true; i++) {
        const data = { turn: String(i), text: 'x'.repeat(900_000) }
        try {
          await client?.update(configMaps, { metadata, data })
        } catch (error) {
          // Slow or cut off, not refused.
          if (![409, 429, 503, 504].includes(findStatusError(error)?.code ?? 0)) throw error
        }
      }
    }

    it('that stands still, is slow, or is full, breaks no promise', { timeout: 400_000 }, async () => {
      const first = await cluster.etcdLeader()
      await befall('the disk of the leader of etcd stands still until another leads', async () => {
        disks[first]?.freeze()
        await cluster.etcdLeader(first)
        disks[first]?.thaw()
      })
      const second = await cluster.etcdLeader()
      await befall('the disk of the leader of etcd does nothing nine tenths of the time', async () => {
        for (let i = 0; i < 20; i++) {
          disks[second]?.freeze()
          await pause(180)
          disks[second]?.thaw()
          await pause(20)
        }
      })
      const third = ((await cluster.etcdLeader()) + 1) % 3
      await befall('the disk of a follower stands still for 4 s', async () => {
        disks[third]?.freeze()
        await pause(4_000)
        disks[third]?.thaw()
      })
      await befall('the disk of a follower is full until it ends, and then is not', async () => {
        disks[third]?.fill()
        await writeUntilEnded(third)
        await load.acknowledges(20)
        disks[third]?.empty()
        await cluster.members[third]?.start()
      })
      const { problems, ...counts } = await load.finish(() => truth.catchUp())
      console.log(`checked: ${JSON.stringify(counts)}`)
      expect(problems.slice(0, 20)).toEqual([])
      expect(counts.acknowledged).toBeGreaterThan(50)
    })
  },
)
