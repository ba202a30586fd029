/** `borough populate` whose Secret of the serving certificate is deleted while processes serve with it. */
import { connect, type SecureContextOptions } from 'node:tls'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { type Populate, startPopulate } from '../../src/populate/populate.ts'
import { startOtherCluster } from '../support/other-cluster.ts'

const secrets = { group: '', version: 'v1', resource: 'secrets' }
const webhooks = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
}

test('an API server that is told the authority of a process that starts still trusts those that run', async () => {
  await using cluster = await startOtherCluster({ port: 0 })
  const { client } = cluster
  const namespace = 'borough-system'
  const start = (): Promise<Populate> =>
    startPopulate({
      ...{ client, clock: systemClock, ids: randomIds, log: silentLog, namespace },
      listen: { host: '127.0.0.1', port: 0 },
      reachedAt: 'listen',
      admission: 'webhooks',
    })
  await using running = await start()
  await client.delete(secrets, { namespace, name: 'borough-population-tls' })
  await using started = await start()
  const { webhooks: told } = (await client.get(webhooks, { name: 'borough-population' })) as unknown as {
    readonly webhooks: readonly { readonly clientConfig: { readonly url: string; readonly caBundle: string } }[]
  }
  const bundles = new Set(told.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle, 'base64').toString()))
  const [ca = ''] = bundles
  expect(bundles.size).toBe(1)
  expect(told[0]?.clientConfig.url).toContain(started.url)
  expect([await isTrusted(running.url, { ca }), await isTrusted(started.url, { ca })]).toEqual([true, true])
  const [made = ''] = ca.split(/(?<=-----END CERTIFICATE-----\n)/)
  expect([await isTrusted(running.url, { ca: made }), await isTrusted(started.url, { ca: made })]).toEqual([
    false,
    true,
  ])
})

function isTrusted(url: string, options: SecureContextOptions): Promise<boolean> {
  const { hostname: host, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), ...options }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
