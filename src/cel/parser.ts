/**
 * Tokens → expression, by recursive descent. Depth and length are bounded, so neither this nor any walk over the
 * result can run out of stack.
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md#syntax
 */
import type { CallExpr, Expr, MapEntry } from './ast.ts'
import { type Fault, SyntaxFault, type Token, tokenize } from './lexer.ts'
import { expandMacro, type NodeFactory } from './macros.ts'
import { Uint } from './values.ts'

/** Upstream's limits. */
const maxLength = 100_000
const maxDepth = 250
/** Ours: macros may repeat what they are given. */
const maxNodes = 50_000

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

const levels: readonly (readonly string[])[] = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

const operatorNames: Readonly<Record<string, string>> = { in: '@in' }

export interface Parsed {
  readonly expr: Expr
  readonly faults: readonly Fault[]
}

/** `faults` is empty if `expr` can be used. Never throws. */
export function parse(text: string): Parsed {
  const nothing: Expr = { kind: 'literal', value: null, id: 0, offset: 0 }
  try {
    if (text.length > maxLength) {
      const message = `expression code point size exceeds limit: size: ${text.length}, limit ${maxLength}`
      return { expr: nothing, faults: [{ message, offset: 0 }] }
    }
    return { expr: new Parser(tokenize(text)).whole(), faults: [] }
  } catch (e) {
    if (e instanceof SyntaxFault) return { expr: nothing, faults: [e.fault] }
    throw e
  }
}

class Parser implements NodeFactory {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0
  #nodes = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Expr {
    const expr = this.#expression()
    if (this.#peek.kind !== 'end') this.#unexpected()
    return expr
  }

  node(offset: number): { readonly id: number; readonly offset: number } {
    if (++this.#nodes > maxNodes) throw new SyntaxFault(`more than ${maxNodes} operations`, offset)
    return { id: this.#nodes, offset }
  }

  get #peek(): Token {
    return this.#tokens[this.#at] as Token
  }

  #isOp(text: string): boolean {
    const { kind, text: t } = this.#peek
    return t === text && (kind === 'op' || (kind === 'ident' && text === 'in'))
  }

