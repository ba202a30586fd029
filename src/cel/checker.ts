/**
 * Which type each part of an expression has, and which functions its calls can be. What does not fit is said in
 * upstream's words.
 *
 * Type parameters of functions and of empty lists are variables (`%1`), bound as soon as something tells what they are.
 * @see cel-go checker/checker.go, checker/types.go
 */
import { type ComprehensionExpr, type Expr, type MapEntry, qualifiedName } from './ast.ts'
import type { FunctionTable, Overload } from './functions.ts'
import type { Fault } from './lexer.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  errorType,
  intType,
  isOptional,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  printType,
  sameType,
  stringType,
  type TypeNames,
  timestampType,
  typeOf,
  typeParam,
  uintType,
} from './types.ts'
import { type CelValue, Uint } from './values.ts'

export interface Checked {
  readonly expr: Expr
  readonly type: CelType
  readonly faults: readonly Fault[]
  typeOf(e: Expr): CelType
  /** Those that fit the types known; one of them is chosen by the values. */
  overloadsOf(e: Expr): readonly Overload[]
  /** The variable that an identifier, or a chain of selections, stands for. */
  variableOf(e: Expr): string | undefined
  /** The type that an identifier names. */
  typeNamed(e: Expr): CelType | undefined
  /** True for `a.f(x)` that calls the function `a.f`. */
  isNamespaced(e: Expr): boolean
  /** Names of all variables that are used. */
  readonly used: ReadonlySet<string>
}

export interface CheckContext {
  readonly functions: FunctionTable
  readonly variables: ReadonlyMap<string, CelType>
  /** Types that can be named beside those of the language. */
  readonly types?: TypeNames
}

const namedTypes: ReadonlyMap<string, CelType> = new Map([
  ...[boolType, intType, uintType, doubleType, stringType, bytesType, nullType].map((t) => [t.name, t] as const),
  [timestampType.name, timestampType],
  [durationType.name, durationType],
  ['list', listOf(dynType)],
  ['map', mapOf(dynType, dynType)],
  ['type', typeOf(dynType)],
  ['optional_type', optionalOf(dynType)],
])

export function check(expr: Expr, context: CheckContext): Checked {
  return new Checker(context).run(expr)
}

class Checker {
  readonly #context: CheckContext
  readonly #faults: Fault[] = []
  readonly #types = new Map<number, CelType>()
  readonly #overloads = new Map<number, readonly Overload[]>()
  readonly #variables = new Map<number, string>()
  readonly #named = new Map<number, CelType>()
  readonly #namespaced = new Set<number>()
  readonly #used = new Set<string>()
  readonly #scopes: Map<string, CelType>[] = []
  readonly #bound = new Map<string, CelType>()
  /** What was bound, in order: to be taken back where something does not fit after all. */
  readonly #trail: string[] = []
  #params = 0

  constructor(context: CheckContext) {
    this.#context = context
  }

  run(expr: Expr): Checked {
    this.#check(expr)
    const finally_ = (type: CelType): CelType => this.#resolved(type, true)
    for (const [id, type] of this.#types) this.#types.set(id, finally_(type))
    return {
      expr,
      type: this.#types.get(expr.id) ?? errorType,
      faults: this.#faults,
      typeOf: (e) => this.#types.get(e.id) ?? dynType,
      overloadsOf: (e) => this.#overloads.get(e.id) ?? [],
      variableOf: (e) => this.#variables.get(e.id),
      typeNamed: (e) => this.#named.get(e.id),
      isNamespaced: (e) => this.#namespaced.has(e.id),
      used: this.#used,
    }
  }

  #fault(e: Expr, message: string): CelType {
    this.#faults.push({ message, offset: e.offset })
    return errorType
  }

