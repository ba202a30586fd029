/** A server under measurement: Borough, started from `dist/` as a child, or whatever a kubeconfig leads to. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import type { BareTls } from './bare-server.ts'
import { type Connection, connect, type Endpoint } from './load/connection.ts'

export interface Target {
  readonly name: string
  /** Who makes the load: an ordinary user, whose rights come from RBAC. */
  readonly endpoint: Endpoint
  /** Of the server, if it runs here. */
  readonly pid: number | undefined
  /** Namespaces labelled `bench: populated` are populated. */
  readonly populates: boolean
}

export interface Borough extends Target, AsyncDisposable {
  readonly pid: number
  readonly tls: BareTls
  readonly readyAfterMs: number
}

const executable = fileURLToPath(new URL('../bin/borough.mjs', import.meta.url))
const templateFile = new URL('./populated-template.yaml', import.meta.url)
const user = 'bench'

export interface StartedProcess extends AsyncDisposable {
  readonly pid: number
  readonly kubeconfig: string
  readonly readyAfterMs: number
}

/** `borough up` until its ready line. */
export function startProcess(dataDir: string, flags: readonly string[] = []): Promise<StartedProcess> {
  return startServing(['up', '--data-dir', dataDir, '--listen', '127.0.0.1:0', '-o', 'json', ...flags])
}

/** Until the ready line, which says the rest. */
export async function startServing<Ready extends { readonly pid: number }>(
  args: readonly string[],
): Promise<Ready & { readonly readyAfterMs: number } & AsyncDisposable> {
  const began = performance.now()
  // As a user would: the executable, with this Node as the first on the path.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  const child: ChildProcess = spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const [line] = (await Promise.race([
    once(lines, 'line'),
    ended.then(([code]) => Promise.reject(new Error(`borough ended with ${code}`))),
  ])) as [string]
  const readyAfterMs = performance.now() - began
  return {
    ...(JSON.parse(line) as Ready),
    readyAfterMs,
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
    },
  }
}

/**
 * Serves with a template of five objects for namespaces labelled `bench: populated`, and a user who may do everything
 * by RBAC.
 */
export async function startBorough(dataDir: string, flags: readonly string[] = []): Promise<Borough> {
  const server = await startProcess(dataDir, flags)
  const admin = endpointOf(await readFile(server.kubeconfig, 'utf8'))
  const asAdmin = await connect(admin, 'http/1.1')
  await create(asAdmin, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
  const template = parse(await readFile(templateFile, 'utf8'))
  await create(asAdmin, `/apis/${template.apiVersion}/namespacetemplates`, template)
  asAdmin.close()
  const args = [executable, 'kubeconfig', '--data-dir', dataDir, '--user', user, '--group', 'benchers']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const pki = (name: string): Promise<string> => readFile(join(dataDir, 'pki', name), 'utf8')
  return {
    name: 'borough',
    endpoint: endpointOf(stdout),
    pid: server.pid,
    populates: true,
    tls: { key: await pki('server.key'), cert: await pki('server.crt'), ca: await pki('ca.crt') },
    readyAfterMs: server.readyAfterMs,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export async function peerOf(kubeconfigPath: string): Promise<Target> {
  const endpoint = endpointOf(await readFile(kubeconfigPath, 'utf8'))
  return { name: 'peer', endpoint, pid: undefined, populates: false }
}

interface Named {
  readonly name: string
}

/** The current context's server and credentials, given in the file itself or as paths. */
export function endpointOf(kubeconfig: string): Endpoint {
  const config = parse(kubeconfig)
  const named = <T extends Named>(list: readonly T[], name: string): T => {
    const found = list.find((item) => item.name === name)
    if (found === undefined) throw new Error(`the kubeconfig has no ${name}`)
    return found
  }
  const { context } = named(
    config.contexts as (Named & { context: Record<string, string> })[],
    config['current-context'],
  )
  const { cluster } = named(
    config.clusters as (Named & { cluster: Record<string, string> })[],
    context['cluster'] ?? '',
  )
  const { user } = named(config.users as (Named & { user: Record<string, string> })[], context['user'] ?? '')
  const url = new URL(cluster['server'] ?? '')
  const data = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : Buffer.from(text, 'base64').toString()
  const cert = data(user['client-certificate-data'])
  const key = data(user['client-key-data'])
  const token = user['token']
  return {
    host: url.hostname,
    port: Number(url.port || 443),
    ca: data(cluster['certificate-authority-data']),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
  }
}

/** @throws Error if the server refuses */
export async function create(connection: Connection, path: string, object: object): Promise<void> {
  const { status, chunks } = await connection.send({ method: 'POST', path, body: JSON.stringify(object) })
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${Buffer.concat(chunks).toString()}`)
}

export async function createNamespace(connection: Connection, name: string, populated = false): Promise<void> {
  const metadata = populated ? { name, labels: { bench: 'populated' } } : { name }
  await create(connection, '/api/v1/namespaces', { metadata })
}
