/**
 * The outermost stage: nothing gets past it. What is not a StatusError is a bug or a fault; the caller gets a 500 with
 * the request's id and no internals, the log gets the rest.
 */
import { findStatusError, internalError } from '../../kube/status-error.ts'
import type { Status } from '../../kube/types.ts'
import type { ApiResponse, RequestContext, Stage } from '../api.ts'
import { type Negotiated, negotiateError } from '../negotiate.ts'

export interface ErrorReport {
  (error: unknown, context: RequestContext): void
}

/** A Status in the form that its reader asked for. */
export type RenderStatus = (status: Status, n: Negotiated) => ApiResponse

export function answerErrors(report: ErrorReport, render: RenderStatus): Stage {
  return (next) => async (request, context) => {
    let response: ApiResponse
    try {
      response = await next(request, context)
    } catch (error) {
      let status = findStatusError(error)
      if (status === undefined) {
        report(error, context)
        status = internalError(`request ${context.requestId} failed; the server's log says why`, error)
      }
      response = render(status.toStatus(), negotiateError(request.headers, context.info.query))
    }
    return withCommonHeaders(response, context)
  }
}

function withCommonHeaders(response: ApiResponse, context: RequestContext): ApiResponse {
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': context.requestId,
    'cache-control': 'no-cache, private',
    ...response.headers,
  }
  if (context.warnings.length > 0) headers['warning'] = bounded(context.warnings).map(warningHeader)
  return { ...response, headers }
}

const maxWarningRunes = 4096
const cutWarningRunes = 256

/** As upstream: where they are long together each is cut, and what is too much even so is left out. */
function bounded(warnings: readonly string[]): readonly string[] {
  const runes = warnings.map((text) => [...text])
  let total = runes.reduce((sum, { length }) => sum + length, 0)
  if (total <= maxWarningRunes) return warnings
  total = 0
  const kept: string[] = []
  for (const text of runes) {
    const cut = text.slice(0, cutWarningRunes)
    total += cut.length
    if (total > maxWarningRunes) break
    kept.push(cut.join(''))
  }
  return kept
}

/** RFC 7234 warn-text: quotes and backslashes escaped, control characters dropped. */
function warningHeader(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a header
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, ' ').replace(/[\\"]/g, '\\$&')
  return `299 - "${clean}"`
}
