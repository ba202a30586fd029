/** What must be right about an entry of `spec.objects` itself. Its object is judged as one of `spec.templates`. */
import { append } from '../../base/append.ts'
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
} from '../../kube/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../kube/names.ts'
import { conditionProblem, longestTogether } from './conditions.ts'
import { hasToken } from './tokens.ts'
import type { CloneSource, ObjectEntry } from './types.ts'

/** Of one template: each is a watch. */
const mostClones = 20
const cloneFields = ['namespace', 'apiVersion', 'kind', 'name'] as const
const clonedKinds = ['ConfigMap', 'Secret']

export function entryErrors(entries: readonly ObjectEntry[]): FieldError[] {
  const length = lengthOfConditions(entries)
  // Together they are too much to parse.
  if (length > longestTogether) {
    return [fieldForbidden('spec.objects', `conditions may have ${longestTogether} characters together, not ${length}`)]
  }
  const errors: FieldError[] = []
  for (const [i, entry] of entries.entries()) append(errors, oneEntryErrors(entry, `spec.objects[${i}]`))
  const clones = entries.filter(({ cloneFrom }) => cloneFrom !== undefined).length
  if (clones > mostClones) errors.push(fieldTooMany('spec.objects', clones, mostClones))
  return errors
}

export const lengthOfConditions = (entries: readonly ObjectEntry[]): number =>
  entries.reduce((sum, { when = '' }) => sum + when.length, 0)

function oneEntryErrors({ when, template, cloneFrom }: ObjectEntry, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (template === undefined && cloneFrom === undefined)
    errors.push(fieldRequired(field, 'must have a template or a cloneFrom'))
  if (template !== undefined && cloneFrom !== undefined)
    errors.push(fieldForbidden(`${field}.cloneFrom`, 'may not be specified when `template` is set'))
  if (cloneFrom !== undefined) append(errors, cloneErrors(cloneFrom, `${field}.cloneFrom`))
  const problem = when === undefined || when === '' ? undefined : conditionProblem(when)
  if (problem !== undefined) errors.push(fieldInvalid(`${field}.when`, when, problem))
  return errors
}

function cloneErrors(from: Partial<CloneSource>, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const key of cloneFields) {
    const value = from[key]
    if (!value) errors.push(fieldRequired(`${field}.${key}`))
    else if (hasToken(value)) errors.push(fieldInvalid(`${field}.${key}`, value, 'a token can not stand here'))
  }
  const { apiVersion, kind } = from
  if (apiVersion && apiVersion !== 'v1') errors.push(fieldNotSupported(`${field}.apiVersion`, apiVersion, ['v1']))
  if (kind && !clonedKinds.includes(kind)) errors.push(fieldNotSupported(`${field}.kind`, kind, clonedKinds))
  return errors
}

/** Of a source whose fields are all there: what no namespace, Secret or ConfigMap is called. */
export function sourceNameErrors({ namespace, name }: CloneSource, field: string): FieldError[] {
  const errors = [
    ...isDns1123Label(namespace).map((why) => fieldInvalid(`${field}.namespace`, namespace, why)),
    ...isDns1123Subdomain(name).map((why) => fieldInvalid(`${field}.name`, name, why)),
  ]
  return [namespace, name].some(hasToken) ? [] : errors
}
