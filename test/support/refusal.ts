/**
 * A whole Status, as tests expect it and as calls fail with it. Its words for causes are kept apart from `src/kube`.
 */
import { expect } from 'vitest'
import type { FieldError } from '../../src/kube/field-error.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { Status, StatusCause } from '../../src/kube/types.ts'
import type { Answered } from './send.ts'

export const failure = (said: Pick<Status, 'message' | 'code' | 'reason' | 'details'>): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  ...said,
})

/** How a cause begins → its reason. */
const reasons: readonly (readonly [begin: string, reason: string])[] = [
  ['Required value', 'FieldValueRequired'],
  ['Invalid value', 'FieldValueInvalid'],
  ['Duplicate value', 'FieldValueDuplicate'],
  ['Unsupported value', 'FieldValueNotSupported'],
  ['Forbidden', 'FieldValueForbidden'],
  ['Not found', 'FieldValueNotFound'],
  ['Too long', 'FieldValueTooLong'],
  ['Too many', 'FieldValueTooMany'],
  ['Internal error', 'InternalError'],
]

/** `fault` as it stands in the message: `<field>: <what is wrong>`. */
export function causeOf(fault: string): StatusCause {
  const at = fault.search(
    /: (?:Required value|Invalid value|Duplicate value|Unsupported value|Forbidden|Not found|Internal error|Too )/,
  )
  const field = fault.slice(0, at)
  const message = fault.slice(at + 2)
  const reason = / in body must be of type /.test(message)
    ? 'FieldValueTypeInvalid'
    : reasons.find(([begin]) => message.startsWith(begin))?.[1]
  if (at < 0 || reason === undefined) throw new Error(`no fault of a field: ${fault}`)
  return { reason, message, field }
}

interface Named {
  readonly group?: string
  readonly kind: string
  readonly name: string
}

/** 422 about an object. `types` gives the reasons of faults that do not have the one that their words suggest. */
export function invalidObject(
  { group = '', kind, name }: Named,
  faults: readonly string[],
  types: Readonly<Record<number, string>> = {},
): Status {
  const once = [...new Set(faults)]
  const list = once.length === 1 ? once[0] : `[${once.join(', ')}]`
  return failure({
    message: `${kind}${group ? `.${group}` : ''} "${name}" is invalid: ${list}`,
    reason: 'Invalid',
    details: {
      ...(name ? { name } : {}),
      ...(group ? { group } : {}),
      ...(kind ? { kind } : {}),
      causes: faults.map((fault, i) => ({ ...causeOf(fault), ...(types[i] ? { reason: types[i] } : {}) })),
    },
    code: 422,
  })
}

/** 403 about an object; `kind` is its resource. */
export const forbidden = ({ group = '', kind, name }: Named, why: string): Status =>
  failure({
    message: `${kind}${group ? `.${group}` : ''} "${name}" is forbidden: ${why}`,
    reason: 'Forbidden',
    details: { name, ...(group ? { group } : {}), kind },
    code: 403,
  })

/**
 * The faults that a 422 tells, each as it stands in the message; none where the object was accepted. That the rest of
 * the Status follows from them is asserted here: who compares the faults has compared the whole.
 */
export function faultsIn({ code, body }: Pick<Answered, 'code' | 'body'>, about: Named): string[] {
  if (code < 300) return []
  const faults = ((body as Status).details?.causes ?? []).map((c) => `${c.field}: ${c.message}`)
  expect(body).toEqual(invalidObject(about, faults))
  expect(code).toBe(422)
  return faults
}

/** The same of errors that are no Status yet. */
export function faultsOf(errors: readonly FieldError[]): string[] {
  const faults = errors.map((e) => `${e.field}: ${e.body}`)
  const causes = faults.map(causeOf)
  expect(errors).toEqual(causes.map(({ reason, message, field }) => ({ type: reason, field, body: message })))
  return faults
}

/** What an error tells a client. @throws the error itself if it is none that a client sees */
export function statusOf(error: unknown): Status {
  const status = findStatusError(error)?.toStatus()
  if (status === undefined) throw error
  return status
}

/** 400. */
export const badRequest = (message: string): Status => failure({ message, reason: 'BadRequest', code: 400 })

/** 401. */
export const unauthorized: Status = failure({ message: 'Unauthorized', reason: 'Unauthorized', code: 401 })

/** What a function that must throw tells a client. */
export function thrown(run: () => unknown): Status {
  try {
    run()
  } catch (e) {
    return statusOf(e)
  }
  throw new Error('nothing was refused')
}

/** What a call that must fail tells its client. @throws the error itself if it is none that a client sees */
export async function refusal(call: Promise<unknown>): Promise<Status> {
  try {
    await call
  } catch (e) {
    return statusOf(e)
  }
  throw new Error('nothing was refused')
}
