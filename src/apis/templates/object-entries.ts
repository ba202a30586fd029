/** What must be right about an entry of `spec.objects` itself. Its object is judged as one of `spec.templates`. */
import { append } from '../../base/append.ts'
import { type FieldError, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { conditionProblem } from './conditions.ts'
import type { ObjectEntry } from './types.ts'

export function entryErrors(entries: readonly ObjectEntry[]): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, entry] of entries.entries()) append(errors, oneEntryErrors(entry, `spec.objects[${i}]`))
  return errors
}

function oneEntryErrors({ when, template }: ObjectEntry, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (template === undefined) errors.push(fieldRequired(`${field}.template`))
  const problem = when === undefined || when === '' ? undefined : conditionProblem(when)
  if (problem !== undefined) errors.push(fieldInvalid(`${field}.when`, when, problem))
  return errors
}
