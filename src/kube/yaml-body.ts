/**
 * YAML bodies to JSON values, read as upstream reads them: YAML 1.1 booleans and octal numbers, but dates, clock times
 * and binaries stay texts. Only the first document counts.
 * @see sigs.k8s.io/yaml
 */
import type { LineCounter, Scalar } from 'yaml'
import { setMember } from '../base/json-text.ts'
import { loadLater } from '../base/load-later.ts'
import type { Slice } from '../base/turns.ts'
import { cloneJson } from './clone-json.ts'
import { quote } from './go-quote.ts'
import {
  JsonDepthError,
  type JsonOptions,
  JsonSyntaxError,
  maxDepth,
  numberOf,
  type ParsedJson,
  parsingJson,
  printPath,
} from './strict-json.ts'
import type { JsonObject, JsonValue } from './types.ts'
import { TooManyValuesError } from './value-count.ts'
import { type Composed, composing, excessiveAliasing, maxYamlDepth, tooDeep, YamlSyntaxError } from './yaml-document.ts'
import type { QuotedTexts } from './yaml-quoted.ts'

const yaml = loadLater<typeof import('yaml')>('yaml')

/** After aliases are expanded: as many as a body may have bytes. */
const maxCharacters = 3 * 1024 * 1024
/** Where the caller names no other bound. */
const defaultMaxValues = 1_000_000
const maxDuplicates = 100

/** Makes something else of a quoted text. */
const otherTag = /^tag:yaml\.org,2002:(int|float|bool|null)$/

/** A value that an alias may stand for, and what it adds where it does. */
interface Anchored {
  readonly value: JsonValue
  readonly values: number
  readonly characters: number
}

class Converter {
  readonly #lines: LineCounter
  readonly #quoted: QuotedTexts
  readonly #path: (string | number)[] = []
  readonly #anchors = new Map<string, Anchored>()
  readonly duplicates = new Set<string>()
  readonly repeats: string[] = []
  readonly #maxValues: number
  #values = 0
  #characters = 0

  constructor({ lines, quoted }: Composed, maxValues: number) {
    this.#lines = lines
    this.#quoted = quoted
    this.#maxValues = maxValues
  }

  value(node: unknown): JsonValue {
    if (node === null || node === undefined) return this.#count(null, 1, 0)
    const { isAlias, isMap, isScalar, isSeq } = yaml()
    if (isAlias(node)) return this.#alias(node.source)
    const values = this.#values
    const characters = this.#characters
    let value: JsonValue
    if (isScalar(node)) value = this.#scalar(node)
    else if (isMap(node)) value = this.#map(node.items)
    else if (isSeq(node)) value = this.#seq(node.items)
    else throw new YamlSyntaxError('yaml: unknown node')
    const anchor = (node as { anchor?: string }).anchor
    if (anchor) {
      this.#anchors.set(anchor, { value, values: this.#values - values, characters: this.#characters - characters })
    }
    return value
  }

