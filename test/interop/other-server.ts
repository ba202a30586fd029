/**
 * The server that `borough populate` serves as a process of its own: `borough up` without population, or the cluster
 * that BOROUGH_OTHER_CLUSTER names.
 */
import { readFile } from 'node:fs/promises'
import { parse, stringify } from 'yaml'
import { kubeconfigYaml } from '../../src/client/kubeconfig.ts'
import { openRemote } from '../../src/client/remote.ts'
import { emptyCluster } from '../support/empty-cluster.ts'
import { otherKubeconfig } from '../support/other-cluster.ts'
import { BoroughProcess, borough } from './borough-process.ts'

export interface OtherServer extends AsyncDisposable {
  adminKubeconfig(): Promise<string>
  kubeconfigFor(user: string, group: string): Promise<string>
  /** Of a ServiceAccount, with its token. */
  accountKubeconfig(namespace: string, name: string): Promise<string>
}

const plain = ['--no-population', '--feature-gates', 'NamespaceInitializers=false']

export const startOtherServer = (): Promise<OtherServer> =>
  otherKubeconfig === undefined ? startBorough() : openOther(otherKubeconfig)

async function startBorough(): Promise<OtherServer> {
  const server = await BoroughProcess.start(plain)
  const said = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await borough([...args, '--data-dir', server.dataDir])
    if (code !== 0 || stderr !== '') throw new Error(`borough ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }
  return {
    adminKubeconfig: () => server.adminKubeconfig(),
    kubeconfigFor: (user, group) => said('kubeconfig', '--user', user, '--group', group),
    async accountKubeconfig(namespace, name) {
      const token = await said('token', 'create', '--serviceaccount', `${namespace}/${name}`)
      return withToken(await server.adminKubeconfig(), token.trim())
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function openOther(path: string): Promise<OtherServer> {
  const { client, transport } = openRemote({ kubeconfigPath: path, userAgent: 'test' })
  await emptyCluster(client, { keepsKind: false })
  const adminKubeconfig = (): Promise<string> => readFile(path, 'utf8')
  return {
    adminKubeconfig,
    async kubeconfigFor(user, group) {
      const config = parse(await adminKubeconfig()) as { users: { user: object }[] }
      for (const one of config.users) one.user = { ...one.user, as: user, 'as-groups': [group, 'system:authenticated'] }
      return stringify(config)
    },
    async accountKubeconfig(namespace, name) {
      const { status, body } = await transport.send({
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
        query: new URLSearchParams(),
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}'),
      })
      const answer = Buffer.from(body as Uint8Array).toString()
      if (status !== 201) throw new Error(answer)
      const { token } = (JSON.parse(answer) as { status: { token: string } }).status
      return withToken(await adminKubeconfig(), token)
    },
    [Symbol.asyncDispose]: () => emptyCluster(client),
  }
}

function withToken(adminKubeconfig: string, token: string): string {
  const { clusters } = parse(adminKubeconfig) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }]
  }
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster
  return kubeconfigYaml({ server, caCert: Buffer.from(ca, 'base64').toString(), credential: { token } })
}
