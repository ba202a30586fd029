/** What the server's words about an object name: the fields, and the managers who wrote them. Pure. */
import { parseJsonText } from '../../../base/parse-json-text.ts'

export interface Involved {
  readonly fields: readonly string[]
  /** Field managers, or templates that come first. */
  readonly by: readonly string[]
}

/** As `apply-object.ts` words drift, corrections and additions. */
const listings = [
  /\bdiffers from the template in (.*?)(?:, changed by (".*"))?$/s,
  /\bholds what the template does not: (.*?); drift: /s,
]
const corrections = /\bchanges by (.*?) were put back: (.*)$/s
/** As a server words conflicts of an apply: `conflict with "m1" using v1: .data.a`, or a list of fields below each. */
const conflict = /conflicts? with ("(?:[^"\\]|\\.)*")/g
const conflictField = /(?:^- |: )\.([^\s,]+)/gm
const otherTemplate = /\btemplate (\S+) (?:sets|holds|gives)\b/

export function involvedIn(message: string): Involved {
  for (const listing of listings) {
    const [found, fields = '', by = ''] = listing.exec(message) ?? []
    if (found !== undefined) return { fields: namesIn(fields), by: quotedIn(by) }
  }
  const [corrected, by = '', fields = ''] = corrections.exec(message) ?? []
  if (corrected !== undefined) return { fields: namesIn(fields), by: quotedIn(by) }
  const managers = [...message.matchAll(conflict)].map(([, quoted = '']) => unquoted(quoted))
  if (managers.length > 0) {
    const inConflict = [...message.matchAll(conflictField)].map(([, field = '']) => field)
    return { fields: unique(inConflict), by: unique(managers) }
  }
  const [, template] = otherTemplate.exec(message) ?? []
  return { fields: [], by: template === undefined ? [] : [`template ${template}`] }
}

/** `data.a, data.b, and 3 more` */
const namesIn = (list: string): readonly string[] => list.split(', ').filter((name) => name !== '')

const quotedIn = (list: string): readonly string[] =>
  [...list.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([quoted]) => unquoted(quoted))

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)]

function unquoted(text: string): string {
  try {
    return String(parseJsonText(text))
  } catch {
    return text
  }
}
