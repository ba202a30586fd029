/**
 * A YAML text to the document that the library makes of it, within bounds.
 *
 * The YAML library costs some 2 µs a token on the event loop, most of which can be spent in slices, and a third
 * of which, where it makes a document of the tokens, can't: so a body may have 160,000 (a manifest of 20,000 lines).
 * JSON, which is what client libraries send under this media type, takes the JSON parser and has no such bound. The
 * library also recurses, with some five frames a level, so a body may nest half as deep as JSON; its parser keeps a
 * stack of its own, which tells the depth before anything recurses. An alias is a copy of what it stands for; what they
 * expand to is counted as if it were written out, so that a few hundred bytes can't become gigabytes.
 */
import type { Composer, CST, Document, LineCounter, Parser } from 'yaml'
import { loadLater } from '../base/load-later.ts'
import { QuotedTexts } from './yaml-quoted.ts'
import { asKubectl } from './yaml-tags.ts'

const yaml = loadLater<typeof import('yaml')>('yaml')

const maxTokens = 160_000
/** Each copies what it stands for; a manifest written by hand has a few. */
const maxAliases = 1000
/** Tokens that are read between two looks at the time. */
const tokensAtOnce = 200
/** Containers within containers. The library runs out of stack at some 900. */
export const maxYamlDepth = 500

export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError'
}

export interface Composed {
  readonly document: Document.Parsed | undefined
  readonly lines: LineCounter
  /** Quoted scalars whose text is not in the document: `srcToken` of their nodes tells which. */
  readonly quoted: QuotedTexts
}

/** Yields the tokens that it read since it last did, where a pause may be made. */
export function* composing(text: string): Generator<number, Composed> {
  const { CST, Lexer, LineCounter, Parser } = yaml()
  const lines = new LineCounter()
  lines.addNewLine(0)
  const quoted = new QuotedTexts(CST.resolveAsScalar)
  const parser = takingQuoted(new Parser(lines.addNewLine), quoted)
  const composer = composerOfFewErrors()
  let tokens = 0
  let aliases = 0
  let hasErrorToken = false
  function* composed(parsed: Iterable<CST.Token>): Generator<number, Document.Parsed | undefined> {
    for (const token of parsed) {
      checkLines(lines)
      yield 0
      // Each costs a stack trace, and only the first is told.
      if (token.type === 'error' && hasErrorToken) continue
      hasErrorToken ||= token.type === 'error'
      if (token.type === 'document') quoted.restoreLengths()
      for (const document of composer.next(token)) return document
    }
    return undefined
  }
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new YamlSyntaxError(`yaml: more than ${maxTokens} tokens; send JSON instead`)
    if (lexeme.startsWith('*') && ++aliases > maxAliases) throw new YamlSyntaxError(excessiveAliasing)
    if (tokens % tokensAtOnce === 0) yield tokensAtOnce
    // The document itself is on the stack, and a scalar may be.
    if (parser.stack.length > maxYamlDepth + 2) throw tooDeep(lines.linePos(parser.offset).line, maxYamlDepth)
    const document = yield* composed(parser.next(lexeme))
    if (document !== undefined) return { document, lines, quoted }
    for (const _ of quoted.reading()) yield 0
  }
  const document = yield* composed(parser.end())
  if (document !== undefined) return { document, lines, quoted }
  for (const last of composer.end()) return { document: last, lines, quoted }
  return { document: undefined, lines, quoted }
}

function takingQuoted(parser: Parser, quoted: QuotedTexts): Parser {
  const flowScalar = (parser['flowScalar'] as FlowScalarOf).bind(parser)
  const takeQuoted: FlowScalarOf = (type) => quoted.take(flowScalar(type))
  parser['flowScalar'] = takeQuoted
  return parser
}

type FlowScalarOf = (type: CST.FlowScalar['type']) => CST.FlowScalar

/** Of all errors of a document the first is told, of its warnings none: each would cost a stack trace. */
function composerOfFewErrors(): Composer {
  const composer = new (yaml().Composer)({
    ...asKubectl,
    intAsBigInt: true,
    keepSourceTokens: true,
    // The library compares each key with all before it; duplicates are found by who reads the document.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const onError = composer['onError'] as ComposeErrorHandler
  const hasError = (): boolean => (composer['errors'] as unknown[]).length > 0
  composer['onError'] = ((source, code, message, warning) => {
    if (warning !== true && !hasError()) onError(source, code, message)
  }) satisfies ComposeErrorHandler
  return composer
}

type ComposeErrorHandler = (source: unknown, code: string, message: string, warning?: boolean) => void

/** One token may have many lines, which are joined in one piece. @throws YamlSyntaxError */
function checkLines({ lineStarts }: LineCounter): void {
  if (lineStarts.length > maxTokens) throw new YamlSyntaxError(`yaml: more than ${maxTokens} lines; send JSON instead`)
}

export const excessiveAliasing = 'yaml: document contains excessive aliasing'

/** As upstream's library says it, which does not name the first line. */
export const tooDeep = (line: number, max: number, cause?: unknown): YamlSyntaxError =>
  new YamlSyntaxError(`yaml: ${line > 1 ? `line ${line}: ` : ''}exceeded max depth of ${max}`, { cause })
