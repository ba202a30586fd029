/** What clients see of a server that goes. */
import { once } from 'node:events'
import http2 from 'node:http2'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { startControlPlane } from '../../src/testing/index.ts'

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly 'certificate-authority-data': string } }]
  readonly users: readonly [
    { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ]
}

const decoded = (text: string): Buffer => Buffer.from(text, 'base64')

it.each([
  { name: 'is carried out and answered', watching: false },
  { name: 'is carried out; a watch ends', watching: true },
])('a request that has begun when the server goes $name', async ({ watching }) => {
  const plane = await startControlPlane({ port: 0, population: false })
  const { clusters, users } = parse(plane.kubeconfig) as Kubeconfig
  const session = http2.connect(plane.url, {
    ca: decoded(clusters[0].cluster['certificate-authority-data']),
    cert: decoded(users[0].user['client-certificate-data']),
    key: decoded(users[0].user['client-key-data']),
  })
  const watch = watching ? session.request({ ':path': '/api/v1/namespaces/default/configmaps?watch=1' }) : undefined
  const ended = watch === undefined ? undefined : once(watch.resume(), 'close')
  if (watch !== undefined) await once(watch, 'response')
  const create = session.request({
    ':path': '/api/v1/namespaces/default/configmaps',
    ':method': 'POST',
    'content-type': 'application/json',
  })
  const answered = once(create, 'response')
  create.write('{"metadata":')
  // Answered behind it on the same connection: by then it has begun.
  const ping = session.request({ ':path': '/version' })
  await once(ping, 'response')
  ping.resume()

  const goaway = once(session, 'goaway')
  const gone = plane[Symbol.asyncDispose]()
  await goaway
  create.end('{"name":"late"}}')
  const [headers] = (await answered) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader]
  expect(headers[':status']).toBe(201)
  expect(JSON.parse(Buffer.concat(await create.toArray()).toString()).metadata.name).toBe('late')
  await Promise.all([gone, ended])
  session.destroy()
})
