/**
 * A server whose store can't be written, from the start on or while it serves: it serves reads and watches, refuses
 * writes in words, says why once, and takes writes after a restart where it can.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { copyStore, sourceAt, targetAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { type Exit, endProcess, isRunning, startServing } from '../interop/serving-process.ts'
import { clientOf, pageOf } from '../replicas/kubeconfig-client.ts'
import { freePort } from '../support/free-port.ts'
import { SmallDisk } from '../support/small-disk.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'default'
const message = 'the store can only be read: no writes are taken until the server is started again'
const refused = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason: 'ServiceUnavailable',
  details: { causes: [{ reason: 'StoreReadOnly', message }] },
  code: 503,
}
const restart = 'no more writes are taken until a restart'
/** A flush may have been under way when the server was killed. */
const unknown = '(; what its log has after revision \\d+ was not acknowledged, nor is shown)?'
const toldAtStart = (what: string): RegExp => new RegExp(`${what}: the store is only read, and ${restart}${unknown}$`)
const isReadOnly = toldAtStart('state\\.db is read-only for this process')

let root: string
let disk: SmallDisk | undefined
let servers: Server[] = []
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'borough-unwritable-'))
  servers = []
})
afterEach(async () => {
  for (const server of servers) await server.end('SIGKILL')
  disk?.[Symbol.dispose]()
  disk = undefined
  await rm(root, { recursive: true })
})

const why = SmallDisk.missing(await mkdtemp(join(tmpdir(), 'borough-may-mount-')))

interface Server {
  readonly pid: number | undefined
  create(name: string): Promise<unknown>
  remove(name: string): Promise<unknown>
  names(): Promise<readonly unknown[]>
  /** What a watch tells first, from the revision on that a list has. */
  watched(count: number): Promise<readonly unknown[]>
  page(path: string): Promise<string>
  /** Of the log: what is an error. */
  errors(): readonly string[]
  end(signal: NodeJS.Signals): Promise<Exit | undefined>
}

async function start(place: string, more: readonly string[] = []): Promise<Server> {
  const listen = `127.0.0.1:${await freePort()}`
  // Of the log only so much is kept: what else a server tells for long would take the place of its errors.
  const level = ['--log-level', 'error']
  const args = ['up', '--data-dir', join(place, 'data'), '--listen', listen, '--output', 'json', ...level, ...more]
  const { child, ready, log } = await startServing<{ kubeconfig: string }>(args)
  const kubeconfig = await readFile(ready.kubeconfig, 'utf8')
  const client = clientOf(kubeconfig, { listen })
  const server: Server = {
    pid: child.pid,
    create: (name) => statusOf(client.create(configMaps, { metadata: { name, namespace } })),
    remove: (name) => statusOf(client.delete(configMaps, { name, namespace })),
    names: async () => (await client.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name),
    async watched(count) {
      const names: unknown[] = []
      for await (const event of client.watch(configMaps, { namespace, signal: AbortSignal.timeout(30_000) })) {
        names.push((event.object as KubeObject).metadata.name)
        if (names.length === count) break
      }
      return names
    },
    page: (path) => pageOf(kubeconfig, { listen }, path),
    errors: () =>
      log()
        .split('\n')
        .filter((line) => line.includes('"level":50'))
        .map((line) => (JSON.parse(line) as { readonly msg: string }).msg),
    end: async (signal) => (isRunning(child) ? await endProcess(child, signal) : undefined),
  }
  servers.push(server)
  return server
}

const statusOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => findStatusError(error)?.toStatus(),
  )

/** What holds of every server that can only read. */
async function expectOnlyRead(server: Server, told: RegExp): Promise<void> {
  expect(await server.create('new')).toEqual(refused)
  expect(await server.remove('a')).toEqual(refused)
  expect(await server.names()).toEqual(['a', 'b', 'kube-root-ca.crt'])
  expect(await server.watched(3)).toEqual(['a', 'b', 'kube-root-ca.crt'])
  const health = await server.page('/readyz?verbose')
  expect(health.split('\n')).toContainEqual(expect.stringMatching(told))
  expect(health).toMatch(/readyz check passed/)
  expect(await server.page('/metrics')).toMatch(/^borough_storage_writes_limited 1$/m)
  expect(server.errors()).toEqual([expect.stringMatching(told)])
}

