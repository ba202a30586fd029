/** A server as a process of its own whose disk a test decides, asked as clients ask it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { type Exit, endProcess, isRunning, startServing } from '../interop/serving-process.ts'
import { clientOf, pageOf } from '../replicas/kubeconfig-client.ts'
import { freePort } from '../support/free-port.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'default'

export class DiskServer {
  readonly client: Client
  readonly page: (path: string) => Promise<string>
  readonly log: () => string
  readonly end: (signal: NodeJS.Signals) => Promise<Exit | undefined>

  private constructor(members: Pick<DiskServer, 'client' | 'page' | 'log' | 'end'>) {
    this.client = members.client
    this.page = members.page
    this.log = members.log
    this.end = members.end
  }

  /** On `data` in a folder. @throws Error with its log, where it does not start */
  static async start(folder: string, env: Readonly<Record<string, string>> = {}): Promise<DiskServer> {
    const listen = `127.0.0.1:${await freePort()}`
    const args = ['up', '--data-dir', join(folder, 'data'), '--listen', listen, '--output', 'json']
    const { child, ready, log } = await startServing<{ kubeconfig: string }>([...args, '--log-level', 'warn'], env)
    const kubeconfig = await readFile(ready.kubeconfig, 'utf8')
    return new DiskServer({
      client: clientOf(kubeconfig, { listen }),
      page: (path) => pageOf(kubeconfig, { listen }, path),
      log,
      end: async (signal) => (isRunning(child) ? await endProcess(child, signal) : undefined),
    })
  }

  /** The code of the answer. */
  async create(name: string, bytes = 10): Promise<number> {
    try {
      await this.client.create(configMaps, { metadata: { name, namespace }, data: { text: 'x'.repeat(bytes) } })
      return 201
    } catch (error) {
      return findStatusError(error)?.code ?? 0
    }
  }

  async names(): Promise<string[]> {
    const { items } = await this.client.list(configMaps, { namespace })
    return items.map(({ metadata }) => metadata.name ?? '')
  }
}
