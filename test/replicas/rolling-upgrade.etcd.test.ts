/**
 * Replicas on one etcd, upgraded one by one from the version before, and rolled back, under recorded load: the history
 * of every key stays linearizable, watches that go from replica to replica have no gap, quota stays exact, and no value
 * is written that the version before can't read while one of it is there.
 *
 * The version before is `previous-version.ts`, told to read no more than the form before the newest; where it can't be
 * had, this version that announces as little stands for it. BOROUGH_LONG takes three replicas for two.
 */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BoroughProcess, type Version } from '../interop/borough-process.ts'
import { main } from '../interop/serving-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { EtcdTruth } from './etcd-truth.ts'
import { recovered, supervised } from './faults.ts'
import { clientOf } from './kubeconfig-client.ts'
import { previousVersion } from './previous-version.ts'
import { RecordedLoad, randomFrom } from './recorded-load.ts'
import { StoredForms } from './stored-forms.ts'

const seed = Number(process.env['BOROUGH_SEED'] ?? 20_261_124)
const replicaCount = process.env['BOROUGH_LONG'] === undefined ? 2 : 3
/** Between two steps of an upgrade. */
const writesEach = 40
const levelFlag = '--etcd-format-level'
const shortLease = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=2500ms',
  '--leader-elect-retry-period=500ms',
]

const newer: Version = { program: main, flags: [] }

/** One from before there were levels can't be told one, and is not seen by the others: see ADR 0059. */
function olderVersion(): Version & { readonly announces: boolean } {
  const previous = previousVersion()
  if (previous.program === undefined) console.warn(`this version stands for the one before: ${previous.why}`)
  const program = previous.program ?? main
  const help = spawnSync(process.execPath, [program, 'up', '--help'], { encoding: 'utf8' }).stdout
  const announces = help.includes(levelFlag)
  console.log(`the version before: ${previous.program === undefined ? 'this one' : previous.name}`)
  return { program, flags: announces ? [`${levelFlag}=0`] : [], announces }
}

describe.skipIf(etcdVersion === undefined)(`replicas${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  const older = olderVersion()
  let replicas: readonly BoroughProcess[] = []
  let etcd: EtcdServer
  let truth: EtcdTruth
  let forms: StoredForms
  let load: RecordedLoad

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    forms = await StoredForms.open(etcd.endpoint)
    const flags = [`--storage=etcd://${new URL(etcd.endpoint).host}`, '--log-level=error', ...shortLease]
    const starting = Array.from({ length: replicaCount }, () =>
      supervised(() => BoroughProcess.start(flags, undefined, older)),
    )
    replicas = await Promise.all(starting)
    truth = await EtcdTruth.open([etcd.endpoint])
    const kubeconfig = (await replicas[0]?.adminKubeconfig()) ?? ''
    const clients = replicas.map((replica) => clientOf(kubeconfig, replica))
    load = new RecordedLoad({ clients, changes: () => truth.changes, keys: 5, contenders: 6, random: randomFrom(seed) })
    await load.start()
  }, 240_000)

  afterAll(async () => {
    await truth?.[Symbol.asyncDispose]()
    await forms?.[Symbol.asyncDispose]()
    for (const replica of replicas) await replica[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  /** Resolves when it serves, and writes go on. */
  async function change(i: number, version: Version, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const replica = replicas[i]
    if (replica === undefined) throw new Error(`there is no replica ${i}`)
    await replica.end(signal)
    replica.version = version
    await supervised(() => replica.start())
    await recovered([clientOf(await replica.adminKubeconfig(), replica)])
    await load.acknowledges(writesEach)
  }

  it('an upgrade one by one, given up half-way, made after all, and rolled back, breaks nothing', {
    timeout: 900_000,
  }, async () => {
    const all = [...replicas.keys()]
    await load.acknowledges(writesEach)
    await change(0, newer)
    await change(0, older, 'SIGKILL')
    for (const i of all.slice(0, -1)) await change(i, newer)
    const lastOfOlder = await forms.revision()
    for (const i of all.slice(-1)) await change(i, newer)
    await forms.until(({ form }) => form === 1)
    await load.acknowledges(writesEach)
    for (const i of all.toReversed()) await change(i, older, i === 0 ? 'SIGKILL' : 'SIGTERM')
    if (older.announces) await forms.until(({ form }) => form === 0)
    await load.acknowledges(writesEach)

    const { problems, ...counts } = await load.finish(() => truth.catchUp())
    await forms.catchUp()
    const early = forms.written.filter(({ form, modRevision }) => form > 0 && modRevision <= lastOfOlder)
    const inForms = Object.groupBy(forms.written, ({ form }) => String(form))
    console.log(
      `checked: ${JSON.stringify(counts)}, seed ${seed}; ` +
        `${inForms['0']?.length ?? 0} values in form 0, ${inForms['1']?.length ?? 0} in form 1, ` +
        `${early.length} of these before the last of the version before was gone`,
    )
    expect(problems.slice(0, 20)).toEqual([])
    if (older.announces) expect(early.slice(0, 5)).toEqual([])
    expect(counts.acknowledged).toBeGreaterThan(5 * writesEach)
  })
})
