/** A server that the matrix asks: in this process through its whole pipeline, or two workers through sockets. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { isStream } from '../../src/http/api.ts'
import { BoroughProcess } from '../interop/borough-process.ts'
import { type Identity, tokenFileOf } from './identities.ts'

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Lower-case names; a list is a header that is repeated. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body?: string
}

export interface Answer {
  readonly code: number
  readonly contentType: string
  /** Of a watch: until the bookmark that ends its initial events. Each byte of protobuf is a character. */
  readonly text: string
}

export interface Server extends AsyncDisposable {
  ask(asked: Asked): Promise<Answer>
}

/** What says that a watch has told all that there was. */
const endOfInitialEvents = 'k8s.io/initial-events-end'
/** A guard: a watch that says nothing would hold up everything. */
const silenceMs = 30_000

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** The whole pipeline, authentication and impersonation included; no socket. */
export async function serverInProcess(
  identities: readonly Identity[],
  options: Partial<Pick<Config, 'storage' | 'listOwnNamespaces'>> = {},
): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-matrix-'))
  const tokenFile = await writeTokens(folder, identities)
  const dataDir = options.storage?.engine === 'sqlite' ? { dataDir: join(folder, 'data') } : {}
  const plane = await createControlPlane({ ...defaultConfig, ...dataDir, ...options, tokenFile })
  return {
    async ask({ method, path, headers, body }) {
      const [pathname = '', query = ''] = path.split('?')
      const stop = new AbortController()
      const answer = await plane.serve({
        method,
        path: pathname,
        query,
        headers: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, typeof v === 'string' ? v : v.join()])),
        headerValues: (name) => [headers[name] ?? []].flat(),
        body: () => Buffer.from(body ?? ''),
        remoteAddress: '127.0.0.1',
        signal: stop.signal,
      })
      const chunks = isStream(answer.body) ? answer.body : [answer.body].flat()
      const text = await readUntilToldAll(chunks, () => stop.abort())
      return { code: answer.status, contentType: String(answer.headers['content-type'] ?? ''), text }
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** `borough up --workers 2`. Connections are kept and taken in turn, so that both workers are asked. */
export async function serverOfWorkers(
  identities: readonly Identity[],
  { listOwnNamespaces = false }: { readonly listOwnNamespaces?: boolean } = {},
): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-matrix-'))
  const flags = ['--workers=2', `--token-file=${await writeTokens(folder, identities)}`]
  const server = await BoroughProcess.start(listOwnNamespaces ? [...flags, '--list-own-namespaces'] : flags)
  const [host = '', port = ''] = server.listen.split(':')
  const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1, scheduling: 'fifo' }))
  let turn = 0
  return {
    ask: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const agent = agents[turn++ % agents.length] as Agent
        const options = { host, port, method, path, headers, agent, rejectUnauthorized: false }
        const sent = request(options, (answer) => {
          const contentType = answer.headers['content-type'] ?? ''
          readUntilToldAll(answer, () => answer.destroy()).then(
            (text) => resolve({ code: answer.statusCode ?? 0, contentType, text }),
            reject,
          )
        })
        sent.on('error', reject).end(body)
      }),
    async [Symbol.asyncDispose]() {
      for (const agent of agents) agent.destroy()
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function writeTokens(folder: string, identities: readonly Identity[]): Promise<string> {
  const path = join(folder, 'tokens.csv')
  await writeFile(path, tokenFileOf(identities), { mode: 0o600 })
  return path
}

async function readUntilToldAll(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  stop: () => void,
): Promise<string> {
  let text = ''
  let isSilent = false
  const guard = setTimeout(() => {
    isSilent = true
    stop()
  }, silenceMs)
  try {
    for await (const chunk of chunks) {
      text += textOf(chunk)
      if (!text.includes(endOfInitialEvents)) continue
      stop()
      break
    }
  } finally {
    clearTimeout(guard)
  }
  if (isSilent) throw new Error(`no end within ${silenceMs / 1000} s, only: ${text.slice(0, 300)}`)
  return text
}
