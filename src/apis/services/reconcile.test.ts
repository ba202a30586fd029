import { expect, test } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { claimFaults } from './reconcile.ts'
import type { Service, ServiceSpec } from './types.ts'

const claimOf = (name: string): KubeObject => ({
  metadata: {},
  spec: { parentRef: { resource: 'services', namespace: 'n', name } },
})

const rows: { name: string; given: ServiceSpec; claimed: Record<string, string>; want: string[] }[] = [
  {
    name: 'has what it has claimed',
    given: { type: 'NodePort', clusterIPs: ['10.0.0.1', 'fd00::1'], ports: [{ nodePort: 30_001 }] },
    claimed: { '10.0.0.1': 's', 'fd00::1': 's', 'nodeport-30001': 's' },
    want: [],
  },
  {
    name: 'lacks what nobody has claimed',
    given: {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_002,
      clusterIPs: ['fd00:0::1'],
      ports: [{ nodePort: 30_001 }, { nodePort: 30_001 }],
    },
    claimed: {},
    want: [
      'missing ClusterIPNotAllocated: Cluster IP [IPv6]: fd00::1 is not allocated; repairing',
      'missing PortNotAllocated: Port 30001 is not allocated; repairing',
      'missing PortNotAllocated: Port 30002 is not allocated; repairing',
    ],
  },
  {
    name: 'does not have what another has claimed',
    given: { type: 'NodePort', clusterIPs: ['10.0.0.1'], ports: [{ nodePort: 30_001 }] },
    claimed: { '10.0.0.1': 'other', 'nodeport-30001': 'other' },
    want: [
      'contested ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.0.0.1 was assigned to multiple services; ' +
        'please recreate service',
      'contested PortAlreadyAllocated: Port 30001 was assigned to multiple services; please recreate service',
    ],
  },
  { name: 'without an address has nothing to claim', given: { clusterIPs: ['None'] }, claimed: {}, want: [] },
  { name: 'of another type forgets its ports', given: { ports: [{ nodePort: 30_001 }] }, claimed: {}, want: [] },
]

test.each(rows)('a service $name', ({ given, claimed, want }) => {
  const find = (name: string): KubeObject | undefined => {
    const owner = claimed[name]
    return owner === undefined ? undefined : claimOf(owner)
  }
  const service: Service = { metadata: { namespace: 'n', name: 's' }, spec: given }
  const faults = claimFaults(service, { address: find, port: find })
  expect(faults.map(({ kind, reason, message }) => `${kind} ${reason}: ${message}`)).toEqual(want)
})
