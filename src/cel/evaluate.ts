/**
 * A checked expression → a function. Every step is charged to the budget of the evaluation before or after it is done,
 * so none can be repeated without end; calls are chosen among the overloads that the checker left.
 *
 * Failures are thrown. `||`, `&&` and the accumulators of macros may swallow one; a used-up budget is never swallowed.
 */
import { accumulator, type CallExpr, type ComprehensionExpr, type Expr } from './ast.ts'
import { type Budget, BudgetError } from './budget.ts'
import { costOfCalls, listBaseCost, mapBaseCost, objectBaseCost } from './call-cost.ts'
import type { Checked } from './checker.ts'
import type { Overload } from './functions.ts'
import { BuiltObject } from './json-values.ts'
import type { CelType } from './types.ts'
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  CelObject,
  type CelValue,
  EntryMap,
  isOfType,
  Optional,
  TypeValue,
} from './values.ts'

/** Values of the variables by name; a function is asked when the variable is first needed, and may throw. */
export type Bindings = Readonly<Record<string, CelValue | (() => CelValue)>>

interface Scope {
  readonly slots: (CelValue | CelError)[]
  readonly bindings: Bindings
  readonly budget: Budget
}

type Code = (scope: Scope) => CelValue

export type Evaluate = (bindings: Bindings, budget: Budget) => CelValue

export function compileChecked(checked: Checked): Evaluate {
  const compiler = new Compiler(checked)
  const code = compiler.code(checked.expr)
  return (bindings, budget) => code({ slots: [], bindings, budget })
}

const noSuchOverload = (): CelError => new CelError('no such overload')
const asBool = (value: CelValue): boolean => {
  if (typeof value === 'boolean') return value
  throw noSuchOverload()
}

class Compiler {
  readonly #checked: Checked
  readonly #names: { readonly name: string; readonly slot: number }[] = []
  #slots = 0

  constructor(checked: Checked) {
    this.#checked = checked
  }

  code(e: Expr): Code {
    switch (e.kind) {
      case 'literal': {
        const { value } = e
        return () => value
      }
      case 'ident':
        return this.#ident(e, e.name)
      case 'select':
        return this.#select(e)
      case 'call':
        return this.#call(e)
      case 'list':
        return this.#list(e)
      case 'map':
        return this.#map(e)
      case 'struct':
        return this.#struct(e)
      case 'comprehension':
        return this.#comprehension(e)
    }
  }

