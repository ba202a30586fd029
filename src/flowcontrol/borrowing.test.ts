import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AllocationBounds, adjustLimits, type Borrower, fairFractionFor } from './borrowing.ts'
import { SeatDemand } from './seat-demand.ts'

const borrower = (
  limits: { readonly nominal: number; readonly min: number; readonly max: number },
  needed: number,
  smoothed: number = needed,
  exempt = false,
): Borrower => ({ exempt, limits, demand: { average: needed, deviation: 0, highWatermark: needed, smoothed } })

/** Upstream's own scenarios: workload-high, workload-low and catch-all share 870 seats with the exempt level. */
const high = { nominal: 240, min: 120, max: 1110 }
const mid = { nominal: 600, min: 60, max: 1470 }
const low = { nominal: 30, min: 30, max: 900 }
const exempt = { nominal: 0, min: 0, max: 870 }
const server = 870

describe('borrowing', () => {
  test('levels fall to their minimum when exempt requests take everything', () => {
    const { levels } = adjustLimits(
      [borrower(exempt, 970, 970, true), borrower(high, 970), borrower(mid, 970), borrower(low, 970)],
      server,
    )
    expect(levels.map(({ currentLimit }) => currentLimit)).toEqual([970, 120, 60, 30])
  })

  test('levels meet halfway between their minimum and their need when exempt requests leave that much', () => {
    const [h, m, l] = [(240 + 120) / 2, (600 + 60) / 2, 30]
    const taken = server - h - m - l
    const { levels } = adjustLimits(
      [borrower(exempt, taken, taken, true), borrower(high, 970), borrower(mid, 970), borrower(low, 970)],
      server,
    )
    expect(levels.map(({ currentLimit }) => currentLimit)).toEqual([taken, h, m, l])
  })

  test('exempt requests borrow what the one level without demand lends', () => {
    const taken = server - 240 - 60 - 30
    const { levels } = adjustLimits(
      [borrower(exempt, taken, taken, true), borrower(high, 970), borrower(mid, 1), borrower(low, 970)],
      server,
    )
    expect(levels.map(({ currentLimit }) => currentLimit)).toEqual([taken, 240, 60, 30])
  })

  test('a busy level borrows from idle ones, within its bound', () => {
    const bounded = { nominal: 100, min: 50, max: 120 }
    const { levels } = adjustLimits([borrower(bounded, 300), borrower({ ...bounded, max: 200 }, 10)], 200)
    expect(levels.map(({ currentLimit }) => currentLimit)).toEqual([120, 80])
  })

  test('a level keeps what it needed of its nominal share', () => {
    const open = { nominal: 100, min: 0, max: 300 }
    const { levels } = adjustLimits([borrower(open, 1000), borrower(open, 100), borrower(open, 0)], 300)
    expect(levels[1]?.currentLimit).toBe(100)
    expect(levels[0]?.currentLimit).toBe(200)
    expect(levels[2]?.currentLimit).toBe(0)
  })
})

describe('the fair fraction', () => {
  const bounds: fc.Arbitrary<AllocationBounds> = fc
    .tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 200 }))
    .map(([lower, more, room]) => ({ lower, upper: lower + room, target: lower + more }))

  test('gives out exactly the seats there are, each level within its bounds and by its target', () => {
    fc.assert(
      fc.property(
        fc.array(bounds, { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (levels, at) => {
          const lowest = levels.reduce((sum, { lower }) => sum + lower, 0)
          const highest = levels.reduce((sum, { upper }) => sum + upper, 0)
          const seats = lowest + (highest - lowest) * at
          const fraction = fairFractionFor(levels, seats)
          const given = levels.map(({ lower, upper, target }) =>
            Math.max(lower, Math.min(upper, fraction * Math.max(target, 0.001))),
          )
          expect(given.reduce((sum, g) => sum + g, 0)).toBeCloseTo(seats, 5)
        },
      ),
    )
  })
})

describe('the demand for seats', () => {
  test('is averaged by time', () => {
    const demand = new SeatDemand(0)
    demand.set(10, 0)
    demand.set(0, 2500)
    const stats = demand.endPeriod(10_000)
    expect(stats).toMatchObject({ average: 2.5, highWatermark: 10 })
    // Of a value that is 10 for a quarter of the time: sqrt(0.25 × 100 − 2.5²).
    expect(stats.deviation).toBeCloseTo(Math.sqrt(25 - 6.25), 9)
    expect(stats.smoothed).toBeCloseTo(stats.average + stats.deviation, 9)
  })

  test('rises at once and falls by half in five minutes', () => {
    const demand = new SeatDemand(0)
    demand.set(100, 0)
    expect(demand.endPeriod(10_000).smoothed).toBe(100)
    demand.set(0, 10_000)
    let stats = demand.stats
    for (let period = 2; period <= 31; period++) stats = demand.endPeriod(period * 10_000)
    expect(stats.smoothed / 100).toBeCloseTo(0.5, 2)
    expect(stats.highWatermark).toBe(0)
  })

  test('of the next period begins where the last one ended', () => {
    const demand = new SeatDemand(0)
    demand.set(9, 0)
    demand.set(5, 1)
    demand.endPeriod(10_000)
    expect(demand.endPeriod(20_000)).toMatchObject({ average: 5, deviation: 0, highWatermark: 5 })
  })

  test('keeps its high watermark where a period has no length', () => {
    const demand = new SeatDemand(0)
    demand.set(3, 0)
    expect(demand.endPeriod(0)).toEqual({ average: 0, deviation: 0, highWatermark: 3, smoothed: 0 })
  })
})
