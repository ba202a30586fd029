/** Histories at random: each is of one seed, so that a number says which. */
import * as fc from 'fast-check'
import { type ModelCluster, runModel } from './run-model.ts'
import { metadataOfNew, namespaceNames, randomStep, type Step, shapeOf, steps } from './steps.ts'

export type History = readonly (readonly Step[])[]

const history: fc.Arbitrary<History> = fc
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

export function historyOf(seed: number): History {
  const [first] = fc.sample(history, { seed, numRuns: 1 })
  if (first === undefined) throw new Error('fast-check made no sample')
  return first
}

export interface Choice {
  readonly start: () => Promise<ModelCluster>
  readonly firstSeed: number
  readonly count: number
  /** No other is begun after it. */
  isOver?(): boolean
  /** Several at once, since most of the time they wait. */
  readonly abreast: number
  /** A failure is shown without the steps that it does not need: each of them is left out once. */
  readonly isReduced?: boolean
  onDone?(count: number): void
  onFailure?(): void
}

/** What fails, as texts that begin with the seed. */
export async function tryHistories(choice: Choice): Promise<string[]> {
  const { start, firstSeed, count, abreast, isOver = () => false } = choice
  const failures: string[] = []
  let next = firstSeed
  let done = 0
  const work = async (): Promise<void> => {
    while (next < firstSeed + count && !isOver()) {
      const seed = next++
      const all = historyOf(seed)
      const failure = await failureOf(start, all)
      if (failure !== undefined) {
        choice.onFailure?.()
        const least = choice.isReduced === true ? await reduced(start, all) : { history: all, failure }
        failures.push(`seed ${seed}: ${least.failure}\n${textOf(least.history)}`)
      }
      choice.onDone?.(++done)
    }
  }
  await Promise.all(Array.from({ length: abreast }, work))
  return failures
}

const failureOf = (start: Choice['start'], all: History): Promise<string | undefined> =>
  runModel(start, all).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  )

async function reduced(start: Choice['start'], all: History): Promise<{ history: History; failure: string }> {
  let least = { history: all, failure: 'it passes when it is tried again' }
  const attempt = async (history: History): Promise<void> => {
    const failure = await failureOf(start, history)
    if (failure !== undefined) least = { history, failure }
  }
  await attempt(all)
  for (let burst = all.length - 1; burst >= 0; burst--) {
    for (let at = (all[burst]?.length ?? 0) - 1; at >= 0; at--) {
      await attempt(least.history.map((steps, i) => (i === burst ? steps.filter((_, j) => j !== at) : steps)))
    }
  }
  await attempt(least.history.filter((burst) => burst.length > 0))
  return least
}

const textOf = (all: History): string =>
  all.map((burst, i) => burst.map((step) => `${i}: ${String(step)}`).join('\n')).join('\n')
