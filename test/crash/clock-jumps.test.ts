/**
 * The wall clock of a server is set by hours while clients write: nothing acknowledged is lost, revisions go up,
 * watches go on, controllers do their work, and the next start, at yet another time, has everything.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { isNotFound } from '../../src/kube/status-error.ts'
import { endProcess, startServing } from '../interop/serving-process.ts'
import { clientOf } from '../replicas/kubeconfig-client.ts'
import { freePort } from '../support/free-port.ts'
import { DiskShim } from './disk-shim.ts'

const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of clocks that are set are skipped: ${shim}`)

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const hour = 3600
/** By how much it is wrong, one after the other. */
const jumps = [0, 6 * hour, -6 * hour, 30 * hour, 0]

const root = mkdtempSync(join(tmpdir(), 'borough-clock-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

describe.skipIf(typeof shim === 'string')('a wall clock that is set by hours', { timeout: 120_000 }, () => {
  it('costs no acknowledged write, no event of a watch, and stops no controller', async () => {
    if (typeof shim === 'string') throw new Error(shim)
    const clockFile = join(root, 'clock')
    const setClock = (seconds: number): void => writeFileSync(clockFile, String(seconds))
    const env = shim.environment({ root, clockFile })
    const acknowledged: { readonly name: string; readonly revision: number; readonly createdMs: number }[] = []
    const seen: string[] = []
    const watching = new AbortController()
    const up = async () => {
      const listen = `127.0.0.1:${await freePort()}`
      const args = ['up', '--data-dir', join(root, 'data'), '--listen', listen, '--output', 'json', '--log-level=error']
      const { child, ready } = await startServing<{ kubeconfig: string }>(args, env)
      return { child, client: clientOf(await readFile(ready.kubeconfig, 'utf8'), { listen }) }
    }
    // The authority, and the administrator's certificate, are older than any time that follows.
    setClock(-100 * hour)
    const { child, client } = await up()
    const { metadata } = await client.list(configMaps, { namespace: 'default' })
    const watched = (async () => {
      const options = { namespace: 'default', resourceVersion: metadata.resourceVersion ?? '', signal: watching.signal }
      for await (const { object } of client.watch(configMaps, options)) seen.push(object.metadata.name ?? '')
    })().catch(() => undefined)
    for (const [jump, seconds] of jumps.entries()) {
      setClock(seconds)
      for (let i = 0; i < 5; i++) {
        const name = `at-${jump}-${i}`
        const made = await client.create(configMaps, { metadata: { name, namespace: 'default' } })
        const createdMs = Date.parse(made.metadata.creationTimestamp ?? '')
        acknowledged.push({ name, revision: Number(made.metadata.resourceVersion), createdMs })
        // It is the server's own time, to the seconds that a slow machine takes.
        expect(Math.abs(createdMs - (Date.now() + seconds * 1000))).toBeLessThan(600_000)
      }
      const name = `gone-${jump}`
      await client.create(namespaces, { metadata: { name } })
      await client.delete(namespaces, { name })
      const isGone = (): Promise<boolean> => client.get(namespaces, { name }).then(() => false, isNotFound)
      await expect.poll(isGone, { timeout: 20_000 }).toBe(true)
    }
    const names = acknowledged.map(({ name }) => name)
    const revisions = acknowledged.map(({ revision }) => revision)
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
    await expect.poll(() => seen, { timeout: 20_000 }).toEqual(names)
    watching.abort()
    await watched
    await endProcess(child, 'SIGKILL')
    setClock(-48 * hour)
    const next = await up()
    const { items } = await next.client.list(configMaps, { namespace: 'default' })
    expect(items.map((item) => item.metadata.name)).toEqual(expect.arrayContaining(names))
    const later = await next.client.create(configMaps, { metadata: { name: 'later', namespace: 'default' } })
    expect(Number(later.metadata.resourceVersion)).toBeGreaterThan(revisions.at(-1) ?? 0)
    await endProcess(next.child, 'SIGKILL')
  })
})
