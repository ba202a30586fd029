/** The text of a body into values: a long one in slices, and YAML counted as what it becomes. */
import type { Eventual } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Slice } from '../base/turns.ts'
import { type ParsedJson, parseJson, parsingJson } from '../kube/strict-json.ts'
import { parseYaml, parseYamlInSlices } from '../kube/yaml-body.ts'
import type { RequestAccount } from './api.ts'

export interface HowToParseText {
  readonly form: 'json' | 'yaml'
  /** Whether keys that repeat are to be found. */
  readonly duplicates: boolean
  readonly maxValues: number
  readonly account: RequestAccount | undefined
}

/**
 * Without a slice at once.
 * @throws JsonSyntaxError, YamlSyntaxError, TooManyValuesError, StatusError TooManyRequests
 */
export function parseBodyText(
  text: string,
  { form, duplicates, maxValues, account }: HowToParseText,
  slice: Slice | undefined,
): Eventual<ParsedJson> {
  if (slice === undefined) {
    return form === 'json' ? parseJson(text, { duplicates, maxValues }) : parseYaml(text, { maxValues })
  }
  if (form === 'json') return runInSlices(parsingJson(text, { duplicates, maxValues }), slice)
  let charged = 0
  // Many are under way at once, and what the parser has of each is many times the text.
  const charge = (bytes: number): void => {
    account?.charge(bytes)
    charged += bytes
  }
  return parseYamlInSlices(text, slice, { maxValues, charge }).finally(() => account?.give(charged))
}
