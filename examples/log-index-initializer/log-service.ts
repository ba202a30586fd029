/**
 * A stand-in for a log system such as Elasticsearch: keeps the names of indexes and how long they keep logs. In memory.
 *
 *   PUT /indexes/NAME             201 made, 200 was there
 *   PUT /indexes/NAME/retention   {"days": 30}; 404 without the index
 *   GET /indexes                  all of them
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface LogService extends AsyncDisposable {
  readonly url: string
  readonly indexes: ReadonlyMap<string, { days?: number }>
}

/**
 * `before` is awaited ahead of every request: a slow or failing service. It answers the status to refuse with, or
 * nothing.
 */
export async function startLogService(
  port: number,
  before: (method: string, path: string) => Promise<number | undefined> = async () => undefined,
): Promise<LogService> {
  const indexes = new Map<string, { days?: number }>()
  const answer = async (method: string, path: string, body: unknown): Promise<[status: number, body: unknown]> => {
    const refused = await before(method, path)
    if (refused !== undefined) return [refused, { error: 'refused' }]
    const [, collection, name = '', part] = path.split('/')
    if (collection !== 'indexes') return [404, { error: 'no such path' }]
    if (method === 'GET') return [200, Object.fromEntries(indexes)]
    if (method !== 'PUT' || name === '') return [405, { error: 'no such method' }]
    const index = indexes.get(name)
    if (part === undefined) {
      indexes.set(name, index ?? {})
      return [index === undefined ? 201 : 200, { name }]
    }
    if (index === undefined) return [404, { error: `no index ${name}` }]
    index.days = (body as { days: number }).days
    return [200, index]
  }
  const server = createServer((request, response) => {
    const read = request.method === 'PUT' ? json(request).catch(() => undefined) : Promise.resolve(undefined)
    void read
      .then((body) => answer(request.method ?? '', request.url ?? '', body))
      .then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    indexes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

if (import.meta.main) {
  const { url } = await startLogService(Number(process.argv[2] ?? 9200))
  process.stdout.write(`${url}\n`)
}
