/**
 * A model of enforcement with everything that a template can say: parameters, labels of the namespace, conditions,
 * strictness, protection, yielding, copies, owners, ends (with a simulated clock), opting out, the switch that pauses
 * all, halted prunes and orphaning. An oracle that shares no code with the product says what each namespace must hold,
 * or what the status must say instead; between two quiet times nothing may be taken beyond `maxPrune`, nothing changed
 * while all is paused, and nothing ended before its time; and dry runs ask what must be refused.
 *
 * The histories below are tried each time. BOROUGH_LONG=<minutes> tries random ones for so long, on each kind of
 * cluster; some of the rules that it judges by are not settled yet, so a failure may be the model's. It prints its
 * seed: BOROUGH_PROPERTY_SEED=<seed> tries the same cases again. What tenants do at one moment is
 * `../enforcement.property.test.ts`.
 */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foundBefore } from './found-before.ts'
import { histories } from './histories.ts'
import { modelElsewhere, modelOnBorough, runModel } from './run-model.ts'
import { metadataOfNew, namespaceNames, randomStep, shapeOf, steps } from './steps.ts'

const minutes = Number(process.env['BOROUGH_LONG'] ?? 0)
const howLong = { numRuns: 1_000_000, interruptAfterTimeLimit: minutes * 60_000 }

const clusters = [
  { where: 'on Borough', start: modelOnBorough },
  { where: 'through borough populate', start: modelElsewhere },
]

test('every dimension has a history of its own', () => expect(Object.keys(histories)).toHaveLength(16))

describe.each(clusters)('$where', ({ start }) => {
  test.each(Object.entries(histories))(
    'a namespace is as its templates say, or the status says why not: %s',
    { timeout: 120_000 },
    (_, history) => runModel(start, history),
  )

  test.each(Object.entries(foundBefore))('%s', { timeout: 120_000 }, (_, history) => runModel(start, history))

  test.runIf(minutes > 0)(
    'whatever is done, namespaces are as their templates say, or the status says why not',
    { timeout: (minutes + 4) * 60_000 },
    () =>
      fc.assert(
        fc.asyncProperty(bursts, (all) => runModel(start, all)),
        { ...howLong, endOnFailure: true },
      ),
  )
})

const bursts = fc
  .tuple(
    fc.tuple(shapeOf, shapeOf),
    fc.array(metadataOfNew, { minLength: namespaceNames.length, maxLength: namespaceNames.length }),
    fc.array(fc.array(randomStep, { minLength: 1, maxLength: 5, size: 'max' }), {
      ...{ minLength: 2, maxLength: 6, size: 'max' },
    }),
  )
  .map(([[a, b], metadata, later]) => [
    [steps.source('a', '1', '*'), steps.source('b', '1', '*'), steps.write('a', a), steps.write('b', b)],
    namespaceNames.map((name, i) => steps.make(name, metadata[i] ?? {})),
    ...later,
  ])
