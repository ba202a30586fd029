/**
 * What an expression can cost at worst, before it has seen an object: sizes come from the limits in the schema, and
 * where there is none, from what fits into a request. Upstream refuses definitions by these figures, so they are
 * upstream's.
 *
 * Saturating: beyond 2^64 nothing grows. Figures are doubles, exact as far as limits lie.
 * @see cel-go checker/cost.go, k8s.io/apiserver/pkg/cel/library/cost.go (EstimateCallCost) v0.36
 */
import { accumulator, type CallExpr, type ComprehensionExpr, type Expr } from './ast.ts'
import {
  authorizationCost,
  formatPatternSize,
  listBaseCost,
  mapBaseCost,
  objectBaseCost,
  patternFactor,
  selectorCost,
  textFactor,
} from './call-cost.ts'
import type { Checked } from './checker.ts'
import type { DeclaredType } from './declared-type.ts'
import type { CelType } from './types.ts'

const limit = 2 ** 64

export interface Range {
  readonly min: number
  readonly max: number
}

const fixed = (n: number): Range => ({ min: n, max: n })
const clamp = (n: number): number => (Number.isNaN(n) ? 0 : Math.min(n, limit))
const add = (a: Range, b: Range): Range => ({ min: clamp(a.min + b.min), max: clamp(a.max + b.max) })
const times = (a: Range, b: Range): Range => ({ min: clamp(a.min * b.min), max: clamp(a.max * b.max) })
const scale = (a: Range, factor: number): Range => ({
  min: clamp(Math.ceil(a.min * factor)),
  max: clamp(Math.ceil(a.max * factor)),
})
const union = (a: Range, b: Range): Range => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) })
const unknown: Range = { min: 0, max: limit }
const zero: Range = fixed(0)

/** Sizes of what a list or map holds. */
interface EntrySizes {
  readonly of: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

interface Local {
  readonly path: readonly string[]
  readonly size: Range | undefined
  readonly entries: EntrySizes | undefined
}

interface CallEstimate {
  readonly cost: Range
  readonly size?: Range
}

/** `root` is the type of `self`, and of `oldSelf`. */
export function estimateCost(checked: Checked, root: DeclaredType): Range {
  return new Estimator(checked, root).cost(checked.expr)
}

class Estimator {
  readonly #checked: Checked
  readonly #root: DeclaredType
  readonly #paths = new Map<number, readonly string[]>()
  readonly #sizes = new Map<number, Range>()
  readonly #entries = new Map<number, EntrySizes>()
  readonly #locals = new Map<string, Local[]>()

  constructor(checked: Checked, root: DeclaredType) {
    this.#checked = checked
    this.#root = root
  }

  cost(e: Expr): Range {
    switch (e.kind) {
      case 'literal':
        return zero
      case 'ident':
        this.#paths.set(e.id, this.#local(e.name)?.path ?? [e.name])
        return fixed(1)
      case 'select': {
        const operand = this.cost(e.operand)
        if (e.test) return operand
        this.#paths.set(e.id, [...this.#path(e.operand), e.field])
        const { kind } = this.#checked.typeOf(e.operand)
        return kind === 'map' || kind === 'object' || kind === 'param' ? add(operand, fixed(1)) : operand
      }
      case 'call':
        return this.#call(e)
      case 'list': {
        const cost = e.items.map((item) => this.cost(item)).reduce(add, fixed(listBaseCost))
        this.#entries.set(e.id, { of: 'list', key: fixed(1), value: this.#joined(e.items) })
        return cost
      }
      case 'map': {
        const keys = e.entries.map((entry) => entry.key)
        const values = e.entries.map((entry) => entry.value)
        const cost = [...keys, ...values].map((part) => this.cost(part)).reduce(add, fixed(mapBaseCost))
        this.#entries.set(e.id, { of: 'map', key: this.#joined(keys), value: this.#joined(values) })
        return cost
      }
      case 'struct':
        return e.fields.map(({ value }) => this.cost(value)).reduce(add, fixed(objectBaseCost))
      case 'comprehension':
        return isBinding(e) ? this.#binding(e) : this.#comprehension(e)
    }
  }

  #joined(parts: readonly Expr[]): Range {
    if (parts.length === 0) return zero
    return parts.map((part) => this.#size(part)).reduce(union)
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name)
    if (stack) stack.push(local)
    else this.#locals.set(name, [local])
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }

