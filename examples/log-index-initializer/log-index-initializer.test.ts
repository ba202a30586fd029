/** Both programs, as processes of their own under the account of the manifest, killed midway. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KubeObject } from '@borough/borough/client'
import { startControlPlane, type TestControlPlane } from '@borough/borough/testing'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type LogService, startLogService } from './log-service.ts'

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const hooks = here('../../test/support/resolve-source.mjs')
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const account = 'system:serviceaccount:logging:log-index-initializer'

/** A program of this folder, until it is killed. */
class Program implements AsyncDisposable {
  readonly #child: ChildProcess

  constructor(file: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, ['--import', hooks, here(file)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    // A test that is cut off must not leave it behind.
    process.once('exit', () => this.#child.kill('SIGKILL'))
  }

  /** As the machine would, without a chance to say goodbye. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}

async function applyManifest({ client }: TestControlPlane): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(here('10-initializer.yaml'), 'utf8'))) {
    const object = document.toJS() as KubeObject
    const kind = await client.discovery.findKind(object.apiVersion ?? '', object.kind ?? '')
    if (kind === undefined) throw new Error(`${object.kind} is not served`)
    await client.apply(kind, object, { fieldManager: 'test' })
  }
}

interface World {
  readonly plane: TestControlPlane
  readonly service: LogService
  readonly start: () => Program
}

async function inWorld(
  file: string,
  before: (method: string, path: string) => Promise<number | undefined>,
  story: (world: World) => Promise<void>,
): Promise<void> {
  await using plane = await startControlPlane({ port: 0, initializationTimeoutMs: patienceMs })
  await using service = await startLogService(0, before)
  const folder = await mkdtemp(join(tmpdir(), 'borough-log-index-'))
  const kubeconfig = join(folder, 'kubeconfig')
  try {
    await writeFile(kubeconfig, plane.kubeconfigFor(account, ['system:serviceaccounts']), { mode: 0o600 })
    await applyManifest(plane)
    const start = (): Program => new Program(file, { KUBECONFIG: kubeconfig, LOG_SERVICE: service.url })
    await story({ plane, service, start })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A busy machine takes its time to load the official client. */
const patienceMs = 100_000
const programs = ['with-library.ts', 'with-client-node.ts']

test.each(programs)(
  '%s, killed midway, goes on where it was when it is started again',
  { timeout: patienceMs },
  async (file) => {
    const asked: string[] = []
    let atRetention: () => void = () => {}
    const midway = new Promise<void>((resolve) => {
      atRetention = resolve
    })
    let isKilled = false
    const before = async (_method: string, path: string): Promise<number | undefined> => {
      asked.push(path)
      if (!path.endsWith('/retention') || isKilled) return undefined
      atRetention()
      return new Promise(() => {}) // the index is there, its retention never comes
    }
    await inWorld(file, before, async ({ plane, service, start }) => {
      const dev = plane.clientAs('dev', ['system:masters'])
      await using first = start()
      const held = dev.create(namespaces, { metadata: { name: 'team' } })
      await midway
      await first.kill()
      isKilled = true
      expect(await dev.get(namespaces, { name: 'team' })).toMatchObject({ status: { phase: 'Initializing' } })
      await using _second = start()
      expect(await held).toMatchObject({ metadata: { name: 'team' }, status: { phase: 'Active' } })
      expect(Object.fromEntries(service.indexes)).toEqual({ 'logs-team': { days: 30 } })
      const index = '/indexes/logs-team'
      expect(asked).toEqual([index, `${index}/retention`, index, `${index}/retention`])
      await dev.create(configMaps, { metadata: { namespace: 'team', name: 'now-it-is-mine' } })
    })
  },
)

test.each(programs)(
  '%s tries again while the log system is down, and gives up when it refuses',
  { timeout: patienceMs },
  async (file) => {
    let failures = 3
    const before = async (_method: string, path: string): Promise<number | undefined> =>
      path.includes('unwanted') ? 403 : failures-- > 0 ? 503 : undefined
    await inWorld(file, before, async ({ plane, service, start }) => {
      await using _program = start()
      expect(await plane.client.create(namespaces, { metadata: { name: 'team' } })).toMatchObject({
        status: { phase: 'Active' },
      })
      expect([...service.indexes.keys()]).toEqual(['logs-team'])
      await expect(plane.client.create(namespaces, { metadata: { name: 'unwanted' } })).rejects.toMatchObject({
        code: 403,
        message: 'the log system answered 403 to PUT /indexes/logs-unwanted',
      })
    })
  },
)
