/**
 * A cluster of upstream's own programs: kube-apiserver, kube-controller-manager and etcd, where the environment says
 * where they are. Tests that need one are skipped without, and say so.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { kubeconfigYaml } from '../../src/client/kubeconfig.ts'
import { EtcdServer, etcdMissing, etcdVersion } from './etcd-server.ts'
import { freePort } from './free-port.ts'

const apiServer = process.env['BOROUGH_KUBE_APISERVER'] ?? ''
const controllerManager = process.env['BOROUGH_KUBE_CONTROLLER_MANAGER'] ?? ''

/** Why there is none; undefined where there is. */
export const noUpstream: string | undefined = !existsSync(apiServer)
  ? 'BOROUGH_KUBE_APISERVER names no kube-apiserver'
  : !existsSync(controllerManager)
    ? 'BOROUGH_KUBE_CONTROLLER_MANAGER names no kube-controller-manager'
    : etcdVersion === undefined
      ? etcdMissing
      : undefined

export interface UpstreamUser {
  readonly name: string
  readonly groups: readonly string[]
}

export const upstreamAdmin: UpstreamUser = { name: 'admin', groups: ['system:masters'] }

const controllers = [
  'namespace-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  // Without it admin, edit and view hold nothing.
  'clusterrole-aggregation-controller',
]
const startTimeoutMs = 90_000

export class UpstreamCluster implements AsyncDisposable {
  readonly #folder: string
  readonly #server: string
  readonly #running: AsyncDisposableStack

  private constructor(folder: string, server: string, running: AsyncDisposableStack) {
    this.#folder = folder
    this.#server = server
    this.#running = running
  }

  /** @param users beside the administrator; their names are their tokens */
  static async start(users: readonly UpstreamUser[]): Promise<UpstreamCluster> {
    await using starting = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'upstream-'))
    starting.defer(() => rm(folder, { recursive: true, force: true }))
    const etcd = starting.use(await EtcdServer.start())
    const port = await freePort()
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const file = (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content, { mode: 0o600 })
      return join(folder, name)
    }
    const key = file('sa.key', privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const line = ({ name, groups }: UpstreamUser): string => `${name},${name},${name},"${groups.join(',')}"\n`
    runFor(starting, apiServer, [
      `--etcd-servers=${etcd.endpoint}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--cert-dir=${folder}`,
      `--token-auth-file=${file('tokens.csv', [upstreamAdmin, ...users].map(line).join(''))}`,
      `--service-account-key-file=${file('sa.pub', publicKey.export({ type: 'spki', format: 'pem' }))}`,
      `--service-account-signing-key-file=${key}`,
      '--service-account-issuer=https://127.0.0.1',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--authorization-mode=RBAC',
      '--endpoint-reconciler-type=none',
    ])
    const server = `https://127.0.0.1:${port}`
    const cluster = new UpstreamCluster(folder, server, starting)
    await cluster.#answers()
    const kubeconfig = file('controllers.kubeconfig', cluster.kubeconfigFor(upstreamAdmin.name))
    runFor(starting, controllerManager, [
      `--kubeconfig=${kubeconfig}`,
      `--service-account-private-key-file=${key}`,
      `--controllers=${controllers.join(',')}`,
      '--leader-elect=false',
      `--secure-port=${await freePort()}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${folder}`,
    ])
    return new UpstreamCluster(folder, server, starting.move())
  }

  kubeconfigFor(user: string): string {
    const caCert = readFileSync(this.#certificate, 'utf8')
    return kubeconfigYaml({ server: this.#server, caCert, credential: { token: user } })
  }

  /** Made by the server, with its own authority behind it. */
  get #certificate(): string {
    return join(this.#folder, 'apiserver.crt')
  }

  /** Polls: it does not say when it is ready. */
  async #answers(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs
    for (;;) {
      if (existsSync(this.#certificate) && (await isReady(this.#server, readFileSync(this.#certificate, 'utf8'))))
        return
      if (Date.now() > deadline) throw new Error('kube-apiserver did not become ready')
      await setTimeout(200)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#running.disposeAsync()
  }
}

const isReady = (server: string, ca: string): Promise<boolean> =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${upstreamAdmin.name}` }
    get(`${server}/readyz`, { ca, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    }).once('error', () => resolve(false))
  })

function runFor(running: AsyncDisposableStack, program: string, flags: readonly string[]): void {
  const child = spawn(program, flags, { stdio: 'ignore' })
  running.defer(() => end(child))
}

const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
