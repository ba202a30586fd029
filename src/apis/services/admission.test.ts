/** The address of a Service stays while the Service has it. */
import { expect, test } from 'vitest'
import type { Attributes, DecisionView } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { addressProtection } from './admission.ts'

const type = { group: 'networking.k8s.io', resource: 'ipaddresses' } as ResourceType
const service = { group: '', resource: 'services' } as ResourceType
const parent = { resource: 'services', namespace: 'ns', name: 'web' }
const guarded = { guards: [{ key: 'ns/web', expect: 7 }] }

test.each<{ name: string; address?: string; ips?: string[]; ref?: object | null; want: object | 'refused' }>([
  { name: 'its Service has it', ips: ['10.0.0.1', '10.0.0.7'], want: 'refused' },
  { name: 'its Service has it, spelled otherwise', address: 'fd00::7', ips: ['fd00:0::0007'], want: 'refused' },
  { name: 'its Service has another', ips: ['10.0.0.1'], want: guarded },
  { name: 'its Service has none', ips: ['None'], want: guarded },
  { name: 'its Service has not been given any', ips: [], want: guarded },
  { name: 'its Service has gone', want: guarded },
  { name: 'it is of another kind', ref: { ...parent, resource: 'gateways' }, ips: ['10.0.0.7'], want: {} },
  { name: 'it names no namespace', ref: { ...parent, namespace: '' }, ips: ['10.0.0.7'], want: {} },
  { name: 'it names no Service', ref: { ...parent, name: '' }, ips: ['10.0.0.7'], want: {} },
  { name: 'it is nothing’s', ref: null, ips: ['10.0.0.7'], want: {} },
])('an address may go where $name: $want', ({ address = '10.0.0.7', ips, ref = parent, want }) => {
  const view = {
    see: (of: ResourceType, namespace: string, name: string) => {
      expect(of).toBe(service)
      const object = ips === undefined ? undefined : ({ metadata: {}, spec: { clusterIPs: ips } } as KubeObject)
      return { key: `${namespace}/${name}`, object, expect: 7 }
    },
  } as unknown as DecisionView
  const oldObject = { metadata: { name: address }, spec: ref === null ? {} : { parentRef: ref } } as KubeObject
  const decide = () => addressProtection(service).decide?.({ type, name: address, oldObject } as Attributes, view)
  if (want !== 'refused') expect(decide()).toEqual(want)
  else {
    const message = `ipaddresses.networking.k8s.io "${address}" is forbidden: it is the address of the service ns/web`
    expect(decide).toThrow(expect.objectContaining({ message, reason: 'Forbidden' }))
  }
})

test('a Service without addresses has none of them', () => {
  const view = { see: () => ({ key: 'k', object: { metadata: {} }, expect: 7 }) } as unknown as DecisionView
  const oldObject = { metadata: { name: '10.0.0.7' }, spec: { parentRef: parent } } as KubeObject
  const attributes = { type, name: '10.0.0.7', oldObject } as Attributes
  expect(addressProtection(service).decide?.(attributes, view)).toEqual({ guards: [{ key: 'k', expect: 7 }] })
})
