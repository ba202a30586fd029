/**
 * Servers of two versions on one etcd: values are written in a form that the older one can't read only once none of it
 * is left, and in the older form again when one comes back. The older one is a server that announces less; and where
 * BOROUGH_PREVIOUS_MAIN names the program of a previous version, that one.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { endProcess, isRunning, startServing } from '../interop/serving-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { freePort } from '../support/free-port.ts'
import { etcdCall } from './cluster.ts'
import { clientOf, pageOf } from './kubeconfig-client.ts'

if (etcdVersion === undefined) console.warn(`tests of rolling upgrades are skipped: ${etcdMissing}`)
const previous = process.env['BOROUGH_PREVIOUS_MAIN']
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'default'
const leaseTiming = { leaseDurationMs: 600, renewDeadlineMs: 400, retryPeriodMs: 100 }

describe.skipIf(etcdVersion === undefined)('servers of two versions', { timeout: 120_000 }, () => {
  let etcd: EtcdServer
  beforeAll(async () => {
    etcd = await EtcdServer.start()
  }, 60_000)
  afterAll(() => etcd?.[Symbol.asyncDispose]())

  const host = (): string => new URL(etcd.endpoint).host
  const start = (prefix: string, formatLevel: number): Promise<ControlPlane> => {
    const storage: Config['storage'] = { engine: 'etcd', endpoints: [host()], prefix, formatLevel }
    return createControlPlane({ ...defaultConfig, storage, leaseTiming })
  }

  const put = async (key: string, value: string): Promise<unknown> =>
    etcdCall(etcd.endpoint, 'kv/put', { key: base64(key), value: base64(value) })

  /** The form that a header says it has. */
  async function formOf(key: string): Promise<number | undefined> {
    const { kvs = [] } = (await etcdCall(etcd.endpoint, 'kv/range', { key: base64(key) })) as {
      kvs?: readonly { readonly value: string }[]
    }
    return Buffer.from(kvs[0]?.value ?? '', 'base64')[3]
  }

  let names = 0
  async function written(plane: ControlPlane, prefix: string): Promise<number | undefined> {
    const name = `c${names++}`
    await plane.client().create(configMaps, { metadata: { name, namespace } })
    return formOf(`${prefix}/registry/configmaps/${namespace}/${name}`)
  }
  const total = async (plane: ControlPlane): Promise<number> =>
    (await plane.client().list(configMaps, { namespace })).items.filter(({ metadata }) =>
      /^c\d+$/.test(metadata.name ?? ''),
    ).length

  it('a rolling upgrade switches once the last older one is gone, a rollback back, and all is read by all', async () => {
    const prefix = '/rolling'
    const older = [await start(prefix, 0), await start(prefix, 0)]
    for (const plane of older) expect(await written(plane, prefix)).toBe(0)
    await using newer = await start(prefix, 1)
    expect(await written(newer, prefix)).toBe(0)
    await older[0]?.[Symbol.asyncDispose]()
    await using second = await start(prefix, 1)
    expect(await written(second, prefix)).toBe(0)
    await older[1]?.[Symbol.asyncDispose]()
    await expect.poll(() => written(newer, prefix), { timeout: 30_000 }).toBe(1)
    await expect.poll(() => written(second, prefix), { timeout: 30_000 }).toBe(1)
    {
      await using back = await start(prefix, 0)
      expect(await written(back, prefix)).toBe(0)
      await expect.poll(() => written(newer, prefix), { timeout: 30_000 }).toBe(0)
      await expect.poll(() => written(second, prefix), { timeout: 30_000 }).toBe(0)
      const counts = await Promise.all([newer, second, back].map(total))
      expect(new Set(counts).size).toBe(1)
    }
    await expect.poll(() => written(newer, prefix), { timeout: 30_000 }).toBe(1)
  })

  it('one alone writes in its newest form from its start on', async () => {
    await using plane = await start('/alone', 1)
    expect(await written(plane, '/alone')).toBe(1)
  })

  it('a server does not start on a store of a level that it does not read, and says so in one line', async () => {
    await put('/later/borough/format-level', '7')
    await expect(start('/later', 1)).rejects.toThrow(
      `etcd at ${host()}/later holds values of format level 7, this version reads levels up to 1: start a later version`,
    )
  })

  it('while a server that announces nothing runs the controllers, nothing is switched', async () => {
    const prefix = '/silent'
    await using plane = await start(prefix, 1)
    await expect.poll(() => written(plane, prefix), { timeout: 30_000 }).toBe(1)
    const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
    const spec = {
      holderIdentity: 'a-server-of-before',
      leaseDurationSeconds: 3600,
      renewTime: '2100-01-01T00:00:00.000000Z',
    }
    const take = async (): Promise<void> => {
      const lease = await plane.client().get(leases, { namespace: 'kube-system', name: 'borough-controllers' })
      await plane.client().update(leases, { ...lease, spec })
    }
    // Its holder renews it at the same time.
    await expect.poll(() => take().then(() => 'taken', String)).toBe('taken')
    await expect.poll(() => written(plane, prefix), { timeout: 30_000 }).toBe(0)
  })

  it.skipIf(previous === undefined)(
    'a real previous version and this one serve one store, upgraded and rolled back',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'borough-previous-'))
      const children: ChildProcess[] = []
      const up = async (name: string, program?: string) => {
        const listen = `127.0.0.1:${await freePort()}`
        const args = [
          'up',
          '--data-dir',
          join(folder, name),
          '--listen',
          listen,
          '--output',
          'json',
          '--log-level=error',
        ]
        const { child, ready } = await startServing<{ kubeconfig: string }>(
          [...args, `--storage=etcd://${host()}`, '--etcd-prefix=/previous'],
          {},
          program,
        )
        children.push(child)
        const kubeconfig = await readFile(ready.kubeconfig, 'utf8')
        const client = clientOf(kubeconfig, { listen })
        return { client, child, ready: () => pageOf(kubeconfig, { listen }, '/readyz') }
      }
      try {
        const create = async ({ client }: Awaited<ReturnType<typeof up>>): Promise<number | undefined> => {
          const name = `c${names++}`
          await client.create(configMaps, { metadata: { name, namespace } })
          return formOf(`/previous/registry/configmaps/${namespace}/${name}`)
        }
        const old = await up('old', previous)
        expect(await create(old)).toBe(0)
        const now = await up('now')
        expect(await create(now)).toBe(0)
        await endProcess(old.child, 'SIGTERM')
        await expect.poll(() => create(now), { timeout: 60_000 }).toBe(1)
        const back = await up('old', previous)
        expect(await back.ready()).toBe('ok')
        await create(back)
        const lists = await Promise.all([back, now].map(({ client }) => client.list(configMaps, { namespace })))
        expect(lists[0]?.items).toEqual(lists[1]?.items)
      } finally {
        for (const child of children) if (isRunning(child)) await endProcess(child, 'SIGKILL')
        await rm(folder, { recursive: true, force: true })
      }
    },
  )
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')
