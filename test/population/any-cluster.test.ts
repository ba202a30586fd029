/** `borough populate` in this process, beside a cluster that knows nothing of templates. kubectl tries it in test/interop. */
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceManifest } from '../../src/app/populate/manifests.ts'
import { type Populate, startPopulate } from '../../src/app/populate/populate.ts'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { leases } from '../../src/controller/lease.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const plain = { population: false, featureGates: { NamespaceInitializers: false } } as const
const start = (
  client: Client,
  reachedAt: Parameters<typeof startPopulate>[0]['reachedAt'] = 'listen',
): Promise<Populate> =>
  startPopulate({
    client,
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'borough-system',
    reachedAt,
  })

test('a Borough that populates by itself is left alone', async () => {
  await using plane = await startControlPlane()
  await expect(start(plane.client)).rejects.toThrow('populates namespaces by itself')
})

test.each([
  { major: '1', minor: '20', refused: true },
  { major: '1', minor: '20+', refused: true },
  { major: '1', minor: '21', refused: false },
])('Kubernetes $major.$minor: refused = $refused', async ({ refused, ...version }) => {
  const beyond = new Error('asked for more')
  const client = {
    request: () => Promise.resolve({ ...version, gitVersion: 'v1.x' }),
    discovery: { findKind: () => Promise.reject(beyond) },
  }
  const starting = start(client as unknown as Client)
  await (refused ? expect(starting).rejects.toThrow('1.21 or newer is needed') : expect(starting).rejects.toBe(beyond))
})

test('in a pod it is reached by its Service, under the name in its certificate', async () => {
  await using plane = await startControlPlane(plain)
  await using populate = await start(plane.client, 'service')
  const services = { group: '', version: 'v1', resource: 'services' }
  await plane.client.create(services, serviceManifest('borough-system'))
  const endpointSlices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
  await plane.client.create(endpointSlices, {
    metadata: {
      namespace: 'borough-system',
      name: 'borough-population-x',
      labels: { 'kubernetes.io/service-name': 'borough-population' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['127.0.0.1'] }],
    ports: [{ name: 'webhooks', port: Number(new URL(populate.url).port), protocol: 'TCP' }],
  })
  const { metadata } = await plane.client.create(namespaceResource, { metadata: { name: 'team-a' } })
  expect(metadata.annotations).toMatchObject({ 'authorization.k8s.io/creator': 'kubernetes-admin' })
})

describe('on a cluster without templates', () => {
  let plane: TestControlPlane
  let first: Populate
  let caBundle: string

  beforeAll(async () => {
    plane = await startControlPlane(plain)
    first = await start(plane.client)
    const resource = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      resource: 'validatingwebhookconfigurations',
    }
    const { webhooks } = (await plane.client.get(resource, { name: 'borough-population' })) as KubeObject & {
      webhooks: { clientConfig: { caBundle: string } }[]
    }
    caBundle = Buffer.from(webhooks[0]?.clientConfig.caBundle ?? '', 'base64').toString()
  }, 60_000)
  afterAll(async () => {
    await first?.[Symbol.asyncDispose]()
    await plane?.[Symbol.asyncDispose]()
  })

  /** Trusting whom API servers are told to trust. */
  const ask = (path: string, method = 'GET', body = ''): Promise<{ code: number | undefined; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(`${first.url}${path}`, { method, ca: caBundle, agent: false }, (answer) => {
        text(answer).then((said) => resolve({ code: answer.statusCode, text: said }), reject)
      })
      sent.once('error', reject)
      sent.end(body)
    })

  test('its own namespace is no template’s business', async () => {
    const { metadata } = await plane.client.get(namespaceResource, { name: 'borough-system' })
    expect(metadata.annotations).toMatchObject({ 'policy/namespace-template-opt-out': 'true' })
  })

  test.each([
    ['/healthz', 'GET', '', 200, 'ok'],
    ['/readyz/cluster', 'GET', '', 200, 'ok'],
    ['/metrics', 'GET', '', 200, 'borough_population_certificate_expiry_timestamp_seconds 1'],
    ['/admit', 'GET', '', 405, 'does not allow this method'],
    ['/admit', 'POST', 'nonsense', 400, 'the body is not JSON'],
    [
      '/check',
      'POST',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
      400,
      'admission.k8s.io/v1',
    ],
    ['/hold', 'POST', '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', 400, 'has no request'],
    ['/elsewhere', 'GET', '', 404, 'could not find'],
  ] as const)('%s answers %s %j with %i', async (path, method, body, code, said) => {
    const answer = await ask(path, method, body)
    expect(answer).toMatchObject({ code })
    expect(answer.text).toContain(said)
  })

  test('one of two leads; when it stops, the other does, and the work goes on', async () => {
    const leader = (object: KubeObject | undefined): boolean => isThere(object)
    await waitFor(plane.client, leases, { namespace: 'borough-system', name: 'borough-population' }, leader)
    const second = await start(plane.client, { url: first.url })
    expect([first.leading, second.leading]).toEqual([true, false])
    const metadata = { name: 'all' }
    const spec = { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [configMap('motd')] }
    await plane.client.create(templateResource, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata,
      spec,
    })
    await plane.client.create(namespaceResource, { metadata: { name: 'team-a' } })
    const motd = { namespace: 'team-a', name: 'motd' }
    await waitFor(plane.client, configMapResource, motd, isThere)

    await second[Symbol.asyncDispose]()
    const third = await start(plane.client)
    await first[Symbol.asyncDispose]()
    first = third
    await plane.client.delete(configMapResource, motd)
    await waitFor(plane.client, configMapResource, motd, isThere)
    expect(third.leading).toBe(true)
  }, 30_000)
})
