/**
 * The selectors of an access review: may a user list what a selector picks? Rules of RBAC know no selectors, so they
 * change no answer here; an authorizer that knows them gets them parsed. What can't be read is left out and said in
 * `evaluationError`: requirements are ANDed, so the question only becomes broader.
 * @see k8s.io/kubernetes/pkg/{apis/authorization/validation,registry/authorization/util} v1.36
 */
import { append } from '../../base/append.ts'
import { inBatches, type Resumable } from '../../base/resumable.ts'
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { type FieldSelector, type FieldTerm, parseFieldSelector } from '../../kube/field-selector.ts'
import {
  type LabelSelector,
  labelSelectorOf,
  parseLabelSelector,
  validateLabelSelector,
} from '../../kube/label-selector.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { ResourceAttributesSpec, SelectorAttributesSpec, SelectorRequirementSpec } from './types.ts'

export interface ReadSelectors {
  readonly fieldSelector?: FieldSelector
  readonly labelSelector?: LabelSelector
  /** For `status.evaluationError`. */
  readonly faults: readonly string[]
}

const path = 'spec.resourceAttributes'

/** Judged between two pauses. */
const requirementsAtOnce = 200

/** Unknown operators are allowed: newer clients may send them. */
export function* selectorErrors({
  fieldSelector,
  labelSelector,
}: ResourceAttributesSpec): Resumable<readonly FieldError[]> {
  return [
    ...(yield* errorsOf(fieldSelector, `${path}.fieldSelector`, fieldRequirementErrors)),
    ...(yield* errorsOf(labelSelector, `${path}.labelSelector`, labelRequirementErrors)),
  ]
}

function* errorsOf(
  selector: SelectorAttributesSpec | undefined | null,
  field: string,
  requirementErrors: (requirement: SelectorRequirementSpec, field: string) => FieldError[],
): Resumable<readonly FieldError[]> {
  if (!selector) return []
  const { rawSelector = '', requirements = [] } = selector
  const errors: FieldError[] = []
  if (rawSelector !== '' && requirements.length > 0) {
    errors.push(fieldInvalid(`${field}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'))
  }
  if (rawSelector === '' && requirements.length === 0) {
    const why = `when ${field} is specified, requirements or rawSelector is required`
    errors.push(fieldRequired(`${field}.requirements`, why))
  }
  yield* inBatches(requirements, requirementsAtOnce, (requirement, i) =>
    append(errors, requirementErrors(requirement, `${field}.requirements[${i}]`)),
  )
  return errors
}

function fieldRequirementErrors(
  { key = '', operator, values = [] }: SelectorRequirementSpec,
  at: string,
): FieldError[] {
  const errors = key === '' ? [fieldRequired(`${at}.key`, 'must be specified')] : []
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    errors.push(fieldRequired(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    errors.push(fieldForbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  }
  return errors
}

function labelRequirementErrors(
  { key = '', operator = '', values = [] }: SelectorRequirementSpec,
  at: string,
): FieldError[] {
  return validateLabelSelector({ matchExpressions: [{ key, operator, values }] }, at)
    .map((e) => ({ ...e, field: e.field.replace('.matchExpressions[0]', '') }))
    .filter((e) => e.field !== `${at}.operator`)
}

export function* readSelectors({ fieldSelector, labelSelector }: ResourceAttributesSpec): Resumable<ReadSelectors> {
  const fields = yield* read(fieldSelector, parseFieldSelector, (r) => [fieldTermOf(r)])
  const labels = yield* read(labelSelector, parseLabelSelector, ({ key = '', operator = '', values = [] }) =>
    labelSelectorOf({ matchExpressions: [{ key, operator, values }] }),
  )
  return {
    ...(fields.terms.length > 0 ? { fieldSelector: fields.terms } : {}),
    ...(labels.terms.length > 0 ? { labelSelector: labels.terms } : {}),
    faults: [...faultOf('fieldSelector', fields), ...faultOf('labelSelector', labels)],
  }
}

interface Read<T> {
  readonly terms: readonly T[]
  readonly complete: boolean
}

function* read<T>(
  selector: SelectorAttributesSpec | undefined | null,
  parse: (text: string) => readonly T[],
  termsOf: (requirement: SelectorRequirementSpec) => readonly T[],
): Resumable<Read<T>> {
  const { rawSelector = '', requirements = [] } = selector ?? {}
  if (requirements.length === 0) return yield* together([() => parse(rawSelector)])
  return yield* together(requirements.map((r) => () => termsOf(r)))
}

/** What can be read of all parts. */
function* together<T>(parts: readonly (() => readonly T[])[]): Resumable<Read<T>> {
  const terms: T[] = []
  let complete = true
  yield* inBatches(parts, requirementsAtOnce, (part) => {
    try {
      append(terms, part())
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      complete = false
    }
  })
  return { terms, complete }
}

function faultOf(name: string, { terms, complete }: Read<unknown>): string[] {
  if (complete) return []
  return [`${path}.${name} ${terms.length > 0 ? 'partially ignored' : 'ignored'} due to parse error`]
}

/** @throws StatusError for what a field selector can't say: several values, or whether there is one. */
function fieldTermOf({ key = '', operator, values = [] }: SelectorRequirementSpec): FieldTerm {
  const [value] = values
  if (value === undefined || values.length > 1 || (operator !== 'In' && operator !== 'NotIn')) {
    throw new StatusError(`a field selector has no ${String(operator)} of ${values.length} values`, {
      reason: 'BadRequest',
    })
  }
  return { field: key, operator: operator === 'In' ? '=' : '!=', value }
}
