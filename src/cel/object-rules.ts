/**
 * `x-kubernetes-validations`: the rules of a schema against an object. Compiled once per schema, when the first object
 * comes; evaluated within one budget per object.
 *
 * With an old object, transition rules (those that say `oldSelf`) see what was at the same place: fields and map
 * entries by name, items of map lists by their keys, other lists nowhere. What other rules find wrong with a part that
 * did not change is let through with a warning (ratcheting).
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go v0.36
 */
import { append } from '../base/append.ts'
import {
  type FieldError,
  type FieldErrorType,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
} from '../kube/field-error.ts'
import { isJsonObject } from '../kube/json-value.ts'
import type { Schema, ValidationRule } from '../kube/schema/schema.ts'
import { type Before, isTypeMeta, isUnchanged, itemsBefore, memberBefore } from '../kube/schema/unchanged.ts'
import { errorsWithin } from '../kube/schema/validate.ts'
import type { JsonObject, JsonValue } from '../kube/types.ts'
import { type Allowance, Budget, BudgetError } from './budget.ts'
import { type DeclaredType, declareSchema, escapeName } from './declared-type.ts'
import { compile, type Program, type Variables } from './environment.ts'
import type { Bindings } from './evaluate.ts'
import { normalizedFieldPath } from './field-path.ts'
import { fromJson } from './json-values.ts'
import { type CelType, optionalOf } from './types.ts'
import { CelError, Optional } from './values.ts'

/** Upstream's `MaxEvaluatedMessageExpressionSizeBytes`. */
const maxMessageBytes = 5 * 1024

export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program?: Program
  /** Of the rule; with it, there is no program. */
  readonly problem?: string
  readonly message?: Program
  readonly messageProblem?: string
  readonly usesOldSelf: boolean
  readonly fieldPath: string | undefined
}

const isText = ({ kind }: CelType): boolean => kind === 'string'

/** As they are checked when a definition is written, and used when an object is. */
export function compileRule(rule: ValidationRule, schema: Schema, self: DeclaredType): CompiledRule {
  const fieldPath = rule.fieldPath ? normalizedFieldPath(rule.fieldPath, schema) : undefined
  const common = { rule, fieldPath }
  if (rule.rule.trim() === '') return { ...common, usesOldSelf: false }
  const old = rule.optionalOldSelf === true ? { ...self, type: optionalOf(self.type) } : self
  const variables: Variables = { self, oldSelf: old }
  const { program, problem } = compile(rule.rule, variables)
  if (!program) return { ...common, problem: `compilation failed: ${problem}`, usesOldSelf: false }
  if (program.type.kind !== 'bool') {
    return { ...common, problem: 'cel expression must evaluate to a bool', usesOldSelf: false }
  }
  const compiled = { ...common, program, usesOldSelf: program.uses('oldSelf') }
  if (!rule.messageExpression) return compiled
  const message = compile(rule.messageExpression, variables)
  if (!message.program) {
    return { ...compiled, messageProblem: `messageExpression compilation failed: ${message.problem}` }
  }
  if (!isText(message.program.type)) {
    return { ...compiled, messageProblem: 'messageExpression must evaluate to a string' }
  }
  return { ...compiled, message: message.program }
}

interface RuleNode {
  readonly schema: Schema
  readonly self: DeclaredType
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly values: RuleNode | undefined
  readonly items: RuleNode | undefined
}

const compiled = new WeakMap<Schema, { readonly root: RuleNode | undefined }>()

/** What the rules find. */
export interface RuleVerdict {
  readonly errors: readonly FieldError[]
  /** Of parts that did not change. */
  readonly warnings: readonly string[]
}

/**
 * `schema` is that of a whole resource. What it has no rules for costs nothing. Rules rely on the types and limits of
 * the schema: an object that breaks those, as `errors` say, is not put to them.
 * @throws AllowanceExceeded
 */
export function judgeByRules(
  value: JsonObject,
  schema: Schema,
  old: JsonObject | undefined,
  errors: readonly FieldError[],
  allowance?: Allowance,
): RuleVerdict {
  const root = compiledRoot(schema)
  if (!root) return { errors: [], warnings: [] }
  if (errors.some((e) => blocking.has(e.type))) {
    return { errors: [fieldInvalid('<nil>', null, notChecked)], warnings: [] }
  }
  const warnings: string[] = []
  const validation = new Validation((text) => void warnings.push(text), allowance)
  return { errors: validation.run(root, value, old), warnings }
}

/**
 * What the rules of a schema find wrong with its own defaults, each by itself and as if it were new; all of them have
 * one budget. `schema` is that of a whole resource, and `path` where it stands.
 */
export function defaultRuleErrors(schema: Schema, path: string): FieldError[] {
  const root = hasRuledDefault(schema) ? compiledRoot(schema) : undefined
  return root ? new Validation(() => {}).defaults(root, path) : []
}

const hasRuledDefault = (schema: Schema): boolean =>
  (schema.default !== undefined && hasRules(schema)) || partsOf(schema).some(hasRuledDefault)

