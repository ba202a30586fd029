/**
 * A real server on a port, with something worth stealing, and raw requests that no client library would send: paths and
 * headers go over the wire as they are written.
 */
import { createPrivateKey } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type Server, serve } from '../../src/app/serve.ts'
import { type KeyPair, keyPairOf } from '../../src/base/x509-certificate.ts'
import { roleBindingsResource } from '../../src/kube/rbac.ts'
import { roleBinding, user } from '../support/fake-rbac-source.ts'

/** Stands in the secret that nobody here may read. */
export const treasure = 'cGVhcmxz'

export interface RawAnswer {
  readonly code: number
  readonly text: string
}

export interface RawRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string
  /** PEM */
  readonly certificate?: { readonly cert: string; readonly key: string }
}

export interface BesiegedServer extends AsyncDisposable {
  readonly server: Server
  /** Signs what the server trusts. */
  readonly authority: KeyPair
  /** Path and query go out as given. */
  send(path: string, sent?: RawRequest): Promise<RawAnswer>
  /** Bytes go out as given; answers all that comes until the server is done. */
  sendBytes(bytes: string): Promise<string>
}

/** The token of `dora`, who may edit namespace `mine` and nothing else. */
export const doraToken = 'dora-token'

/** The token of `emil`, who may edit namespace `theirs` and nothing else. */
export const emilToken = 'emil-token'

export async function startBesieged(given: Partial<Config> = {}): Promise<BesiegedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'borough-attacks-'))
  const tokenFile = join(folder, 'tokens.csv')
  await writeFile(tokenFile, `${doraToken},dora,7\n${emilToken},emil,8\n`, { mode: 0o600 })
  const dataDir = join(folder, 'data')
  const listen = { host: '127.0.0.1', port: 0 }
  const server = await serve({ ...defaultConfig, population: false, dataDir, tokenFile, listen, ...given })
  const admin = server.plane.client()
  for (const name of ['mine', 'theirs']) {
    await admin.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name } })
    const secrets = { group: '', version: 'v1', resource: 'secrets' }
    const data = { value: name === 'mine' ? 'cGViYmxlcw==' : treasure }
    await admin.create(secrets, { metadata: { name: 'db', namespace: name }, data } as object as { metadata: object })
  }
  await admin.create(roleBindingsResource, roleBinding('theirs', 'emil', 'ClusterRole/edit', user('emil')))
  await admin.create(roleBindingsResource, roleBinding('mine', 'dora', 'ClusterRole/edit', user('dora')))
  const ca = server.plane.pki.caCert
  const { port } = server
  return {
    server,
    authority: keyPairOf(createPrivateKey(await readFile(join(dataDir, 'pki', 'ca.key'), 'utf8'))),
    send: (path, { method = 'GET', headers = {}, body, certificate } = {}) =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, method, ca, headers, agent: false, ...certificate }
        const sent = request(options, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          response.once('end', () => resolve({ code: response.statusCode ?? 0, text }))
          response.once('error', reject)
        })
        sent.once('error', reject)
        sent.end(body)
      }),
    sendBytes: (bytes) =>
      new Promise((resolve, reject) => {
        let text = ''
        const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] })
        socket.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        socket.once('close', () => resolve(text))
        socket.once('error', reject)
        socket.write(bytes)
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
