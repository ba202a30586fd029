/**
 * YAML bodies to JSON values, read as upstream reads them: YAML 1.1 booleans and octal numbers, but dates, clock times
 * and binaries stay texts. Only the first document counts.
 *
 * Bounds. The YAML library costs some 6 µs a token on the event loop, so a body may have 250,000 tokens (a manifest of
 * 30,000 lines); JSON, which is what client libraries send under this media type, takes the JSON parser and has no such
 * bound. The library also recurses, with some five frames a level, so a body may nest half as deep as JSON; its parser
 * keeps a stack of its own, which tells the depth before anything recurses. Aliases are resolved once and shared; what
 * they expand to is weighed and counted, so that a few hundred bytes can't become gigabytes when the value is printed.
 * @see sigs.k8s.io/yaml
 */
import type { Document, LineCounter, Scalar, Tags } from 'yaml'
import { loadLater } from '../base/load-later.ts'
import { quote } from './go-quote.ts'
import { setMember } from './json-value.ts'
import {
  JsonDepthError,
  type JsonOptions,
  JsonSyntaxError,
  maxDepth,
  numberOf,
  type ParsedJson,
  parseJson,
  printPath,
  TooManyValuesError,
} from './strict-json.ts'
import type { JsonObject, JsonValue } from './types.ts'

const yaml = loadLater<typeof import('yaml')>('yaml')

const maxTokens = 250_000
/** Containers within containers. The library runs out of stack at some 900. */
export const maxYamlDepth = 500
/** Nodes and characters after aliases are expanded. */
const maxWeight = 16 * 1024 * 1024
const maxDuplicates = 100

export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError'
}

const unwanted = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set'])

/** Without the YAML 1.1 types that JSON does not have. */
function jsonTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === 'string' || !(unwanted.has(tag.tag.split(':').at(-1) ?? '') || tag.format === 'TIME'),
  )
}

