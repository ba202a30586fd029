/**
 * A PriorityLevelConfiguration as numbers, and how many seats each level gets of the server's total.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/apf_controller.go, max_seats.go v0.36
 */
import { canDeal } from './dealer.ts'
import { exemptName, type PriorityLevelObject } from './types.ts'

export interface Queuing {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

export interface PriorityLevelConfig {
  readonly name: string
  /** '' for a mandatory level that is not stored. */
  readonly uid: string
  readonly exempt: boolean
  readonly nominalShares: number
  readonly lendablePercent: number
  /** Undefined: the level may borrow all seats there are. */
  readonly borrowingLimitPercent: number | undefined
  /** Undefined: a request that finds no seat is refused at once. */
  readonly queuing: Queuing | undefined
}

/**
 * Undefined if the parts of the spec contradict each other. Validation refuses such an object; one that is stored all
 * the same is treated as if it did not exist.
 */
export function parsePriorityLevel(object: PriorityLevelObject): PriorityLevelConfig | undefined {
  const name = object.metadata.name ?? ''
  const { type, limited, exempt } = object.spec ?? {}
  const isExempt = type === 'Exempt'
  if ((type === 'Limited') !== (limited !== undefined)) return undefined
  if (isExempt !== (exempt !== undefined) || isExempt !== (name === exemptName)) return undefined
  const common = { name, uid: object.metadata.uid ?? '', exempt: isExempt }
  if (limited === undefined) {
    if (exempt === undefined) return undefined
    const { nominalConcurrencyShares: nominalShares = 0, lendablePercent = 0 } = exempt
    // An exempt level has no limit, so there is nothing for it to borrow.
    return Object.freeze({
      ...common,
      nominalShares,
      lendablePercent,
      borrowingLimitPercent: undefined,
      queuing: undefined,
    })
  }
  const { type: response, queuing } = limited.limitResponse ?? {}
  if ((response === 'Reject') !== (queuing === undefined)) return undefined
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing ?? {}
  if (queuing !== undefined && !canDeal(queues, handSize)) return undefined
  return Object.freeze({
    ...common,
    nominalShares: limited.nominalConcurrencyShares ?? 0,
    lendablePercent: limited.lendablePercent ?? 0,
    borrowingLimitPercent: limited.borrowingLimitPercent,
    queuing: queuing && Object.freeze({ queues, handSize, queueLengthLimit: Math.max(1, queueLengthLimit) }),
  })
}

/** In seats. `min` to `max` is how far borrowing may move the level's limit. */
export interface ConcurrencyLimits {
  readonly nominal: number
  readonly min: number
  readonly max: number
}

/** Rounded up, so the nominal limits may add up to a little more than `serverSeats`. */
export function concurrencyLimits(
  config: PriorityLevelConfig,
  serverSeats: number,
  shareSum: number,
): ConcurrencyLimits {
  const nominal = shareSum > 0 ? Math.ceil((serverSeats * config.nominalShares) / shareSum) : 0
  const lendable = Math.round((nominal * config.lendablePercent) / 100)
  const borrowable =
    config.borrowingLimitPercent === undefined
      ? serverSeats
      : Math.round((nominal * config.borrowingLimitPercent) / 100)
  return { nominal, min: nominal - lendable, max: nominal + borrowable }
}

const maxSeatsShare = 0.15

/**
 * How wide a single request of a level with queues may be: one flow's hand of wide requests must not take all seats.
 * Undefined: the level sets no bound.
 */
export function maxSeatsPerRequest(config: PriorityLevelConfig, nominal: number): number | undefined {
  if (config.queuing === undefined) return undefined
  return Math.max(1, Math.min(Math.ceil(nominal * maxSeatsShare), Math.floor(nominal / config.queuing.handSize)))
}
