/** What the parameters of a template must be, judged when it is written; and examples of what they may stand for. */
import { type FieldError, fieldDuplicate, fieldInvalid, fieldRequired, fieldTooMany } from '../../kube/field-error.ts'
import { isLabelValue, isQualifiedName } from '../../kube/names.ts'
import { compilePattern } from '../../kube/schema/pattern.ts'
import type { JsonObject } from '../../kube/types.ts'
import { findNoExpression } from './parameter-pattern.ts'
import { findWrong } from './parameters.ts'
import { textsIn, tokensIn } from './tokens.ts'
import type { TemplateParameter } from './types.ts'

const mostParameters = 64
const mostChoices = 128
/** Instructions, each of which may cost a step for each character of a value. */
const largestPattern = 1000

/** A capital letter begins the tokens that every template has. */
const namePattern = /^[a-z][A-Za-z0-9_]{0,62}$/
/** No fields of these names can be selected in CEL. */
const reserved: ReadonlySet<string> = new Set(['false', 'in', 'null', 'true'])

export function parameterErrors(parameters: readonly TemplateParameter[] = []): FieldError[] {
  const errors = parameters.flatMap((parameter, i) => errorsOf(parameter, `spec.parameters[${i}]`))
  const names = new Set<string>()
  for (const [i, { name }] of parameters.entries()) {
    if (names.has(name)) errors.push(fieldDuplicate(`spec.parameters[${i}].name`, name))
    names.add(name)
  }
  if (parameters.length > mostParameters) {
    errors.push(fieldTooMany('spec.parameters', parameters.length, mostParameters))
  }
  return errors
}

function errorsOf(parameter: TemplateParameter, field: string): FieldError[] {
  const { name, required } = parameter
  const errors = [...sourceErrors(parameter, field), ...enumErrors(parameter, field)]
  if (!namePattern.test(name) || reserved.has(name)) {
    const why = 'must be a lower-case letter and up to 62 letters, digits and underscores, and no literal of CEL'
    errors.push(fieldInvalid(`${field}.name`, name, why))
  }
  const patternError = findPatternError(parameter, field)
  if (patternError !== undefined) return [...errors, patternError]
  const preset = parameter.default ?? ''
  if (preset === '') return errors
  const wrong = findWrong(parameter, preset)
  if (wrong !== undefined) errors.push(fieldInvalid(`${field}.default`, preset, wrong))
  if (required)
    errors.push(
      fieldInvalid(
        `${field}.required`,
        required,
        'may not be given together with default: no namespace would lack a value',
      ),
    )
  return errors
}

function sourceErrors({ fromLabel, fromAnnotation }: TemplateParameter, field: string): FieldError[] {
  if (fromLabel !== undefined && fromAnnotation !== undefined) {
    return [fieldInvalid(`${field}.fromAnnotation`, fromAnnotation, 'may not be given together with fromLabel')]
  }
  const key = fromLabel ?? fromAnnotation
  const of = fromAnnotation === undefined ? 'fromLabel' : 'fromAnnotation'
  if (key === undefined) {
    return [
      fieldRequired(`${field}.fromLabel`, 'fromLabel or fromAnnotation must say where a namespace gives the value'),
    ]
  }
  return isQualifiedName(key).map((why) => fieldInvalid(`${field}.${of}`, key, why))
}

function enumErrors({ enum: choices, fromLabel }: TemplateParameter, field: string): FieldError[] {
  if (choices === undefined) return []
  if (choices.length === 0)
    return [fieldRequired(`${field}.enum`, 'must name a value at least: without one nothing could be given')]
  if (choices.length > mostChoices) return [fieldTooMany(`${field}.enum`, choices.length, mostChoices)]
  return choices.flatMap((choice, i) => {
    const at = `${field}.enum[${i}]`
    if (choices.indexOf(choice) < i) return [fieldDuplicate(at, choice)]
    if (choice === '')
      return [fieldInvalid(at, choice, 'may not be empty: an empty label or annotation counts as not given')]
    const wrong = findWrong({ name: '' }, choice)
    const whys = [...(wrong === undefined ? [] : [wrong]), ...(fromLabel === undefined ? [] : isLabelValue(choice))]
    return whys.map((why) => fieldInvalid(at, choice, why))
  })
}

function findPatternError({ pattern }: TemplateParameter, field: string): FieldError | undefined {
  if (pattern === undefined) return undefined
  const error = findNoExpression(pattern, field)
  if (error !== undefined) return error
  const size = compilePattern(pattern).programSize()
  const why = `has ${size} instructions when compiled, and may have at most ${largestPattern}`
  return size > largestPattern ? fieldInvalid(`${field}.pattern`, pattern, why) : undefined
}

/** A text of an annotation that nothing bounds. */
export const isUnbounded = ({ fromAnnotation, enum: choices, pattern }: TemplateParameter): boolean =>
  fromAnnotation !== undefined && choices === undefined && pattern === undefined

const mostSamples = 16
const guesses = ['a', '1', '10', '100m', '1Gi', 'a1', 'ab', 'abc', '0001', 'a-b', 'a.b', 'a.example.com', 'A', 'true']

/** Values of the parameters that an object names, with which it can be tried before there is a namespace. */
interface Samples {
  /** Each choice of each parameter stands in one of them, of the first sixteen. */
  readonly samples: readonly ReadonlyMap<string, string>[]
  /** Parameters of which no example is known. */
  readonly unknown: readonly string[]
}

export function samplesFor(object: JsonObject, parameters: readonly TemplateParameter[]): Samples {
  const names = new Set([...textsIn(object)].flatMap(({ text }) => tokensIn(text).map((token) => token.name)))
  return samplesOf(parameters.filter((parameter) => names.has(parameter.name)))
}

export function samplesOf(named: readonly TemplateParameter[]): Samples {
  const examples = named.map((parameter) => [parameter.name, examplesOf(parameter)] as const)
  const rounds = examples.reduce((most, [, values]) => Math.max(most, Math.min(values.length, mostSamples)), 1)
  const samples = Array.from(
    { length: rounds },
    (_, i) => new Map(examples.map(([name, values]) => [name, values[Math.min(i, values.length - 1)] ?? ''])),
  )
  return { samples, unknown: examples.flatMap(([name, values]) => (values.length === 0 ? [name] : [])) }
}

/** What is wrong with an object, with the values with which it is. */
export function notedErrors(errors: readonly FieldError[], sample: ReadonlyMap<string, string>): readonly FieldError[] {
  if (sample.size === 0) return errors
  const note = [...sample].map(([name, value]) => `${name} is ${JSON.stringify(value)}`).join(', ')
  return errors.map(({ type, field, body }) => ({ type, field, body: `${body} (where ${note})` }))
}

export const untriedFor = (unknown: readonly string[]): string =>
  `it could not be tried beforehand: no example of ${unknown.join(', ')} is known; a default would be one`

function examplesOf(parameter: TemplateParameter): readonly string[] {
  const { enum: choices, default: preset, required } = parameter
  // What is not given stands for the empty text.
  const unset = required || preset ? [] : ['']
  if (choices !== undefined) return [...choices, ...unset]
  if (preset) return [preset]
  // What is wrong with the pattern is told beside this.
  if (parameter.pattern !== undefined && findNoExpression(parameter.pattern, '') !== undefined) return unset
  const guess = guesses.find((value) => findWrong(parameter, value) === undefined)
  return guess === undefined ? [] : [guess, ...unset]
}
