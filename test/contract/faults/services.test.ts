/**
 * What is refused of services and endpoints. Each whole. Compared with a kube-apiserver 1.20; where 1.36 words it
 * otherwise, with its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel, notLabelValue, notQualified, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  { of: 'service', name: 'without ports', put: { 'spec.ports': [] }, faults: ['spec.ports: Required value'] },
  {
    of: 'service',
    name: 'without addresses that is to be reached from outside',
    put: { 'spec.clusterIP': 'None', 'spec.type': 'LoadBalancer' },
    faults: ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services'],
  },
  {
    of: 'service',
    name: 'without addresses that is to be reached at nodes',
    put: { 'spec.clusterIP': 'None', 'spec.type': 'NodePort' },
    faults: ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services'],
  },
  {
    of: 'service',
    name: 'with a name elsewhere and an address here',
    put: { 'spec.type': 'ExternalName', 'spec.clusterIP': '10.0.0.7' },
    faults: [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'spec.externalName: Required value',
    ],
  },
  {
    of: 'service',
    name: 'with a name elsewhere that is none',
    put: { 'spec.type': 'ExternalName', 'spec.externalName': 'a_b' },
    faults: [`spec.externalName: Invalid value: "a_b": ${notSubdomain}`],
  },
  {
    of: 'service',
    name: 'with ports that can not be told apart',
    put: {
      'spec.ports': [
        { name: 'A', port: 80 },
        { port: 0 },
        { name: 'p', port: 80, protocol: 'X' },
        { name: 'p', port: 80, targetPort: 'no--port-name-at-all' },
      ],
    },
    faults: [
      `spec.ports[0].name: Invalid value: "A": ${notLabel}`,
      'spec.ports[1].name: Required value',
      'spec.ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[1].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[2].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'spec.ports[3].name: Duplicate value: "p"',
      'spec.ports[3].targetPort: Invalid value: "no--port-name-at-all": must be no more than 15 characters',
      'spec.ports[3].targetPort: Invalid value: "no--port-name-at-all": must not contain consecutive hyphens',
      'spec.ports[3]: Duplicate value: ' +
        '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  },
  {
    of: 'service',
    name: 'with a port of nodes that it can not have',
    put: { 'spec.ports[0].nodePort': 30100 },
    faults: ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  },
  {
    of: 'service',
    name: 'with the same port of nodes twice',
    put: {
      'spec.type': 'NodePort',
      'spec.ports': [
        { name: 'a', port: 1, nodePort: 30100 },
        { name: 'b', port: 2, nodePort: 30100 },
      ],
    },
    faults: ['spec.ports[1].nodePort: Duplicate value: 30100'],
  },
  {
    of: 'service',
    name: 'whose selector is none',
    put: { 'spec.selector': { 'a b': 'c d' } },
    faults: [
      `spec.selector: Invalid value: "a b": ${notQualified}`,
      `spec.selector: Invalid value: "c d": ${notLabelValue}`,
    ],
  },
  {
    of: 'service',
    name: 'with an affinity that nobody knows',
    put: { 'spec.sessionAffinity': 'Some' },
    faults: ['spec.sessionAffinity: Unsupported value: "Some": supported values: "ClientIP", "None"'],
  },
  {
    of: 'service',
    name: 'with an affinity that lasts for ever',
    put: { 'spec.sessionAffinity': 'ClientIP', 'spec.sessionAffinityConfig': { clientIP: { timeoutSeconds: 86401 } } },
    faults: [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and ' +
        'less than 86400',
    ],
  },
  {
    of: 'service',
    name: 'of a type that nobody knows',
    put: { 'spec.type': 'Some' },
    faults: [
      'spec.type: Unsupported value: "Some": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  },
  {
    of: 'service',
    name: 'whose addresses differ',
    put: { 'spec.clusterIP': '10.0.0.7', 'spec.clusterIPs': ['10.100.0.8'] },
    faults: ['spec.clusterIPs: Invalid value: ["10.100.0.8"]: first value must match `clusterIP`'],
  },
  {
    of: 'service',
    name: 'with addresses that are none',
    put: { 'spec.clusterIP': '10.0.0', 'spec.externalIPs': ['x'] },
    faults: [
      'spec.clusterIPs[0]: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  },
  {
    of: 'service',
    name: 'of families and policies that nobody knows',
    put: { 'spec.ipFamilies': ['IPv5'], 'spec.ipFamilyPolicy': 'Some', 'spec.internalTrafficPolicy': 'Some' },
    faults: [
      'spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      'spec.ipFamilyPolicy: Unsupported value: "Some": supported values: "SingleStack", "PreferDualStack", ' +
        '"RequireDualStack"',
      'spec.internalTrafficPolicy: Unsupported value: "Some": supported values: "Cluster", "Local"',
    ],
  },
  {
    of: 'service',
    name: 'with a policy for what never comes',
    put: { 'spec.externalTrafficPolicy': 'Local' },
    faults: ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services'],
  },
  {
    of: 'service',
    name: 'with a policy for what comes that nobody knows',
    put: { 'spec.type': 'NodePort', 'spec.externalTrafficPolicy': 'Some' },
    faults: ['spec.externalTrafficPolicy: Unsupported value: "Some": supported values: "Cluster", "Local"'],
  },
  {
    of: 'service',
    name: 'with what only a load balancer has',
    put: { 'spec.loadBalancerSourceRanges': ['1.2.3.4/33'], 'spec.allocateLoadBalancerNodePorts': false },
    faults: [
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "1.2.3.4/33": must be a valid CIDR value, (e.g. ' +
        '10.9.8.0/24 or 2001:db8::/64)',
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
    ],
  },
  {
    of: 'service',
    name: 'that is to get another address',
    put: { 'spec.clusterIP': '10.100.0.9', 'spec.clusterIPs': ['10.100.0.9'] },
    update: { 'spec.clusterIP': '10.100.0.8', 'spec.clusterIPs': ['10.100.0.8'] },
    faults: ['spec.clusterIPs[0]: Invalid value: ["10.100.0.8"]: may not change once set'],
  },
  {
    of: 'endpoints',
    name: 'without addresses',
    put: { 'subsets[0].addresses': [] },
    faults: ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
  },
  {
    of: 'endpoints',
    name: 'with addresses and ports that are none',
    put: {
      subsets: [
        {
          addresses: [{ ip: 'x' }],
          notReadyAddresses: [{ ip: 'y' }],
          ports: [{ port: 0 }, { name: 'A', port: 1, protocol: 'X' }],
        },
      ],
    },
    faults: [
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].notReadyAddresses[0].ip: Invalid value: "y": must be a valid IP address, (e.g. 10.9.8.7 or ' +
        '2001:db8::ffff)',
      'subsets[0].ports[0].name: Required value',
      'subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      `subsets[0].ports[1].name: Invalid value: "A": ${notLabel}`,
      'subsets[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
    ],
  },
  { of: 'slice', name: 'of no kind of address', put: { addressType: '' }, faults: ['addressType: Required value'] },
  {
    of: 'slice',
    name: 'of a kind of address that nobody knows',
    put: { addressType: 'Some', endpoints: [] },
    faults: ['addressType: Unsupported value: "Some": supported values: "FQDN", "IPv4", "IPv6"'],
  },
  {
    of: 'slice',
    name: 'without an address',
    put: { 'endpoints[0].addresses': [] },
    faults: ['endpoints[0].addresses: Required value: must contain at least 1 address'],
  },
  {
    of: 'slice',
    name: 'with too many endpoints',
    put: { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['1.2.3.4'] })) },
    faults: ['endpoints: Too many: 1001: must have at most 1000 items'],
  },
  {
    of: 'slice',
    name: 'with too many addresses',
    put: { 'endpoints[0].addresses': Array.from({ length: 101 }, () => '1.2.3.4') },
    faults: ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  },
  {
    of: 'slice',
    name: 'with an address of another kind',
    put: { 'endpoints[0].addresses[0]': 'a.io' },
    faults: [
      'endpoints[0].addresses[0]: Invalid value: "a.io": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  },
  {
    of: 'slice',
    name: 'with a host name that is none',
    put: { addressType: 'FQDN', 'endpoints[0].addresses[0]': 'a_b' },
    faults: [`endpoints[0].addresses[0]: Invalid value: "a_b": ${notSubdomain}`],
  },
  {
    of: 'slice',
    name: 'with ports that are none',
    put: {
      ports: [
        { name: 'A', port: 1, protocol: 'X' },
        { name: 'b', port: 2 },
        { name: 'b', port: 3 },
      ],
    },
    faults: [
      `ports[0].name: Invalid value: "A": ${notLabel}`,
      'ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      'ports[2].name: Duplicate value: "b"',
    ],
  },
  {
    of: 'slice',
    name: 'that is to hold another kind of address',
    update: { addressType: 'IPv6', endpoints: [] },
    faults: ['addressType: Invalid value: "IPv6": field is immutable'],
  },
  {
    of: 'endpoints',
    name: 'at addresses where nobody is',
    put: {
      'subsets[0].addresses': [
        { ip: '0.0.0.0' },
        { ip: '127.0.0.1' },
        { ip: '::1' },
        { ip: '169.254.1.1' },
        { ip: '224.0.0.1' },
        { ip: 'ff02::1' },
        { ip: 'fe80::1' },
      ],
    },
    faults: [
      'subsets[0].addresses[0].ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'subsets[0].addresses[1].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'subsets[0].addresses[2].ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'subsets[0].addresses[3].ip: Invalid value: "169.254.1.1": may not be in the link-local range ' +
        '(169.254.0.0/16, fe80::/10)',
      'subsets[0].addresses[4].ip: Invalid value: "224.0.0.1": may not be in the link-local multicast range ' +
        '(224.0.0.0/24, ff02::/10)',
      'subsets[0].addresses[5].ip: Invalid value: "ff02::1": may not be in the link-local multicast range ' +
        '(224.0.0.0/24, ff02::/10)',
      'subsets[0].addresses[6].ip: Invalid value: "fe80::1": may not be in the link-local range ' +
        '(169.254.0.0/16, fe80::/10)',
    ],
  },
  {
    of: 'service',
    name: 'without an address and with one',
    put: {
      'spec.clusterIPs': ['None', '10.96.0.9'],
      'spec.clusterIP': 'None',
      'spec.ipFamilyPolicy': 'PreferDualStack',
    },
    faults: ['spec.clusterIPs: Invalid value: ["None","10.96.0.9"]: \'None\' must be the first and only value'],
  },
  {
    of: 'service',
    name: 'with three addresses',
    put: {
      'spec.clusterIP': '10.96.0.9',
      'spec.clusterIPs': ['10.96.0.9', 'fd00::1', '10.96.0.10'],
      'spec.ipFamilyPolicy': 'PreferDualStack',
    },
    faults: ['spec.clusterIPs: Invalid value: ["10.96.0.9","fd00::1","10.96.0.10"]: may only hold up to 2 values'],
  },
  {
    of: 'service',
    name: 'with an address of a family that the cluster has not',
    put: {
      'spec.clusterIP': '10.96.0.9',
      'spec.clusterIPs': ['10.96.0.9', 'fd00::1'],
      'spec.ipFamilyPolicy': 'PreferDualStack',
    },
    faults: ['spec.clusterIPs[1]: Invalid value: ["10.96.0.9","fd00::1"]: IPv6 is not configured on this cluster'],
  },
  {
    of: 'service',
    name: 'whose first address is said in the list alone',
    put: { 'spec.clusterIPs': ['10.96.0.9'] },
    faults: ['spec.clusterIPs: Invalid value: ["10.96.0.9"]: must be empty when `clusterIP` is not specified'],
  },
  {
    of: 'service',
    name: 'whose one address is to be another and whose list is left',
    put: { 'spec.clusterIP': '10.96.0.9' },
    update: { 'spec.clusterIP': '10.96.0.10' },
    faults: ['spec.clusterIPs[0]: Invalid value: ["10.96.0.10"]: may not change once set'],
  },
  {
    of: 'service',
    name: 'whose list is to be another without the one address',
    put: { 'spec.clusterIP': '10.96.0.9' },
    update: { 'spec.clusterIP': '', 'spec.clusterIPs': ['10.96.0.10'] },
    faults: [
      'spec.clusterIPs: Invalid value: ["10.96.0.10"]: first value must match `clusterIP`',
      'spec.clusterIPs[0]: Invalid value: ["10.96.0.10"]: may not change once set',
    ],
  },
  {
    of: 'service',
    name: 'of an external name, with families',
    put: {
      'spec.type': 'ExternalName',
      'spec.externalName': 'a.io',
      'spec.ipFamilies': ['IPv4'],
      'spec.ipFamilyPolicy': 'SingleStack',
    },
    faults: [
      'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
    ],
  },
  {
    of: 'service',
    name: 'with one family twice',
    put: { 'spec.ipFamilies': ['IPv4', 'IPv4'], 'spec.ipFamilyPolicy': 'PreferDualStack' },
    faults: ['spec.ipFamilies[1]: Duplicate value: "IPv4"'],
  },
  {
    of: 'service',
    name: 'with two addresses of one family',
    put: {
      'spec.clusterIP': '10.96.0.9',
      'spec.clusterIPs': ['10.96.0.9', '10.96.0.10'],
      'spec.ipFamilyPolicy': 'PreferDualStack',
    },
    faults: [
      'spec.clusterIPs: Invalid value: ["10.96.0.9","10.96.0.10"]: may specify no more than one IP for each IP family',
    ],
  },
  {
    of: 'service',
    name: 'with an address of another family',
    put: { 'spec.clusterIP': '10.96.0.9', 'spec.clusterIPs': ['10.96.0.9'], 'spec.ipFamilies': ['IPv6'] },
    faults: ['spec.clusterIPs[0]: Invalid value: "10.96.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`'],
  },
  {
    of: 'service',
    name: 'of a family that the cluster has not',
    put: { 'spec.ipFamilies': ['IPv6'] },
    faults: ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  },
  {
    of: 'service',
    name: 'whose port of health changes',
    put: { 'spec.type': 'LoadBalancer', 'spec.externalTrafficPolicy': 'Local', 'spec.healthCheckNodePort': 32100 },
    update: { 'spec.healthCheckNodePort': 32101 },
    faults: ['spec.healthCheckNodePort: Invalid value: 32101: field is immutable'],
  },
  {
    of: 'service',
    name: 'whose family changes',
    put: { 'spec.clusterIP': '10.96.0.9' },
    update: { 'spec.ipFamilies': ['IPv6'] },
    faults: [
      'spec.clusterIPs[0]: Invalid value: "10.96.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`',
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
    ],
  },
  {
    of: 'service',
    name: 'whose family changes with its address',
    put: { 'spec.clusterIP': '10.96.0.9' },
    update: { 'spec.ipFamilies': ['IPv6'], 'spec.clusterIP': 'fd00::9', 'spec.clusterIPs': ['fd00::9'] },
    faults: ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  },
]

describeFaults('of services and endpoints', rows)