  #ident(e: Expr, name: string): Code {
    const variable = this.#checked.variableOf(e)
    if (variable !== undefined) return variableCode(variable)
    const type = this.#checked.typeNamed(e)
    if (type) {
      const value = new TypeValue(type.name)
      return () => value
    }
    const slot = this.#names.findLast((n) => n.name === name)?.slot ?? 0
    return ({ slots, budget }) => {
      budget.charge(1)
      const value = slots[slot]
      if (value instanceof CelError) throw value
      return value as CelValue
    }
  }

  #select(e: Expr & { kind: 'select' }): Code {
    if (this.#checked.variableOf(e) !== undefined || this.#checked.typeNamed(e)) return this.#ident(e, '')
    const operand = this.code(e.operand)
    const { field } = e
    if (e.test) {
      return (scope) => {
        const value = operand(scope)
        return value instanceof Optional
          ? value.value !== undefined && findField(value.value, field) !== undefined
          : findField(value, field) !== undefined
      }
    }
    return (scope) => {
      const value = operand(scope)
      scope.budget.charge(1)
      if (value instanceof Optional) return optionalField(value, field)
      const found = findField(value, field)
      if (found === undefined) throw new CelError(`no such key: ${field}`)
      return found
    }
  }

  #call(e: CallExpr): Code {
    switch (e.name) {
      case '_&&_':
      case '_||_':
        return this.#logical(e, e.name === '_||_')
      case '_?_:_': {
        const condition = this.code(e.args[0] as Expr)
        const [then, otherwise] = e.args.slice(1).map((a) => this.#branch(a)) as [Code, Code]
        return (scope) => (asBool(condition(scope)) ? then(scope) : otherwise(scope))
      }
      case '@not_strictly_false': {
        const condition = this.code(e.args[0] as Expr)
        return (scope) => {
          scope.budget.charge(1)
          try {
            return condition(scope) !== false
          } catch (error) {
            if (error instanceof BudgetError || !(error instanceof CelError)) throw error
            return true
          }
        }
      }
      case '_?._':
        return this.#optionalSelect(e)
      case '_[_]':
        return this.#index(e)
      case 'cel.@mapInsert':
        return this.#insert(e)
      case '_+_':
        if (isAccumulator(e.args[0]) && e.args[1]?.kind === 'list') return this.#append(e)
        break
      default:
    }
    return this.#overloaded(e)
  }

  /** As upstream, a local variable costs nothing where it is a branch by itself. */
  #branch(e: Expr): Code {
    if (e.kind !== 'ident' || this.#checked.variableOf(e) !== undefined) return this.code(e)
    const local = this.#names.findLast((n) => n.name === e.name)
    if (!local) return this.code(e)
    return ({ slots }) => {
      const value = slots[local.slot]
      if (value instanceof CelError) throw value
      return value as CelValue
    }
  }

  #logical(e: CallExpr, decisive: boolean): Code {
    const [left, right] = e.args.map((a) => this.code(a)) as [Code, Code]
    return (scope) => {
      let failure: CelError
      try {
        if (asBool(left(scope)) === decisive) return decisive
      } catch (error) {
        if (error instanceof BudgetError || !(error instanceof CelError)) throw error
        failure = error
        if (asBool(right(scope)) === decisive) return decisive
        throw failure
      }
      return asBool(right(scope))
    }
  }

  #optionalSelect(e: CallExpr): Code {
    const [operandExpr, fieldExpr] = e.args as [Expr, Expr]
    const operand = this.code(operandExpr)
    const field = String(fieldExpr.kind === 'literal' ? fieldExpr.value : '')
    return (scope) => {
      const value = operand(scope)
      scope.budget.charge(1)
      return optionalField(value instanceof Optional ? value : new Optional(value), field)
    }
  }

  #index(e: CallExpr): Code {
    const [of, at] = e.args.map((a) => this.code(a)) as [Code, Code]
    return (scope) => {
      const container = of(scope)
      const key = at(scope)
      scope.budget.charge(1)
      if (container instanceof Optional) {
        return container.value === undefined ? container : new Optional(findAt(container.value, key))
      }
      const found = findAt(container, key)
      if (found !== undefined) return found
      if (container instanceof CelList) throw new CelError(`index out of bounds: ${showKey(key)}`)
      throw new CelError(`no such key: ${showKey(key)}`)
    }
  }

  /** Macros build in place: nothing else holds the list or map that grows. */
  #append(e: CallExpr): Code {
    const list = this.code(e.args[0] as Expr)
    const literal = e.args[1] as Expr & { kind: 'list' }
    const item = this.code(literal.items[0] as Expr)
    return (scope) => {
      const into = list(scope) as ArrayList
      const value = item(scope)
      scope.budget.charge(listBaseCost + 1)
      into.items.push(value)
      return into
    }
  }

  #insert(e: CallExpr): Code {
    const [map, ...rest] = e.args.map((a) => this.code(a)) as [Code, Code, Code | undefined]
    const [first, second] = rest
    return (scope) => {
      const into = map(scope) as EntryMap
      const key = first(scope)
      scope.budget.charge(1)
      if (second) addEntry(into, key, second(scope))
      else {
        if (!(key instanceof CelMap)) throw noSuchOverload()
        for (const k of key.keys()) addEntry(into, k, key.find(k) ?? null)
      }
      return into
    }
  }

  #overloaded(e: CallExpr): Code {
    const { target } = e
    const isMember = target !== undefined && !this.#checked.isNamespaced(e)
    const args = (isMember ? [target, ...e.args] : e.args).map((a) => this.code(a))
    const overloads = this.#checked.overloadsOf(e)
    const costOf = costOfCalls(overloads[0]?.name ?? e.name)
    const [only] = overloads
    const types = (isMember ? [target, ...e.args] : e.args).map((a) => this.#checked.typeOf(a))
    const isCertain = overloads.length === 1 && types.every(isConcrete)
    return (scope) => {
      const values: CelValue[] = []
      for (const arg of args) values.push(arg(scope))
      const overload = isCertain ? only : overloads.find((o) => fits(o, values))
      if (overload === undefined) throw noSuchOverload()
      const result = overload.call(values, scope.budget)
      scope.budget.charge(costOf(values, result, overload.id))
      return result
    }
  }

  #list(e: Expr & { kind: 'list' }): Code {
    const items = e.items.map((item) => this.code(item))
    const { optional } = e
    return (scope) => {
      const values: CelValue[] = []
      for (const [i, item] of items.entries()) {
        const value = item(scope)
        if (!optional.has(i)) values.push(value)
        else if (asOptional(value).value !== undefined) values.push(asOptional(value).value as CelValue)
      }
      scope.budget.charge(listBaseCost)
      return new ArrayList(values)
    }
  }

  #map(e: Expr & { kind: 'map' }): Code {
    const entries = e.entries.map(({ key, value, optional }) => [this.code(key), this.code(value), optional] as const)
    return (scope) => {
      const map = new EntryMap()
      for (const [key, value, optional] of entries) {
        const k = key(scope)
        const v = value(scope)
        if (!optional) addEntry(map, k, v)
        else if (asOptional(v).value !== undefined) addEntry(map, k, asOptional(v).value as CelValue)
      }
      scope.budget.charge(mapBaseCost)
      return map
    }
  }

  #struct(e: Expr & { kind: 'struct' }): Code {
    const fields = e.fields.map(
      ({ key, value, optional }) =>
        [key.kind === 'literal' ? String(key.value) : '', this.code(value), optional] as const,
    )
    const { name } = e
    return (scope) => {
      const values = new Map<string, CelValue>()
      for (const [field, value, optional] of fields) {
        const v = value(scope)
        if (!optional) values.set(field, v)
        else if (asOptional(v).value !== undefined) values.set(field, asOptional(v).value as CelValue)
      }
      scope.budget.charge(objectBaseCost)
      return new BuiltObject(name, values)
    }
  }

  #comprehension(e: ComprehensionExpr): Code {
    const range = this.code(e.range)
    const init = this.code(e.accuInit)
    const accu = this.#slots++
    const first = this.#slots++
    const second = this.#slots++
    this.#names.push({ name: e.accuVar, slot: accu })
    const result = this.code(e.result)
    this.#names.push({ name: e.iterVar, slot: first })
    if (e.iterVar2 !== undefined) this.#names.push({ name: e.iterVar2, slot: second })
    const isBinding = e.condition.kind === 'literal' && e.condition.value === false
    const isEager = e.condition.kind === 'literal' && e.condition.value === true
    const condition = this.code(e.condition)
    const step = this.code(e.step)
    this.#names.length -= e.iterVar2 === undefined ? 2 : 3
    if (isBinding) {
      return (scope) => {
        scope.budget.charge(listBaseCost)
        scope.slots[accu] = attempt(init, scope)
        return result(scope)
      }
    }
    const two = e.iterVar2 !== undefined
    return (scope) => {
      const over = range(scope)
      const { slots, budget } = scope
      slots[accu] = init(scope)
      /** False = that is enough. */
      const turn = (key: CelValue, value: CelValue): boolean => {
        budget.work(1)
        if (!isEager && condition(scope) === false) return false
        slots[first] = key
        slots[second] = value
        // What fails once fails for good, but where the condition may still find that it does not matter.
        slots[accu] = isEager ? step(scope) : attempt(step, scope)
        return true
      }
      if (over instanceof CelList) {
        for (let i = 0; i < over.size; i++) {
          if (!(two ? turn(BigInt(i), over.at(i)) : turn(over.at(i), null))) break
        }
      } else if (over instanceof CelMap) {
        for (const key of over.keys()) if (!turn(key, two ? (over.find(key) ?? null) : null)) break
      } else throw noSuchOverload()
      return result(scope)
    }
  }
}

