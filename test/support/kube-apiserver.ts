/**
 * A real kube-apiserver for tests, on an etcd of its own: the program that `BOROUGH_KUBE_APISERVER` names. Nothing runs
 * beside it: no controller, no kubelet.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scheduler } from 'node:timers/promises'
import { kubeconfigYaml } from '../../src/client/kubeconfig.ts'
import { EtcdServer, etcdVersion } from './etcd-server.ts'
import { freePort } from './free-port.ts'

const program = process.env['BOROUGH_KUBE_APISERVER'] ?? ''

/** undefined: there is none, or no etcd for it. */
export const kubeApiserverVersion: string | undefined =
  program === '' || etcdVersion === undefined
    ? undefined
    : /v(\S+)/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout)?.[1]

export const kubeApiserverMissing = 'BOROUGH_KUBE_APISERVER names no kube-apiserver, or there is no etcd on the PATH'

const startTimeoutMs = 60_000
const token = 'administrator-of-a-test'

export class KubeApiserver implements AsyncDisposable {
  /** Of a member of system:masters. */
  readonly kubeconfig: string
  readonly #folder: string
  readonly #etcd: EtcdServer
  readonly #child: ChildProcess

  private constructor(kubeconfig: string, folder: string, etcd: EtcdServer, child: ChildProcess) {
    this.kubeconfig = kubeconfig
    this.#folder = folder
    this.#etcd = etcd
    this.#child = child
  }

  static async start(): Promise<KubeApiserver> {
    const folder = await mkdtemp(join(tmpdir(), 'borough-kube-apiserver-'))
    const etcd = await EtcdServer.start()
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const key = join(folder, 'service-accounts.pem')
    await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    await writeFile(join(folder, 'tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 })
    const port = await freePort()
    const child = spawn(
      program,
      [
        `--etcd-servers=${etcd.endpoint}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        `--secure-port=${port}`,
        `--cert-dir=${join(folder, 'certs')}`,
        '--authorization-mode=RBAC',
        `--token-auth-file=${join(folder, 'tokens.csv')}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${key}`,
        `--service-account-signing-key-file=${key}`,
        '--service-cluster-ip-range=10.96.0.0/16',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const caFile = join(folder, 'certs', 'apiserver.crt')
    try {
      await ready(child, port, caFile)
    } catch (error) {
      child.kill('SIGKILL')
      await etcd[Symbol.asyncDispose]()
      throw error
    }
    const server = `https://127.0.0.1:${port}`
    const kubeconfig = kubeconfigYaml({ server, caCert: await readFile(caFile, 'utf8'), credential: { token } })
    return new KubeApiserver(kubeconfig, folder, etcd, child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#child.once('close', () => resolve()))
    this.#child.kill('SIGKILL')
    await ended
    await this.#etcd[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Its bootstrap roles are there too: /readyz says so. */
async function ready(child: ChildProcess, port: number, caFile: string): Promise<void> {
  let log = ''
  let ended = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-8000)
  })
  child.once('exit', () => {
    ended = true
  })
  const until = performance.now() + startTimeoutMs
  while (!ended && performance.now() < until) {
    const ca = await readFile(caFile, 'utf8').catch(() => undefined)
    if (ca !== undefined && (await statusOf(port, ca)) === 200) return
    await scheduler.wait(100)
  }
  throw new Error(`kube-apiserver did not get ready:\n${log}`)
}

function statusOf(port: number, ca: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const asked = request({ host: '127.0.0.1', port, path: '/readyz', ca, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.once('error', () => resolve(undefined))
    asked.end()
  })
}
