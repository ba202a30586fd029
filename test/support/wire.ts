/** Raw requests against a control plane without sockets, as a client writes them down. */
import type { KubeObject, StatusDetails } from '../../src/kube/types.ts'
import type { UserInfo } from '../../src/kube/user.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'

type Plane = Pick<TestControlPlane, 'fetch'>

export interface AnswerBody extends KubeObject {
  items: KubeObject[]
  spec?: Record<string, unknown>
  status?: unknown
  message: string
  reason?: string
  details?: StatusDetails
  code: number
}

export interface Answer {
  readonly status: number
  readonly body: AnswerBody
  readonly headers: Headers
}

export interface WireEvent {
  readonly type: string
  readonly object: KubeObject & { spec?: Record<string, unknown>; status?: Record<string, unknown> }
}

export class Wire {
  readonly #plane: Plane
  readonly #user: UserInfo | undefined

  constructor(plane: Plane, user?: UserInfo) {
    this.#plane = plane
    this.#user = user
  }

  as(username: string, groups: readonly string[] = []): Wire {
    return new Wire(this.#plane, { username, groups: [...groups, 'system:authenticated'] })
  }

  async call(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<Answer> {
    const response = await this.#plane.fetch(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': contentType } }),
      ...(this.#user === undefined ? {} : { user: this.#user }),
    })
    const text = await response.text()
    return { status: response.status, body: JSON.parse(text) as AnswerBody, headers: response.headers }
  }

  /** A call that must succeed. @throws Error with the Status it got instead */
  async must(method: string, path: string, body?: unknown, contentType?: string): Promise<AnswerBody> {
    const answer = await this.call(method, path, body, contentType)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.message}`)
    return answer.body
  }

  /** Events of a watch until `enough` says so, or the server ends it. `begun` is called when the answer has begun. */
  async events(
    path: string,
    enough: (seen: readonly WireEvent[]) => boolean,
    begun?: () => void | Promise<void>,
  ): Promise<WireEvent[]> {
    const stop = new AbortController()
    const response = await this.#plane.fetch(path, {
      signal: stop.signal,
      ...(this.#user === undefined ? {} : { user: this.#user }),
    })
    if (response.status !== 200 || response.body === null) throw new Error(`${path}: ${await response.text()}`)
    const acting = (async () => begun?.())()
    acting.catch(() => stop.abort())
    const seen: WireEvent[] = []
    let rest = ''
    try {
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream() as never) as AsyncIterable<string>) {
        rest += chunk
        for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
          seen.push(JSON.parse(rest.slice(0, end)) as WireEvent)
          rest = rest.slice(end + 1)
        }
        if (!enough(seen)) continue
        // Before the break: leaving the loop waits for the source, and a source that reads ahead waits for an event.
        stop.abort()
        break
      }
    } finally {
      stop.abort()
    }
    await acting
    return seen
  }
}
