/**
 * Texts of refusals, however long what they repeat of a request is: a name may have three million characters, and a
 * refusal says it up to five times. Ours: upstream cuts the values of field errors (`field-error.ts`) and nothing else.
 */
import type { StatusDetails } from './types.ts'

/** What is shorter is sent as it is: the values of field errors are cut at 10,000 characters. */
const shortLength = 32 * 1024
/** Of what has no space in it. */
const maxWordLength = 1024
/** Of a whole text: the conflicts of an apply of thousands of fields are told. */
const maxLength = 256 * 1024

export function boundedText(text: string): string {
  if (text.length <= shortLength) return text
  const cut = withShortWords(text)
  return cut.length <= maxLength ? cut : `${cut.slice(0, maxLength)}…`
}

/**
 * As far as `maxLength`, and what follows as it is. By hand: a pattern that looks for 1,025 characters begins anew at
 * each character of a word that has fewer, and a text of words of a thousand took seconds.
 */
function withShortWords(text: string): string {
  const anySpace = /\s/g
  let result = ''
  let copied = 0
  let word = 0
  while (word + maxWordLength < text.length && result.length + word - copied <= maxLength) {
    const cutAt = word + maxWordLength
    const space = lastSpace(text, word, cutAt)
    if (space !== undefined) {
      word = space + 1
      continue
    }
    result += `${text.slice(copied, cutAt)}…`
    copied = cutAt
    // Names of 60,000 characters are said five times in a refusal: a pattern is ten times as fast as a loop.
    anySpace.lastIndex = copied
    copied = anySpace.exec(text)?.index ?? text.length
    word = copied + 1
  }
  return result + text.slice(copied)
}

function lastSpace(text: string, from: number, to: number): number | undefined {
  for (let i = to; i >= from; i--) if (isSpace(text.charCodeAt(i))) return i
  return undefined
}

const wideSpaces: ReadonlySet<number> = new Set(
  [...'\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'].map((c) => c.charCodeAt(0)),
)

/** As `\s` of a pattern. */
const isSpace = (code: number): boolean =>
  code === 32 ||
  (code >= 9 && code <= 13) ||
  (code >= 160 && (wideSpaces.has(code) || (code >= 0x2000 && code <= 0x200a)))

export function boundedDetails(details: StatusDetails): StatusDetails {
  const { name, causes } = details
  return {
    ...details,
    ...(name === undefined ? {} : { name: boundedText(name) }),
    ...(causes === undefined
      ? {}
      : {
          causes: causes.map((cause) => ({
            ...cause,
            ...(cause.message === undefined ? {} : { message: boundedText(cause.message) }),
            ...(cause.field === undefined ? {} : { field: boundedText(cause.field) }),
          })),
        }),
  }
}
