/** The guards of transactions across three replicas on one etcd: no leak into what is deleted, quota exact. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { contestDeletion } from '../support/contested-deletion.ts'
import { contestQuota, quotaSteps } from '../support/contested-quota.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { type Answer, Wire } from '../support/wire.ts'

/** The nightly run takes longer. */
const long = process.env['BOROUGH_LONG'] !== undefined

describe.skipIf(etcdVersion === undefined)(`three replicas${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let planes: TestControlPlane[]
  let count = 0

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    const storage = { engine: 'etcd', endpoints: [new URL(etcd.endpoint).host], prefix: '' } as const
    planes = await Promise.all([0, 1, 2].map(() => startControlPlane({ storage, population: false })))
  }, 120_000)

  afterAll(async () => {
    for (const plane of planes ?? []) await plane[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  it('let nothing into a namespace after it began to terminate at one of them', { timeout: 120_000 }, async () => {
    const rounds = long ? 60 : 6
    for (let round = 0; round < rounds; round++) {
      const turned = [...planes.slice(round % 3), ...planes.slice(0, round % 3)]
      await contestDeletion(turned, `contested-${round}`, 24, 7 * (round % 12))
    }
  })

  it('let no pod past the level that one of them has begun to enforce', { timeout: 120_000 }, async () => {
    const wires = planes.map((plane) => new Wire(plane))
    for (let round = 0; round < (long ? 60 : 6); round++) {
      const name = `leveled-${round}`
      await wires[0]?.must('POST', '/api/v1/namespaces', { metadata: { name } })
      const spec = { hostPID: true, containers: [{ name: 'a', image: 'nginx' }] }
      const create = (i: number): Promise<Answer> =>
        (wires[i % 3] as Wire).call('POST', `/api/v1/namespaces/${name}/pods`, { metadata: { name: `p-${i}` }, spec })
      const label = async (): Promise<Answer[]> => {
        const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' }
        const at = wires[round % 3] as Wire
        const { metadata } = await at.must(
          'PATCH',
          `/api/v1/namespaces/${name}`,
          { metadata: { labels } },
          'application/merge-patch+json',
        )
        revision = Number(metadata.resourceVersion)
        // Answered, it holds everywhere.
        return Promise.all([24, 25, 26].map(create))
      }
      let revision = 0
      const creates = (from: number): Promise<Answer>[] => Array.from({ length: 12 }, (_, i) => create(from + i))
      const early = creates(0)
      const [late, ...answers] = await Promise.all([label(), ...early, ...creates(12)])
      for (const { status, body } of answers) {
        if (status === 201) expect(Number(body.metadata.resourceVersion)).toBeLessThan(revision)
        else expect([status, body.message]).toEqual([403, expect.stringContaining('violates PodSecurity')])
      }
      expect(late.map(({ status }) => status)).toEqual([403, 403, 403])
    }
  })

  it('keep every account equal to a recount at every revision', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(quotaSteps, (steps) => contestQuota(planes, `q-${++count}`, steps)),
      { numRuns: long ? 100 : 6 },
    )
  })

  it('give out exactly what there is, to whoever asks where', async () => {
    const wires = planes.map((plane) => new Wire(plane))
    await wires[0]?.must('POST', '/api/v1/namespaces', { metadata: { name: 'shared' } })
    const path = '/api/v1/namespaces/shared'
    await wires[1]?.must('POST', `${path}/resourcequotas`, {
      metadata: { name: 'q' },
      spec: { hard: { secrets: '50' } },
    })
    const began = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 66 }, (_, i) =>
        (wires[i % 3] as Wire).call('POST', `${path}/secrets`, { metadata: { name: `s-${i}` } }),
      ),
    )
    console.log(`66 creates against one quota at three replicas: ${Math.round(performance.now() - began)} ms`)
    const counts: Record<number, number> = {}
    for (const answer of answers) counts[answer?.status ?? 0] = (counts[answer?.status ?? 0] ?? 0) + 1
    expect(counts).toEqual({ 201: 50, 403: 16 })
    const { status } = (await wires[2]?.must('GET', `${path}/resourcequotas/q`)) ?? {}
    expect(status).toEqual({ hard: { secrets: '50' }, used: { secrets: '50' } })
  })

  it('give everybody a turn where all charge one quota', async () => {
    const wires = planes.map((plane) => new Wire(plane))
    await wires[0]?.must('POST', '/api/v1/namespaces', { metadata: { name: 'fair' } })
    const path = '/api/v1/namespaces/fair'
    await wires[0]?.must('POST', `${path}/resourcequotas`, {
      metadata: { name: 'q' },
      spec: { hard: { secrets: '90000' } },
    })
    const made = [0, 0, 0]
    let total = 0
    await Promise.all(
      Array.from({ length: 36 }, async (_, creator) => {
        const at = creator % 3
        while (total < 600) {
          await wires[at]?.must('POST', `${path}/secrets`, { metadata: { generateName: 's-' } })
          // Whoever is let in only when the others have stopped had no turn.
          if (total++ < 600) made[at] = (made[at] ?? 0) + 1
        }
      }),
    )
    console.log(`the first 600 creates charged to one quota, by replica: ${made.join(', ')}`)
    for (const share of made) expect(share / 600).toBeGreaterThan(0.02)
  })
})
