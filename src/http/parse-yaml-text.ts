/** The text of a YAML body into values: a long one in slices, and counted as what it becomes. */
import type { Eventual } from '../base/eventual.ts'
import type { Slice } from '../base/turns.ts'
import type { ParsedJson } from '../kube/strict-json.ts'
import { parseYaml, parseYamlInSlices } from '../kube/yaml-body.ts'
import type { RequestAccount } from './api.ts'

export interface HowToParseYaml {
  readonly maxValues: number
  readonly account: RequestAccount | undefined
}

/** Without a slice at once. @throws YamlSyntaxError, TooManyValuesError, StatusError TooManyRequests */
export function parseYamlText(
  text: string,
  { maxValues, account }: HowToParseYaml,
  slice: Slice | undefined,
): Eventual<ParsedJson> {
  if (slice === undefined) return parseYaml(text, { maxValues })
  let charged = 0
  // Many are under way at once, and what the parser has of each is many times the text.
  const charge = (bytes: number): void => {
    account?.charge(bytes)
    charged += bytes
  }
  return parseYamlInSlices(text, slice, { maxValues, charge }).finally(() => account?.give(charged))
}
