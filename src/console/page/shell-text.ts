/** Texts in commands that are copied to a shell. */

/** What a shell takes for one word, and for nothing else. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
