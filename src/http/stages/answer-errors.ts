/**
 * The outermost stage: nothing gets past it. What is not a StatusError is a bug or a fault; the caller gets a 500 with
 * the request's id and no internals, the log gets the rest.
 */
import { findStatusError, internalError } from '../../kube/status-error.ts'
import type { ApiResponse, RequestContext, Stage } from '../api.ts'
import { negotiateError } from '../negotiate.ts'
import { respondStatus } from '../respond.ts'

export interface ErrorReport {
  (error: unknown, context: RequestContext): void
}

export function answerErrors(report: ErrorReport): Stage {
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
      response = respondStatus(status.toStatus(), negotiateError(request.headers, context.info.query))
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
  if (context.warnings.length > 0) headers['warning'] = context.warnings.map(warningHeader)
  return { status: response.status, headers, body: response.body }
}

/** RFC 7234 warn-text: quotes and backslashes escaped, control characters dropped. */
function warningHeader(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a header
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, ' ').replace(/[\\"]/g, '\\$&')
  return `299 - "${clean}"`
}
