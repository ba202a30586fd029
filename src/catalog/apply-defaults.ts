/**
 * What upstream's defaulting makes of a decoded object: defaults are set, structs held by value and always-printed
 * numbers and texts are there. Types, nulls and canonical forms are the decoder's business (kube/schema/decode.ts).
 *
 * One walk over what is there; what a type needs is worked out once and kept with its schema.
 */

import { findQuantity, printQuantity } from '../kube/quantity.ts'
import type { Schema } from '../kube/schema/schema.ts'
import type { JsonValue } from '../kube/types.ts'
import { printedEmpty, printedZeros } from './facts/by-value.ts'
import type { DefaultRule, Fields } from './kinds/default-rules.ts'
import { builtInDefaults } from './kinds/kinds.ts'

interface Plan {
  readonly rules: readonly DefaultRule[]
  readonly structs: readonly string[]
  /** Lists that Go prints as null where they are not set. */
  readonly lists: readonly string[]
  readonly zeros: readonly (readonly [field: string, value: 0 | false | ''])[]
  readonly defaults: readonly (readonly [field: string, value: JsonValue])[]
}

export class Defaulter {
  readonly #rules = new Map<string, readonly DefaultRule[]>(builtInDefaults.flatMap((rules) => Object.entries(rules)))
  readonly #plans = new WeakMap<Schema, Plan>()
  readonly #alwaysPrinted: (typeName: string) => readonly string[]

  constructor(alwaysPrinted: (typeName: string) => readonly string[]) {
    this.#alwaysPrinted = alwaysPrinted
  }

  /** Names of all types with rules, for the test that they exist. */
  get typeNames(): Iterable<string> {
    return this.#rules.keys()
  }

  /** Changes `value` in place. What does not fit the schema stays as it is: telling so is the decoder's business. */
  apply(schema: Schema, value: object): void {
    this.#object(schema, value as Fields)
  }

  #object(schema: Schema, value: Fields): void {
    const { properties, additionalProperties } = schema
    if (properties) {
      const plan = this.#planOf(schema, properties)
      for (const rule of plan.rules) rule(value)
      for (const field of plan.structs) value[field] ??= {}
      for (const field of plan.lists) value[field] ??= null
      for (const [field, zero] of plan.zeros) value[field] ??= zero
      for (const [field, fallback] of plan.defaults) {
        const sent = value[field]
        if (sent === undefined || sent === '') value[field] = fallback
      }
      for (const field in value) {
        const child = properties.get(field)
        if (child) value[field] = this.#value(child, value[field])
      }
    } else if (typeof additionalProperties === 'object') {
      for (const key in value) value[key] = this.#value(additionalProperties, value[key])
    }
  }

  /** Lists and objects are completed in place; amounts come back rounded. */
  #value(schema: Schema, value: unknown): unknown {
    if (schema.type === 'quantity') return typeof value === 'string' ? roundedUp(value) : value
    if (typeof value !== 'object' || value === null) return value
    if (!Array.isArray(value)) {
      if (schema.type === 'object') this.#object(schema, value as Fields)
      return value
    }
    const { items } = schema
    if (items) for (let i = 0; i < value.length; i++) value[i] = this.#value(items, value[i])
    return value
  }

  #planOf(schema: Schema, properties: ReadonlyMap<string, Schema>): Plan {
    const known = this.#plans.get(schema)
    if (known) return known
    const structs: string[] = []
    const lists: string[] = []
    const zeros: [string, 0 | false | ''][] = []
    const defaults: [string, JsonValue][] = []
    const { typeName = '' } = schema
    const printed = new Set([
      ...(typeName === '' ? [] : this.#alwaysPrinted(typeName)),
      ...(printedZeros[typeName]?.split(' ') ?? []),
    ])
    const empty = new Set(printedEmpty[typeName]?.split(' '))
    for (const [field, child] of properties) {
      if (child.byValue) (child.type === 'array' ? lists : structs).push(field)
      else if (child.default !== undefined) defaults.push([field, child.default])
      else if (empty.has(field)) zeros.push([field, ''])
      else if (printed.has(field) && (child.type === 'integer' || child.type === 'number')) zeros.push([field, 0])
      else if (printed.has(field) && child.type === 'boolean') zeros.push([field, false])
    }
    const plan: Plan = { rules: this.#rules.get(schema.typeName ?? '') ?? [], structs, lists, zeros, defaults }
    this.#plans.set(schema, plan)
    return plan
  }
}

const milli = 1_000_000n

/** Amounts are counted in thousandths, rounded up. Finer ones are canonical with an `n` or `u`. */
function roundedUp(amount: string): string {
  if (!amount.endsWith('n') && !amount.endsWith('u')) return amount
  const quantity = findQuantity(amount)
  if (!quantity) return amount
  const { nanos, format } = quantity
  const rest = nanos % milli
  return rest === 0n ? amount : printQuantity({ nanos: nanos - rest + (nanos > 0n ? milli : -milli), format })
}
