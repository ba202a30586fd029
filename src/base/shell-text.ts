/**
 * Texts on a terminal, and in commands that a user copies to a shell. Names may hold anything: those of Roles hold
 * quotes and `$(…)`.
 */

/**
 * One word to a shell, and nothing else: to bash, zsh and sh, and to fish, to which a backslash before a quote stands
 * for the quote within single quotes too. Where `$'…'` is unknown, a text that does not show as it is (a line break,
 * ESC) is another word or an error, and runs nothing either.
 */
export function shellWord(text: string): string {
  // To zsh `=ls` is the path of a program, to fish `%self` a process.
  if (/^(?![=%])[\w@%+=:,./-]+$/.test(text)) return text
  // A terminal takes a control character for a key; a text that turns direction looks like another one.
  if (unseen.test(text)) return `$'${text.replaceAll(new RegExp(`${unseen.source}|[\\\\']`, 'gu'), escaped)}'`
  return `'${text.replaceAll(/[\\']+/g, (run) => `'"${run.replaceAll('\\', '\\\\')}"'`)}'`
}

/** The arguments by which kubectl finds an object, also one whose name looks like a flag (`--all`). */
export const objectArguments = (resource: string, name: string): string =>
  name.startsWith('-') ? shellWord(`${resource}/${name}`) : `${resource} ${shellWord(name)}`

/** In one line, and nothing that a terminal takes for a command: what does not show as it is, as JSON escapes it. */
export const visibleText = (text: string): string =>
  unseen.test(text) ? text.replaceAll(new RegExp(unseen, 'gu'), escapedInJson) : text

function escapedInJson(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return `\\U${code.toString(16).padStart(8, '0')}`
}
