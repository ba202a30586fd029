/**
 * A model of enforcement with everything that a template can say: parameters, labels of the namespace, conditions,
 * strictness, protection, yielding, copies, owners, ends (with a simulated clock), opting out, the switch that pauses
 * all, halted prunes and orphaning. An oracle that shares no code with the product says what each namespace must hold,
 * or what the status must say instead; between two quiet times nothing may be taken beyond `maxPrune`, nothing changed
 * while all is paused, and nothing ended before its time; and dry runs ask what must be refused.
 *
 * The histories below are tried each time, and random ones of some seeds. BOROUGH_LONG=<minutes> tries others for so
 * long, on each kind of cluster. A failure names its seed: `run.ts --from <seed> --histories 1 --reduce` tries it
 * again, and BOROUGH_PROPERTY_SEED says where the long form begins. What tenants do at one moment is
 * `../enforcement.property.test.ts`.
 */
import { describe, expect, test } from 'vitest'
import { otherKubeconfig } from '../../support/other-cluster.ts'
import { foundBefore } from './found-before.ts'
import { histories } from './histories.ts'
import { tryHistories } from './random-histories.ts'
import { abreastElsewhere, modelElsewhere, modelOnBorough, runModel } from './run-model.ts'

const minutes = Number(process.env['BOROUGH_LONG'] ?? 0)
const firstOfLong = Number(process.env['BOROUGH_PROPERTY_SEED'] ?? Date.now() % 1_000_000_000)

/** A cluster of processes answers later. */
const slowness = otherKubeconfig === undefined ? 1 : 5

const clusters = [
  { where: 'on Borough', start: modelOnBorough, seeds: 8, abreast: 4 },
  { where: 'through borough populate', start: modelElsewhere, seeds: 3, abreast: abreastElsewhere },
]

test('every dimension has a history of its own', () => expect(Object.keys(histories)).toHaveLength(19))

describe.each(clusters)('$where', ({ start, seeds, abreast }) => {
  test.each(Object.entries(histories))(
    'a namespace is as its templates say, or the status says why not: %s',
    { timeout: 120_000 * slowness },
    (_, history) => runModel(start, history),
  )

  test.each(Object.entries(foundBefore))('%s', { timeout: 120_000 * slowness }, (_, history) =>
    runModel(start, history),
  )

  test('random histories of fixed seeds', { timeout: 300_000 * slowness }, async () => {
    expect(await tryHistories({ start, firstSeed: 1, count: seeds, abreast })).toEqual([])
  })

  test.runIf(minutes > 0)('random histories for long', { timeout: (minutes + 4) * 60_000 }, async () => {
    const end = performance.now() + minutes * 60_000
    let failed = false
    const isOver = (): boolean => failed || performance.now() > end
    const onFailure = (): void => {
      failed = true
    }
    const all = { start, firstSeed: firstOfLong, count: Number.POSITIVE_INFINITY, abreast, isOver, onFailure }
    expect(await tryHistories(all)).toEqual([])
  })
})
