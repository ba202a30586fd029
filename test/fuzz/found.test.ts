/** What the fuzzer found, each as the request that showed it. */
import { expect, it } from 'vitest'
import { startControlPlane } from '../../src/testing/index.ts'
import { send } from '../support/send.ts'

it('a claim of more devices than a double can count is refused by the quota', async () => {
  await using plane = await startControlPlane()
  const resource = 'gpu.deviceclass.resource.k8s.io/devices'
  await send(plane, '/api/v1/namespaces/default/resourcequotas', {
    method: 'POST',
    body: { metadata: { name: 'devices' }, spec: { hard: { [resource]: '2' } } },
  })
  const exactly = '{"deviceClassName":"gpu","allocationMode":"ExactCount","count":9223372036854775807}'
  const { code, body } = await send(plane, '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims?dryRun=All', {
    method: 'POST',
    body: `{"metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"r","exactly":${exactly}}]}}}`,
  })
  expect([code, (body as { message: string }).message]).toEqual([
    403,
    `resourceclaims.resource.k8s.io "x" is forbidden: exceeded quota: devices, ` +
      `requested: ${resource}=9223372036854775807, used: ${resource}=0, limited: ${resource}=2`,
  ])
})