  #take(text: string): Token | undefined {
    return this.#isOp(text) ? this.#next() : undefined
  }

  #next(): Token {
    return this.#tokens[this.#at++] as Token
  }

  #expect(text: string): Token {
    return this.#take(text) ?? this.#unexpected(`expecting '${text}'`)
  }

  #unexpected(more = ''): never {
    const { text, offset } = this.#peek
    throw new SyntaxFault(`mismatched input '${text}'${more ? ` ${more}` : ''}`, offset)
  }

  #call(offset: number, name: string, args: readonly Expr[], target?: Expr): CallExpr {
    return { kind: 'call', name, target, args, ...this.node(offset) }
  }

  #expression(): Expr {
    if (++this.#depth > maxDepth) {
      throw new SyntaxFault(`expression recursion limit exceeded: ${maxDepth}`, this.#peek.offset)
    }
    const condition = this.#or()
    const question = this.#take('?')
    let expr = condition
    if (question) {
      const then = this.#or()
      this.#expect(':')
      expr = this.#call(question.offset, '_?_:_', [condition, then, this.#expression()])
    }
    this.#depth--
    return expr
  }

  #or(): Expr {
    return this.#logical('||', () => this.#logical('&&', () => this.#binary(0)))
  }

  /** Long chains become balanced trees, so that they are not deep. */
  #logical(op: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const offsets: number[] = []
    for (let token = this.#take(op); token; token = this.#take(op)) {
      offsets.push(token.offset)
      terms.push(operand())
    }
    const balance = (from: number, to: number): Expr => {
      if (from === to) return terms[from] as Expr
      const middle = (from + to) >> 1
      return this.#call(offsets[middle] ?? 0, `_${op}_`, [balance(from, middle), balance(middle + 1, to)])
    }
    return balance(0, terms.length - 1)
  }

  #binary(level: number): Expr {
    const ops = levels[level]
    if (!ops) return this.#unary()
    let left = this.#binary(level + 1)
    const chain = this.#depth
    for (let op = ops.find((o) => this.#isOp(o)); op; op = ops.find((o) => this.#isOp(o))) {
      if (++this.#depth > maxDepth) {
        throw new SyntaxFault(`expression recursion limit exceeded: ${maxDepth}`, this.#peek.offset)
      }
      const { offset } = this.#next()
      left = this.#call(offset, operatorNames[op] ?? `_${op}_`, [left, this.#binary(level + 1)])
    }
    this.#depth = chain
    return left
  }

  #unary(): Expr {
    for (const op of ['!', '-']) {
      if (!this.#isOp(op)) continue
      const { offset } = this.#next()
      let count = 1
      while (this.#take(op)) count++
      // Two of them undo each other.
      if (count % 2 === 0) return this.#member()
      const literal = this.#peek
      if (op === '-' && literal.kind === 'literal' && typeof literal.value !== 'string') {
        if (typeof literal.value === 'bigint' || typeof literal.value === 'number') {
          this.#next()
          return this.#suffixes({ kind: 'literal', value: -literal.value, ...this.node(offset) })
        }
      }
      return this.#call(offset, `${op}_`, [this.#member()])
    }
    return this.#member()
  }

  #member(): Expr {
    return this.#suffixes(this.#primary())
  }

  #suffixes(start: Expr): Expr {
    let expr = start
    const depth = this.#depth
    for (;;) {
      if (++this.#depth > maxDepth) {
        throw new SyntaxFault(`expression recursion limit exceeded: ${maxDepth}`, this.#peek.offset)
      }
      const { offset } = this.#peek
      if (this.#take('.')) {
        const optional = this.#take('?') !== undefined
        expr = this.#selected(expr, offset, optional)
      } else if (this.#take('[')) {
        const optional = this.#take('?') !== undefined
        const index = this.#expression()
        this.#expect(']')
        expr = this.#call(offset, optional ? '_[?_]' : '_[_]', [expr, index])
      } else if (this.#isOp('{') && isTypeName(expr)) {
        expr = this.#struct(expr, offset)
      } else break
    }
    this.#depth = depth
    return expr
  }

  #selected(operand: Expr, offset: number, optional: boolean): Expr {
    const { kind, text, offset: nameOffset } = this.#peek
    if (kind !== 'ident' && kind !== 'quoted-ident') this.#unexpected('expecting an identifier')
    this.#next()
    if (optional) {
      const field: Expr = { kind: 'literal', value: text, ...this.node(nameOffset) }
      return this.#call(offset, '_?._', [operand, field])
    }
    const open = kind === 'ident' ? this.#take('(') : undefined
    if (!open) return { kind: 'select', operand, field: text, test: false, ...this.node(offset) }
    const args = this.#arguments()
    return (
      expandMacro(this, { name: text, target: operand, args, offset: open.offset }) ??
      this.#call(open.offset, text, args, operand)
    )
  }

  #arguments(): Expr[] {
    const args: Expr[] = []
    while (!this.#isOp(')')) {
      args.push(this.#expression())
      if (!this.#take(',')) break
    }
    this.#expect(')')
    return args
  }

  #primary(): Expr {
    const token = this.#peek
    const { offset, text } = token
    if (token.kind === 'literal') {
      this.#next()
      if (token.value === 2n ** 63n) throw new SyntaxFault('invalid int literal', offset)
      return { kind: 'literal', value: token.value ?? null, ...this.node(offset) }
    }
    if (this.#take('(')) {
      const inner = this.#expression()
      this.#expect(')')
      return inner
    }
    if (this.#take('[')) return this.#list(offset)
    if (this.#take('{')) return { kind: 'map', entries: this.#entries(() => this.#expression()), ...this.node(offset) }
    const rooted = this.#take('.') !== undefined
    const name = this.#peek
    if (name.kind !== 'ident' || text === 'in') this.#unexpected()
    this.#next()
    if (!rooted && (text === 'true' || text === 'false' || text === 'null')) {
      return { kind: 'literal', value: text === 'null' ? null : text === 'true', ...this.node(offset) }
    }
    if (reserved.has(name.text)) throw new SyntaxFault(`reserved identifier: ${name.text}`, name.offset)
    const open = this.#take('(')
    if (!open) return { kind: 'ident', name: name.text, ...this.node(offset) }
    const args = this.#arguments()
    return (
      expandMacro(this, { name: name.text, target: undefined, args, offset: open.offset }) ??
      this.#call(open.offset, name.text, args)
    )
  }

  #list(offset: number): Expr {
    const items: Expr[] = []
    const optional = new Set<number>()
    while (!this.#isOp(']')) {
      if (this.#take('?')) optional.add(items.length)
      items.push(this.#expression())
      if (!this.#take(',')) break
    }
    this.#expect(']')
    return { kind: 'list', items, optional, ...this.node(offset) }
  }

  #entries(key: () => Expr): MapEntry[] {
    const entries: MapEntry[] = []
    while (!this.#isOp('}')) {
      const optional = this.#take('?') !== undefined
      const k = key()
      const { offset } = this.#expect(':')
      entries.push({ key: k, value: this.#expression(), optional, offset })
      if (!this.#take(',')) break
    }
    this.#expect('}')
    return entries
  }

  #struct(type: Expr, offset: number): Expr {
    this.#next()
    const fields = this.#entries(() => {
      const { kind, text, offset: at } = this.#peek
      if (kind !== 'ident' && kind !== 'quoted-ident') this.#unexpected('expecting a field name')
      this.#next()
      return { kind: 'literal', value: text, ...this.node(at) }
    })
    return { kind: 'struct', name: dotted(type), fields, ...this.node(offset) }
  }
}

function isTypeName(e: Expr): boolean {
  return e.kind === 'ident' || (e.kind === 'select' && !e.test && isTypeName(e.operand))
}

const dotted = (e: Expr): string =>
  e.kind === 'select' ? `${dotted(e.operand)}.${e.field}` : e.kind === 'ident' ? e.name : ''

/** True for literals that stand for themselves wherever they are (no lists, no calls). */
export const isNumberLiteral = (e: Expr): boolean =>
  e.kind === 'literal' && (typeof e.value === 'bigint' || typeof e.value === 'number' || e.value instanceof Uint)