function compose(text: string): { document: Document.Parsed | undefined; lines: LineCounter } {
  const { Composer, Lexer, LineCounter, Parser } = yaml()
  const lines = new LineCounter()
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  const composer = new Composer({
    version: '1.1',
    schema: 'yaml-1.1',
    customTags: jsonTags,
    intAsBigInt: true,
    // The library compares each key with all before it; duplicates are found below.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  let tokens = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new YamlSyntaxError(`yaml: more than ${maxTokens} tokens; send JSON instead`)
    // The document itself is on the stack, and a scalar may be.
    if (parser.stack.length > maxYamlDepth + 2) throw tooDeep(lines.linePos(parser.offset).line, maxYamlDepth)
    for (const token of parser.next(lexeme)) for (const document of composer.next(token)) return { document, lines }
  }
  for (const token of parser.end()) for (const document of composer.next(token)) return { document, lines }
  for (const document of composer.end()) return { document, lines }
  return { document: undefined, lines }
}

const excessiveAliasing = 'yaml: document contains excessive aliasing'

/** As upstream's library says it, which does not name the first line. */
const tooDeep = (line: number, max: number, cause?: unknown): YamlSyntaxError =>
  new YamlSyntaxError(`yaml: ${line > 1 ? `line ${line}: ` : ''}exceeded max depth of ${max}`, { cause })

interface Weighed {
  readonly value: JsonValue
  readonly weight: number
  readonly values: number
}

class Converter {
  readonly #lines: LineCounter
  readonly #path: (string | number)[] = []
  readonly #anchors = new Map<string, Weighed>()
  readonly duplicates = new Set<string>()
  readonly repeats: string[] = []
  readonly #maxValues: number
  #weight = 0
  #values = 0

  constructor(lines: LineCounter, maxValues: number) {
    this.#lines = lines
    this.#maxValues = maxValues
  }

  value(node: unknown): JsonValue {
    if (node === null || node === undefined) return this.#weigh(null, 1, 1)
    const { isAlias, isMap, isScalar, isSeq } = yaml()
    if (isAlias(node)) return this.#alias(node.source)
    const [weight, values] = [this.#weight, this.#values]
    let value: JsonValue
    if (isScalar(node)) value = this.#scalar(node)
    else if (isMap(node)) value = this.#map(node.items)
    else if (isSeq(node)) value = this.#seq(node.items)
    else throw new YamlSyntaxError('yaml: unknown node')
    const anchor = (node as { anchor?: string }).anchor
    if (anchor) this.#anchors.set(anchor, { value, weight: this.#weight - weight, values: this.#values - values })
    return value
  }

  /** @param values how many JSON values it is; 0 for a key */
  #weigh<T>(value: T, weight: number, values: number): T {
    this.#weight += weight
    if (this.#weight > maxWeight) throw new YamlSyntaxError(excessiveAliasing)
    this.#values += values
    if (this.#values > this.#maxValues) throw new TooManyValuesError()
    return value
  }

  #alias(name: string): JsonValue {
    const target = this.#anchors.get(name)
    if (!target) throw new YamlSyntaxError(`yaml: unknown anchor '${name}' referenced`)
    if (this.#values + target.values > this.#maxValues) throw new YamlSyntaxError(excessiveAliasing)
    return this.#weigh(target.value, target.weight, target.values)
  }

  #enter(step: string | number): void {
    this.#path.push(step)
    if (this.#path.length > maxYamlDepth) throw tooDeep(1, maxYamlDepth)
  }

  #scalar(node: Scalar): JsonValue {
    const value = valueOf(node)
    if (typeof value === 'bigint') return this.#weigh(numberOf(String(value)), 1, 1)
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw new YamlSyntaxError(`yaml: ${node.source} is no JSON number`)
      return this.#weigh(value, 1, 1)
    }
    if (typeof value === 'string') return this.#weigh(value, 1 + value.length, 1)
    return this.#weigh(typeof value === 'boolean' ? value : null, 1, 1)
  }

  #seq(items: readonly unknown[]): JsonValue {
    return this.#weigh(
      items.map((item, i) => {
        this.#enter(i)
        const value = this.value(item)
        this.#path.pop()
        return value
      }),
      1,
      1,
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
    return this.#weigh(out, 1, 1)
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
    const value = isAlias(node) ? this.#alias(node.source) : isScalar(node) ? valueOf(node) : undefined
    if (typeof value === 'string') return this.#weigh(value, value.length, 0)
    if (value === null) return 'null'
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
    throw new YamlSyntaxError('yaml: invalid map key')
  }
}

/**
 * The library takes `e1`, an exponent without a number before it, for a number, which is none: upstream reads a text.
 * Other numbers that are none end in a letter: `.nan`.
 */
function valueOf({ value, source = '' }: Scalar): unknown {
  return Number.isNaN(value) && /[0-9]$/.test(source) ? source : value
}

/**
 * Also reads JSON, which is YAML.
 * @throws YamlSyntaxError @throws TooManyValuesError
 */
export function parseYaml(text: string, options: Pick<JsonOptions, 'maxValues'> = {}): ParsedJson {
  if (/^\s*[{[]/.test(text)) {
    try {
      return parseJson(text, { ...options, duplicates: true })
    } catch (e) {
      // Braces may also begin a YAML flow collection.
      if (!(e instanceof JsonSyntaxError)) throw e
      if (e instanceof JsonDepthError) throw tooDeep(1, maxDepth, e)
    }
  }
  const { document, lines } = compose(text)
  if (!document) return { value: null, duplicates: [], repeats: [] }
  const fault = document.errors[0]
  if (fault)
    throw new YamlSyntaxError(`yaml: line ${lines.linePos(fault.pos[0]).line}: ${fault.message}`, { cause: fault })
  const converter = new Converter(lines, options.maxValues ?? Number.POSITIVE_INFINITY)
  try {
    const value = converter.value(document.contents)
    return { value, duplicates: [...converter.duplicates], repeats: converter.repeats }
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw new YamlSyntaxError(`yaml: ${e.message}`, { cause: e })
    throw e
  }
}
