/**
 * A transport that comes back when it is told to: servers that are busy (priority and fairness), that are going down,
 * or whose etcd is busy answer 429 or 5xx with `Retry-After`. To the client such an answer is a pause and no failure.
 *
 * Only what says `Retry-After` is sent again: the server has then not begun with it.
 * @see k8s.io/client-go/rest/request.go v0.36, checkWait
 */
import { type Clock, sleep } from '../base/clock.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** As client-go. */
const mostRetries = 10
/** Who says to wait longer is not waited for. */
const longestWaitMs = 30_000

export function retryingTransport(inner: Transport, clock: Clock): Transport {
  return {
    ...inner,
    async send(request) {
      for (let tries = 0; ; tries++) {
        const response = await inner.send(request)
        const waitMs = tries < mostRetries ? waitAsked(response) : undefined
        if (waitMs === undefined) return response
        await drain(response)
        await sleep(clock, waitMs, request.signal)
        request.signal?.throwIfAborted()
      }
    },
  }
}

function waitAsked({ status, header }: TransportResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined
  const asked = header('retry-after')
  if (asked === undefined || !/^\d+$/.test(asked)) return undefined
  const ms = Number(asked) * 1000
  return ms <= longestWaitMs ? ms : undefined
}

/** Else the connection could not be used again. */
async function drain({ body }: TransportResponse): Promise<void> {
  if (body instanceof Uint8Array) return
  for await (const _ of body);
}
