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

export function clientOf(kubeconfig: string, server: { readonly listen: string }): Client {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig
  const user = users[0]?.user
  const text = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8')
  const trust = {
    ca: text(clusters[0]?.cluster['certificate-authority-data']),
    cert: text(user?.['client-certificate-data']),
    key: text(user?.['client-key-data']),
  }
  return new RestClient({
    transport: httpsTransport({ server: `https://${server.listen}`, credentials: () => trust }),
    userAgent: 'replicas-test',
  })
}
