/** Requests to a console as any program may send them: every header is the test's own. */
import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { WebSocket } from 'ws'
import { Channel } from '../../src/base/stream.ts'
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

export type Tokens = Awaited<ReturnType<typeof letIn>>

export interface LiveAttempt {
  readonly path?: string
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** As the page offers them. */
export const liveProtocolsOf = (tokens: Tokens): readonly string[] => [
  'borough-console',
  `key.${tokens['x-borough-console']}`,
]

const connect = (at: Pick<Console, 'origin'>, { path = '/live', protocols = [], headers = {} }: LiveAttempt) =>
  new WebSocket(`${at.origin.replace('http', 'ws')}${path}`, [...protocols], { headers })

/** What an upgrade is answered that is refused. @throws Error it was not */
export async function refusedLive(at: Pick<Console, 'origin'>, attempt: LiveAttempt): Promise<ConsoleAnswer> {
  const socket = connect(at, attempt)
  socket.on('error', () => {})
  const answered = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>
  const opened = once(socket, 'open').then(() => {
    socket.terminate()
    throw new Error('the upgrade was let through')
  })
  const [, answer] = await Promise.race([answered, opened])
  opened.catch(() => {})
  const text = Buffer.concat(await answer.toArray()).toString()
  return { code: answer.statusCode ?? 0, headers: answer.headers, text, body: JSON.parse(text) as unknown }
}

export interface Live {
  next(): Promise<Record<string, unknown>>
  order(body: object): void
  send(text: string): void
  /** Why the console closed it. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  leave(): Promise<void>
}

/** The connection of a page, line by line; what the console says to keep it alive is left out. */
export async function openLive(at: Pick<Console, 'origin'>, tokens: Tokens): Promise<Live> {
  const headers = { cookie: tokens.cookie, origin: at.origin }
  const socket = connect(at, { protocols: liveProtocolsOf(tokens), headers })
  const lines = new Channel<Record<string, unknown>>({ limit: 100_000 })
  socket.on('message', (message: Buffer) => {
    const line = JSON.parse(message.toString()) as Record<string, unknown>
    if (Object.keys(line).length > 0) lines.push(line)
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  await once(socket, 'open')
  const read = lines[Symbol.asyncIterator]()
  return {
    closed,
    async next() {
      const { value, done } = await read.next()
      if (done === true) throw new Error('the connection has ended')
      return value
    },
    order: (body) => socket.send(JSON.stringify(body)),
    send: (text) => socket.send(text),
    async leave() {
      socket.terminate()
      await closed
    },
  }
}
