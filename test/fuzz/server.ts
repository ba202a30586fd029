/** A furnished server that is asked through its whole pipeline in this process, or through a socket. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { Pieces } from '../../bench/loop-pieces.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type Server, serve } from '../../src/app/serve.ts'
import type { Log } from '../../src/base/log.ts'
import { type ApiResponse, isStream } from '../../src/http/api.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { requestTooLarge } from '../../src/kube/status-error.ts'
import type { UserInfo } from '../../src/kube/user.ts'
import { furnish } from '../generated/furnish.ts'
import { type Outcome, problemOf, stackIn, withoutNames } from './judge.ts'
import { adminToken, type FuzzRequest } from './requests.ts'

/**
 * Processor time of this thread in one piece, collections apart. No request should hold it for 50 ms; a machine that is
 * shared, and code that runs for the first time, take several times that. What is asked again must take it again.
 */
const heldMs = 250
const timesHeld = 3

/** Guards: far beyond what an answer takes, and below the patience of a client. */
const hangMs = 30_000
/** How much of a watch is read. */
const watchedPieces = 2
const watchMs = 5

const users: Readonly<Record<'admin' | 'tenant', UserInfo>> = {
  admin: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
  tenant: { username: 'tenant', groups: ['tenants', 'system:authenticated'] },
}

export class FuzzServer implements AsyncDisposable {
  readonly #server: Server
  readonly #stacks: string[]
  readonly #pieces = new Pieces()
  #lastHeldMs = 0

  private constructor(server: Server, stacks: string[]) {
    this.#server = server
    this.#stacks = stacks
  }

  /** @param folder where the token file is written */
  static async start(folder: string): Promise<FuzzServer> {
    const stacks: string[] = []
    const tokenFile = join(folder, 'tokens.csv')
    await writeFile(tokenFile, `${adminToken},kubernetes-admin,1,"system:masters"\n`, { mode: 0o600 })
    const server = await serve({
      ...defaultConfig,
      listen: { host: '127.0.0.1', port: 0 },
      tokenFile,
      initializationTimeoutMs: 20,
      log: logOf((stack) => stacks.push(stack)),
    })
    const asked = fetchAdapter(server.plane.serve, users.admin)
    await furnish({
      client: server.plane.client(),
      fetch: (path, init) => asked(new Request(new URL(path, 'https://borough.test'), init)),
    })
    stacks.length = 0
    return new FuzzServer(server, stacks)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pieces[Symbol.dispose]()
    await this.#server[Symbol.asyncDispose]()
  }

  /** undefined = answered as it should be, and nothing was logged. */
  async problemOf(request: FuzzRequest): Promise<string | undefined> {
    const problem = await this.#judged(() => this.#answerOf(request))
    return problem ?? this.#holdOf(request)
  }

  /** How long the request that was just answered held the loop, if too long. Few are asked again. */
  async #holdOf(request: FuzzRequest): Promise<string | undefined> {
    if (this.#lastHeldMs < heldMs) return undefined
    for (let i = 1; i < timesHeld; i++) {
      await this.#judged(() => this.#answerOf(request))
      if (this.#lastHeldMs < heldMs) return undefined
    }
    return `held the event loop for more than ${heldMs} ms: ${request.method} ${request.path}`
  }

  /** The same for bytes on a socket; no answer at all is one, if the connection ends. */
  async problemOfBytes(bytes: Uint8Array, protocol: 'http/1.1' | 'h2'): Promise<string | undefined> {
    return this.#judged(() => this.#exchange(bytes, protocol))
  }

  async #judged(ask: () => Promise<Outcome>): Promise<string | undefined> {
    this.#stacks.length = 0
    let late: NodeJS.Timeout | undefined
    const hang = new Promise<'hang'>((resolve) => {
      late = setTimeout(() => resolve('hang'), hangMs)
    })
    try {
      const held = this.#pieces.of(async () => Promise.race([ask(), hang]))
      const { result: outcome, workedMs } = await held
      this.#lastHeldMs = workedMs
      if (outcome === 'hang') return 'not answered'
      const problem = problemOf(outcome)
      const [stack] = this.#stacks
      if (problem !== undefined) return stack === undefined ? problem : `${problem} (${placeIn(stack)})`
      return stack === undefined ? undefined : `logged ${withoutNames(stack.split('\n')[0] ?? '')} (${placeIn(stack)})`
    } catch (error) {
      const { stack = String(error) } = error instanceof Error ? error : {}
      return `thrown ${withoutNames(stack.split('\n')[0] ?? '')} (${placeIn(stack)})`
    } finally {
      clearTimeout(late)
    }
  }

