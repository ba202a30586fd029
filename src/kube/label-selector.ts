/**
 * Label selectors: parsed once into frozen data, matched against plain label maps, printed back.
 * Two written forms: the query string (`a=b,c in (d,e),!f`) and the LabelSelector object of a spec.
 * @see k8s.io/apimachinery/pkg/labels/selector.go, pkg/apis/meta/v1/helpers.go v0.36
 */
import { aggregate } from './aggregate.ts'
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired } from './field-error.ts'
import { quote } from './go-quote.ts'
import { validateLabels } from './metadata.ts'
import { isLabelValue, isQualifiedName } from './names.ts'
import { isAmong } from './sorted-values.ts'
import { badRequest } from './status-error.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Sorted, without repeats. One value for `=`, `==`, `!=`, `>`, `<`; none for `exists` and `!`. */
  readonly values: readonly string[]
}

/** All must hold, sorted by key. Empty matches everything. */
export type LabelSelector = readonly LabelRequirement[]

export type Labels = Readonly<Record<string, string>>

/** metav1.LabelSelector */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

export const everything: LabelSelector = Object.freeze([])
/** What an absent LabelSelector object means. */
export const nothing: LabelSelector = Object.freeze([
  Object.freeze({ key: '', operator: 'in', values: Object.freeze([]) } as const),
])

const special = new Set(['=', '!', '(', ')', ',', '>', '<'])
const blank = new Set([' ', '\t', '\r', '\n'])
const symbols = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '('])
const operatorNames = 'in, notin, =, ==, !=, gt, lt'

/** `symbol`: literal is one of `symbols`; `word` also covers `in` and `notin`; `end`: literal is empty. */
interface Token {
  readonly kind: 'symbol' | 'word' | 'end'
  readonly literal: string
}

const endToken: Token = { kind: 'end', literal: '' }

