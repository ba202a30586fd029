/** Work for a client, in slices: it ends when the client has left. */
import type { Eventual } from '../base/eventual.ts'
import type { Slice, Turns } from '../base/turns.ts'
import { readerLeft } from '../registry/errors.ts'
import type { ApiRequest, RequestContext } from './api.ts'

export const requestSlice = (turns: Turns, request: ApiRequest, context: RequestContext): Slice =>
  turns.slice(context, endsWith(request))

/** As `requestSlice`, for work whose first piece is long: of all that come, one begins in each turn of the loop. */
export const beginRequestSlice = (turns: Turns, request: ApiRequest, context: RequestContext): Eventual<Slice> =>
  turns.begin(context, endsWith(request))

/** The signal is made only when a slice is used up: to make one costs more than most requests. */
const endsWith = (request: ApiRequest) => (): void => {
  if (request.signal.aborted) throw readerLeft()
}
