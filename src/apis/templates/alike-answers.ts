/**
 * Answers of the server that stand for others. A plan over thousands of namespaces asks the same thousands of times:
 * what would become of this object, which says the same everywhere, if the same were applied to it? A question that
 * many namespaces have answered alike is not asked in the rest. One that was refused or answered otherwise anywhere is
 * asked everywhere. ADR 0102 says what is lost by that.
 */

/** Namespaces that are asked, before the others are believed to answer alike. */
export const askedOfAlike = 100

interface Question {
  answered: number
  /** False: it was refused somewhere, or answered otherwise. */
  isAlike: boolean
  said: string | undefined
  answer: unknown
}

export class AlikeAnswers {
  readonly #questions = new Map<string, Question>()

  /**
   * @param question all that the answer depends on, its place excepted
   * @param said what of an answer must be alike
   * @param onShared the answer is that of another place
   */
  async of<T>(
    question: string,
    how: { readonly ask: () => Promise<T>; readonly said: (answer: T) => string; readonly onShared: () => void },
  ): Promise<T> {
    const known = this.#questions.get(question) ?? { answered: 0, isAlike: true, said: undefined, answer: undefined }
    this.#questions.set(question, known)
    if (known.isAlike && known.answered >= askedOfAlike) {
      how.onShared()
      return known.answer as T
    }
    try {
      const answer = await how.ask()
      const said = how.said(answer)
      known.said ??= said
      known.answer ??= answer
      known.answered++
      if (known.said !== said) known.isAlike = false
      return answer
    } catch (error) {
      known.isAlike = false
      throw error
    }
  }
}