  #path(e: Expr): readonly string[] {
    const local = e.kind === 'ident' ? this.#local(e.name) : undefined
    return local?.path ?? this.#paths.get(e.id) ?? []
  }

  #size(e: Expr): Range {
    return this.#findSize(e) ?? unknown
  }

  #findSize(e: Expr): Range | undefined {
    const known = this.#sizes.get(e.id)
    if (known) return known
    const literal = literalSize(e)
    if (literal !== undefined) return fixed(literal)
    const declared = this.#declaredSize(this.#path(e))
    if (declared) return declared
    if (isScalar(this.#checked.typeOf(e))) return fixed(1)
    return e.kind === 'ident' ? this.#local(e.name)?.size : undefined
  }

  #declaredSize(path: readonly string[]): Range | undefined {
    if (path.length === 0 || path[0] === accumulator) return undefined
    let at: DeclaredType | undefined = this.#root
    for (const step of path.slice(1)) {
      if (step === '@items') at = at.items
      else if (step === '@values') at = at.value
      // Keys are text without a limit of its own.
      else if (step === '@keys') return at.value ? zero : undefined
      else at = at.fields?.get(step)?.type
      if (at === undefined) return undefined
    }
    return { min: 0, max: Math.max(0, at.maxElements) }
  }

  #entrySizes(e: Expr): EntrySizes | undefined {
    return this.#entries.get(e.id) ?? (e.kind === 'ident' ? this.#local(e.name)?.entries : undefined)
  }

  #comprehension(e: ComprehensionExpr): Range {
    let cost = add(this.cost(e.range), this.cost(e.accuInit))
    const init = e.accuInit
    this.#push(e.accuVar, { path: this.#path(init), size: this.#findSize(init), entries: this.#entrySizes(init) })
    this.#pushIterated(e)
    const loop = add(this.cost(e.condition), this.cost(e.step))
    this.#pop(e.iterVar)
    if (e.iterVar2 !== undefined) this.#pop(e.iterVar2)
    cost = add(cost, this.cost(e.result))
    this.#pop(e.accuVar)
    const count = this.#size(e.range)
    if (init.kind === 'literal') this.#sizes.set(e.id, this.#size(init))
    else if (init.kind === 'list' || init.kind === 'map') {
      this.#sizes.set(e.id, count)
      const entries = this.#entrySizes(e.step)
      if (entries) this.#entries.set(e.id, entries)
    }
    return add(cost, times(count, loop))
  }

  #pushIterated(e: ComprehensionExpr): void {
    const entries = this.#entrySizes(e.range)
    const isList = (entries?.of ?? this.#checked.typeOf(e.range).kind) === 'list'
    const path = this.#path(e.range)
    const key: Local = { path: [...path, isList ? '@indices' : '@keys'], size: entries?.key, entries: undefined }
    const value: Local = { path: [...path, isList ? '@items' : '@values'], size: entries?.value, entries: undefined }
    if (e.iterVar2 !== undefined) {
      this.#push(e.iterVar, key)
      this.#push(e.iterVar2, value)
    } else this.#push(e.iterVar, isList ? value : key)
  }

  #binding(e: ComprehensionExpr): Range {
    const cost = add(this.cost(e.range), this.cost(e.accuInit))
    const init = e.accuInit
    this.#push(e.accuVar, { path: this.#path(init), size: this.#findSize(init), entries: this.#entrySizes(init) })
    const result = this.cost(e.result)
    this.#pop(e.accuVar)
    this.#copySizes(e, e.result)
    return add(cost, result)
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#findSize(from)
    if (size) this.#sizes.set(to.id, size)
    const entries = this.#entrySizes(from)
    if (entries) this.#entries.set(to.id, entries)
  }

  #call(e: CallExpr): Range {
    if (e.name === 'dyn' && e.target === undefined && e.args[0]) {
      const cost = this.cost(e.args[0])
      this.#copySizes(e, e.args[0])
      return add(cost, fixed(1))
    }
    const isMember = e.target !== undefined && !this.#checked.isNamespaced(e)
    const argCosts = e.args.map((arg) => this.cost(arg))
    const targetCost = isMember && e.target ? this.cost(e.target) : zero
    const overloads = this.#checked.overloadsOf(e)
    if (overloads.length === 0) return e.name === '_?._' ? this.#optionalSelect(e, argCosts) : zero
    let cost: Range | undefined
    let size: Range | undefined
    for (const { id, name } of overloads) {
      const estimate = this.#overload(e, { id, name, target: isMember ? e.target : undefined, argCosts })
      cost = cost ? union(cost, estimate.cost) : estimate.cost
      if (estimate.size) size = size ? union(size, estimate.size) : estimate.size
      if ((id === 'index_list' || id === 'index_map') && e.args[0]) {
        const of = this.#entrySizes(e.args[0])
        if (of) size = of.value
        this.#paths.set(e.id, [...this.#path(e.args[0]), id === 'index_list' ? '@items' : '@values'])
      }
    }
    size ??= this.#findSize(e)
    if (size) this.#sizes.set(e.id, size)
    return add(targetCost, cost ?? zero)
  }

  #optionalSelect(e: CallExpr, argCosts: readonly Range[]): Range {
    const [operand, field] = e.args
    if (operand && field?.kind === 'literal') this.#paths.set(e.id, [...this.#path(operand), String(field.value)])
    return add(argCosts[0] ?? zero, fixed(1))
  }

  #overload(
    e: CallExpr,
    of: {
      readonly id: string
      readonly name: string
      readonly target: Expr | undefined
      readonly argCosts: readonly Range[]
    },
  ): CallEstimate {
    const { argCosts } = of
    const sum = argCosts.reduce(add, zero)
    if (of.id === 'logical_and' || of.id === 'logical_or') {
      const [left = zero, right = zero] = argCosts
      return { cost: { min: left.min, max: add(left, right).max } }
    }
    if (of.id === 'conditional') {
      const [, then, otherwise] = e.args as [Expr, Expr, Expr]
      const [condition = zero, a = zero, b = zero] = argCosts
      const [x, y] = [this.#entrySizes(then), this.#entrySizes(otherwise)]
      if (x && y) this.#entries.set(e.id, { of: x.of, key: union(x.key, y.key), value: union(x.value, y.value) })
      return { cost: add(condition, union(a, b)), size: union(this.#size(then), this.#size(otherwise)) }
    }
    const { cost, size } = this.#function(e, of)
    return { cost: add(cost, sum), ...(size ? { size } : {}) }
  }

  #function(
    e: CallExpr,
    of: { readonly id: string; readonly name: string; readonly target: Expr | undefined },
  ): CallEstimate {
    const [first, second] = e.args
    const target = of.target ? this.#size(of.target) : unknown
    const one = first ? this.#size(first) : unknown
    const two = second ? this.#size(second) : unknown
    const text = (size: Range, factor = 1): Range => scale(size, textFactor * factor)
    switch (of.name) {
      case 'check':
        return { cost: fixed(authorizationCost) }
      case 'fieldSelector':
      case 'labelSelector':
        return { cost: { min: selectorCost(one.min), max: clamp(selectorCost(one.max)) } }
      case 'isSorted':
      case 'sum':
      case 'max':
      case 'min':
      case 'indexOf':
      case 'lastIndexOf':
        return { cost: this.#traversal(of.target, target) }
      case 'url':
      case 'jsonpatch.escapeKey':
        return { cost: text(one), size: one }
      case 'lowerAscii':
      case 'upperAscii':
      case 'substring':
      case 'trim':
        return { cost: text(target), size: target }
      case 'replace':
        return { cost: text(target, 2), size: replacedSize(target, one, two) }
      case 'split':
        return { cost: text(target, 2), size: { min: 0, max: target.max } }
      case 'join':
        return this.#join(of.target, target, first ? one : zero)
      case 'find':
      case 'findAll':
        return {
          cost: times(text(add(target, fixed(1))), scale(one, patternFactor)),
          size: { min: 0, max: target.max },
        }
      case 'matches':
        return of.target ? { cost: times(text(add(target, fixed(1))), scale(one, patternFactor)) } : { cost: fixed(1) }
      case 'ip':
        return { cost: of.id === 'cidr_ip' ? fixed(1) : text(one) }
      case 'cidr':
      case 'isIP':
      case 'isCIDR':
      case 'quantity':
      case 'isQuantity':
      case 'semver':
      case 'isSemver':
        return { cost: text(one) }
      case 'ip.isCanonical':
        return { cost: text(one, 2) }
      case 'containsIP':
      case 'containsCIDR': {
        const bytes = { min: 4, max: 16 }
        let cost = text(add(bytes, bytes))
        if (of.name === 'containsCIDR') cost = add(add(cost, text(bytes)), fixed(1))
        return { cost: of.id.endsWith('_string') ? add(cost, text(one)) : cost }
      }
      case 'validate':
        return { cost: scale(text(one), formatPatternSize * patternFactor) }
      case 'format':
        return { cost: text(target) }
      case 'startsWith':
      case 'endsWith':
        return { cost: text(one) }
      case 'contains':
        return { cost: times(text(target), text(one)) }
      case 'strings.quote':
        return { cost: text(one), size: { min: one.min + 2, max: clamp(one.max * 2 + 2) } }
      default:
        return this.#operator(e, of.id)
    }
  }

  #operator(e: CallExpr, id: string): CallEstimate {
    const [first, second] = e.args
    const one = first ? this.#size(first) : unknown
    const two = second ? this.#size(second) : unknown
    if (id === 'in_list') return { cost: two }
    if (id === 'string_to_bytes')
      return { cost: scale(one, textFactor), size: { min: one.min, max: clamp(one.max * 4) } }
    if (id === 'bytes_to_string') {
      return { cost: scale(one, textFactor), size: { min: Math.floor(one.min / 4), max: one.max } }
    }
    if (id === 'add_string' || id === 'add_bytes' || id === 'add_list') {
      const size = add(one, two)
      const [x, y] = [first && this.#entrySizes(first), second && this.#entrySizes(second)]
      if (x && y) this.#entries.set(e.id, { of: x.of, key: union(x.key, y.key), value: union(x.value, y.value) })
      return { cost: id === 'add_list' ? fixed(1) : scale(size, textFactor), size }
    }
    const isEquality = id === 'equals' || id === 'not_equals'
    const isOrder = /^(less|greater)(_equals)?_(string|bytes)$/.test(id)
    if (isEquality || isOrder) {
      const { kind } = first ? this.#checked.typeOf(first) : { kind: 'dyn' }
      if (id === 'equals' && kind === 'opaque') return { cost: fixed(1) }
      const smallest = Math.min(one.max, two.max)
      return { cost: scale({ min: smallest > 0 ? 1 : 0, max: smallest }, textFactor) }
    }
    return { cost: fixed(1) }
  }

  /** One for each item, and for texts their length. */
  #traversal(target: Expr | undefined, size: Range): Range {
    if (!target) return fixed(1)
    const type = this.#checked.typeOf(target)
    if (type.kind !== 'list') return scale(size, textFactor)
    const item = type.params[0]
    if (item?.kind !== 'string' && item?.kind !== 'bytes') return size
    return times(size, add(fixed(1), scale(this.#itemSize(target), textFactor)))
  }

  #itemSize(list: Expr): Range {
    const path = this.#path(list)
    return (path.length > 0 ? this.#declaredSize([...path, '@items']) : undefined) ?? unknown
  }

  #join(target: Expr | undefined, count: Range, separator: Range): CallEstimate {
    const items = target ? times(count, this.#itemSize(target)) : unknown
    const between: Range = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
    const size = add(items, times(separator, between))
    return { cost: scale(size, textFactor), size }
  }
}

const isBinding = (e: ComprehensionExpr): boolean =>
  e.condition.kind === 'literal' && e.condition.value === false && e.accuVar !== accumulator

function literalSize(e: Expr): number | undefined {
  if (e.kind === 'list') return e.items.length
  if (e.kind === 'map') return e.entries.length
  if (e.kind !== 'literal') return undefined
  if (typeof e.value === 'string') return [...e.value].length
  return e.value instanceof Uint8Array ? e.value.byteLength : 1
}

const scalars: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])

const isScalar = ({ kind, name, params }: CelType): boolean =>
  scalars.has(kind) || (kind === 'opaque' && name === 'optional_type' && params[0] !== undefined && isScalar(params[0]))

/** The longest and shortest text that replacing can leave. */
function replacedSize(text: Range, old: Range, by: Range): Range {
  const size = (isMax: boolean): number => {
    const [length, found, given] = isMax ? [text.max, old.min, by.max] : [text.min, old.max, by.min]
    if (found === 0) return clamp((length + 1) * given + length)
    const keeps = isMax ? by.max <= old.min : old.max <= by.min
    return keeps ? length : clamp(Math.ceil(length / found) * given)
  }
  return { min: size(false), max: size(true) }
}
