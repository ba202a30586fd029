/** The API as the page reaches it: requests through the console, watches in its one connection. */

import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { parseJsonText } from '../../base/parse-json-text.ts'
import type { Transport, TransportRequest, TransportResponse } from '../../client/transport.ts'
import type { LiveClient } from './live-client.ts'
import type { Session } from './session.ts'
import { ConsoleUnreached, unreached } from './unreached.ts'

export interface PageTransport extends Transport {
  /** Why the cluster was not reached last time; undefined while it is. */
  readonly trouble: ReadonlySignal<string | undefined>
}

export function pageTransport(session: Session, live: LiveClient): PageTransport {
  const trouble = signal<string | undefined>(undefined)
  return {
    trouble,
    async send(request) {
      try {
        const response =
          request.query.get('watch') === 'true' ? await watch(live, request) : await ask(session, request)
        noteAnswer(trouble, response)
        return response
      } catch (error) {
        if (!request.signal?.aborted) trouble.value = error instanceof Error ? error.message : String(error)
        throw error
      }
    },
  }
}

const watch = (live: LiveClient, { path, query, headers, signal }: TransportRequest): Promise<TransportResponse> =>
  live.watch({ path, query, accept: headers['accept'] }, signal)

async function ask(session: Session, request: TransportRequest): Promise<TransportResponse> {
  const { method, path, query, headers, body, signal: left } = request
  const { 'user-agent': _ours, ...sent } = headers
  const search = query.size === 0 ? '' : `?${query.toString()}`
  const answer = await session
    .fetch(path + search, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      ...(left === undefined ? {} : { signal: left }),
    })
    .catch(lost('the console does not answer'))
  return {
    status: answer.status,
    header: (name) => answer.headers.get(name) ?? undefined,
    // One that breaks off tells of a write no more than none.
    body: new Uint8Array(await answer.arrayBuffer().catch(lost('the answer broke off'))),
  }
}

/** What a browser throws of a connection. @throws ConsoleUnreached; what the page itself ended with */
const lost =
  (what: string) =>
  (error: unknown): never => {
    if (!(error instanceof TypeError)) throw error
    throw new ConsoleUnreached(`${what}: ${error.message}`, { cause: error })
  }

const credentialRefused = 'the server does not accept the credential of the kubeconfig'

/** It is reached, and knows no user by what it is sent. */
export const isCredentialRefused = (trouble: string): boolean => trouble.startsWith(credentialRefused)

function noteAnswer(trouble: Signal<string | undefined>, { status, body }: TransportResponse): void {
  if (!unreached.has(status) && status !== 401) {
    trouble.value = undefined
    return
  }
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : ''
  const message = messageIn(text) ?? `the server answered ${status}`
  // A token that has run out may be renewed; until then nothing can be asked.
  trouble.value = status === 401 ? `${credentialRefused}: ${message}` : message
}

function messageIn(text: string): string | undefined {
  try {
    return (parseJsonText(text) as { message?: string }).message
  } catch {
    return undefined
  }
}
