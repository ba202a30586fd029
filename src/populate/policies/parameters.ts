/**
 * Values of a template's parameters, as far as an update brought them: what it leaves as it was is no fault of its
 * client. The bounds are those of `apis/templates/parameters.ts`.
 */
import { parameterValueMaxLength } from '../../apis/templates/parameters.ts'
import type { Validation, Variable } from './expressions.ts'

const given = (labels: string, annotations: string): string =>
  `(has(p.fromLabel) ? (p.fromLabel in ${labels} ? ${labels}[p.fromLabel] : '') : ` +
  `(p.fromAnnotation in ${annotations} ? ${annotations}[p.fromAnnotation] : ''))`

const isNow = given('variables.labels', 'variables.annotations')
const was = given('variables.oldLabels', 'variables.oldAnnotations')

const isAllowed =
  `(size(${isNow}) <= ${parameterValueMaxLength} && ` +
  `!${isNow}.matches(r'[\\p{Cc}\\x{2028}\\x{2029}]')` +
  ` && (!has(p.enum) || ${isNow} in p.enum) && (!has(p.pattern) || ${isNow}.matches('^(?:' + p.pattern + ')$')))`

const isFault = `(${isNow} == '' ? has(p.required) && p.required : !${isAllowed})`

const field = "(has(p.fromLabel) ? 'metadata.labels[' + p.fromLabel : 'metadata.annotations[' + p.fromAnnotation) + ']'"
const allowed =
  `(has(p.enum) ? 'one of "' + p.enum.join('", "') + '"' : has(p.pattern) ? 'text that matches ' + p.pattern : ` +
  `'any text in one line of at most ${parameterValueMaxLength} characters')`

export const parameterVariables: readonly Variable[] = [
  { name: 'parameters', expression: 'has(params.spec) && has(params.spec.parameters) ? params.spec.parameters : []' },
  {
    name: 'faults',
    expression:
      // Without parameters it is not looked at whether the template selects the namespace, which takes its time.
      'size(variables.parameters) == 0 || !variables.populates ? [] : ' +
      `variables.parameters.filter(p, ${isFault} && !(variables.populated && ${isNow} == ${was}))`,
  },
  {
    name: 'told',
    expression:
      `variables.faults.map(p, ${field} + ': parameter "' + p.name + '" of template "' + variables.template + '" ' + ` +
      `(${isNow} == '' ? 'is required: it must be ' : 'must be ') + ${allowed}).join(', ')`,
  },
]

/** In place of a longer message API servers show the expression that was not true. A character has four at most. */
const mostBytes = 5 * 1024

export const validateParameters: readonly Validation[] = [
  {
    expression: 'size(variables.faults) == 0',
    messageExpression:
      `size(bytes(variables.told)) <= ${mostBytes} ? variables.told : ` +
      `variables.told.substring(0, ${mostBytes / 4 - 3}) + '...'`,
    reason: 'Invalid',
  },
]
