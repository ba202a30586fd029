/**
 * The outermost stage: nothing gets past it. What is not a StatusError is a bug or a fault; the caller gets a 500 with
 * the request's id and no internals, the log gets the rest.
 */
import { isPending } from '../../base/eventual.ts'
import { findStatusError, internalError } from '../../kube/status-error.ts'
import type { Status } from '../../kube/types.ts'
import type { ApiRequest, ApiResponse, RequestContext, Stage } from '../api.ts'
import { type Negotiated, negotiateError } from '../negotiate.ts'

export interface ErrorReport {
  (error: unknown, context: RequestContext): void
}

/** A Status in the form that its reader asked for. */
export type RenderStatus = (status: Status, n: Negotiated) => ApiResponse

export function answerErrors(report: ErrorReport, render: RenderStatus): Stage {
  const refusal = (error: unknown, request: ApiRequest, context: RequestContext): ApiResponse => {
    let status = findStatusError(error)
    if (status === undefined) {
      report(error, context)
      status = internalError(`request ${context.requestId} failed; the server's log says why`, error)
    }
    return withCommonHeaders(render(status.toStatus(), negotiateError(request.headers, context.info.query)), context)
  }
  return (next) => (request, context) => {
    try {
      const response = next(request, context)
      if (!isPending(response)) return withCommonHeaders(response, context)
      return response.then(
        (r) => withCommonHeaders(r, context),
        (error: unknown) => refusal(error, request, context),
      )
    } catch (error) {
      return refusal(error, request, context)
    }
  }
}

function withCommonHeaders(response: ApiResponse, context: RequestContext): ApiResponse {
  // Spread first: what is copied whole is copied fastest.
  const headers: Record<string, string | readonly string[]> = { ...response.headers, 'audit-id': context.requestId }
  if (context.flow !== undefined) {
    // By name: to spread a second record costs more than admission does.
    const { headers: ofFlow } = context.flow
    headers['x-kubernetes-pf-flowschema-uid'] = ofFlow['x-kubernetes-pf-flowschema-uid']
    headers['x-kubernetes-pf-prioritylevel-uid'] = ofFlow['x-kubernetes-pf-prioritylevel-uid']
  }
  headers['cache-control'] ??= 'no-cache, private'
  if (context.warnings.length > 0) headers['warning'] = limitWarnings(context.warnings).map(warningHeader)
  return { ...response, headers }
}

const maxWarningRunes = 4096
const cutWarningRunes = 256

/** As upstream: where they are long together each is cut, and what is too much even so is left out. */
function limitWarnings(warnings: readonly string[]): readonly string[] {
  // A rune has two characters at most.
  const runes = warnings.map((text) => [...text.slice(0, 2 * maxWarningRunes + 2)])
  let total = runes.reduce((sum, { length }) => sum + length, 0)
  if (total <= maxWarningRunes) return warnings
  total = 0
  const kept: string[] = []
  for (const text of runes) {
    if (total >= maxWarningRunes) break
    const cut = text.slice(0, cutWarningRunes)
    total += cut.length
    kept.push(cut.join(''))
  }
  return kept
}

/** RFC 7234 warn-text: a quoted string. What else can't stand in a header is the adapter's business. */
const warningHeader = (text: string): string => `299 - "${text.replace(/[\\"]/g, '\\$&')}"`
