/** GET of a JSON document of another server, bounded in size and time. */

import { request } from 'node:https'
import { parseJsonText } from '../base/parse-json-text.ts'

export interface GetJsonOptions {
  /** PEM: what it holds is trusted, root or not, as Go has it. Absent = the authorities that Node trusts. */
  readonly ca?: string
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** @throws Error that names the address and what was wrong with its answer */
export function getJson(url: string, { ca, timeoutMs, maxBytes }: GetJsonOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => reject(new Error(`${url}: ${why}`, { cause }))
    const headers = { accept: 'application/json' }
    const sent = request(
      url,
      {
        headers,
        signal: AbortSignal.timeout(timeoutMs),
        ...(ca === undefined ? {} : { ca, allowPartialTrustChain: true }),
      },
      (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size <= maxBytes) return chunks.push(chunk)
          // At once: what is left out may be the end, and the rest would be taken for all of it.
          fail(`its answer is longer than ${maxBytes} bytes`)
          return sent.destroy()
        })
        response.once('error', (error) => fail(error.message, error))
        response.once('end', () => {
          if (response.statusCode !== 200) return fail(`it answered ${response.statusCode}`)
          try {
            resolve(parseJsonText(Buffer.concat(chunks).toString('utf8')))
          } catch (error) {
            fail('its answer is not JSON', error)
          }
        })
      },
    )
    sent.once('error', (error) => fail(error.message, error))
    sent.end()
  })
}
