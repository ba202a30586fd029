import { expect, test } from 'vitest'
import { faultsOf } from '../../../../test/support/refusal.ts'
import { runAtOnce } from '../../../base/resumable.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { endpointSlice } from './endpoint-slice.ts'

test('a slice may hold 20,000 ports, more than the values of one request allow', () => {
  const slice = (count: number): KubeObject => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'a', namespace: 'default' },
    addressType: 'IPv4',
    endpoints: [],
    ports: Array.from({ length: count }, (_, i) => ({ name: `p${i}`, protocol: 'TCP' })),
  })
  const faults = (count: number): string[] =>
    faultsOf(runAtOnce(endpointSlice.strategy?.validate?.(slice(count), undefined, { subresource: '', now: '' }) ?? []))
  expect(faults(20_000)).toEqual([])
  expect(faults(20_001)).toEqual(['ports: Too many: 20001: must have at most 20000 items'])
})
