/**
 * What bounds an evaluation: a cost in upstream's units, so that a rule that passes there passes here, and time. The
 * cost of an operation may be small where its work is not (the size of a long text costs 1), so work is counted too,
 * and the clock is read after each piece of it.
 */
import { compilePattern } from '../kube/schema/pattern.ts'
import { CelError } from './values.ts'

/** Upstream's `PerCallLimit`, meant as 0.1 s. */
export const costPerCall = 1_000_000
/** Upstream's `RuntimeCELCostBudget`: for one object, or one binding of a policy. */
export const costPerObject = 10_000_000
/** Upstream's `RuntimeCELCostBudgetMatchConditions`. */
export const costPerMatchConditions = 2_500_000

/** Ours: no request may hold the process longer (time of the processor). Costs end honest expressions long before. */
const maxMilliseconds = 1_000
/** Between two looks at the clock: some 0.1 ms. */
const workBetweenLooks = 5_000
/** Steps of the pattern engine that are one piece of work. */
const patternStepsPerWork = 4
/** One match can't be interrupted: at most some 50 ms. */
const maxPatternSteps = 4_000_000

/** The end of an evaluation, not a value: neither `||` nor `&&` absorbs it. */
export class BudgetError extends CelError {
  override readonly name = 'BudgetError'
  readonly exceeded: 'cost' | 'time'
  constructor(exceeded: 'cost' | 'time') {
    super(
      exceeded === 'cost'
        ? 'operation cancelled: actual cost limit exceeded'
        : 'operation interrupted: the time limit was exceeded',
    )
    this.exceeded = exceeded
  }
}

export interface AllowanceLimits {
  readonly cost: number
  /** Time of the processor. */
  readonly milliseconds: number
  /** Of one match, which can't be interrupted. */
  readonly patternSteps: number
}

/** Half of what one call may cost: some 30 ms. What costs more is evaluated by another thread (ADR 0038). */
export const loopAllowance: AllowanceLimits = { cost: 500_000, milliseconds: 25, patternSteps: 1_000_000 }

/** What evaluations may take together of a thread that serves clients meanwhile. */
export class Allowance {
  readonly #patternSteps: number
  readonly #until: number
  #cost: number

  constructor(
    { cost, milliseconds, patternSteps }: AllowanceLimits = loopAllowance,
    now: number = threadMilliseconds(),
  ) {
    this.#cost = cost
    this.#until = now + milliseconds
    this.#patternSteps = patternSteps
  }

  charge(cost: number): void {
    this.#cost -= cost
    if (this.#cost < 0) throw new AllowanceExceeded()
  }

  look(now: number): void {
    if (now > this.#until) throw new AllowanceExceeded()
  }

  match(steps: number): void {
    if (steps > this.#patternSteps) throw new AllowanceExceeded()
  }
}

/**
 * An evaluation takes more of this thread than it may. Nothing is wrong with it, so this is no CelError: no expression
 * sees it, and no verdict stands on it.
 */
export class AllowanceExceeded extends Error {
  override readonly name = 'AllowanceExceeded'
  constructor() {
    super('the evaluation takes more of this thread than it may')
  }
}

export interface PatternMatcher {
  test(text: string): boolean
  /** The first `limit` matches, or all of them for a negative one. */
  findAll(text: string, limit: number): string[]
}

/** Of this thread, not of the wall: a busy machine must not change what a rule says. */
function threadMilliseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** For everything that is evaluated for one object. Not shared between requests. */
export class Budget {
  /** What is left for the whole; negative once it is used up. */
  left: number
  readonly #deadline: number
  readonly #now: () => number
  readonly #allowance: Allowance | undefined
  /** What is left of all pieces of work, which are the same on every machine. */
  #workLeft: number
  #work = 0
  #cost = 0
  #limit = costPerCall

  /** Without an allowance it has the thread to itself. */
  constructor(
    cost: number = costPerObject,
    now: () => number = threadMilliseconds,
    allowance?: Allowance,
    work: number = Infinity,
  ) {
    this.#workLeft = work
    this.left = cost
    this.#now = now
    this.#deadline = now() + maxMilliseconds
    this.#allowance = allowance
  }

  /** Begins a call of its own; `spent` afterwards says what it cost. */
  beginCall(limit: number = costPerCall): void {
    this.#cost = 0
    this.#limit = limit
    this.look()
  }

  get spent(): number {
    return this.#cost
  }

  /** Negative once it is used up. */
  get workLeft(): number {
    return this.#workLeft
  }

  /** A call within a call: limited and paid by itself. */
  separately<T>(run: () => T): T {
    const [cost, limit] = [this.#cost, this.#limit]
    this.beginCall()
    try {
      return run()
    } finally {
      this.left -= this.#cost
      this.#cost = cost
      this.#limit = limit
    }
  }

  charge(cost: number): void {
    this.#cost += cost
    if (this.#cost > this.#limit) throw new BudgetError('cost')
    this.#allowance?.charge(cost)
    this.work(1)
  }

  /** Work in proportion to `amount`: characters, items. */
  work(amount: number): void {
    this.#work += amount
    this.#workLeft -= amount
    if (this.#workLeft < 0) throw new BudgetError('time')
    if (this.#work >= workBetweenLooks) this.look()
  }

  look(): void {
    this.#work = 0
    const now = this.#now()
    if (now > this.#deadline) throw new BudgetError('time')
    this.#allowance?.look(now)
  }

  pattern(pattern: string): PatternMatcher {
    this.work(pattern.length)
    const expression = compilePattern(pattern)
    const spend = (text: string): void => {
      const steps = (text.length + 1) * expression.programSize()
      if (steps > maxPatternSteps) throw new BudgetError('time')
      this.#allowance?.match(steps)
      this.work(steps / patternStepsPerWork)
    }
    return {
      test(text) {
        spend(text)
        return expression.test(text)
      },
      findAll(text, limit) {
        const out: string[] = []
        const matcher = expression.matcher(text)
        let from = 0
        while (limit < 0 || out.length < limit) {
          // Every search walks over what is left of the text at worst.
          spend(text.slice(from))
          if (!matcher.find()) break
          const found = matcher.group() ?? ''
          out.push(found)
          from = matcher.end()
        }
        return out
      },
    }
  }
}