const partsOf = ({ items, additionalProperties, properties }: Schema): readonly Schema[] => [
  ...(items ? [items] : []),
  ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ...(properties?.values() ?? []),
]

function compiledRoot(schema: Schema): RuleNode | undefined {
  let known = compiled.get(schema)
  if (known === undefined) {
    known = { root: hasRules(schema) ? nodeOf(schema, declareSchema(schema, rootOptions), 'self') : undefined }
    compiled.set(schema, known)
  }
  return known.root
}

const notChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to ' +
  'complete validation'

const blocking: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const rootOptions = { isRoot: true, name: 'selfType' }

export const hasRules = (schema: Schema): boolean =>
  (schema.validations?.length ?? 0) > 0 || partsOf(schema).some(hasRules)

function nodeOf(schema: Schema, self: DeclaredType | undefined, name: string): RuleNode | undefined {
  // Nothing is declared where nothing is known: rules there were refused.
  if (!self || !hasRules(schema)) return undefined
  const rules = (schema.validations ?? []).map((rule) => compileRule(rule, schema, self))
  const properties = new Map<string, RuleNode>()
  for (const [key, child] of schema.properties ?? []) {
    const of =
      self.byJsonName?.get(key) ??
      (escapeName(key) === undefined
        ? declareSchema(child, { isRoot: child.embeddedResource === true, name: `${name}.${key}` })
        : undefined)
    const node = nodeOf(child, of, key)
    if (node) properties.set(key, node)
  }
  const { items, additionalProperties } = schema
  return {
    schema,
    self,
    rules,
    properties,
    values: typeof additionalProperties === 'object' ? nodeOf(additionalProperties, self.value, name) : undefined,
    items: items ? nodeOf(items, self.items, name) : undefined,
  }
}

/** A value and what was at its place; `before` undefined = nothing, or it can't be told. */
interface Pair {
  readonly value: JsonValue
  readonly before: Before | undefined
}

interface Place {
  readonly path: string
  /** Undefined inside of lists whose items can't be told apart. */
  readonly here: Pair | undefined
  /** The nearest one around it that has an identity. */
  readonly around: Pair | undefined
}

class Validation {
  readonly #budget: Budget
  readonly #errors: FieldError[] = []
  /** Hears what is wrong with parts that did not change. */
  readonly #warn: (text: string) => void
  #ended = false

  constructor(warn: (text: string) => void, allowance?: Allowance) {
    this.#budget = new Budget(undefined, undefined, allowance)
    this.#warn = warn
  }

  run(root: RuleNode, value: JsonObject, old: JsonObject | undefined): FieldError[] {
    const pair = { value, before: old && { value: old, schema: root.schema } }
    this.#visit(root, pair, { path: '', here: old ? pair : undefined, around: undefined })
    return this.#errors
  }

  defaults(node: RuleNode, path: string): FieldError[] {
    const { schema, properties, items, values } = node
    if (schema.default !== undefined && !this.#ended) {
      const from = this.#errors.length
      const pair = { value: schema.default, before: undefined }
      this.#visit(node, pair, { path: '', here: undefined, around: undefined })
      append(this.#errors, errorsWithin(`${path}.default`, this.#errors.splice(from)))
    }
    for (const [key, child] of properties) this.defaults(child, `${path}.properties[${key}]`)
    if (items) this.defaults(items, `${path}.items`)
    if (values) this.defaults(values, `${path}.additionalProperties`)
    return this.#errors
  }

  #visit(node: RuleNode, pair: Pair, place: Place): void {
    if (this.#ended || pair.value === null) return
    if (node.rules.length > 0) this.#judge(node, pair, place)
    const { value } = pair
    const around = place.here ?? place.around
    if (Array.isArray(value)) {
      const { items } = node
      if (!items) return
      const itemBefore = itemsBefore(pair.before)
      value.forEach((item, i) => {
        const child = { value: item, before: itemBefore(item) }
        const here = place.here && child.before ? child : undefined
        this.#visit(items, child, { path: `${place.path}[${i}]`, here, around })
      })
    } else if (isJsonObject(value)) {
      for (const [key, child] of Object.entries(value)) {
        const below = node.properties.get(key) ?? node.values
        if (!below) continue
        const before = memberBefore(pair.before, key)
        const isHidden = place.path === '' && isTypeMeta(key)
        const here = place.here ? { value: child, before: isHidden ? undefined : before } : undefined
        const path = node.properties.has(key) ? joinPath(place.path, key) : `${place.path}[${key}]`
        this.#visit(below, { value: child, before }, { path, here, around })
      }
    }
  }

  #judge(node: RuleNode, pair: Pair, place: Place): void {
    const { value } = pair
    const before = pair.before?.value ?? undefined
    const self = fromJson(value, node.self)
    const oldSelf = before === undefined ? undefined : fromJson(before, node.self)
    const plain: Bindings = oldSelf === undefined ? { self } : { self, oldSelf }
    for (const rule of node.rules) {
      if (this.#ended) return
      const optional = rule.rule.optionalOldSelf === true
      if (rule.usesOldSelf && before === undefined && !optional) continue
      const bindings = optional ? { self, oldSelf: new Optional(oldSelf) } : plain
      this.#apply(rule, bindings, { node, value, place })
    }
  }

  #apply(
    rule: CompiledRule,
    bindings: Bindings,
    at: { readonly node: RuleNode; readonly value: JsonValue; readonly place: Place },
  ): void {
    const field = at.place.path === '' ? '<nil>' : at.place.path
    const type = at.node.schema.type
    const fail = (detail: string): void => {
      this.#errors.push(fieldInvalid(field, type, detail))
    }
    if (rule.problem !== undefined) return fail(`rule compile error: ${rule.problem}`)
    if (!rule.program) return
    let holds: unknown
    try {
      holds = this.#call(rule.program, bindings)
    } catch (e) {
      if (!(e instanceof CelError)) throw e
      return this.#failed(rule, e, fail)
    }
    if (this.#budget.left < 0) return this.#end(() => fail(outOfBudget))
    if (holds === true) return
    const where = rule.fieldPath ? joinPath(at.place.path, rule.fieldPath) : field
    const message = this.#message(rule, bindings)
    const add = (error: FieldError): void => {
      if (rule.usesOldSelf || !hasNotChanged(at.place)) this.#errors.push(error)
      else this.#warn(`${error.field}: ${error.body}`)
    }
    if (message.ends) return this.#end(() => add(fieldInvalid(where, type, message.text)))
    add(errorOf(rule.rule.reason, where, type === 'object' || type === 'array' ? omitted : at.value, message.text))
  }

  #call(program: Program, bindings: Bindings): unknown {
    try {
      this.#budget.beginCall()
      return program.evaluate(bindings, this.#budget)
    } finally {
      this.#budget.left -= this.#budget.spent
    }
  }

  #end(say: () => void): void {
    say()
    this.#ended = true
  }

