/**
 * JSONPath as printer columns use it: member names, indices, slices, wildcards, recursive descent and comparisons in
 * filters. No scripts, nothing that calls code. Parsed once; an evaluation looks at no more than 10,000 nodes.
 *
 *   .spec.replicas   .metadata.labels['a/b']   .metadata.annotations.a\.b   .items[-1:].name   ..image
 *   .status.conditions[?(@.type=="Ready")].status
 *
 * @see k8s.io/client-go/util/jsonpath v0.36
 */
import { isExactNumber, isJsonObject, member } from './json-value.ts'
import type { JsonValue } from './types.ts'

type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='

type Operand =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  | { readonly kind: 'path'; readonly steps: JsonPath }

type Step =
  | { readonly kind: 'member'; readonly names: readonly string[] }
  | { readonly kind: 'index'; readonly indices: readonly number[] }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined; readonly by: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'descend' }
  | {
      readonly kind: 'filter'
      readonly left: Operand
      readonly operator: Operator | undefined
      readonly right: Operand
    }

export type JsonPath = readonly Step[]

export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

const maxLength = 1_000
const maxNodes = 10_000
const nothing: Operand = { kind: 'literal', value: null }

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): JsonPath {
    const steps = this.#steps('')
    if (this.#at < this.#text.length) this.#fail()
    return steps
  }

  #fail(): never {
    throw new JsonPathError(`unrecognized character in JSONPath ${JSON.stringify(this.#text)} at ${this.#at}`)
  }

  #take(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false
    this.#at += expected.length
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (!found) return undefined
    this.#at = pattern.lastIndex
    return found
  }

  /** Ends where a filter's operator or parenthesis may stand. */
  #steps(root: '@' | ''): Step[] {
    const steps: Step[] = []
    if (root === '@' && !this.#take('@')) this.#fail()
    for (;;) {
      if (this.#take('..')) {
        steps.push({ kind: 'descend' })
        if (this.#text[this.#at] !== '[') steps.push(this.#name())
      } else if (this.#take('.')) {
        if (this.#at < this.#text.length && this.#text[this.#at] !== '[') steps.push(this.#name())
      } else if (this.#take('[')) steps.push(this.#bracket())
      else return steps
    }
  }

  #name(): Step {
    if (this.#take('*')) return { kind: 'all' }
    const found = this.#match(/(?:\\.|[^\s.[\]{}()=!<>'"\\,*?@])+/y)
    if (!found) this.#fail()
    return { kind: 'member', names: [found[0].replace(/\\(.)/g, '$1')] }
  }

  #bracket(): Step {
    if (this.#take('?(')) return this.#filter()
    if (this.#take('*]')) return { kind: 'all' }
    const slice = this.#match(/(-?\d{1,9})?:(-?\d{1,9})?(?::(\d{1,9}))?\]/y)
    if (slice) {
      const bound = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))
      const by = Number(slice[3] ?? 1)
      if (by === 0) throw new JsonPathError('step must be > 0')
      return { kind: 'slice', from: bound(slice[1]), to: bound(slice[2]), by }
    }
    const indices = this.#match(/(-?\d{1,9}(?:,-?\d{1,9})*)\]/y)
    if (indices) return { kind: 'index', indices: (indices[1] ?? '').split(',').map(Number) }
    const names: string[] = []
    do names.push(this.#quoted() ?? this.#fail())
    while (this.#take(','))
    if (!this.#take(']')) this.#fail()
    return { kind: 'member', names }
  }

  #quoted(): string | undefined {
    const found = this.#match(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/y)
    return found ? (found[1] ?? found[2] ?? '').replace(/\\(.)/g, '$1') : undefined
  }

  #filter(): Step {
    const left = this.#operand()
    this.#match(/\s*/y)
    const operator = this.#match(/==|!=|<=|>=|<|>/y)?.[0] as Operator | undefined
    const right = operator ? this.#operand() : nothing
    if (!this.#match(/\s*\)\]/y)) this.#fail()
    return { kind: 'filter', left, operator, right }
  }

  #operand(): Operand {
    this.#match(/\s*/y)
    if (this.#text[this.#at] === '@') return { kind: 'path', steps: this.#steps('@') }
    const text = this.#quoted()
    if (text !== undefined) return { kind: 'literal', value: text }
    const word = this.#match(/-?\d{1,15}(?:\.\d{1,15})?|true|false/y)?.[0] ?? this.#fail()
    return { kind: 'literal', value: word === 'true' || (word === 'false' ? false : Number(word)) }
  }
}

/** With or without the braces `{...}` around it. @throws JsonPathError */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > maxLength) throw new JsonPathError(`JSONPath is longer than ${maxLength} characters`)
  const bare = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text
  return Object.freeze(new Parser(bare.startsWith('$') ? bare.slice(1) : bare).parse())
}

/** `.a.b` → ['a', 'b']; undefined for anything but plain member names. */
export function memberNames(path: JsonPath): string[] | undefined {
  const names: string[] = []
  for (const step of path) {
    const name = step.kind === 'member' && step.names.length === 1 ? step.names[0] : undefined
    if (name === undefined) return undefined
    names.push(name)
  }
  return names
}

class Evaluation {
  #visited = 0

  run(path: JsonPath, root: JsonValue): JsonValue[] {
    let nodes: JsonValue[] = [root]
    for (const step of path) {
      nodes = nodes.flatMap((node) => this.#step(step, node))
      this.#visited += nodes.length
      if (this.#visited > maxNodes) return []
    }
    return nodes
  }

  #step(step: Step, node: JsonValue): JsonValue[] {
    switch (step.kind) {
      case 'member':
        return isJsonObject(node) ? step.names.map((name) => member(node, name)).filter((v) => v !== undefined) : []
      case 'index':
        return Array.isArray(node) ? step.indices.map((i) => node.at(i)).filter((v) => v !== undefined) : []
      case 'slice':
        return Array.isArray(node) ? node.slice(step.from, step.to).filter((_, i) => i % step.by === 0) : []
      case 'all':
        return childrenOf(node)
      case 'descend':
        return this.#descend(node)
      case 'filter':
        return Array.isArray(node) ? node.filter((item) => this.#holds(step, item)) : []
    }
  }

  #descend(node: JsonValue): JsonValue[] {
    const found: JsonValue[] = [node]
    for (let i = 0; i < found.length; i++) {
      if (++this.#visited > maxNodes) return []
      for (const v of childrenOf(found[i] ?? null)) if (typeof v === 'object' && v !== null) found.push(v)
    }
    return found
  }

  #holds(filter: Extract<Step, { kind: 'filter' }>, item: JsonValue): boolean {
    const left = this.#operand(filter.left, item)
    if (!filter.operator) return left !== undefined
    const right = this.#operand(filter.right, item)
    return left !== undefined && right !== undefined && compares(left, filter.operator, right)
  }

  #operand(operand: Operand, item: JsonValue): JsonValue | undefined {
    return operand.kind === 'literal' ? operand.value : this.run(operand.steps, item)[0]
  }
}

function childrenOf(node: JsonValue): JsonValue[] {
  if (Array.isArray(node)) return node
  return isJsonObject(node) ? Object.values(node) : []
}

/** Exact 64-bit integers compare as doubles here: a column is for reading. */
const plain = (value: JsonValue): JsonValue => (isExactNumber(value) ? Number(value.rawJSON) : value)

function compares(left: JsonValue, operator: Operator, right: JsonValue): boolean {
  const a = plain(left)
  const b = plain(right)
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return false
  if (a === null || b === null) return false
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}

/** What is missing is not found; a path that visits too much finds nothing. */
export const findByJsonPath = (path: JsonPath, value: JsonValue): JsonValue[] => new Evaluation().run(path, value)
