/**
 * Runs a decision that reads synchronously where its answers are on another machine.
 *
 * The decision is run on guesses; each lookup that it makes is noted, fetched, and the decision run again, until it has
 * made no new one. So the same code decides on Borough, where the cache answers, and on any cluster, where the API
 * server must be asked. The decision must have no side effects and must depend on nothing but its lookups.
 */

/** A decision asks in a few layers (who may do what, what a role grants); more means that it never settles. */
const maxRounds = 10
/** Questions under way at once. */
const width = 16

/** Not a refusal of the request, even if the cause is one: this process was refused. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed'
}

export class RemoteLookups {
  readonly #answers = new Map<string, unknown>()
  readonly #open = new Map<string, () => Promise<unknown>>()

  /** The answer to `question`, or `guess` until it is fetched. */
  ask<T>(question: string, fetch: () => Promise<T>, guess: T): T {
    if (this.#answers.has(question)) return this.#answers.get(question) as T
    this.#open.set(question, fetch)
    return guess
  }

  /**
   * What `decision` answers or throws once all it asked is answered.
   * @throws LookupFailed if an answer could not be had
   */
  async settle<T>(decision: () => Promise<T>): Promise<T> {
    for (let round = 0; round < maxRounds; round++) {
      this.#open.clear()
      let outcome: () => T
      try {
        const value = await decision()
        outcome = () => value
      } catch (error) {
        outcome = () => {
          throw error
        }
      }
      if (this.#open.size === 0) return outcome()
      const questions = [...this.#open]
      for (let i = 0; i < questions.length; i += width) {
        await Promise.all(
          questions.slice(i, i + width).map(async ([question, fetch]) => {
            this.#answers.set(question, await answerTo(question, fetch))
          }),
        )
      }
    }
    throw new Error(`a decision still had questions after ${maxRounds} rounds`)
  }
}

async function answerTo(question: string, fetch: () => Promise<unknown>): Promise<unknown> {
  try {
    return await fetch()
  } catch (cause) {
    throw new LookupFailed(`no answer to: ${question}`, { cause })
  }
}
