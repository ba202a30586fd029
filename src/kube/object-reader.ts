/** Reads one object of a configuration file strictly: what it was not asked for is refused. */
import { isJsonObject } from './json-value.ts'
import type { JsonObject, JsonValue } from './types.ts'

type ErrorClass = new (message: string) => Error

/** All of its methods throw an error of the given class, which says the field, for a value of another type. */
export class ObjectReader {
  /** Where the object is in its file. */
  readonly at: string
  readonly #object: JsonObject
  readonly #unread: Set<string>
  readonly #error: ErrorClass

  constructor(value: JsonValue | undefined, at: string, error: ErrorClass) {
    this.at = at
    this.#error = error
    // `identity: {}` may be written without its value.
    const object = value ?? {}
    if (!isJsonObject(object)) throw this.#fault('', 'it must be an object')
    this.#object = object
    this.#unread = new Set(Object.keys(object))
  }

  has(name: string): boolean {
    return name in this.#object
  }

  text(name: string, missing = ''): string {
    return this.optionalText(name) ?? missing
  }

  optionalText(name: string): string | undefined {
    const value = this.#take(name) ?? undefined
    if (value !== undefined && typeof value !== 'string') throw this.#fault(name, 'it must be text')
    return value
  }

  number(name: string): number | undefined {
    const value = this.#take(name)
    if (value !== undefined && typeof value !== 'number') throw this.#fault(name, 'it must be a number')
    return value
  }

  boolean(name: string): boolean {
    const value = this.#take(name) ?? false
    if (typeof value !== 'boolean') throw this.#fault(name, 'it must be true or false')
    return value
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((value, i) => {
      if (typeof value !== 'string') throw this.#fault(`${name}[${i}]`, 'it must be text')
      return value
    })
  }

  list(name: string): readonly JsonValue[] {
    const value = this.#take(name) ?? []
    if (!Array.isArray(value)) throw this.#fault(name, 'it must be a list')
    return value
  }

  /** Of any type; undefined where it is missing or null. */
  value(name: string): JsonValue | undefined {
    return this.#take(name) ?? undefined
  }

  objects(name: string): readonly ObjectReader[] {
    return this.list(name).map((value, i) => new ObjectReader(value, `${this.pathOf(name)}[${i}]`, this.#error))
  }

  nested(name: string): ObjectReader {
    return new ObjectReader(this.#take(name) ?? {}, this.pathOf(name), this.#error)
  }

  end(): void {
    const [unknown] = this.#unread
    if (unknown !== undefined) throw this.#fault(unknown, 'there is no such field')
  }

  #take(name: string): JsonValue | undefined {
    this.#unread.delete(name)
    return this.#object[name]
  }

  /** Where a field of it is in the file. */
  pathOf(name: string): string {
    return [this.at, name].filter((part) => part !== '').join('.')
  }

  #fault(name: string, problem: string): Error {
    const path = this.pathOf(name)
    return new this.#error(path === '' ? problem : `${path}: ${problem}`)
  }
}
