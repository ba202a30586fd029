/**
 * What a listener has under way: requests that wait for their answers, and answers that go on until either side ends
 * them.
 */
export class Traffic {
  #underWay = 0
  #goingOn = 0
  readonly #waits = new Set<{ readonly isOver: () => boolean; readonly resolve: () => void }>()

  begin(): void {
    this.#underWay++
  }

  end(): void {
    this.#underWay--
    this.#look()
  }

  /** The answer has begun, and goes on until what this returns is called: a watch. */
  goOn(): () => void {
    this.#goingOn++
    this.#look()
    return () => {
      this.#goingOn--
    }
  }

  /** Resolves when all that is left are answers that go on, or at the deadline. */
  answered(deadline: AbortSignal): Promise<void> {
    return this.#until(() => this.#underWay === this.#goingOn, deadline)
  }

  /** Resolves when nothing is left, or at the deadline. */
  over(deadline: AbortSignal): Promise<void> {
    return this.#until(() => this.#underWay === 0, deadline)
  }

  async #until(isOver: () => boolean, deadline: AbortSignal): Promise<void> {
    if (isOver() || deadline.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const wait = { isOver, resolve }
    this.#waits.add(wait)
    const late = (): void => resolve()
    deadline.addEventListener('abort', late, { once: true })
    await promise
    deadline.removeEventListener('abort', late)
    this.#waits.delete(wait)
  }

  #look(): void {
    if (this.#waits.size === 0) return
    for (const { isOver, resolve } of this.#waits) if (isOver()) resolve()
  }
}
