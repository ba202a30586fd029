/** Commands that a signal meets in the middle of their work: what they say, and what they leave. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { borough } from './borough-process.ts'
import { endProcess, main, startServing } from './serving-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'borough-signals-'))
const at = (name: string): string => join(folder, name)
/** As many as take a command longer than it takes to see that it has begun. */
const entries = 60_000
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

beforeAll(async () => {
  mkdirSync(at('data'), { mode: 0o700 })
  await using storage = await SqliteStorage.open({ directory: at('data/store') })
  const pending: Promise<unknown>[] = []
  for (let from = 0; from < entries; from += 100) {
    const writes = Array.from({ length: 100 }, (_, i) => ({
      key: `/registry/configmaps/default/c${from + i}`,
      value: Buffer.from(JSON.stringify({ metadata: { name: `c${from + i}` }, data: { text: 'x'.repeat(300) } })),
      expect: 'absent' as const,
    }))
    pending.push(storage.commit({ guards: [], writes }).done)
    if (pending.length === 50) await Promise.all(pending.splice(0))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Stopped {
  readonly signal: string | null
  readonly stdout: string
  /** What it said at last. */
  readonly said: string
}

/** @param isUnderWay when the signal is sent */
async function stopped(
  signal: NodeJS.Signals,
  args: readonly string[],
  isUnderWay: () => boolean | Promise<boolean>,
): Promise<Stopped> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => void (written[name] += text))
  }
  const closed = once(child, 'close')
  await expect.poll(isUnderWay, { interval: 5 }).toBe(true)
  child.kill(signal)
  await closed
  const said = written.stderr.trim().split('\n').at(-1) ?? ''
  return { signal: child.signalCode, stdout: written.stdout, said }
}

describe.each(signals)('%s', (signal) => {
  test('leaves nothing of a backup', async () => {
    const file = at(`backup-${signal}`)
    const args = ['backup', '--data-dir', at('data'), '--to', file]
    const end = await stopped(signal, args, () => existsSync(`${file}.part`))
    expect(end).toEqual({ signal, stdout: '', said: `borough: ${signal}: ${file} is not there` })
    expect([file, `${file}.part`].filter(existsSync)).toEqual([])
  })

  test('leaves nothing of an incremental backup', async () => {
    const to = at(`backups-${signal}`)
    const args = ['backup', '--incremental', '--data-dir', at('data'), '--to', to]
    const end = await stopped(signal, args, () => existsSync(to) && readdirSync(to).length > 0)
    expect(end).toEqual({ signal, stdout: '', said: `borough: ${signal}: no part of it is left in ${to}` })
    expect(readdirSync(to)).toEqual([])
  })

  test('leaves a part of a copy, which says so, and no server takes it', async () => {
    const to = at(`copy-${signal}`)
    const args = ['storage', 'copy', '--from', `sqlite:${at('data')}`, '--to', `sqlite:${to}`]
    const end = await stopped(signal, args, () => existsSync(join(to, 'store/state.db')))
    const said = `borough: ${signal}: ${to} holds only a part: empty it before it is filled again`
    expect(end).toEqual({ signal, stdout: '', said })
    const { code, stderr } = await borough(['up', '--data-dir', to, '--listen', '127.0.0.1:0'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('holds only a part') })
  })

  test('ends a server in good order', async () => {
    const args = [
      'up',
      '--data-dir',
      at(`up-${signal}`),
      '--listen',
      '127.0.0.1:0',
      '--storage',
      'memory',
      '-o',
      'json',
    ]
    const { child } = await startServing(args)
    expect(await endProcess(child, signal)).toEqual({ code: 0, signal: null })
  })

  test('in a start of populate takes back what the cluster was told, so that namespaces come through', async () => {
    await using elsewhere = await startControlPlane({ port: 0, population: false })
    writeFileSync(at('kubeconfig'), elsewhere.kubeconfig, { mode: 0o600 })
    const resources = [
      ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      ...['mutatingadmissionpolicies', 'validatingadmissionpolicies'],
    ].map((resource) => ({ group: 'admissionregistration.k8s.io', version: 'v1', resource }))
    const registered = async (): Promise<number> => {
      const lists = await Promise.all(resources.map((resource) => elsewhere.client.list(resource)))
      return lists.flatMap(({ items }) => items).length
    }
    const before = await registered()
    // Where no server is.
    const args = ['populate', '--kubeconfig', at('kubeconfig'), '--listen', '127.0.0.1:0']
    const wrong = [...args, '--admission', 'webhooks', '--webhook-url', 'https://127.0.0.1:1']
    const end = await stopped(signal, wrong, async () => (await registered()) > before)
    const said = `borough: ${signal}: it ends before it served, and the cluster is told what it was told before`
    expect(end).toEqual({ signal, stdout: '', said })
    expect(await registered()).toBe(before)
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    await elsewhere.client.create(namespaces, { metadata: { name: 'team-a' } })
  })
})
