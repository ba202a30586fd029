/**
 * An etcd that lost everything looks like a new one, and one that lost its end like one that never had it: a server
 * that has served it says so, and does not go on by itself.
 */
import { describe, expect, it, onTestFinished } from 'vitest'
import { BoroughProcess, borough } from '../interop/borough-process.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { clientOf } from './kubeconfig-client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }

describe.skipIf(etcdVersion === undefined)(`etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  it('that has lost everything is not served as an empty store, unless that is accepted', {
    timeout: 180_000,
  }, async () => {
    const etcd = await EtcdServer.start()
    onTestFinished(() => etcd[Symbol.asyncDispose]())
    const { host } = new URL(etcd.endpoint)
    const server = await BoroughProcess.start([`--storage=etcd://${host}`])
    onTestFinished(() => server[Symbol.asyncDispose]())
    const namesIn = async (): Promise<readonly (string | undefined)[]> => {
      const { items } = await clientOf(await server.adminKubeconfig(), server).list(configMaps, {
        namespace: 'default',
      })
      return items.map(({ metadata }) => metadata.name)
    }
    const client = clientOf(await server.adminKubeconfig(), server)
    await client.create(configMaps, { metadata: { name: 'kept', namespace: 'default' } })
    await server.end('SIGKILL')

    await server.start()
    expect(await namesIn()).toContain('kept')
    await server.end('SIGTERM')

    await etcd.stop()
    await etcd.startAsAnother()
    const place = [`--data-dir=${server.dataDir}`, `--listen=${server.listen}`, `--storage=etcd://${host}`]
    expect(await borough(['up', ...place])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `borough: etcd at ${host} holds nothing, but ${server.dataDir} has served etcd at ${host}. Has it lost its ` +
        'data, or is it another one? Restore a snapshot or a backup, or begin an empty store with --accept-loss\n',
    })
    server.version = { ...server.version, flags: ['--accept-loss'] }
    await server.start()
    expect(await namesIn()).not.toContain('kept')
    await server.end('SIGKILL')
    server.version = { ...server.version, flags: [] }
    await server.start()
  })

  it('that has gone back is not served as if nothing had been written since, unless that is accepted', {
    timeout: 180_000,
  }, async () => {
    const etcd = await EtcdServer.start()
    onTestFinished(() => etcd[Symbol.asyncDispose]())
    const { host } = new URL(etcd.endpoint)
    const server = await BoroughProcess.start([`--storage=etcd://${host}`])
    onTestFinished(() => server[Symbol.asyncDispose]())
    await server.end('SIGTERM')
    await etcd.stop('SIGTERM')
    await etcd.keepData()
    await etcd.start()
    await server.start()
    const client = clientOf(await server.adminKubeconfig(), server)
    await client.create(configMaps, { metadata: { name: 'lost', namespace: 'default' } })
    await server.end('SIGTERM')
    await etcd.stop('SIGTERM')
    await etcd.putBackData()
    await etcd.start()

    const place = [`--data-dir=${server.dataDir}`, `--listen=${server.listen}`, `--storage=etcd://${host}`]
    const { code, stderr } = await borough(['up', ...place])
    const range = `ends at revision \\d+, and ${server.dataDir} has served it up to \\d+`
    const why = 'what was written between is missing, as after a restore from a snapshot, or where it was filled anew'
    const remedy = 'Serve what is left with --accept-loss, once'
    expect(stderr).toMatch(new RegExp(`^borough: etcd at ${host} ${range}: ${why}. ${remedy}\n$`))
    expect(code).toBe(1)
    server.version = { ...server.version, flags: ['--accept-loss'] }
    await server.start()
    await server.end('SIGTERM')
    server.version = { ...server.version, flags: [] }
    await server.start()
  })
})