  async #answerOf({ user, method, path, query, headers, body }: FuzzRequest): Promise<Outcome> {
    const bytes = Buffer.from(body, 'base64')
    const joined: Record<string, string> = {}
    // One character for each byte, as from a socket.
    for (const [name, value] of headers) {
      const latin = Buffer.from(value).toString('latin1')
      joined[name] = joined[name] === undefined ? latin : `${joined[name]}, ${latin}`
    }
    const gone = new AbortController()
    const answer = await this.#server.plane.serve({
      method,
      path,
      query,
      headers: joined,
      headerValues: (name) =>
        headers.filter(([n]) => n === name).map(([, value]) => Buffer.from(value).toString('latin1')),
      body(limitBytes) {
        if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
        return bytes
      },
      ...(user === 'headers' ? {} : { localUser: users[user] }),
      remoteAddress: '127.0.0.1',
      signal: gone.signal,
    })
    const sent = await bytesIn(answer, () => gone.abort())
    const text = (answer.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString()
    return { code: answer.status, text, contentType: String(answer.headers['content-type'] ?? '') }
  }

  async #exchange(bytes: Uint8Array, protocol: 'http/1.1' | 'h2'): Promise<Outcome> {
    const socket = connect({
      port: this.#server.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
    })
    await once(socket, 'secureConnect')
    const received = collect(socket)
    // Half closed: the server knows that no more will come.
    socket.end(bytes)
    const text = (await received).toString('latin1')
    const code = protocol === 'h2' ? 0 : Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
    return { code, text, contentType: '' }
  }
}

async function collect(socket: TLSSocket): Promise<Buffer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    // The server may end a connection of nonsense as it likes.
    socket.once('error', () => resolve())
  })
  return Buffer.concat(chunks)
}

/** Of a watch nothing: it is left in the middle. */
async function bytesIn({ body, status }: ApiResponse, leave: () => void): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  if (!isStream(body)) return Buffer.concat(body)
  const iterator = body[Symbol.asyncIterator]()
  const pieces: Uint8Array[] = []
  const isAnswer = 'isAnswer' in body
  try {
    for (let i = 0; isAnswer || i < watchedPieces; i++) {
      const next = await (isAnswer ? iterator.next() : Promise.race([iterator.next(), quiet()]))
      if (next === undefined || next.done === true) break
      pieces.push(next.value)
    }
  } finally {
    // First: a stream that waits for something to tell ends when its reader has gone.
    leave()
    await iterator.return?.()
  }
  return status < 400 && !isAnswer ? Buffer.alloc(0) : Buffer.concat(pieces)
}

/** A watch that has nothing to tell. */
const quiet = (): Promise<undefined> => new Promise((resolve) => setTimeout(() => resolve(undefined), watchMs))

/** As the log of a process: errors are written with their stacks, and of warnings what they say. */
function logOf(onStack: (stack: string) => void): Log {
  const look = (fields: Readonly<Record<string, unknown>>): void => {
    const stack = stackIn(fields)
    if (stack !== undefined) onStack(stack)
  }
  const lookAtTexts = ({ error: _, ...fields }: Readonly<Record<string, unknown>>): void => look(fields)
  return { debug() {}, info: lookAtTexts, warn: lookAtTexts, error: look }
}

/** Of our own code, as far up the stack as there is any. */
const placeIn = (stack: string): string => /(src\/[\w./-]+:\d+)/.exec(stack)?.[1] ?? 'no place of ours'
