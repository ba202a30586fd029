/** Several faults in one message. */

/** One bare, several in brackets, as Go's aggregate prints errors. */
export const aggregate = (texts: readonly string[]): string =>
  texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
