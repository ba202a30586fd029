/** Requests to a console as any program may send them: every header is the test's own. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Console } from '../../src/console/console.ts'

export interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ConsoleAnswer {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Parsed, if it is JSON. */
  readonly body: unknown
}

/** The answer when it begins. */
export const openAnswer = (at: Pick<Console, 'origin'>, asked: Asked): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(at.origin)
    const { method = 'GET', path, headers = {}, body } = asked
    request({ hostname, port, method, path, headers }, resolve).once('error', reject).end(body)
  })

export async function ask(at: Pick<Console, 'origin'>, asked: Asked): Promise<ConsoleAnswer> {
  const answer = await openAnswer(at, asked)
  const text = Buffer.concat(await answer.toArray()).toString()
  const isJson = /json/.test(answer.headers['content-type'] ?? '')
  return {
    code: answer.statusCode ?? 0,
    headers: answer.headers,
    text,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
  }
}

export const secretOf = ({ address }: Pick<Console, 'address'>): string => new URL(address).hash.slice(1)

/** Spends the secret. @returns the two headers that every later request needs */
export async function letIn(at: Console): Promise<{ readonly cookie: string; readonly 'x-borough-console': string }> {
  const body = JSON.stringify({ secret: secretOf(at) })
  const answer = await ask(at, { method: 'POST', path: '/session', body })
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  return { cookie: cookie.split(';')[0] ?? '', 'x-borough-console': (answer.body as { key: string }).key }
}
