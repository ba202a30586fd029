/**
 * The texts in which two namespaces differ that are alike otherwise: the name, the owner and the creator. Taken out of
 * a question to the server, and put into the answer that another namespace was given (`alike-answers.ts`).
 */
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { creatorOf, ownerOf } from './match.ts'

interface Text {
  /** A control character: JSON has none, so that what is put back is just what was taken out. */
  readonly mark: string
  readonly plain: string
  /** As it stands in JSON. */
  readonly text: string
}

/**
 * In what is kept of an answer these words are ours (`dry-run-client.ts`, `plan-namespace.ts`). Who has one as a name
 * is asked about.
 */
const ours: ReadonlySet<string> = new Set([
  ...['object', 'before', 'after', 'apiVersion', 'kind', 'metadata', 'name', 'namespace', 'uid', 'resourceVersion'],
  ...['action', 'create', 'change', 'prune', 'orphan', 'refuse', 'skip', 'differences', 'path', 'reason', 'message'],
])

/** A text with marks, and which stand in it. */
export interface Unplaced {
  readonly text: string
  readonly marks: readonly number[]
}

export class PlaceTexts {
  readonly #texts: readonly Text[]

  constructor(namespace: Pick<KubeObject, 'metadata'>) {
    const all = [nameOf(namespace.metadata), ownerOf(namespace) ?? '', creatorOf(namespace) ?? '']
    // A text twice is the first one's.
    this.#texts = all.map((plain, i) => ({
      mark: String.fromCharCode(i + 1),
      plain,
      text: all.indexOf(plain) < i || ours.has(plain) ? '' : JSON.stringify(plain).slice(1, -1),
    }))
  }

  /** @param json as JSON.stringify writes it */
  takeOut(json: string): Unplaced {
    let text = json
    const marks: number[] = []
    for (const [i, one] of this.#texts.entries()) {
      const without = replace(text, one)
      if (without !== text) marks.push(i)
      text = without
    }
    return { text, marks }
  }

  putIn(text: string): string {
    return this.#texts.reduce((json, { mark, text: own }) => json.replaceAll(mark, () => own), text)
  }

  /** All that are put in. */
  own(): readonly string[] {
    return this.#texts.map(({ text }) => text)
  }

  /** What of these texts themselves a server may judge: what characters they have, and where. */
  shapesOf(marks: readonly number[]): readonly string[] {
    return marks.map((i) => `${i}${shapeOf((this.#texts[i] as Text).plain)}`)
  }

  lengthsOf(marks: readonly number[]): readonly number[] {
    return marks.map((i) => (this.#texts[i] as Text).text.length)
  }
}

/** As a word of its own, or a part between hyphens: `a` is not in every text that has an a. */
function replace(json: string, { mark, text }: Text): string {
  if (text === '') return json
  let done = ''
  let from = 0
  for (let at = json.indexOf(text); at !== -1; at = json.indexOf(text, at + text.length)) {
    const end = at + text.length
    if (isInWord(json, at - 1) || /[A-Za-z0-9]/.test(json[end] ?? '')) continue
    done += json.slice(from, at) + mark
    from = end
  }
  return from === 0 ? json : done + json.slice(from)
}

/** `\n` ends no word in n. */
const isInWord = (json: string, at: number): boolean =>
  /[A-Za-z0-9]/.test(json[at] ?? '') && !/\\[bfnrt]/.test(json.slice(Math.max(0, at - 1), at + 1))

/** Names, labels and keys are judged by their first and last characters, and by what else is in them. */
function shapeOf(text: string): string {
  const kindOf = (c = ''): string => (/[0-9]/.test(c) ? '0' : /[a-z]/.test(c) ? 'a' : /[A-Z]/.test(c) ? 'A' : c)
  return kindOf(text[0]) + kindOf(text.at(-1)) + [...new Set([...text].map(kindOf))].sort().join('')
}