/** A NUL ends a word and, between words, the text: as upstream's lexer has it. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const c = text.charAt(at)
    if (blank.has(c)) {
      at++
      continue
    }
    if (c === '\0') break
    if (special.has(c)) {
      const two = text.slice(at, at + 2)
      const literal = symbols.has(two) ? two : c
      tokens.push({ kind: 'symbol', literal })
      at += literal.length
      continue
    }
    let end = at
    while (end < text.length && !special.has(text.charAt(end)) && !blank.has(text.charAt(end)) && text[end] !== '\0')
      end++
    tokens.push({ kind: 'word', literal: text.slice(at, end) })
    at = text[end] === '\0' ? end + 1 : end
  }
  return tokens
}

class SelectorSyntaxError extends Error {}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? endToken
  }

  #next(): Token {
    const token = this.#peek()
    this.#at++
    return token
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const first = this.#peek()
      if (first.kind === 'end') return requirements
      if (first.kind !== 'word' && first.literal !== '!') {
        throw new SelectorSyntaxError(`found '${first.literal}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const after = this.#next()
      if (after.kind === 'end') return requirements
      if (after.literal !== ',' || after.kind === 'word') {
        throw new SelectorSyntaxError(`found '${after.literal}', expected: ',' or 'end of string'`)
      }
      const following = this.#peek()
      if (following.kind !== 'word' && following.literal !== '!') {
        throw new SelectorSyntaxError(`found '${following.literal}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#keyAndRest()
    } catch (e) {
      if (e instanceof SelectorSyntaxError) {
        throw new SelectorSyntaxError(`unable to parse requirement: ${e.message}`, { cause: e })
      }
      throw e
    }
  }

  #keyAndRest(): LabelRequirement {
    let token = this.#next()
    const negated = token.kind === 'symbol' && token.literal === '!'
    if (negated) token = this.#next()
    if (token.kind !== 'word') throw new SelectorSyntaxError(`found '${token.literal}', expected: identifier`)
    const key = token.literal
    const keyErrors = isQualifiedName(key)
    if (keyErrors.length > 0) {
      throw new SelectorSyntaxError(`<nil>: Invalid value: ${quote(key)}: ${keyErrors.join('; ')}`)
    }
    if (negated) return makeRequirement(key, '!', [])
    const after = this.#peek()
    if (after.kind === 'end' || (after.kind === 'symbol' && after.literal === ',')) {
      return makeRequirement(key, 'exists', [])
    }
    const operator = this.#operator()
    return makeRequirement(key, operator, operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()])
  }

  #operator(): LabelOperator {
    const { literal } = this.#next()
    switch (literal) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return literal
      default:
        throw new SelectorSyntaxError(`found '${literal}', expected: ${operatorNames}`)
    }
  }

  #value(): string {
    const token = this.#peek()
    if (token.kind === 'end' || (token.kind === 'symbol' && token.literal === ',')) return ''
    this.#at++
    if (token.kind === 'word') return token.literal
    throw new SelectorSyntaxError(`found '${token.literal}', expected: identifier`)
  }

  #values(): string[] {
    const open = this.#next()
    if (open.kind !== 'symbol' || open.literal !== '(') {
      throw new SelectorSyntaxError(`found '${open.literal}' expected: '('`)
    }
    const first = this.#peek()
    if (first.kind === 'symbol' && first.literal === ')') {
      this.#at++
      return ['']
    }
    if (first.kind !== 'word' && first.literal !== ',') {
      throw new SelectorSyntaxError(`found '${first.literal}', expected: ',', ')' or identifier`)
    }
    const values = this.#list()
    this.#at++
    return values
  }

  /** Leaves the closing parenthesis. Nothing between two commas, or beside a parenthesis, is the empty value. */
  #list(): string[] {
    const values = new Set<string>()
    for (;;) {
      const token = this.#next()
      const after = this.#peek()
      const closes = after.kind === 'symbol' && after.literal === ')'
      const separates = after.kind === 'symbol' && after.literal === ','
      if (token.kind === 'word') {
        values.add(token.literal)
        if (closes) return [...values]
        if (!separates) throw new SelectorSyntaxError(`found '${after.literal}', expected: ',' or ')'`)
      } else if (token.kind === 'symbol' && token.literal === ',') {
        if (values.size === 0) values.add('')
        if (closes || separates) values.add('')
        if (closes) return [...values]
      } else throw new SelectorSyntaxError(`found '${token.literal}', expected: ',', or identifier`)
    }
  }
}

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

function parseInt64(text: string): bigint | undefined {
  if (text.length > 64 || !/^[+-]?[0-9]+$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value < int64Min || value > int64Max ? undefined : value
}

/** What upstream's NewRequirement complains about, joined as it joins it. */
function makeRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors: string[] = []
  const keyErrors = isQualifiedName(key)
  if (keyErrors.length > 0) errors.push(`key: Invalid value: ${quote(key)}: ${keyErrors.join('; ')}`)
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    errors.push(`values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`)
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    errors.push(
      `values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`,
    )
  }
  const sorted = [...new Set(values)].sort()
  if (operator === '>' || operator === '<') {
    sorted.forEach((v, i) => {
      if (parseInt64(v) === undefined) {
        errors.push(`values[${i}]: Invalid value: ${quote(v)}: for 'Gt', 'Lt' operators, the value must be an integer`)
      }
    })
  }
  sorted.forEach((v, i) => {
    const valueErrors = isLabelValue(v)
    if (valueErrors.length > 0) {
      errors.push(`values[${i}][${key}]: Invalid value: ${quote(v)}: ${valueErrors.join('; ')}`)
    }
  })
  if (errors.length > 0) throw new SelectorSyntaxError(aggregate(errors))
  return Object.freeze({ key, operator, values: Object.freeze(sorted) })
}

const byKey = (a: LabelRequirement, b: LabelRequirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

/** @throws StatusError BadRequest in upstream's words. */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return everything
  try {
    return Object.freeze(new Parser(text).parse().sort(byKey))
  } catch (e) {
    if (e instanceof SelectorSyntaxError) throw badRequest(e.message)
    throw e
  }
}

