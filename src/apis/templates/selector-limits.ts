/**
 * How much may stand in the selectors of a template. An API server asks every template about every namespace that is
 * written, in expressions of admission policies with a budget: one template with 40,000 patterns, though it selects
 * nothing, had it refuse all namespaces of its cluster. The budget is of each template, and time adds up: a thousand
 * values take some 3 ms of the API server for each namespace that is written, 128 patterns with 16 wildcards some 10.
 */
import { type FieldError, fieldForbidden, fieldTooLong, fieldTooMany } from '../../kube/field-error.ts'
import type { NamespaceMatch } from './types.ts'

/** Of patterns, of labels and of terms. */
const mostEntries = 128
/** Of all terms. */
const mostValues = 1000
/** As the longest name there is. */
const longestPattern = 253
/** Each is an expression of its own where a pattern is compiled, as it is for every namespace. */
const mostWildcards = 16

export function matchErrors({ labelSelector, nameSelector, creatorSelector }: NamespaceMatch = {}): FieldError[] {
  const errors: FieldError[] = []
  const bound = (count: number, most: number, field: string): void => {
    if (count > most) errors.push(fieldTooMany(`spec.namespaces.${field}`, count, most))
  }
  bound(Object.keys(labelSelector?.matchLabels ?? {}).length, mostEntries, 'labelSelector.matchLabels')
  const terms = labelSelector?.matchExpressions ?? []
  bound(terms.length, mostEntries, 'labelSelector.matchExpressions')
  for (const [i, { values = [] }] of terms.slice(0, mostEntries).entries()) {
    bound(values.length, mostValues, `labelSelector.matchExpressions[${i}].values`)
  }
  const all = terms.slice(0, mostEntries).reduce((sum, { values = [] }) => sum + values.length, 0)
  if (errors.length === 0 && all > mostValues)
    errors.push(
      fieldForbidden(
        'spec.namespaces.labelSelector.matchExpressions',
        `the terms hold ${all} values, at most ${mostValues} together`,
      ),
    )
  const patterns = {
    'nameSelector.include': nameSelector?.include,
    'nameSelector.exclude': nameSelector?.exclude,
    'creatorSelector.users': creatorSelector?.users,
    'creatorSelector.serviceAccounts': creatorSelector?.serviceAccounts,
  }
  for (const [field, given = []] of Object.entries(patterns)) {
    bound(given.length, mostEntries, field)
    for (const [i, pattern] of given.slice(0, mostEntries).entries()) {
      const at = `spec.namespaces.${field}[${i}]`
      if (Buffer.byteLength(pattern) > longestPattern) {
        errors.push(fieldTooLong(at, longestPattern))
        continue
      }
      const wildcards = pattern.match(/[*?]/g)?.length ?? 0
      if (wildcards > mostWildcards)
        errors.push(fieldForbidden(at, `holds ${wildcards} wildcards (* and ?), at most ${mostWildcards}`))
    }
  }
  return errors
}