  /** @param values how many JSON values it is; 0 for a key */
  #count<T>(value: T, values: number, characters: number): T {
    this.#values += values
    if (this.#values > this.#maxValues) throw new TooManyValuesError()
    this.#characters += characters
    // Without aliases no text has more characters than it has.
    if (this.#characters > maxCharacters && this.#anchors.size > 0) throw new YamlSyntaxError(excessiveAliasing)
    return value
  }

  #alias(name: string): JsonValue {
    const target = this.#anchors.get(name)
    if (!target) throw new YamlSyntaxError(`yaml: unknown anchor '${name}' referenced`)
    if (this.#values + target.values > this.#maxValues) throw new YamlSyntaxError(excessiveAliasing)
    return this.#count(cloneJson(target.value), target.values, target.characters)
  }

  #enter(step: string | number): void {
    this.#path.push(step)
    if (this.#path.length > maxYamlDepth) throw tooDeep(1, maxYamlDepth)
  }

  #scalar(node: Scalar): JsonValue {
    const value = this.#valueOf(node)
    if (typeof value === 'bigint') return this.#count(numberOf(String(value)), 1, 0)
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw new YamlSyntaxError(`yaml: ${node.source} is no JSON number`)
      return this.#count(value, 1, 0)
    }
    if (typeof value === 'string') return this.#count(value, 1, value.length)
    return this.#count(typeof value === 'boolean' ? value : null, 1, 0)
  }

  #seq(items: readonly unknown[]): JsonValue {
    return this.#count(
      items.map((item, i) => {
        this.#enter(i)
        const value = this.value(item)
        this.#path.pop()
        return value
      }),
      1,
      0,
    )
  }

  #map(items: readonly { readonly key: unknown; readonly value: unknown }[]): JsonValue {
    const out: JsonObject = {}
    const merged: JsonObject = {}
    for (const { key, value } of items) {
      if (yaml().isScalar(key) && key.source === '<<' && key.type === 'PLAIN') {
        this.#mergeInto(merged, value)
        continue
      }
      const name = this.#key(key)
      this.#enter(name)
      if (Object.hasOwn(out, name) && this.repeats.length < maxDuplicates) {
        this.duplicates.add(printPath(this.#path))
        const { line } = this.#lines.linePos((key as { range?: [number] }).range?.[0] ?? 0)
        this.repeats.push(`line ${line}: key ${quote(name)} already set in map`)
      }
      setMember(out, name, this.value(value))
      this.#path.pop()
    }
    // What is written stands above what is merged in.
    for (const name of Object.keys(merged)) if (!Object.hasOwn(out, name)) setMember(out, name, merged[name] ?? null)
    return this.#count(out, 1, 0)
  }

  #mergeInto(merged: JsonObject, node: unknown): void {
    const value = this.value(node)
    for (const source of Array.isArray(value) ? value : [value]) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        throw new YamlSyntaxError('yaml: map merge requires map or sequence of maps as the value')
      }
      for (const [name, child] of Object.entries(source)) {
        if (!Object.hasOwn(merged, name)) setMember(merged, name, child)
      }
    }
  }

  #key(node: unknown): string {
    const { isAlias, isScalar } = yaml()
    const value = isAlias(node) ? this.#alias(node.source) : isScalar(node) ? this.#valueOf(node) : undefined
    if (typeof value === 'string') return this.#count(value, 0, value.length)
    if (value === null) return 'null'
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
    throw new YamlSyntaxError('yaml: invalid map key')
  }

  /**
   * The library takes for numbers what is none, an exponent alone (`e1`) or a point (`.`), and what no number holds
   * (`1e999`): upstream reads texts. `.nan` and `.inf`, which are meant, end in a letter.
   */
  #valueOf({ value, source = '', srcToken, tag }: Scalar): unknown {
    const text = this.#quoted.of(srcToken)
    if (text === undefined) {
      const isMeant = typeof value !== 'number' || Number.isFinite(value) || /[a-z]$/i.test(source)
      return isMeant ? value : source
    }
    if (typeof text !== 'string') throw faultAt(this.#lines, text.offset, text.message)
    if (tag === undefined || !otherTag.test(tag)) return text
    throw faultAt(this.#lines, srcToken?.offset ?? 0, 'a long quoted text has a tag that makes something else of it')
  }
}

/**
 * Also reads JSON, which is YAML.
 * @throws YamlSyntaxError @throws TooManyValuesError
 */
export function parseYaml(text: string, options: YamlOptions = {}): ParsedJson {
  const steps = parsing(text, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** The same in slices. @throws YamlSyntaxError @throws TooManyValuesError */
export async function parseYamlInSlices(text: string, slice: Slice, options: YamlOptions = {}): Promise<ParsedJson> {
  const steps = parsing(text, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (step.value > 0) options.charge?.(step.value * tokenBytes)
    const pause = slice.pause()
    if (pause) await pause
  }
}

/** What the library makes of a token: itself, a node, and what is garbage between two collections. */
const tokenBytes = 512

interface YamlOptions extends Pick<JsonOptions, 'maxValues'> {
  /** Told of memory before it is taken; may throw. */
  readonly charge?: (bytes: number) => void
}

const faultAt = (lines: LineCounter, offset: number, message: string, cause?: unknown): YamlSyntaxError =>
  new YamlSyntaxError(`yaml: line ${lines.linePos(offset).line}: ${message}`, { cause })

function* parsingAsJson(text: string, { maxValues }: YamlOptions): Generator<number, ParsedJson> {
  const steps = parsingJson(text, { duplicates: true, ...(maxValues === undefined ? {} : { maxValues }) })
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value
    yield 0
  }
}

/** Yields the tokens that it read since it last did, where a pause may be made. */
function* parsing(text: string, options: YamlOptions): Generator<number, ParsedJson> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return yield* parsingAsJson(text, options)
    } catch (e) {
      // Braces may also begin a YAML flow collection.
      if (!(e instanceof JsonSyntaxError)) throw e
      if (e instanceof JsonDepthError) throw tooDeep(1, maxDepth, e)
    }
  }
  const composed = yield* composing(text)
  const { document, lines } = composed
  if (!document) return { value: null, duplicates: [], repeats: [] }
  const fault = document.errors[0]
  if (fault) throw faultAt(lines, fault.pos[0], fault.message, fault)
  yield 0
  const converter = new Converter(composed, options.maxValues ?? defaultMaxValues)
  try {
    const value = converter.value(document.contents)
    return { value, duplicates: [...converter.duplicates], repeats: converter.repeats }
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw new YamlSyntaxError(`yaml: ${e.message}`, { cause: e })
    throw e
  }
}
