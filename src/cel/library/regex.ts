/** `find` and `findAll`. @see k8s.io/apiserver/pkg/cel/library/regex.go v0.36 */
import { AllowanceExceeded, type Budget } from '../budget.ts'
import { type Library, method } from '../functions.ts'
import { ArrayList, CelError } from '../values.ts'

function findAll(text: string, pattern: string, limit: bigint, budget: Budget): string[] {
  try {
    return budget.pattern(pattern).findAll(text, limit < 0n ? -1 : Number(limit))
  } catch (e) {
    if (e instanceof CelError || e instanceof AllowanceExceeded) throw e
    throw new CelError(`Illegal regex: ${e instanceof Error ? e.message : String(e)}`, { cause: e })
  }
}

export const regexLibrary: Library = [
  method('string_find_string', 'find', ['string, string', 'string'], (t: string, p: string, b: Budget) => {
    return findAll(t, p, 1n, b)[0] ?? ''
  }),
  method('string_find_all_string', 'findAll', ['string, string', 'list(string)'], (t: string, p: string, b: Budget) => {
    return new ArrayList(findAll(t, p, -1n, b))
  }),
  method(
    'string_find_all_string_int',
    'findAll',
    ['string, string, int', 'list(string)'],
    (t: string, p: string, limit: bigint, b: Budget) => new ArrayList(findAll(t, p, limit, b)),
  ),
]
