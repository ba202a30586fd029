/**
 * Generated objects: each field of each kind varied (`variations.ts`), sent in each way (`ways.ts`), and judged
 * (`trial.ts`). A sample of each way and kind, by seed; `run.ts` tries all.
 *
 * `BOROUGH_GENERATED=<variations>` sets the budget, BOROUGH_PROPERTY_SEED repeats a sample.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { budget, sampled, seed } from './sampling.ts'
import { subjects } from './subjects.ts'
import { Trials } from './trial.ts'
import { variationsOf } from './variations.ts'
import { ways } from './ways.ts'

const all = subjects()
const sizes = all.map(({ schema, object }) => count(variationsOf(schema, object)))
const total = ways.reduce(
  (sum, way) => sum + all.reduce((size, subject, i) => size + (way.isFor(subject) ? (sizes[i] ?? 0) : 0), 0),
  0,
)
const share = Math.min(1, budget / total)
const shownFailures = 10

function count(items: Iterable<unknown>): number {
  let found = 0
  for (const _ of items) found++
  return found
}

let trials: Trials
beforeAll(async () => {
  trials = await Trials.start()
})
afterAll(() => trials[Symbol.asyncDispose]())

describe.each(ways)(`an object with one field varied, $name (seed ${seed}, ${(share * 100).toFixed(1)} %)`, (way) => {
  it.each(all.filter((subject) => way.isFor(subject)))('$title', async (subject) => {
    await trials.prepare(way, subject)
    const failures: string[] = []
    for (const variation of sampled(
      variationsOf(subject.schema, subject.object),
      share,
      `${way.name} ${subject.title}`,
    )) {
      const problem = await trials.problemOf(way, subject, variation)
      if (problem !== undefined) failures.push(`${variation.title}: ${problem}`)
    }
    await trials.cleanUp(subject)
    expect(failures.slice(0, shownFailures)).toEqual([])
  })
})
