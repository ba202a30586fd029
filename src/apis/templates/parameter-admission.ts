/** What admission says of parameters: of a template that declares them, and of a namespace that gives them. */
import type { Attributes } from '../../admission/admission.ts'
import { append } from '../../base/append.ts'
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  shownOfAnnotation,
} from '../../kube/field-error.ts'
import { invalid } from '../../kube/status-error.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { findInCondition, longestExpression, longestTogether } from './conditions.ts'
import { metadataErrors } from './metadata-rules.ts'
import { lengthOfConditions, sourceNameErrors } from './object-entries.ts'
import { isUnbounded, parameterErrors } from './parameter-rules.ts'
import { evaluateParameters, givenFor } from './parameters.ts'
import { matchErrors } from './selector-limits.ts'
import { objectsOf } from './template-objects.ts'
import { tokenErrors } from './token-rules.ts'
import type { NamespaceTemplate } from './types.ts'

/** What is asked of a spec when it is written: one that is stored keeps what was a text when it was. */
export function writtenErrors({ warn }: Pick<Attributes, 'warn'>, template: NamespaceTemplate): FieldError[] {
  const { spec } = template
  const parameters = spec?.parameters ?? []
  const errors = [...matchErrors(spec?.namespaces), ...parameterErrors(parameters), ...metadataErrors(template)]
  for (const [i, parameter] of parameters.entries()) {
    if (isUnbounded(parameter)) {
      warn(`spec.parameters[${i}]: without enum and pattern it stands for any text in one line, quotes included`)
    }
  }
  for (const { field, source, cloneFrom } of objectsOf(template)) {
    // Of tokens in a source the entry says what is wrong.
    const of = cloneFrom === undefined ? tokenErrors(source, field, parameters) : sourceNameErrors(cloneFrom, field)
    append(errors, of)
    append(errors, metadataOfOthers(source, field))
  }
  const entries = spec?.objects ?? []
  // What is too long is refused already, and not parsed.
  if (lengthOfConditions(entries) > longestTogether) return errors
  for (const [i, { when = '' }] of entries.entries()) {
    if (when === '' || when.length > longestExpression) continue
    const { problems, doubts } = findInCondition(when, parameters)
    for (const problem of problems) errors.push(fieldInvalid(`spec.objects[${i}].when`, when, problem))
    for (const doubt of doubts) warn(`spec.objects[${i}].when: ${doubt}`)
  }
  return errors
}

const copied = 'the server sets it: leave it out'
/** Fields of metadata that no object of a template may have, and why. */
const fieldsOfOthers: readonly (readonly [name: string, why: string])[] = [
  // Whose owner is not there garbage collection deletes, and it would be made again, without an end.
  ['ownerReferences', 'a template owns what it makes'],
  // What was copied from a cluster has them, and each apply of such an object would be refused.
  ...['uid', 'resourceVersion', 'managedFields'].map((name) => [name, copied] as const),
]

function metadataOfOthers({ metadata }: JsonObject, field: string): FieldError[] {
  const given = (metadata ?? {}) as JsonObject
  return fieldsOfOthers.flatMap(([name, why]) => {
    const value = given[name]
    const isEmpty = value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)
    return isEmpty ? [] : [fieldForbidden(`${field}.metadata.${name}`, why)]
  })
}

interface Before {
  readonly old: Namespace
  /** They populated it. */
  readonly templates: readonly NamespaceTemplate[]
}

/** What an update leaves as it was is no fault of its client. @throws StatusError Invalid */
export function checkParameters(
  { type, name }: Attributes,
  namespace: Namespace,
  templates: readonly NamespaceTemplate[],
  before?: Before,
): void {
  const errors: FieldError[] = []
  for (const template of templates) {
    const { faults } = evaluateParameters(template, namespace)
    const isNew = before === undefined || !before.templates.includes(template)
    for (const { parameter, field, value, wrong } of faults) {
      if (parameter === undefined) {
        if (isNew)
          errors.push(fieldForbidden('metadata', `template "${template.metadata.name}" selects it, which ${wrong}`))
        continue
      }
      const declared = template.spec?.parameters?.find((p) => p.name === parameter)
      const given = before && declared && givenFor(declared, before.old)
      if (!isNew && given === (value ?? '')) continue
      const message = `parameter "${parameter}" of template "${template.metadata.name}" ${wrong}`
      errors.push(
        value === undefined ? fieldRequired(field, message) : fieldInvalid(field, value, message, shownOfAnnotation),
      )
    }
  }
  if (errors.length > 0) throw invalid(type, name, errors)
}
