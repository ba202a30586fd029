/** Work for a client, in slices: it ends when the client has left. */
import type { Slice, Turns } from '../base/turns.ts'
import { readerLeft } from '../registry/errors.ts'
import type { ApiRequest, RequestContext } from './api.ts'

/** The signal is made only when a slice is used up: to make one costs more than most requests. */
export const requestSlice = (turns: Turns, request: ApiRequest, context: RequestContext): Slice =>
  turns.slice(context, () => {
    if (request.signal.aborted) throw readerLeft()
  })
