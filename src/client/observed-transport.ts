/** Tells of each answer of a server, those that are tried again included. */
import type { Transport } from './transport.ts'

/** `status` is undefined where no answer was had. */
export type OnAnswer = (method: string, status: number | undefined) => void

export function observedTransport(inner: Transport, onAnswer: OnAnswer): Transport {
  return {
    ...inner,
    async send(request) {
      let status: number | undefined
      try {
        const response = await inner.send(request)
        status = response.status
        return response
      } finally {
        onAnswer(request.method, status)
      }
    },
  }
}