const isAccumulator = (e: Expr | undefined): boolean => e?.kind === 'ident' && e.name === accumulator

function attempt(code: Code, scope: Scope): CelValue | CelError {
  try {
    return code(scope)
  } catch (error) {
    if (error instanceof BudgetError || !(error instanceof CelError)) throw error
    return error
  }
}

function variableCode(name: string): Code {
  return ({ bindings, budget }) => {
    budget.charge(1)
    const value = bindings[name]
    if (value === undefined) throw new CelError(`no such attribute(s): ${name}`)
    return typeof value === 'function' ? value() : value
  }
}

function findField(value: CelValue, field: string): CelValue | undefined {
  if (value instanceof CelMap) return value.find(field)
  if (value instanceof CelObject) return value.field(field)
  throw noSuchOverload()
}

function optionalField(of: Optional, field: string): Optional {
  if (of.value === undefined) return of
  const found = findField(of.value, field)
  if (found === undefined) return Optional.none
  return found instanceof Optional ? found : new Optional(found)
}

/** undefined = not there. Whole numbers of any type are indexes. */
export function findAt(container: CelValue, key: CelValue): CelValue | undefined {
  if (container instanceof CelMap) return container.find(key)
  if (container instanceof CelObject && typeof key === 'string') return container.field(key)
  if (!(container instanceof CelList)) throw noSuchOverload()
  const index = typeof key === 'object' && key !== null && 'value' in key ? key.value : key
  if (typeof index !== 'bigint' && !(typeof index === 'number' && Number.isInteger(index))) {
    throw new CelError(`unsupported index type '${typeof index === 'string' ? 'string' : 'dyn'}' in list`)
  }
  return index < 0 || index >= container.size ? undefined : container.at(Number(index))
}

const showKey = (key: CelValue): string =>
  typeof key === 'object' && key !== null && 'value' in key ? String(key.value) : String(key)

function asOptional(value: CelValue): Optional {
  if (value instanceof Optional) return value
  throw noSuchOverload()
}

function addEntry(map: EntryMap, key: CelValue, value: CelValue): void {
  if (!map.add(key, value)) throw new CelError(`insert failed: key ${showKey(key)} already exists`)
}

/** Known so well that no value can turn out to be of another type. */
const isConcrete = ({ kind }: CelType): boolean => kind !== 'dyn' && kind !== 'param' && kind !== 'error'

function fits(overload: Overload, values: readonly CelValue[]): boolean {
  return overload.params.every((type, i) => isOfType(values[i] ?? null, type))
}
