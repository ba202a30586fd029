/**
 * Parameters of a template: texts that each namespace gives in a label or an annotation of its own, within bounds that
 * the template sets. Pure.
 */
import { SizedCache } from '../../base/sized-cache.ts'
import { quote } from '../../kube/go-quote.ts'
import { compilePattern } from '../../kube/schema/pattern.ts'
import type { KubeObject } from '../../kube/types.ts'
import { digestOfInput } from './judged-conditions.ts'
import { findBeyond } from './match.ts'
import type { NamespaceTemplate, TemplateParameter } from './types.ts'

/** What is wrong with what a namespace gives for one parameter, or with the template itself. */
export interface ParameterFault {
  /** Undefined: it is the template that this version does not understand. */
  readonly parameter: string | undefined
  /** In the namespace: `metadata.labels[example.com/size]`. */
  readonly field: string
  /** Undefined: it is required, and not given. */
  readonly value: string | undefined
  /** In words that follow the name of the parameter or of the field. */
  readonly wrong: string
}

export interface ParameterValues {
  /** By name, of all parameters: one that is not given and has no default is the empty text. */
  readonly values: ReadonlyMap<string, string>
  /** Empty = the template can be rendered with these values. */
  readonly faults: readonly ParameterFault[]
}

type Named = Pick<KubeObject, 'metadata'>

/** Annotations may be 256 KiB long, and each character costs a step for each instruction of a pattern. */
export const parameterValueMaxLength = 1024

/** Of all values of a namespace with the patterns of a template, compared in one piece: some 20 ms at worst. */
const stepsTogether = 250_000
/** Some 0.2 ms. */
const longFrom = 2500
/** To compare what takes less costs little more than to look it up. */
const rememberedFrom = 500

/**
 * Whether values match patterns: each pass over a namespace, and each write of it, asks the same again. Some twenty
 * thousand.
 */
const comparedBefore = new SizedCache<boolean>(4 * 1024 * 1024)
const comparisonBytes = 200

interface Steps {
  left: number
}

export const noParameters: ParameterValues = { values: new Map(), faults: [] }

/** What the parameters of a template stand for in a namespace. */
export function evaluateParameters(template: NamespaceTemplate, namespace: Named): ParameterValues {
  const beyond = findBeyond(template)
  if (beyond !== undefined) return notUnderstood(beyond)
  const parameters = template.spec?.parameters ?? []
  if (parameters.length === 0) return noParameters
  const values = new Map<string, string>()
  const faults: ParameterFault[] = []
  const steps = { left: stepsTogether }
  for (const parameter of parameters) {
    const given = givenFor(parameter, namespace)
    const wrong = given === '' ? missingOf(parameter) : findWrong(parameter, given, steps)
    values.set(parameter.name, given === '' ? (parameter.default ?? '') : given)
    const value = given === '' ? undefined : given
    if (wrong !== undefined) faults.push({ parameter: parameter.name, field: fieldOf(parameter), value, wrong })
  }
  return { values, faults }
}

/** To evaluate them now would take long. What was compared before does not, nor what is refused uncompared. */
export function isLongToEvaluate(template: NamespaceTemplate, namespace: Named): boolean {
  if (findBeyond(template) !== undefined) return false
  let steps = 0
  for (const parameter of template.spec?.parameters ?? []) {
    const { enum: choices, pattern } = parameter
    const given = givenFor(parameter, namespace)
    if (pattern === undefined || given === '' || given.length > parameterValueMaxLength) continue
    if (choices !== undefined && !choices.includes(given)) continue
    const more = stepsOf(pattern, given)
    if (more >= rememberedFrom && comparedBefore.get(digestOfInput(pattern, given)) === undefined) steps += more
  }
  return steps >= longFrom
}

const notUnderstood = (wrong: string): ParameterValues => ({
  values: new Map(),
  faults: [{ parameter: undefined, field: '', value: undefined, wrong }],
})

/** An empty label or annotation gives nothing. */
export function givenFor({ fromLabel, fromAnnotation }: TemplateParameter, { metadata }: Named): string {
  const given = fromLabel === undefined ? metadata.annotations?.[fromAnnotation ?? ''] : metadata.labels?.[fromLabel]
  // Of a namespace that is not validated yet it may be anything.
  return typeof given === 'string' ? given : ''
}

/** Where a namespace gives it. */
export const fieldOf = ({ fromLabel, fromAnnotation }: TemplateParameter): string =>
  fromLabel === undefined ? `metadata.annotations[${fromAnnotation}]` : `metadata.labels[${fromLabel}]`

/** What may be given: `one of "small", "large"`. */
export function allowedFor({ enum: choices, pattern }: TemplateParameter): string {
  if (choices !== undefined) return `one of ${choices.map(quote).join(', ')}`
  return pattern === undefined ? 'any text in one line' : `text that matches ${pattern}`
}

const missingOf = (parameter: TemplateParameter): string | undefined =>
  parameter.required ? `is required: it must be ${allowedFor(parameter)}` : undefined

/** What is wrong with a value that is given. */
export function findWrong(
  parameter: TemplateParameter,
  value: string,
  steps: Steps = { left: stepsTogether },
): string | undefined {
  if (value.length > parameterValueMaxLength) return `must have at most ${parameterValueMaxLength} characters`
  // A line break would end the line of a file that the value stands in.
  if (/[\p{Cc}\u2028\u2029]/u.test(value)) return 'must have no control characters and no line breaks'
  const { enum: choices, pattern } = parameter
  const isChoice = choices === undefined || choices.includes(value)
  if (isChoice && pattern !== undefined) {
    steps.left -= stepsOf(pattern, value)
    if (steps.left < 0) return `is too long to compare with ${pattern}: it and the values before it must be shorter`
  }
  const isAllowed = isChoice && (pattern === undefined || matchesWhole(pattern, value))
  return isAllowed ? undefined : `must be ${allowedFor(parameter)}`
}

const stepsOf = (pattern: string, value: string): number => (value.length + 1) * compilePattern(pattern).programSize()

/** The whole value, in RE2. */
function matchesWhole(pattern: string, value: string): boolean {
  if (stepsOf(pattern, value) < rememberedFrom) return compilePattern(pattern).matches(value)
  const key = digestOfInput(pattern, value)
  const before = comparedBefore.get(key)
  if (before !== undefined) return before
  const matches = compilePattern(pattern).matches(value)
  comparedBefore.set(key, matches, comparisonBytes)
  return matches
}