  #set(e: Expr, type: CelType): CelType {
    this.#types.set(e.id, type)
    return type
  }

  #check(e: Expr): CelType {
    switch (e.kind) {
      case 'literal':
        return this.#set(e, typeOfLiteral(e.value))
      case 'ident':
        return this.#set(e, this.#ident(e, e.name))
      case 'select':
        return this.#set(e, this.#select(e))
      case 'call':
        return this.#set(e, this.#call(e))
      case 'list':
        return this.#set(e, this.#list(e.items, e.optional))
      case 'map':
        return this.#set(e, this.#map(e.entries))
      case 'struct':
        return this.#set(e, this.#struct(e))
      case 'comprehension':
        return this.#set(e, this.#comprehension(e))
    }
  }

  #ident(e: Expr, name: string): CelType {
    return this.#lookUp(e, name) ?? this.#fault(e, `undeclared reference to '${name}' (in container '')`)
  }

  #lookUp(e: Expr, name: string): CelType | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const local = this.#scopes[i]?.get(name)
      if (local) return local
    }
    const variable = this.#context.variables.get(name)
    if (variable) {
      this.#variables.set(e.id, name)
      this.#used.add(name)
      return variable
    }
    const type = namedTypes.get(name) ?? this.#context.types?.get(name)
    if (!type) return undefined
    this.#named.set(e.id, type)
    return typeOf(type)
  }

  #select(e: Expr & { kind: 'select' }): CelType {
    if (!e.test) {
      const name = qualifiedName(e)
      const root = name?.slice(0, name.indexOf('.')) ?? ''
      if (name !== undefined && !this.#scopes.some((s) => s.has(root))) {
        const found = this.#lookUp(e, name)
        if (found) return found
      }
    }
    const operand = this.#resolved(this.#check(e.operand))
    const field = this.#field(e, operand, e.field)
    return e.test ? (field.kind === 'error' ? field : boolType) : field
  }

  #field(e: Expr, operand: CelType, name: string): CelType {
    const optional = isOptional(operand)
    const of = optional ? this.#resolved(operand.params[0] ?? dynType) : operand
    let found: CelType
    switch (of.kind) {
      case 'map':
        found = of.params[1] ?? dynType
        break
      case 'object':
        found = fieldOf(of, name) ?? this.#fault(e, `undefined field '${name}'`)
        break
      case 'param':
        // Nothing is known of it: whatever it turns out to be must be asked at run time.
        this.#assignable(dynType, of)
        found = dynType
        break
      case 'dyn':
      case 'error':
        found = of.kind === 'dyn' ? dynType : errorType
        break
      default:
        return this.#fault(e, `type '${printType(this.#resolved(of, true))}' does not support field selection`)
    }
    return optional && found.kind !== 'error' ? optionalOf(found) : found
  }

  #call(e: Expr & { kind: 'call' }): CelType {
    const { functions } = this.#context
    if (e.name === '_?._') return this.#optionalSelect(e)
    const args = e.args.map((arg) => this.#resolved(this.#check(arg)))
    if (e.target === undefined) {
      const overloads = functions.overloads(e.name)
      if (overloads.length === 0) {
        return this.#fault(e, `undeclared reference to '${e.name}' (in container '')`)
      }
      return this.#resolve(e, overloads, args, false)
    }
    const prefix = qualifiedName(e.target)
    if (prefix !== undefined) {
      const overloads = functions.overloads(`${prefix}.${e.name}`)
      if (overloads.length > 0) {
        this.#namespaced.add(e.id)
        return this.#resolve({ ...e, name: `${prefix}.${e.name}` }, overloads, args, false)
      }
    }
    const target = this.#resolved(this.#check(e.target))
    const overloads = functions.overloads(e.name)
    if (overloads.length === 0) {
      return target.kind === 'error' ? target : this.#fault(e, `undeclared reference to '${e.name}' (in container '')`)
    }
    return this.#resolve(e, overloads, [target, ...args.map((a) => this.#resolved(a))], true)
  }

  #optionalSelect(e: Expr & { kind: 'call' }): CelType {
    const [operand, field] = e.args
    if (!operand || field?.kind !== 'literal' || typeof field.value !== 'string') {
      return this.#fault(e, 'unsupported optional field selection')
    }
    this.#set(field, stringType)
    const found = this.#field(e, this.#resolved(this.#check(operand)), field.value)
    return found.kind === 'error' || isOptional(found) ? found : optionalOf(found)
  }

  #resolve(
    e: Expr & { kind: 'call' },
    overloads: readonly Overload[],
    args: readonly CelType[],
    member: boolean,
  ): CelType {
    const fitting: Overload[] = []
    let result: CelType | undefined
    for (const overload of overloads) {
      if (overload.member !== member || overload.params.length !== args.length) continue
      const fresh = this.#fresh(overload)
      if (!this.#allAssignable(args, fresh.params)) continue
      fitting.push(overload)
      const type = this.#resolved(fresh.result)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && !sameType(result, type)) result = dynType
    }
    if (result === undefined) {
      if (args.some((a) => a.kind === 'error')) return errorType
      const shown = args.map((a) => printType(this.#resolved(a, true)))
      const signature = member ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
      return this.#fault(e, `found no matching overload for '${e.name}' applied to '${signature}'`)
    }
    this.#overloads.set(e.id, fitting)
    return result
  }

  #fresh(overload: Overload): { params: readonly CelType[]; result: CelType } {
    const names = new Map<string, CelType>()
    const swap = (type: CelType): CelType => {
      if (type.kind === 'param') {
        const known = names.get(type.name) ?? this.#newParam()
        names.set(type.name, known)
        return known
      }
      return type.params.length === 0 ? type : { ...type, params: type.params.map(swap) }
    }
    return { params: overload.params.map(swap), result: swap(overload.result) }
  }

  #newParam(): CelType {
    return typeParam(`%${++this.#params}`)
  }

  #list(items: readonly Expr[], optional: ReadonlySet<number>): CelType {
    let joined: CelType | undefined
    for (const [i, item] of items.entries()) {
      const type = this.#resolved(this.#check(item))
      joined = this.#join(item, joined, optional.has(i) ? this.#unwrapped(item, type) : type)
    }
    return listOf(joined ?? this.#newParam())
  }

  #unwrapped(e: Expr, type: CelType): CelType {
    if (isOptional(type)) return type.params[0] ?? dynType
    if (type.kind !== 'dyn' && type.kind !== 'error') this.#mismatch(e, optionalOf(type), type)
    return type
  }

  #map(entries: readonly MapEntry[]): CelType {
    let key: CelType | undefined
    let value: CelType | undefined
    for (const entry of entries) {
      key = this.#join(entry.key, key, this.#resolved(this.#check(entry.key)))
      const type = this.#resolved(this.#check(entry.value))
      value = this.#join(entry.value, value, entry.optional ? this.#unwrapped(entry.value, type) : type)
    }
    return mapOf(key ?? this.#newParam(), value ?? this.#newParam())
  }

  #join(e: Expr, before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type
    if (this.#assignable(before, type))
      return before.kind === 'dyn' || type.kind === 'dyn' ? dynType : this.#resolved(before)
    return this.#mismatch(e, before, type)
  }

  #mismatch(e: Expr, expected: CelType, actual: CelType): CelType {
    const [want, have] = [expected, actual].map((t) => printType(this.#resolved(t, true)))
    return this.#fault(e, `expected type '${want}' but found '${have}'`)
  }

  #struct(e: Expr & { kind: 'struct' }): CelType {
    const type = this.#context.types?.get(e.name)
    for (const { value } of e.fields) this.#check(value)
    if (!type) return this.#fault(e, `undeclared reference to '${e.name}' (in container '')`)
    if (type.kind !== 'object') return this.#fault(e, `'${e.name}' is not a message type`)
    for (const { key, value, offset } of e.fields) {
      const name = key.kind === 'literal' && typeof key.value === 'string' ? key.value : ''
      const field = fieldOf(type, name)
      if (!field) {
        this.#fault({ ...key, offset }, `undefined field '${name}'`)
        continue
      }
      const given = this.#resolved(this.#types.get(value.id) ?? dynType)
      if (!this.#assignable(field, given)) {
        const [want, have] = [field, given].map((t) => printType(this.#resolved(t, true)))
        this.#fault({ ...key, offset }, `expected type of field '${name}' is '${want}' but provided type is '${have}'`)
      }
    }
    return type
  }

  #comprehension(e: ComprehensionExpr): CelType {
    const range = this.#resolved(this.#check(e.range))
    const accu = this.#check(e.accuInit)
    const [first, second] = this.#iterated(e, range)
    this.#scopes.push(new Map([[e.accuVar, accu]]))
    const inner = new Map([[e.iterVar, first]])
    if (e.iterVar2 !== undefined) inner.set(e.iterVar2, second)
    this.#scopes.push(inner)
    this.#expect(e.condition, boolType)
    const step = this.#check(e.step)
    if (!this.#assignable(accu, step)) this.#mismatch(e.step, accu, step)
    this.#scopes.pop()
    const result = this.#check(e.result)
    this.#scopes.pop()
    return this.#resolved(result)
  }

  #iterated(e: ComprehensionExpr, range: CelType): [CelType, CelType] {
    const two = e.iterVar2 !== undefined
    switch (range.kind) {
      case 'list': {
        const item = range.params[0] ?? dynType
        return two ? [intType, item] : [item, dynType]
      }
      case 'map':
        return [range.params[0] ?? dynType, range.params[1] ?? dynType]
      case 'dyn':
      case 'error':
      case 'param':
        this.#assignable(dynType, range)
        return [dynType, dynType]
      default: {
        const shown = printType(this.#resolved(range, true))
        this.#fault(
          e.range,
          `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
      }
    }
  }

  #expect(e: Expr, type: CelType): void {
    const actual = this.#check(e)
    if (!this.#assignable(type, actual)) this.#mismatch(e, type, actual)
  }

  /** With what is known now; `whole` makes what nothing is known of dynamic. */
  #resolved(type: CelType, whole = false): CelType {
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name)
      if (bound) return this.#resolved(bound, whole)
      return whole && type.name.startsWith('%') ? dynType : type
    }
    if (type.params.length === 0) return type
    const params = type.params.map((p) => this.#resolved(p, whole))
    return params.every((p, i) => p === type.params[i]) ? type : { ...type, params }
  }

  #allAssignable(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    const since = this.#trail.length
    if (given.every((type, i) => this.#unify(type, wanted[i] ?? dynType))) return true
    for (const name of this.#trail.splice(since)) this.#bound.delete(name)
    return false
  }

  #assignable(a: CelType, b: CelType): boolean {
    return this.#allAssignable([a], [b])
  }

  #unify(given: CelType, wanted: CelType): boolean {
    const a = this.#resolved(given)
    const b = this.#resolved(wanted)
    if (a === b) return true
    if (b.kind === 'param') return this.#bind(b, a)
    if (a.kind === 'param') return this.#bind(a, b)
    if (a.kind === 'dyn' || a.kind === 'error' || b.kind === 'dyn' || b.kind === 'error') return true
    if (a.kind === 'null' || b.kind === 'null') return isNullable(a) && isNullable(b)
    if (a.kind === 'type') return b.kind === 'type'
    if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
    return a.params.every((p, i) => this.#unify(p, b.params[i] ?? dynType))
  }

  #bind(param: CelType, type: CelType): boolean {
    if (type.kind === 'param' && type.name === param.name) return true
    if (mentions(type, param.name)) return false
    this.#bound.set(param.name, type)
    this.#trail.push(param.name)
    return true
  }
}

const fieldOf = (type: CelType, name: string): CelType | undefined =>
  type.fields?.get(name) ?? (type.isOpen ? dynType : undefined)

const isNullable = ({ kind }: CelType): boolean =>
  kind === 'null' || kind === 'object' || kind === 'opaque' || kind === 'duration' || kind === 'timestamp'

const mentions = (type: CelType, name: string): boolean =>
  (type.kind === 'param' && type.name === name) || type.params.some((p) => mentions(p, name))

function typeOfLiteral(value: CelValue): CelType {
  switch (typeof value) {
    case 'boolean':
      return boolType
    case 'bigint':
      return intType
    case 'number':
      return doubleType
    case 'string':
      return stringType
    default:
      return value === null ? nullType : value instanceof Uint ? uintType : bytesType
  }
}
