/**
 * Answers of the server that stand for others. A plan over thousands of namespaces asks the same thousands of times:
 * what would become of this object, which says the same everywhere, if the same were applied to it? A question that
 * many namespaces have answered alike is not asked in the rest. One that was refused or answered otherwise anywhere is
 * asked everywhere. ADR 0102 says what is lost by that.
 */

/** Default: namespaces that are asked, before the others are believed to answer alike. */
export const askedOfAlike = 100

interface Question {
  answered: number
  /** False: it was refused somewhere, or answered otherwise. */
  isAlike: boolean
  said: string | undefined
  kept: unknown
  /** The longest texts of a namespace with which it was answered. */
  lengths: readonly number[]
  /** Those of the place that was asked first. */
  readonly texts: readonly string[]
  /** Of each, whether a place with another one has answered alike. */
  isVaried: readonly boolean[]
}

export interface Asking<T> {
  readonly ask: () => Promise<T>
  /** What of an answer must be alike; undefined: it stands for no other. */
  readonly said: (answer: T) => string | undefined
  /** An answer as it is kept for others. */
  readonly keep: (answer: T) => unknown
  /** What another place was answered, as the answer here. */
  readonly share: (kept: unknown) => T
  /** Whether what is kept stands for others still. */
  readonly isBelieved?: (kept: unknown) => boolean
  /** Of the texts in the question that are this place's own: a server may find longer ones too long. */
  readonly lengths: readonly number[]
  /**
   * The texts that are taken out of an answer. One that all who were asked have in common (an account that creates all
   * namespaces) may stand in it by chance, as a word that the server put there, and be none to others.
   */
  readonly texts: readonly string[]
}

export class AlikeAnswers {
  readonly #asked: number
  readonly #questions = new Map<string, Question>()

  constructor(asked: number = askedOfAlike) {
    this.#asked = asked
  }

  /** No place has refused it, or answered it otherwise. */
  isAlike(question: string): boolean {
    return this.#questions.get(question)?.isAlike !== false
  }

  /** @param question all that the answer depends on, its place excepted */
  async of<T>(question: string, asking: Asking<T>): Promise<T> {
    const { ask, said: saidBy, keep, share, lengths, texts, isBelieved = () => true } = asking
    const known: Question = this.#questions.get(question) ?? {
      answered: 0,
      isAlike: true,
      said: undefined,
      kept: undefined,
      lengths: lengths.map(() => 0),
      texts,
      isVaried: texts.map(() => false),
    }
    this.#questions.set(question, known)
    const isShort = lengths.every((length, i) => length <= (known.lengths[i] ?? 0))
    const isOther = texts.map((text, i) => text !== known.texts[i])
    const isProven = isOther.every((other, i) => !other || known.isVaried[i])
    const isKnown = known.isAlike && known.answered >= this.#asked && isShort && isProven
    if (isKnown && isBelieved(known.kept)) return share(known.kept)
    try {
      const answer = await ask()
      const said = saidBy(answer)
      if (known.answered === 0) {
        known.said = said
        known.kept = keep(answer)
      }
      known.answered++
      known.isVaried = known.isVaried.map((varied, i) => varied || isOther[i] === true)
      known.lengths = known.lengths.map((length, i) => Math.max(length, lengths[i] ?? 0))
      if (said === undefined || known.said !== said) known.isAlike = false
      return answer
    } catch (error) {
      known.isAlike = false
      throw error
    }
  }
}