describe.skipIf(why !== undefined)(
  `a store that can't be written${why === undefined ? '' : ` (skipped: ${why})`}`,
  () => {
    const data = (): string => join(disk?.place ?? '', 'data')
    /** What a server left that was stopped. Made once: to start servers is nearly all that these tests take. */
    let left: string
    beforeAll(async () => {
      left = await mkdtemp(join(tmpdir(), 'borough-unwritable-left-'))
      await (await begin(left)).end('SIGTERM')
    })
    afterAll(() => rm(left, { recursive: true }))

    async function begin(place: string): Promise<Server> {
      await mkdir(join(place, 'data'), { mode: 0o700 })
      const server = await start(place)
      for (const name of ['a', 'b']) expect(await server.create(name)).toBe('done')
      await vi.waitUntil(async () => (await server.names()).includes('kube-root-ca.crt'), { timeout: 30_000 })
      return server
    }

    function mountDisk(inodes?: number): string {
      disk = SmallDisk.mount(join(root, 'disk'), 96, inodes)
      return disk.place
    }

    async function mountLeft(inodes?: number): Promise<void> {
      await cp(left, mountDisk(inodes), { recursive: true })
    }

    it.each(['SIGTERM', 'SIGKILL'] as const)(
      'on a read-only file system after %s: it is read by several, and saved; and written again when it can be',
      { timeout: 180_000 },
      async (signal) => {
        if (signal === 'SIGTERM') await mountLeft()
        else await (await begin(mountDisk())).end(signal)
        disk?.remount('ro')
        const [first, second] = await Promise.all([start(disk?.place ?? ''), start(disk?.place ?? '')])
        await expectOnlyRead(first, isReadOnly)
        await expectOnlyRead(second, isReadOnly)
        expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null })

        const options = { clock: systemClock, log: silentLog }
        expect(await verifyStoreAt({ dataDir: data() }, options)).toMatchObject({ findings: [] })
        {
          await using target = await targetAt({ file: join(root, 'backup') }, options)
          await copyStore(sourceAt({ dataDir: data() }, options), target, () => undefined)
        }
        disk?.remount('rw')
        await expect(start(disk?.place ?? '')).rejects.toThrow(
          `${data()} is in use by another borough that only reads it, since it could not write ` +
            `(process ${first.pid}): stop it, or choose another --data-dir`,
        )
        expect(await first.create('new')).toEqual(refused)
        // A server that only read leaves nothing behind, however it ends.
        expect(await first.end(signal)).toEqual(
          signal === 'SIGTERM' ? { code: 0, signal: null } : { code: null, signal },
        )
        const third = await start(disk?.place ?? '')
        expect(await third.create('new')).toBe('done')
        expect(await third.page('/readyz?verbose')).not.toMatch(/warn/)
      },
    )

    it('by several workers, of which there was one before', { timeout: 180_000 }, async () => {
      await mountLeft()
      disk?.remount('ro')
      const server = await start(disk?.place ?? '', ['--workers', '2'])
      await expectOnlyRead(server, isReadOnly)
      expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
    })

    it('since its file system became read-only under it', { timeout: 180_000 }, async () => {
      const server = await begin(mountDisk())
      disk?.breakDown()
      await expect.poll(() => server.create('new'), { timeout: 30_000 }).toEqual(refused)
      // Whichever met it first.
      const met = /state\.db (failed \(disk I\/O error, code \d+\)|is read-only for this process); no more writes/
      await expectOnlyRead(server, met)
      expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
      await expectOnlyRead(await start(disk?.place ?? ''), isReadOnly)
    })

    it('for want of inodes, and of a reserve of them', { timeout: 180_000 }, async () => {
      await mountLeft(96)
      for (const name of ['reserve', 'reserve-opening']) rmSync(join(data(), 'store', name), { force: true })
      disk?.useUpFiles()
      const told = toldAtStart('state\\.db can not be opened')
      await expectOnlyRead(await start(disk?.place ?? ''), told)
    })

    it('for want of room, and of a reserve of it', { timeout: 180_000 }, async () => {
      await mountLeft()
      for (const name of ['reserve', 'reserve-opening']) rmSync(join(data(), 'store', name), { force: true })
      disk?.fill()
      const told = toldAtStart('there is no room for \\S+state\\.db to grow')
      await expectOnlyRead(await start(disk?.place ?? ''), told)
    })

    it('since no file may be made in its folders', { timeout: 180_000 }, async () => {
      await mountLeft()
      const folders = [data(), join(data(), 'store'), join(data(), 'pki')]
      execFileSync('chattr', ['+i', ...folders])
      try {
        const server = await start(disk?.place ?? '')
        await expectOnlyRead(server, isReadOnly)
        await server.end('SIGTERM')
      } finally {
        execFileSync('chattr', ['-i', ...folders])
      }
    })
  },
)
