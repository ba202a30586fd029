/**
 * What is refused of ingresses and network policies. Each whole. Compared with a kube-apiserver 1.20; where 1.36 words
 * it otherwise, with its source.
 */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notLabel, notQualified, notSubdomain, notWildcard } from '../../support/name-faults.ts'

const rows: readonly FaultRow[] = [
  {
    of: 'ingress',
    name: 'that leads nowhere',
    put: { 'spec.rules': [] },
    faults: ['spec: Invalid value: []: either `defaultBackend` or `rules` must be specified'],
  },
  {
    of: 'ingress',
    name: 'for an address',
    put: { 'spec.rules[0].host': '1.2.3.4' },
    faults: ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
  },
  {
    of: 'ingress',
    name: 'for hosts that are none',
    put: {
      'spec.rules[0].host': 'a_b',
      'spec.tls': [{ hosts: ['*.a_b', 'c_d'], secretName: 'e_f' }],
      'spec.ingressClassName': 'g_h',
    },
    faults: [
      `spec.rules[0].host: Invalid value: "a_b": ${notSubdomain}`,
      `spec.tls[0].hosts[0]: Invalid value: "*.a_b": ${notWildcard}`,
      `spec.tls[0].hosts[1]: Invalid value: "c_d": ${notSubdomain}`,
      `spec.tls[0].secretName: Invalid value: "e_f": ${notSubdomain}`,
      `spec.ingressClassName: Invalid value: "g_h": ${notSubdomain}`,
    ],
  },
  {
    of: 'ingress',
    name: 'for a host with a star in the middle',
    put: { 'spec.rules[0].host': 'a.*.io' },
    faults: [`spec.rules[0].host: Invalid value: "a.*.io": ${notWildcard}`],
  },
  {
    of: 'ingress',
    name: 'without paths',
    put: { 'spec.rules[0].http.paths': [] },
    faults: ['spec.rules[0].http.paths: Required value'],
  },
  {
    of: 'ingress',
    name: 'with a path of no type',
    put: { 'spec.rules[0].http.paths[0].pathType': undefined },
    faults: ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
  },
  {
    of: 'ingress',
    name: 'with a path of a type that nobody knows',
    put: { 'spec.rules[0].http.paths[0].pathType': 'Some' },
    faults: [
      'spec.rules[0].http.paths[0].pathType: Unsupported value: "Some": supported values: "Exact", ' +
        '"ImplementationSpecific", "Prefix"',
    ],
  },
  {
    of: 'ingress',
    name: 'with a path that is none',
    put: { 'spec.rules[0].http.paths[0].path': 'a//b/./c/../d%2fe%2Ff/..' },
    faults: [
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": must be an absolute path',
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": must not contain \'//\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": must not contain \'/./\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": must not contain \'/../\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": must not contain \'%2f\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": must not contain \'%2F\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "a//b/./c/../d%2fe%2Ff/..": cannot end with \'/..\'',
    ],
  },
  {
    of: 'ingress',
    name: 'with a path that ends where it is',
    put: { 'spec.rules[0].http.paths[0].path': '/a/.' },
    faults: ['spec.rules[0].http.paths[0].path: Invalid value: "/a/.": cannot end with \'/.\''],
  },
  {
    of: 'ingress',
    name: 'with a path of its own sort that is none',
    put: {
      'spec.rules[0].http.paths[0]': {
        pathType: 'ImplementationSpecific',
        path: 'a',
        backend: { resource: { kind: '', name: '' } },
      },
    },
    faults: [
      'spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path',
      'spec.rules[0].http.paths[0].backend.resource.kind: Required value',
      'spec.rules[0].http.paths[0].backend.resource.name: Required value',
    ],
  },
  {
    of: 'ingress',
    name: 'with two backends at once',
    put: { 'spec.defaultBackend': { service: { name: 's', port: { number: 1 } }, resource: { kind: 'K', name: 'n' } } },
    faults: ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
  },
  {
    of: 'ingress',
    name: 'with a backend that is none',
    put: { 'spec.defaultBackend': {} },
    faults: ['spec.defaultBackend: Invalid value: "": resource or service backend is required'],
  },
  {
    of: 'ingress',
    name: 'with a backend without name and port',
    put: { 'spec.defaultBackend': { service: { name: '', port: {} } } },
    faults: [
      'spec.defaultBackend.service.name: Required value',
      'spec.defaultBackend: Required value: port name or number is required',
    ],
  },
  {
    of: 'ingress',
    name: 'with a backend whose name is none',
    put: { 'spec.defaultBackend': { service: { name: 'A', port: { number: 70000 } } } },
    faults: [
      `spec.defaultBackend.service.name: Invalid value: "A": ${notLabel}`,
      'spec.defaultBackend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
  },
  {
    of: 'ingress',
    name: 'with a backend whose port has a name that is none',
    put: { 'spec.defaultBackend': { service: { name: 'a', port: { name: '--' } } } },
    faults: [
      'spec.defaultBackend.service.port.name: Invalid value: "--": must contain at least one letter (a-z)',
      'spec.defaultBackend.service.port.name: Invalid value: "--": must not contain consecutive hyphens',
      'spec.defaultBackend.service.port.name: Invalid value: "--": must not begin or end with a hyphen',
    ],
  },
  {
    of: 'ingress',
    name: 'with a backend with two ports',
    put: { 'spec.defaultBackend': { service: { name: 'a', port: { name: 'p', number: 80 } } } },
    faults: ['spec.defaultBackend: Invalid value: "": cannot set both port name & port number'],
  },
  {
    of: 'ingressClass',
    name: 'without a controller',
    put: { 'spec.controller': '' },
    faults: ['spec.controller: Required value'],
  },
  {
    of: 'ingressClass',
    name: 'whose controller is none',
    put: { 'spec.controller': 'nothing' },
    faults: ['spec.controller: Invalid value: "nothing": must be a domain-prefixed path (such as "acme.io/foo")'],
  },
  {
    of: 'ingressClass',
    name: 'whose controller is too long',
    put: { 'spec.controller': `a.io/${'b'.repeat(250)}` },
    faults: ['spec.controller: Too long: may not be more than 250 bytes'],
  },
  {
    of: 'ingressClass',
    name: 'whose parameters are nowhere',
    put: { 'spec.parameters': { kind: '', name: '', scope: 'Some' } },
    faults: [
      'spec.parameters.kind: Required value',
      'spec.parameters.name: Required value',
      'spec.parameters.scope: Unsupported value: "Some": supported values: "Cluster", "Namespace"',
    ],
  },
  {
    of: 'ingressClass',
    name: 'whose parameters are in no namespace',
    put: { 'spec.parameters': { kind: 'K', name: 'n', scope: 'Namespace' } },
    faults: ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  },
  {
    of: 'ingressClass',
    name: 'whose parameters are in a namespace and in none',
    put: { 'spec.parameters.namespace': 'n' },
    faults: ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  },
  {
    of: 'ingressClass',
    name: 'that is to get another controller',
    update: { 'spec.controller': 'a.io/c' },
    faults: ['spec.controller: Invalid value: "a.io/c": field is immutable'],
  },
  {
    of: 'networkPolicy',
    name: 'about a peer that is none',
    put: { 'spec.ingress[0].from[0]': {} },
    faults: ['spec.ingress[0].from[0]: Required value: must specify a peer'],
  },
  {
    of: 'networkPolicy',
    name: 'about pods and addresses at once',
    put: { 'spec.ingress[0].from[0]': { podSelector: {}, ipBlock: { cidr: '1.2.3.0/24' } } },
    faults: ['spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer'],
  },
  {
    of: 'networkPolicy',
    name: 'about addresses that are none',
    put: { 'spec.egress': [{ to: [{ ipBlock: { cidr: '' } }, { ipBlock: { cidr: '1.2.3.4/99', except: ['x'] } }] }] },
    faults: [
      'spec.egress[0].to[0].ipBlock.cidr: Required value',
      'spec.egress[0].to[1].ipBlock.cidr: Invalid value: "1.2.3.4/99": must be a valid CIDR value, (e.g. ' +
        '10.9.8.0/24 or 2001:db8::/64)',
    ],
  },
  {
    of: 'networkPolicy',
    name: 'with selectors that are none',
    put: {
      'spec.podSelector': { matchLabels: { 'a b': '' } },
      'spec.ingress[0].from': [
        {
          namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'In' }] },
          podSelector: { matchExpressions: [{ key: 'k', operator: 'Exists', values: ['v'] }] },
        },
      ],
    },
    faults: [
      `spec.podSelector.matchLabels: Invalid value: "a b": ${notQualified}`,
      'spec.ingress[0].from[0].podSelector.matchExpressions[0].values: Forbidden: may not be specified when ' +
        "`operator` is 'Exists' or 'DoesNotExist'",
      'spec.ingress[0].from[0].namespaceSelector.matchExpressions[0].values: Required value: must be ' +
        "specified when `operator` is 'In' or 'NotIn'",
    ],
  },
  {
    of: 'networkPolicy',
    name: 'of a protocol that nobody knows',
    put: { 'spec.ingress[0].ports[0].protocol': 'X' },
    faults: ['spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"'],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports are none',
    put: { 'spec.ingress[0].ports': [{ port: 0 }, { port: '--' }] },
    faults: [
      'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ingress[0].ports[1].port: Invalid value: "--": must contain at least one letter (a-z)',
      'spec.ingress[0].ports[1].port: Invalid value: "--": must not contain consecutive hyphens',
      'spec.ingress[0].ports[1].port: Invalid value: "--": must not begin or end with a hyphen',
    ],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports end behind a name',
    put: { 'spec.ingress[0].ports[0]': { port: 'a', endPort: 5 } },
    faults: ['spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is non-numeric'],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports end, but begin nowhere',
    put: { 'spec.ingress[0].ports[0]': { endPort: 5 } },
    faults: ['spec.ingress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is not specified'],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports end before they begin',
    put: { 'spec.ingress[0].ports[0]': { port: 6, endPort: 5 } },
    faults: ['spec.ingress[0].ports[0].endPort: Invalid value: 6: must be greater than or equal to `port`'],
  },
  {
    of: 'networkPolicy',
    name: 'whose ports end beyond the last',
    put: { 'spec.ingress[0].ports[0]': { port: 6, endPort: 70000 } },
    faults: ['spec.ingress[0].ports[0].endPort: Invalid value: 70000: must be between 1 and 65535, inclusive'],
  },
  {
    of: 'networkPolicy',
    name: 'of too many types',
    put: { 'spec.policyTypes': ['Ingress', 'Egress', 'Ingress'] },
    faults: [
      'spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
    ],
  },
  {
    of: 'networkPolicy',
    name: 'of a type that nobody knows',
    put: { 'spec.policyTypes': ['Some'] },
    faults: ['spec.policyTypes[0]: Unsupported value: "Some": supported values: "Ingress", "Egress"'],
  },
]

describeFaults('of ingresses and network policies', rows)
