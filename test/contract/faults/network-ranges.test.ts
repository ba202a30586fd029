/**
 * What is refused of ranges, load balancers and references of networking.k8s.io. Each whole, as a kube-apiserver 1.36
 * answered it.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel, notSubdomain } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'networkPolicy',
    name: 'that excepts what is not in its range',
    put: {
      'spec.ingress[0].from': [
        { ipBlock: { cidr: '10.0.0.0/16', except: ['10.1.0.0/24', '10.0.0.0/16', 'fd00::/64'] } },
      ],
    },
    faults: [
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.1.0.0/24": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "10.0.0.0/16": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "fd00::/64": must be a strict subset of `cidr`',
    ],
  },
  {
    of: 'networkPolicy',
    name: 'of ranges in another form',
    put: {
      'spec.ingress[0].from': [
        { ipBlock: { cidr: '010.0.0.0/8', except: ['10.0.1.1/24', '::ffff:10.0.0.0/120', 'x'] } },
      ],
    },
    faults: [
      'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "010.0.0.0/8": must not have leading 0s in ' +
        'IP or prefix length',
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.1.1/24": must not have bits set ' +
        'beyond the prefix length',
      'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "::ffff:10.0.0.0/120": must not have ' +
        'an IPv4-mapped IPv6 address',
      'spec.ingress[0].from[0].ipBlock.except[2]: Invalid value: "x": must be a valid CIDR value, (e.g. ' +
        '10.9.8.0/24 or 2001:db8::/64)',
    ],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports end but do not begin',
    put: { 'spec.ingress[0].ports': [{ endPort: 5 }] },
    faults: ['spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is not specified'],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports end at none before they begin',
    put: {
      'spec.ingress[0].ports': [
        { port: 6, endPort: 0 },
        { port: '--a', endPort: 5 },
      ],
    },
    faults: [
      'spec.ingress[0].ports[0].endPort: Invalid value: 6: must be greater than or equal to `port`',
      'spec.ingress[0].ports[0].endPort: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ingress[0].ports[1].endPort: Invalid value: 5: may not be specified when `port` is non-numeric',
      'spec.ingress[0].ports[1].port: Invalid value: "--a": must not contain consecutive hyphens',
      'spec.ingress[0].ports[1].port: Invalid value: "--a": must not begin or end with a hyphen',
    ],
  },
  {
    of: 'networkPolicy',
    name: 'to which a range in another form comes',
    put: { 'spec.ingress[0].from': [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
    update: { 'spec.ingress[0].from[0].ipBlock': { cidr: '10.0.0.0/8', except: ['10.0.1.1/24'] } },
    faults: [
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.1.1/24": must not have bits set ' +
        'beyond the prefix length',
    ],
  },
  {
    of: 'ingress',
    name: 'of a resource that is none',
    put: { 'spec.defaultBackend': { resource: { apiGroup: 'A', kind: 'a/b', name: '..' } } },
    faults: [
      `spec.defaultBackend.resource.apiGroup: Invalid value: "A": ${notSubdomain}`,
      'spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.defaultBackend.resource.name: Invalid value: "..": may not be \'..\'',
    ],
  },
  {
    of: 'ingress',
    name: 'of two classes',
    put: { 'metadata.annotations': { 'kubernetes.io/ingress.class': 'a' }, 'spec.ingressClassName': 'b' },
    faults: [
      'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when ' +
        'both are specified',
    ],
  },
  {
    of: 'ingress',
    name: 'whose load balancer is nowhere',
    update: {
      'status.loadBalancer': {
        ingress: [
          { ip: '10.0.0.01' },
          { ip: '::ffff:10.0.0.1' },
          { ip: 'x', hostname: '10.0.0.1' },
          { hostname: 'A_' },
        ],
      },
    },
    part: 'status',
    faults: [
      'status.loadBalancer.ingress[0].ip: Invalid value: "10.0.0.01": must not have leading 0s',
      'status.loadBalancer.ingress[1].ip: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped ' +
        'IPv6 address',
      'status.loadBalancer.ingress[2].ip: Invalid value: "x": must be a valid IP address, (e.g. ' +
        '10.9.8.7 or 2001:db8::ffff)',
      'status.loadBalancer.ingress[2].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
      `status.loadBalancer.ingress[3].hostname: Invalid value: "A_": ${notSubdomain}`,
    ],
  },
  {
    of: 'ingressClass',
    name: 'whose controller is no path',
    put: { 'spec.controller': 'A/b c' },
    faults: [
      `spec.controller: Invalid value: "A": ${notSubdomain}`,
      'spec.controller: Invalid value: "b c": Invalid path (regex used for validation is ' +
        "'[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
    ],
  },
  {
    of: 'ingressClass',
    name: 'whose parameters are nowhere',
    put: { 'spec.parameters': { apiGroup: 'A', kind: 'a/b', name: '%', scope: 'Namespace', namespace: 'A' } },
    faults: [
      `spec.parameters.apiGroup: Invalid value: "A": ${notSubdomain}`,
      'spec.parameters.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.parameters.name: Invalid value: "%": may not contain \'%\'',
      `spec.parameters.namespace: Invalid value: "A": ${notLabel}`,
    ],
  },
  {
    of: 'ingressClass',
    name: 'whose parameters are in an empty namespace',
    put: { 'spec.parameters': { kind: 'K', name: 'n', scope: 'Cluster', namespace: '' } },
    faults: ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  },
  {
    of: 'address',
    name: 'that is given to another',
    update: { 'spec.parentRef': { group: '', resource: 'services', namespace: 'default', name: 'other' } },
    faults: [
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"default","Name":"o' +
        'ther"}: field is immutable',
    ],
  },
  {
    of: 'address',
    name: 'that is left by whose it is',
    update: { 'spec.parentRef': undefined },
    faults: ['spec.parentRef: Required value', 'spec.parentRef: Invalid value: null: field is immutable'],
  },
  {
    of: 'range',
    name: 'of two ranges of one family',
    put: { 'spec.cidrs': ['10.7.0.0/24', '10.8.0.0/24'] },
    faults: [
      'spec.cidrs: Invalid value: ["10.7.0.0/24","10.8.0.0/24"]: may specify no more than one IP for ' +
        'each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  },
  {
    of: 'range',
    name: 'of no range beside one',
    put: { 'spec.cidrs': ['10.7.0.0/24', 'x'] },
    faults: ['spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  },
  {
    of: 'range',
    name: 'whose ranges go',
    update: { 'spec.cidrs': [] },
    faults: ['spec.cidrs: Invalid value: []: field is immutable'],
  },
]

describeFaults('of ranges, load balancers and references in networking', rows)
