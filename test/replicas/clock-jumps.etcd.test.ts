/**
 * Two replicas on one etcd whose wall clocks are set by hours, each by itself and to and fro, while clients write at
 * both: nothing acknowledged is lost, both watches see every change once and in order, namespaces go, and one replica
 * leads.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { isNotFound } from '../../src/kube/status-error.ts'
import { DiskShim } from '../crash/disk-shim.ts'
import { endProcess, startServing } from '../interop/serving-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { freePort } from '../support/free-port.ts'
import { supervised } from './faults.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'

const shim = etcdVersion === undefined ? etcdMissing : DiskShim.make()
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const hour = 3600
/** Of the first and of the second replica. */
const jumps: readonly (readonly [number, number])[] = [
  [0, 0],
  [6 * hour, 0],
  [6 * hour, -6 * hour],
  [-30 * hour, 30 * hour],
  [0, 30 * hour],
]

const root = mkdtempSync(join(tmpdir(), 'borough-clocks-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

interface Replica {
  readonly child: ChildProcess
  readonly listen: string
  readonly kubeconfig: string
  setClock(seconds: number): void
}

async function start(name: string, { endpoint }: EtcdServer): Promise<Replica> {
  if (typeof shim === 'string') throw new Error(shim)
  const clockFile = join(root, `clock-${name}`)
  const setClock = (seconds: number): void => writeFileSync(clockFile, String(seconds))
  // The authority, and the administrator's certificate, are older than any time that follows.
  setClock(-100 * hour)
  const listen = `127.0.0.1:${await freePort()}`
  const flags = ['--listen', listen, '--output', 'json', '--log-level=error']
  const args = ['up', '--data-dir', join(root, name), `--storage=etcd://${new URL(endpoint).host}`, ...flags]
  const env = shim.environment({ root, clockFile })
  const { child, ready } = await supervised(() => startServing<{ kubeconfig: string }>(args, env))
  onTestFinished(async () => void (await endProcess(child, 'SIGKILL')))
  return { child, listen, kubeconfig: await readFile(ready.kubeconfig, 'utf8'), setClock }
}

/** Follows what is made, until the signal aborts; taken up again where it was when it ends. */
async function follow(client: Client, from: string, seen: string[], signal: AbortSignal): Promise<void> {
  for (let resourceVersion = from; !signal.aborted; ) {
    for await (const { object } of client.watch(configMaps, { namespace: 'default', resourceVersion, signal })) {
      seen.push(object.metadata.name ?? '')
      resourceVersion = object.metadata.resourceVersion ?? ''
    }
  }
}

describe.skipIf(typeof shim === 'string')(
  `clocks of replicas that are set by hours${typeof shim === 'string' ? ` (skipped: ${shim})` : ''}`,
  { timeout: 240_000 },
  () => {
    it('cost no acknowledged write, no event, and stop no controller', async () => {
      const etcd = await EtcdServer.start()
      onTestFinished(() => etcd[Symbol.asyncDispose]())
      const replicas = [await start('a', etcd), await start('b', etcd)]
      const [first] = replicas
      const kubeconfig = first?.kubeconfig ?? ''
      const clients = replicas.map((replica) => clientOf(kubeconfig, replica))
      const [client] = clients
      if (client === undefined) throw new Error('no client')
      const { metadata } = await client.list(configMaps, { namespace: 'default' })
      const stop = new AbortController()
      const views: string[][] = [[], []]
      const following = clients.map((each, i) =>
        follow(each, metadata.resourceVersion ?? '', views[i] as string[], stop.signal),
      )
      const made: string[] = []
      let newest = 0
      for (const [jump, clocks] of jumps.entries()) {
        for (const [i, replica] of replicas.entries()) replica.setClock(clocks[i] ?? 0)
        for (let i = 0; i < 6; i++) {
          const name = `at-${jump}-${i}`
          const object = await (clients[i % 2] as Client).create(configMaps, {
            metadata: { name, namespace: 'default' },
          })
          const revision = Number(object.metadata.resourceVersion)
          expect(revision).toBeGreaterThan(newest)
          newest = revision
          // By the replica's own clock, to the seconds that a slow machine takes.
          const createdMs = Date.parse(object.metadata.creationTimestamp ?? '') - (clocks[i % 2] ?? 0) * 1000
          expect(Math.abs(createdMs - Date.now())).toBeLessThan(600_000)
          made.push(name)
        }
        const name = `gone-${jump}`
        await client.create(namespaces, { metadata: { name } })
        await client.delete(namespaces, { name })
        const isGone = (): Promise<boolean> => client.get(namespaces, { name }).then(() => false, isNotFound)
        await expect.poll(isGone, { timeout: 60_000 }).toBe(true)
      }
      for (const seen of views) await expect.poll(() => seen, { timeout: 30_000 }).toEqual(made)
      const leading = async (): Promise<number> => {
        const pages = await Promise.all(replicas.map((replica) => pageOf(kubeconfig, replica, '/metrics')))
        return pages.filter((page) => /\nborough_controllers_leading 1\n/.test(page)).length
      }
      await expect.poll(leading, { timeout: 30_000 }).toBe(1)
      for (const each of clients) {
        const { items } = await each.list(configMaps, { namespace: 'default' })
        expect(items.map((item) => item.metadata.name)).toEqual(expect.arrayContaining(made))
      }
      stop.abort()
      await Promise.all(following)
    })
  },
)
