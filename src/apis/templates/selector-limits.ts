/**
 * How much may stand in the selectors of a template. An API server asks every template about every namespace that is
 * written, in expressions of admission policies with a budget: one template with 40,000 patterns, though it selects
 * nothing, had it refuse all namespaces of its cluster.
 */
import { type FieldError, fieldTooLong, fieldTooMany } from '../../kube/field-error.ts'
import type { NamespaceMatch } from './types.ts'

/** Of patterns, of labels and of terms. */
const mostEntries = 128
/** Of a term. */
const mostValues = 1000
/** As the longest name there is. */
const longestPattern = 253

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
  const patterns = {
    'nameSelector.include': nameSelector?.include,
    'nameSelector.exclude': nameSelector?.exclude,
    'creatorSelector.users': creatorSelector?.users,
    'creatorSelector.serviceAccounts': creatorSelector?.serviceAccounts,
  }
  for (const [field, given = []] of Object.entries(patterns)) {
    bound(given.length, mostEntries, field)
    for (const [i, pattern] of given.slice(0, mostEntries).entries()) {
      if (Buffer.byteLength(pattern) > longestPattern)
        errors.push(fieldTooLong(`spec.namespaces.${field}[${i}]`, longestPattern))
    }
  }
  return errors
}
