/** An etcd that lost everything looks like a new one: a server that has served one says so, and does not begin anew. */
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
})
