/**
 * What an expression made, as JSON. Its size is bounded on the way: a few variables, each of which holds the one before
 * it twice, stand for more than fits into memory.
 * @see ConvertToNative in k8s.io/apiserver/pkg/cel/mutation/dynamic/objects.go v0.36
 */

import { setMember } from '../base/json-text.ts'
import { exactNumber, isExactNumber } from '../kube/json-value.ts'
import { maxDepth } from '../kube/strict-json.ts'
import type { JsonObject, JsonValue } from '../kube/types.ts'
import type { Budget } from './budget.ts'
import { BuiltObject, jsonBehind } from './json-values.ts'
import { printDuration, printTimestamp } from './time-text.ts'
import { CelError, CelList, CelMap, type CelValue, Duration, Timestamp, typeNameOf, Uint } from './values.ts'

/** As large as a request may be. */
const maxBytes = 3 * 1024 * 1024

export interface ToJsonOptions {
  /** Integers that a double can't hold: as they are, or as texts. */
  readonly largeIntegers: 'exact' | 'text'
  /** Its time is also that of writing. */
  readonly budget: Budget
}

/**
 * @throws CelError for what JSON can't say, and for too much of it; BudgetError (also a CelError) if it takes too long
 */
export function toJson(value: CelValue, options: ToJsonOptions): JsonValue {
  return new Writer(options).write(value, 0)
}

class Writer {
  readonly #options: ToJsonOptions
  #left = maxBytes

  constructor(options: ToJsonOptions) {
    this.#options = options
  }

  write(value: CelValue, depth: number): JsonValue {
    this.#spend(2)
    if (depth > maxDepth) throw new CelError('the result is nested too deeply')
    if (value === null || typeof value === 'boolean') return value
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'bigint') return this.#integer(value)
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value
      throw new CelError(`JSON has no number ${value}`)
    }
    const json = jsonBehind(value)
    if (json !== undefined) return this.#known(json, depth)
    if (value instanceof Uint) return this.#integer(value.value)
    if (value instanceof Uint8Array) return this.#text(Buffer.from(value).toString('base64'))
    if (value instanceof Timestamp) return this.#text(printTimestamp(value))
    if (value instanceof Duration) return this.#text(printDuration(value))
    if (value instanceof CelList) return Array.from(value, (item) => this.write(item, depth + 1))
    if (value instanceof CelMap) return this.#map(value, depth)
    if (value instanceof BuiltObject) return this.#members(value.values, depth)
    throw new CelError(`JSON has no values of type ${typeNameOf(value)}`)
  }

  #spend(bytes: number): void {
    this.#options.budget.work(1)
    this.#left -= bytes
    if (this.#left < 0) throw new CelError(`the result is larger than ${maxBytes} bytes`)
  }

  #text(text: string): string {
    this.#spend(text.length)
    return text
  }

  #integer(value: bigint): JsonValue {
    const number = Number(value)
    if (Number.isSafeInteger(number)) return number
    return this.#options.largeIntegers === 'text'
      ? value.toString()
      : (exactNumber(value.toString()) as unknown as JsonValue)
  }

  #map(map: CelMap, depth: number): JsonObject {
    const members: [string, CelValue][] = []
    for (const key of map.keys()) {
      if (typeof key !== 'string')
        throw new CelError(`map key ${String(key)} is of type ${typeNameOf(key)}, not string`)
      members.push([key, map.find(key) ?? null])
    }
    return this.#members(members, depth)
  }

  #members(members: Iterable<readonly [string, CelValue]>, depth: number): JsonObject {
    const object: JsonObject = {}
    for (const [name, value] of members) {
      this.#spend(name.length)
      setMember(object, name, this.write(value, depth + 1))
    }
    return object
  }

  /** Shared, and measured. */
  #known(json: JsonValue, depth: number): JsonValue {
    if (depth > maxDepth) throw new CelError('the result is nested too deeply')
    this.#spend(2)
    if (typeof json === 'string') this.#spend(json.length)
    else if (Array.isArray(json)) for (const item of json) this.#known(item, depth + 1)
    else if (typeof json === 'object' && json !== null && !isExactNumber(json)) {
      for (const [name, value] of Object.entries(json)) {
        this.#spend(name.length)
        this.#known(value as JsonValue, depth + 1)
      }
    }
    return json
  }
}
