/** JSON objects one behind the other, as kubectl takes them in a file: `{…}{…}`, `{…}\n{…}`. Pure. */
import { parseJsonText } from '../base/parse-json-text.ts'

export interface DocumentText {
  readonly text: string
  readonly linesBefore: number
}

/** Each by itself; a text that is no such row stays one, for its reader to say what is wrong. */
export function objectsInARow(document: DocumentText): readonly DocumentText[] {
  const { text, linesBefore } = document
  const objects: DocumentText[] = []
  let depth = 0
  let from = 0
  let lines = linesBefore
  let began = linesBefore
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '\n') lines++
    else if (depth === 0 && token !== '{') return [document]
    else if (token === '{' && depth++ === 0) {
      from = index
      began = lines
    } else if (token === '}' && --depth === 0) objects.push({ text: text.slice(from, index + 1), linesBefore: began })
  }
  return depth === 0 && objects.length > 1 && objects.every((object) => isJson(object.text)) ? objects : [document]
}

/** Line breaks, braces, texts; and, as none of them may stand between objects, all else that is no blank. */
const tokens = /\n|[{}]|"(?:[^"\\\n]|\\.)*"|[^\s{}"]+|"/g

function isJson(text: string): boolean {
  try {
    parseJsonText(text)
    return true
  } catch {
    return false
  }
}
