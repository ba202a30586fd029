/**
 * Divides the server's seats among the priority levels by their demand, anew each adjustment period. A level that needs
 * less than its nominal share lends, within its bounds; a level that needs more borrows, within its own.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/conc_alloc.go, apf_controller.go v0.36, KEP-1040
 */
import type { ConcurrencyLimits } from './priority-level.ts'
import type { SeatDemandStats } from './seat-demand.ts'

export const adjustmentPeriodMs = 10_000

export interface Borrower {
  readonly exempt: boolean
  readonly limits: ConcurrencyLimits
  readonly demand: SeatDemandStats
}

export interface Adjustment {
  readonly currentLimit: number
  readonly target: number
}

export interface Adjustments {
  /** In the order of the borrowers. */
  readonly levels: readonly Adjustment[]
  /** Seats given for each seat of target where no bound decides; 0 where there is nothing to divide. */
  readonly fairFraction: number
}

/** `seats` is the sum of all nominal limits. */
export function adjustLimits(borrowers: readonly Borrower[], seats: number): Adjustments {
  const limited = borrowers.filter(({ exempt }) => !exempt)
  let rest = seats
  for (const borrower of borrowers) if (borrower.exempt) rest -= floorOf(borrower)
  const minSum = sum(limited, ({ limits }) => limits.min)
  const floorSum = sum(limited, floorOf)

  let fairFraction = 0
  let limitOf: (borrower: Borrower) => number
  if (rest <= minSum) {
    // Exempt requests take so much that the others fall to their minimum.
    limitOf = ({ limits }) => limits.min
  } else if (rest <= floorSum) {
    const fraction = (rest - minSum) / (floorSum - minSum)
    limitOf = (borrower) => borrower.limits.min + Math.round((floorOf(borrower) - borrower.limits.min) * fraction)
  } else {
    fairFraction = fairFractionFor(limited.map(boundsOf), seats)
    limitOf = (borrower) => Math.round(allocate(boundsOf(borrower), fairFraction))
  }
  return {
    fairFraction,
    levels: borrowers.map((borrower) => ({
      target: targetOf(borrower),
      currentLimit: borrower.exempt ? floorOf(borrower) : limitOf(borrower),
    })),
  }
}

/**
 * What a level keeps in any case: as much of its nominal limit as it has needed in the period. Exempt requests have no
 * limit, so what they needed is gone.
 */
function floorOf({ exempt, limits, demand }: Borrower): number {
  return Math.max(limits.min, exempt ? demand.highWatermark : Math.min(limits.nominal, demand.highWatermark))
}

const targetOf = (borrower: Borrower): number => Math.max(floorOf(borrower), borrower.demand.smoothed)

export interface AllocationBounds {
  readonly lower: number
  readonly upper: number
  readonly target: number
}

const boundsOf = (borrower: Borrower): AllocationBounds => ({
  lower: floorOf(borrower),
  upper: borrower.limits.max,
  target: targetOf(borrower),
})

/** A level without any demand takes part in a division of what is left over, too. */
const minTarget = 0.001

const allocate = ({ lower, upper, target }: AllocationBounds, fraction: number): number =>
  Math.max(lower, Math.min(upper, fraction * Math.max(target, minTarget)))

/**
 * The fraction of their targets that the levels get so that all of `seats` is given out, each level within its bounds.
 * What is given out grows with the fraction, in straight pieces between the fractions at which some level reaches a
 * bound: so the piece is looked up that holds `seats`. Bounds that leave no such fraction are met as far as they allow.
 */
export function fairFractionFor(levels: readonly AllocationBounds[], seats: number): number {
  const givenOut = (fraction: number): number => sum(levels, (level) => allocate(level, fraction))
  const corners = levels
    .flatMap(({ lower, upper, target }) => [lower, upper].map((bound) => bound / Math.max(target, minTarget)))
    .sort((a, b) => a - b)
  let from = 0
  let fromSeats = givenOut(0)
  for (const to of corners) {
    const toSeats = givenOut(to)
    if (toSeats >= seats)
      return toSeats > fromSeats ? from + ((seats - fromSeats) / (toSeats - fromSeats)) * (to - from) : to
    from = to
    fromSeats = toSeats
  }
  return from
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  let total = 0
  for (const item of items) total += of(item)
  return total
}
