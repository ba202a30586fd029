/** Counts the turns of the event loop, from when it is made until it is stopped. */
export class TurnCounter {
  turns = 0
  #isStopped = false

  constructor() {
    setImmediate(this.#turn)
  }

  stop(): void {
    this.#isStopped = true
  }

  readonly #turn = (): void => {
    this.turns++
    if (!this.#isStopped) setImmediate(this.#turn)
  }
}
