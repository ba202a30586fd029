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

/** What is no part of a word but blanks and NUL. */
const special = new Set(['=', '!', '(', ')', ',', '>', '<'])
const operatorNames = 'in, notin, =, ==, !=, gt, lt'
const anyToken = /[^=!(),<> \t\r\n\0]+\0?|==|!=|[=!(),<>]|\0/g

/** Symbols and words; a selector may have tens of thousands, so they are cut out in one go. */
function tokenize(text: string): readonly string[] {
  const tokens: string[] = text.match(anyToken) ?? []
  return text.includes('\0') ? untilNul(tokens) : tokens
}

/** A NUL ends a word and, between words, the text: as upstream's lexer has it. */
function untilNul(tokens: readonly string[]): string[] {
  const end = tokens.indexOf('\0')
  return tokens.slice(0, end < 0 ? tokens.length : end).map((token) => token.replace('\0', ''))
}

/** '' is behind the last token. */
const isEnd = (token: string): boolean => token === ''
/** `in` and `notin` are words, too. */
const isWord = (token: string): boolean => token !== '' && !special.has(token.charAt(0))

class SelectorSyntaxError extends Error {}

class Parser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? ''
  }

  #next(): string {
    const token = this.#peek()
    this.#at++
    return token
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const first = this.#peek()
      if (isEnd(first)) return requirements
      if (!isWord(first) && first !== '!') {
        throw new SelectorSyntaxError(`found '${first}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const after = this.#next()
      if (isEnd(after)) return requirements
      if (after !== ',') {
        throw new SelectorSyntaxError(`found '${after}', expected: ',' or 'end of string'`)
      }
      const following = this.#peek()
      if (!isWord(following) && following !== '!') {
        throw new SelectorSyntaxError(`found '${following}', expected: identifier after ','`)
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
    let key = this.#next()
    const negated = key === '!'
    if (negated) key = this.#next()
    if (!isWord(key)) throw new SelectorSyntaxError(`found '${key}', expected: identifier`)
    const keyErrors = isQualifiedName(key)
    if (keyErrors.length > 0) {
      throw new SelectorSyntaxError(`<nil>: Invalid value: ${quote(key)}: ${keyErrors.join('; ')}`)
    }
    if (negated) return makeRequirement(key, '!', [])
    const after = this.#peek()
    if (isEnd(after) || after === ',') return makeRequirement(key, 'exists', [])
    const operator = this.#operator()
    return makeRequirement(key, operator, operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()])
  }

  #operator(): LabelOperator {
    const token = this.#next()
    switch (token) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return token
      default:
        throw new SelectorSyntaxError(`found '${token}', expected: ${operatorNames}`)
    }
  }

  #value(): string {
    const token = this.#peek()
    if (isEnd(token) || token === ',') return ''
    this.#at++
    if (isWord(token)) return token
    throw new SelectorSyntaxError(`found '${token}', expected: identifier`)
  }

  #values(): string[] {
    const open = this.#next()
    if (open !== '(') throw new SelectorSyntaxError(`found '${open}' expected: '('`)
    const first = this.#peek()
    if (first === ')') {
      this.#at++
      return ['']
    }
    if (!isWord(first) && first !== ',') {
      throw new SelectorSyntaxError(`found '${first}', expected: ',', ')' or identifier`)
    }
    const values = this.#list()
    this.#at++
    return values
  }

  /** Leaves the closing parenthesis. Nothing between two commas, or beside a parenthesis, is the empty value. */
  #list(): string[] {
    const values: string[] = []
    for (;;) {
      const token = this.#next()
      const after = this.#peek()
      const closes = after === ')'
      if (token === ',') {
        if (values.length === 0) values.push('')
        if (closes || after === ',') values.push('')
        if (closes) return values
      } else if (isWord(token)) {
        values.push(token)
        if (closes) return values
        if (after !== ',') throw new SelectorSyntaxError(`found '${after}', expected: ',' or ')'`)
      } else throw new SelectorSyntaxError(`found '${token}', expected: ',', or identifier`)
    }
  }
}

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

export function parseInt64(text: string): bigint | undefined {
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

export function holds(r: LabelRequirement, labels: Labels | undefined): boolean {
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
