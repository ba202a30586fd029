/** The text of a large document in parts: of its maps that have many members, member by member. */
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'

/** Such maps lie so deep at most: `components.schemas`. */
const mapsDown = 2
const manyMembers = 20

/** Together what `JSON.stringify` makes of it. */
export function* jsonParts(value: JsonObject, depth: number = mapsDown): Generator<string, void, undefined> {
  let before = '{'
  for (const [key, member] of Object.entries(value)) {
    const head = `${before}${JSON.stringify(key)}:`
    before = ','
    if (!isJsonObject(member)) yield `${head}${JSON.stringify(member)}`
    else if (depth > 0 && isLong(member, depth)) {
      yield head
      yield* jsonParts(member, depth - 1)
    } else yield `${head}${JSON.stringify(member)}`
  }
  yield before === '{' ? '{}' : '}'
}

/** Or has a member that is. */
const isLong = (value: JsonObject, depth: number): boolean =>
  Object.keys(value).length > manyMembers ||
  (depth > 1 && Object.values(value).some((member: JsonValue) => isJsonObject(member) && isLong(member, depth - 1)))
