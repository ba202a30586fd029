/** Two processes outside a cluster that name different addresses: the second one must know of the first. */
import { expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import { notFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { findFormerAddress } from './former-address.ts'

const nowMs = Date.parse('2026-06-15T12:00:00Z')
const registeredAt = (...urls: readonly string[]): KubeObject[] => [
  { metadata: { name: 'policy' } },
  { metadata: { name: 'hooks' }, webhooks: urls.map((url) => ({ clientConfig: { url: `${url}/admit` } })) },
]
const inPod: KubeObject = {
  metadata: { name: 'hooks' },
  webhooks: [{ clientConfig: { service: { namespace: 'borough-system', name: 'borough-population' } } }],
}
const a = 'https://10.0.0.1:9443'
const b = 'https://10.0.0.2:9443'

interface Row {
  readonly name: string
  readonly before: readonly KubeObject[]
  readonly next: readonly KubeObject[]
  readonly lease?: object
  readonly want: object | undefined
}

const held = { holderIdentity: 'host-a_1', renewTime: '2026-06-15T11:59:50.000000Z', leaseDurationSeconds: 15 }
const rows: readonly Row[] = [
  {
    name: 'another address whose process holds the lease',
    before: registeredAt(a, a),
    next: registeredAt(b),
    lease: held,
    want: { urls: [a], holder: 'host-a_1' },
  },
  { name: 'the same address', before: registeredAt(a), next: registeredAt(a, a), lease: held, want: undefined },
  { name: 'nothing before', before: [], next: registeredAt(b), lease: held, want: undefined },
  { name: 'a Service before', before: [inPod], next: registeredAt(b), lease: held, want: undefined },
  { name: 'no lease', before: registeredAt(a), next: registeredAt(b), want: undefined },
  {
    name: 'a lease that was given back',
    before: registeredAt(a),
    next: registeredAt(b),
    lease: { ...held, holderIdentity: '' },
    want: undefined,
  },
  {
    name: 'a lease that ran out',
    before: registeredAt(a),
    next: registeredAt(b),
    lease: { ...held, renewTime: '2026-06-15T11:59:45.000000Z' },
    want: undefined,
  },
]

test.each(rows)('$name', async ({ before, next, lease, want }) => {
  const get = (resource: Parameters<Client['get']>[0], { name }: { readonly name: string }): Promise<KubeObject> =>
    lease === undefined
      ? Promise.reject(notFound(resource, name))
      : Promise.resolve({ metadata: { name }, spec: lease } as KubeObject)
  const client = { get } as unknown as Client
  expect(await findFormerAddress(client, 'borough-system', before, next, nowMs)).toEqual(want)
})
