/** Our client over HTTPS with the certificate of a kubeconfig, against whichever server is asked for. */
import { parse } from 'yaml'
import type { Client } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { RestClient } from '../../src/client/rest-client.ts'

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly 'certificate-authority-data': string } }[]
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  }[]
}

export interface Listening {
  readonly listen: string
}

const text = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8')

/** The certificates of a kubeconfig. */
export function trustOf(kubeconfig: string): { ca: string; cert: string; key: string } {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig
  const user = users[0]?.user
  return {
    ca: text(clusters[0]?.cluster['certificate-authority-data']),
    cert: text(user?.['client-certificate-data']),
    key: text(user?.['client-key-data']),
  }
}

export function clientOf(kubeconfig: string, server: Listening): Client {
  const trust = trustOf(kubeconfig)
  return new RestClient({
    transport: httpsTransport({ server: `https://${server.listen}`, credentials: () => trust }),
    userAgent: 'replicas-test',
  })
}

/** The body of a GET that is not about objects: `/metrics`, `/readyz`. */
export async function pageOf(
  kubeconfig: string,
  server: Listening,
  path: string,
  timeoutMs: number = 30_000,
): Promise<string> {
  const transport = httpsTransport({ server: `https://${server.listen}`, credentials: () => trustOf(kubeconfig) })
  const signal = AbortSignal.timeout(timeoutMs)
  const { body } = await transport.send({ method: 'GET', path, query: new URLSearchParams(), headers: {}, signal })
  if (!(body instanceof Uint8Array)) throw new Error('a stream')
  return Buffer.from(body).toString('utf8')
}
