/** One request to a control plane under test, and its answer as a client gets it. */
import type { UserInfo } from '../../src/kube/user.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'

export interface Sent {
  readonly method?: string
  /** A string goes as it is, anything else as JSON. */
  readonly body?: unknown
  /** Content-Type; default application/json where there is a body. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly user?: UserInfo
}

export interface Answered {
  readonly code: number
  readonly headers: Headers
  readonly text: string
  /** Parsed, if it is JSON. */
  readonly body: unknown
}

export async function send(plane: Pick<TestControlPlane, 'fetch'>, path: string, sent: Sent = {}): Promise<Answered> {
  const { method = 'GET', body, type = 'application/json', headers = {}, user } = sent
  const response = await plane.fetch(path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
    ...(body === undefined ? {} : { body: bodyOf(body) }),
    ...(user === undefined ? {} : { user }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    code: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
  }
}

const bodyOf = (body: unknown): string | Uint8Array<ArrayBuffer> => {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}