/** Each pair must be there. The pairs are taken as valid. */
export function selectorOfLabels(labels: Labels): LabelSelector {
  return Object.freeze(
    Object.keys(labels)
      .sort()
      .map((key) => Object.freeze({ key, operator: '=', values: Object.freeze([labels[key] ?? '']) } as const)),
  )
}

const objectOperators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/**
 * An absent object selects nothing, an empty one everything.
 * @throws StatusError BadRequest if the object is invalid: judge it with `validateLabelSelector` first.
 */
export function labelSelectorOf(object: LabelSelectorObject | null | undefined): LabelSelector {
  if (!object) return nothing
  const requirements = [...selectorOfLabels(object.matchLabels ?? {})]
  try {
    for (const r of requirements) makeRequirement(r.key, r.operator, r.values)
    for (const e of object.matchExpressions ?? []) {
      const operator = Object.hasOwn(objectOperators, e.operator) ? objectOperators[e.operator] : undefined
      if (!operator) throw new SelectorSyntaxError(`${quote(e.operator)} is not a valid label selector operator`)
      requirements.push(makeRequirement(e.key, operator, e.values ?? []))
    }
  } catch (e) {
    if (e instanceof SelectorSyntaxError) throw badRequest(e.message)
    throw e
  }
  return Object.freeze(requirements.sort(byKey))
}

export function validateLabelSelector(object: LabelSelectorObject | null | undefined, field: string): FieldError[] {
  if (!object) return []
  const errors = validateLabels(object.matchLabels, `${field}.matchLabels`)
  object.matchExpressions?.forEach((e, i) => {
    const at = `${field}.matchExpressions[${i}]`
    const values = e.values ?? []
    if (e.operator === 'In' || e.operator === 'NotIn') {
      if (values.length === 0) {
        errors.push(fieldRequired(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
      }
    } else if (e.operator === 'Exists' || e.operator === 'DoesNotExist') {
      if (values.length > 0) {
        errors.push(
          fieldForbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        )
      }
    } else errors.push(fieldInvalid(`${at}.operator`, e.operator ?? '', 'not a valid selector operator'))
    for (const text of isQualifiedName(e.key ?? '')) errors.push(fieldInvalid(`${at}.key`, e.key ?? '', text))
    values.forEach((v, j) => {
      for (const text of isLabelValue(v)) errors.push(fieldInvalid(`${at}.values[${j}]`, v, text))
    })
  })
  return errors
}

function compares(operator: '>' | '<', value: string, bound: string | undefined): boolean {
  const a = parseInt64(value)
  const b = bound === undefined ? undefined : parseInt64(bound)
  if (a === undefined || b === undefined) return false
  return operator === '>' ? a > b : a < b
}

function holds(r: LabelRequirement, labels: Labels | undefined): boolean {
  const value = labels !== undefined && Object.hasOwn(labels, r.key) ? labels[r.key] : undefined
  switch (r.operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && isAmong(r.values, value)
    case '!=':
    case 'notin':
      return value === undefined || !isAmong(r.values, value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case '>':
    case '<':
      return value !== undefined && compares(r.operator, value, r.values[0])
  }
}

export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  for (const r of selector) if (!holds(r, labels)) return false
  return true
}

/** The one value a label must have to match, if there is one: lets an index narrow the search. */
export function requiredLabel(selector: LabelSelector, key: string): string | undefined {
  const r = selector.find((r) => r.key === key)
  if (!r || (r.operator !== '=' && r.operator !== '==' && r.operator !== 'in')) return undefined
  return r.values.length === 1 ? r.values[0] : undefined
}

function printRequirement(r: LabelRequirement): string {
  switch (r.operator) {
    case 'exists':
      return r.key
    case '!':
      return `!${r.key}`
    case 'in':
    case 'notin':
      return `${r.key} ${r.operator} (${r.values.join(',')})`
    default:
      return `${r.key}${r.operator}${r.values.join(',')}`
  }
}

/** The query form. `nothing` has none and prints empty, as upstream's does. */
export const printLabelSelector = (selector: LabelSelector): string =>
  selector === nothing ? '' : selector.map(printRequirement).join(',')
