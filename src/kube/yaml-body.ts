/**
 * YAML bodies to JSON values, read as upstream reads them: YAML 1.1 booleans and octal numbers, but dates, clock times
 * and binaries stay texts. Only the first document counts.
 *
 * Bounds. The YAML library costs some 2 µs a token on the event loop, most of which can be spent in slices, and a third
 * of which, where it makes a document of the tokens, can't: so a body may have 160,000 (a manifest of 20,000 lines).
 * JSON, which is what client libraries send under this media type, takes the JSON parser and has no such bound. The
 * library also recurses, with some five frames a level, so a body may nest half as deep as JSON; its parser keeps a
 * stack of its own, which tells the depth before anything recurses. An alias is a copy of what it stands for; what they
 * expand to is counted as if it were written out, so that a few hundred bytes can't become gigabytes.
 * @see sigs.k8s.io/yaml
 */
import type { Document, LineCounter, Scalar, ScalarTag, Tags } from 'yaml'
import { loadLater } from '../base/load-later.ts'
import type { Slice } from '../base/turns.ts'
import { cloneJson } from './clone-json.ts'
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
} from './strict-json.ts'
import type { JsonObject, JsonValue } from './types.ts'
import { TooManyValuesError } from './value-count.ts'

const yaml = loadLater<typeof import('yaml')>('yaml')

const maxTokens = 160_000
/** Each copies what it stands for; a manifest written by hand has a few. */
const maxAliases = 1000
/** Of an integer, in any base and with what stands between them. JSON numbers end at 309. */
const maxDigits = 1100
/** Tokens that are read between two looks at the time. */
const tokensAtOnce = 200
/** Containers within containers. The library runs out of stack at some 900. */
export const maxYamlDepth = 500
/** After aliases are expanded: as many as a body may have bytes. */
const maxCharacters = 3 * 1024 * 1024
/** Where the caller names no other bound. */
const defaultMaxValues = 1_000_000
const maxDuplicates = 100

export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError'
}

const unwanted = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set'])

/** Without the YAML 1.1 types that JSON does not have. */
function jsonTags(tags: Tags): Tags {
  return tags
    .filter(
      (tag) => typeof tag === 'string' || !(unwanted.has(tag.tag.split(':').at(-1) ?? '') || tag.format === 'TIME'),
    )
    .map((tag) =>
      typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:int' ? withinDigits(tag as ScalarTag) : tag,
    )
}

/** Reading the digits of an integer takes more time than they grow. */
const withinDigits = (tag: ScalarTag): ScalarTag => ({
  ...tag,
  resolve(text, onError, options) {
    if (text.length <= maxDigits) return tag.resolve(text, onError, options)
    onError(`an integer has more than ${maxDigits} digits`)
    return null
  },
})

interface Composed {
  readonly document: Document.Parsed | undefined
  readonly lines: LineCounter
}

/** Yields where a pause may be made. */
function* composing(text: string): Generator<void, Composed> {
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
  let aliases = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new YamlSyntaxError(`yaml: more than ${maxTokens} tokens; send JSON instead`)
    if (lexeme.startsWith('*') && ++aliases > maxAliases) throw new YamlSyntaxError(excessiveAliasing)
    if (tokens % tokensAtOnce === 0) yield
    // The document itself is on the stack, and a scalar may be.
    if (parser.stack.length > maxYamlDepth + 2) throw tooDeep(lines.linePos(parser.offset).line, maxYamlDepth)
    for (const token of parser.next(lexeme)) {
      checkLines(lines)
      yield
      for (const document of composer.next(token)) return { document, lines }
    }
  }
  for (const token of parser.end()) {
    checkLines(lines)
    yield
    for (const document of composer.next(token)) return { document, lines }
  }
  for (const document of composer.end()) return { document, lines }
  return { document: undefined, lines }
}

/** One token may have many lines, which are joined in one piece. @throws YamlSyntaxError */
function checkLines({ lineStarts }: LineCounter): void {
  if (lineStarts.length > maxTokens) throw new YamlSyntaxError(`yaml: more than ${maxTokens} lines; send JSON instead`)
}

const excessiveAliasing = 'yaml: document contains excessive aliasing'

/** As upstream's library says it, which does not name the first line. */
const tooDeep = (line: number, max: number, cause?: unknown): YamlSyntaxError =>
  new YamlSyntaxError(`yaml: ${line > 1 ? `line ${line}: ` : ''}exceeded max depth of ${max}`, { cause })

/** A value that an alias may stand for, and what it adds where it does. */
interface Anchored {
  readonly value: JsonValue
  readonly values: number
  readonly characters: number
}

class Converter {
  readonly #lines: LineCounter
  readonly #path: (string | number)[] = []
  readonly #anchors = new Map<string, Anchored>()
  readonly duplicates = new Set<string>()
  readonly repeats: string[] = []
  readonly #maxValues: number
  #values = 0
  #characters = 0

  constructor(lines: LineCounter, maxValues: number) {
    this.#lines = lines
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
    const value = valueOf(node)
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
    const value = isAlias(node) ? this.#alias(node.source) : isScalar(node) ? valueOf(node) : undefined
    if (typeof value === 'string') return this.#count(value, 0, value.length)
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
    const pause = slice.pause()
    if (pause) await pause
  }
}

type YamlOptions = Pick<JsonOptions, 'maxValues'>

function* parsing(text: string, options: YamlOptions): Generator<void, ParsedJson> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return parseJson(text, { ...options, duplicates: true })
    } catch (e) {
      // Braces may also begin a YAML flow collection.
      if (!(e instanceof JsonSyntaxError)) throw e
      if (e instanceof JsonDepthError) throw tooDeep(1, maxDepth, e)
    }
  }
  const { document, lines } = yield* composing(text)
  if (!document) return { value: null, duplicates: [], repeats: [] }
  const fault = document.errors[0]
  if (fault)
    throw new YamlSyntaxError(`yaml: line ${lines.linePos(fault.pos[0]).line}: ${fault.message}`, { cause: fault })
  yield
  const converter = new Converter(lines, options.maxValues ?? defaultMaxValues)
  try {
    const value = converter.value(document.contents)
    return { value, duplicates: [...converter.duplicates], repeats: converter.repeats }
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw new YamlSyntaxError(`yaml: ${e.message}`, { cause: e })
    throw e
  }
}
