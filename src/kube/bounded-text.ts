/**
 * Texts of refusals, however long what they repeat of a request is: a name may have three million characters, and a
 * refusal says it up to five times. Ours: upstream cuts the values of field errors (`field-error.ts`) and nothing else.
 */
import type { StatusDetails } from './types.ts'

/** What is shorter is sent as it is: the values of field errors are cut at 10,000 characters. */
const shortLength = 16 * 1024
/** Of what has no space in it. */
const maxWordLength = 1024
/** Of a whole text: the conflicts of an apply of thousands of fields are told. */
const maxLength = 256 * 1024

const longWord = new RegExp(`(\\S{${maxWordLength}})\\S+`, 'g')

export function boundedText(text: string): string {
  if (text.length <= shortLength) return text
  const cut = text.replace(longWord, '$1…')
  return cut.length <= maxLength ? cut : `${cut.slice(0, maxLength)}…`
}

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
