/** A whole Status, as tests expect it and as calls fail with it. Its words for causes are kept apart from `src/kube`. */
import { findStatusError } from '../../src/kube/status-error.ts'
import type { Status, StatusCause } from '../../src/kube/types.ts'

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
    /: (?:Required value|Invalid value|Duplicate value|Unsupported value|Forbidden|Not found|Too )/,
  )
  const field = fault.slice(0, at)
  const message = fault.slice(at + 2)
  const reason = reasons.find(([begin]) => message.startsWith(begin))?.[1]
  if (at < 0 || reason === undefined) throw new Error(`no fault of a field: ${fault}`)
  return { reason, message, field }
}

/** 422 about an object. `types` gives the reasons of faults that do not have the one that their words suggest. */
export function invalidObject(
  { group = '', kind, name }: { readonly group?: string; readonly kind: string; readonly name: string },
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
      kind,
      causes: faults.map((fault, i) => ({ ...causeOf(fault), ...(types[i] ? { reason: types[i] } : {}) })),
    },
    code: 422,
  })
}

/** What a call that must fail tells its client. @throws the error itself if it is none that a client sees */
export async function refusal(call: Promise<unknown>): Promise<Status> {
  try {
    await call
  } catch (e) {
    const status = findStatusError(e)?.toStatus()
    if (status === undefined) throw e
    return status
  }
  throw new Error('nothing was refused')
}
