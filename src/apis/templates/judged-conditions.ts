/**
 * What costly conditions came to, for the next who asks with the same values: passes over a namespace, and writes in
 * it, ask the same again and again. It changes no verdict: what is found is charged as if it were judged, and what was
 * ended because too little was left is found only where just as much is left.
 */
import { hash } from 'node:crypto'
import { SizedCache } from '../../base/sized-cache.ts'

/** True: it is for the namespace. A text: that can't be said, and why. */
export type ConditionVerdict = boolean | string

/** What conditions may take, or have taken: in CEL's units, and in work (`src/cel/budget.ts`). */
export interface Effort {
  readonly cost: number
  readonly work: number
}

export interface Judgement {
  readonly verdict: ConditionVerdict
  readonly spent: Effort
  /** It was ended for want of what it needed: with more left it would have come to something else. */
  readonly isEnded: boolean
}

/** Some 0.5 ms. To judge what takes less costs little more than to look it up. */
const costlyFrom = 5000

export const isCostly = ({ spent: { cost, work } }: Judgement): boolean => cost >= costlyFrom || work >= costlyFrom

/** Some ten thousand, or fewer with long verdicts. */
const budgetBytes = 4 * 1024 * 1024
/** Of an entry, but for its verdict: the keys are digests. */
const entryBytes = 300

export class JudgedConditions {
  readonly #judged: SizedCache<Judgement>

  constructor(budget: number = budgetBytes) {
    this.#judged = new SizedCache(budget)
  }

  find(key: string, left: Effort): Judgement | undefined {
    const whole = this.#judged.get(key)
    if (whole !== undefined && fits(whole, left)) return whole
    return this.#judged.get(keyWithin(key, left))
  }

  keep(key: string, left: Effort, judged: Judgement): void {
    const { verdict, isEnded } = judged
    const size = entryBytes + (typeof verdict === 'string' ? 2 * verdict.length : 0)
    this.#judged.set(isEnded ? keyWithin(key, left) : key, judged, size)
  }
}

const fits = ({ spent }: Judgement, left: Effort): boolean => spent.cost <= left.cost && spent.work <= left.work

const keyWithin = (key: string, { cost, work }: Effort): string => `${key} ${cost} ${work}`

/** Tenants choose the texts: no two of them may meet. */
export const digestOfInput = (...input: readonly unknown[]): string => hash('sha256', JSON.stringify(input), 'base64')
