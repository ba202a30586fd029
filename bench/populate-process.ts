/** `borough populate` as an operator runs it: as the account of its own manifests, with the rights that they give. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { kubeconfigYaml } from '../src/client/kubeconfig.ts'
import type { Remote } from '../src/client/remote.ts'
import type { KubeObject } from '../src/kube/types.ts'
import { type Connection, connect } from './load/connection.ts'
import { startServing } from './target.ts'

const executable = fileURLToPath(new URL('../bin/borough.mjs', import.meta.url))
const namespace = 'borough-system'
const account = 'namespace-template-controller'
const fieldManager = 'bench'
/** The bench runs the process itself. */
const unused: ReadonlySet<string> = new Set(['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'])

/** @returns a token of the account */
export async function installAccount({ client }: Remote, templateFile: string): Promise<string> {
  const args = [executable, 'populate', '--print-manifests', '-f', templateFile, '--image', 'unused', '-o', 'json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
  const { items } = JSON.parse(stdout) as { items: (KubeObject & { apiVersion: string; kind: string })[] }
  for (const object of items.filter(({ kind }) => !unused.has(kind))) {
    const kind = await client.discovery.findKind(object.apiVersion, object.kind)
    if (kind === undefined) throw new Error(`the cluster does not serve ${object.kind} of ${object.apiVersion}`)
    await client.apply(kind, object, { fieldManager, force: true })
  }
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  const asked = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: 24 * 3600 },
  }
  return ((await client.request('POST', path, asked)) as { status: { token: string } }).status.token
}

/** What it has asked the cluster since its start, and how many of that were writes. */
export interface Asked {
  readonly requests: number
  readonly writes: number
}

export interface PopulateProcess extends AsyncDisposable {
  readonly pid: number
  readonly readyAfterMs: number
  asked(): Promise<Asked>
}

export async function startPopulate(
  folder: string,
  { server, ca, token }: { readonly server: string; readonly ca: string; readonly token: string },
): Promise<PopulateProcess> {
  const kubeconfig = join(folder, 'populate.kubeconfig')
  await writeFile(kubeconfig, kubeconfigYaml({ server, caCert: ca, credential: { token } }), { mode: 0o600 })
  const args = ['populate', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', '-o', 'json']
  const process = await startServing<{ readonly url: string; readonly pid: number }>(args)
  const { url, pid, readyAfterMs } = process
  const { hostname: host, port } = new URL(url)
  return {
    pid,
    readyAfterMs,
    async asked() {
      const connection = await connect({ host, port: Number(port), ca: undefined }, 'http/1.1')
      try {
        return await askedSoFar(connection)
      } finally {
        connection.close()
      }
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  }
}

async function askedSoFar(connection: Connection): Promise<Asked> {
  const { chunks } = await connection.send({ method: 'GET', path: '/metrics' })
  const counted = /^borough_population_requests_total\{method="(\w+)",.*\} (\d+)$/gm
  let [requests, writes] = [0, 0]
  for (const [, method, count] of Buffer.concat(chunks).toString().matchAll(counted)) {
    requests += Number(count)
    if (method !== 'GET') writes += Number(count)
  }
  return { requests, writes }
}