  #failed(rule: CompiledRule, e: CelError, fail: (detail: string) => void): void {
    const shown = shownRule(rule.rule)
    if (this.#budget.left < 0) return this.#end(() => fail(outOfBudget))
    if (e instanceof BudgetError) {
      const why = e.exceeded === 'cost' ? 'call cost exceeds limit' : 'the time limit'
      return this.#end(() =>
        fail(`'${e.message}': no further validation rules will be run due to ${why} for rule: ${shown}`),
      )
    }
    if (e.message.startsWith('no such overload')) {
      return fail(
        `'${e.message}': call arguments did not match a supported operator, function or macro signature for ` +
          `rule: ${shown}`,
      )
    }
    fail(`${e.message} evaluating rule: ${shown}`)
  }

  /** The message of the expression, if it makes one; else that of the rule. `ends` = nothing more may be evaluated. */
  #message(rule: CompiledRule, bindings: Bindings): { readonly text: string; readonly ends: boolean } {
    const otherwise = {
      text: rule.rule.message ? rule.rule.message.trim() : `failed rule: ${shownRule(rule.rule)}`,
      ends: false,
    }
    if (!rule.message) return otherwise
    let made: unknown
    try {
      made = this.#call(rule.message, bindings)
    } catch (e) {
      if (!(e instanceof CelError)) throw e
      if (e instanceof BudgetError) {
        const quoted = JSON.stringify(rule.rule.messageExpression)
        return {
          text:
            'no further validation rules will be run due to call cost exceeds limit for messageExpression: ' +
            `${quoted}`,
          ends: true,
        }
      }
      return otherwise
    }
    if (this.#budget.left < 0) {
      return {
        text:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules ' +
          'will be run',
        ends: true,
      }
    }
    const text = typeof made === 'string' ? made.trim() : ''
    const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= maxMessageBytes
    return isUsable ? { text, ends: false } : otherwise
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'
const omitted = Symbol('the value is not shown')

function hasNotChanged({ here, around }: Place): boolean {
  const pair = here ?? around
  return pair !== undefined && isUnchanged(pair.value, pair.before)
}

const joinPath = (path: string, name: string): string =>
  path === '' ? name : name.startsWith('[') ? path + name : `${path}.${name}`

const shownRule = ({ rule, message }: ValidationRule): string => (message ? message : rule).trim()

function errorOf(
  reason: string | undefined,
  field: string,
  value: JsonValue | typeof omitted,
  detail: string,
): FieldError {
  if (reason === 'FieldValueForbidden') return fieldForbidden(field, detail)
  if (reason === 'FieldValueRequired') return fieldRequired(field, detail)
  if (reason === 'FieldValueDuplicate') {
    return value === omitted
      ? { type: 'FieldValueDuplicate', field, body: `Duplicate value: ${detail}` }
      : fieldDuplicate(field, value)
  }
  return value === omitted
    ? { type: 'FieldValueInvalid', field, body: `Invalid value: ${detail}` }
    : fieldInvalid(field, value, detail)
}
