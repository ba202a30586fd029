/** What is refused of IPAddresses and ServiceCIDRs. Each whole, in the words of 1.36. */
import { describeFaults, type FaultRow } from '../../support/describe-faults.ts'
import { notSubdomain } from '../../support/name-faults.ts'

const both = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'

const rows: readonly FaultRow[] = [
  {
    of: 'address',
    name: 'whose name is none',
    put: { 'metadata.name': 'x' },
    faults: ['metadata.name: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  },
  {
    of: 'address',
    name: 'whose name is too long',
    put: { 'metadata.name': 'fd00:0::1' },
    faults: ['metadata.name: Invalid value: "fd00:0::1": must be in canonical form ("fd00::1")'],
  },
  {
    of: 'address',
    name: 'of nobody',
    put: { 'spec.parentRef': undefined },
    faults: ['spec.parentRef: Required value'],
  },
  {
    of: 'address',
    name: 'of something without a name',
    put: { 'spec.parentRef': {} },
    faults: ['spec.parentRef.resource: Required value', 'spec.parentRef.name: Required value'],
  },
  {
    of: 'address',
    name: 'of something whose names are none',
    put: { 'spec.parentRef': { group: 'a_b', resource: 'a/b', name: '..', namespace: 'a%b' } },
    faults: [
      `spec.parentRef.group: Invalid value: "a_b": ${notSubdomain}`,
      `spec.parentRef.resource: Invalid value: "a/b": may not contain '/'`,
      `spec.parentRef.name: Invalid value: "..": may not be '..'`,
      `spec.parentRef.namespace: Invalid value: "a%b": may not contain '%'`,
    ],
  },
  {
    of: 'address',
    name: 'that is to be of another',
    update: { 'spec.parentRef.name': 'c' },
    faults: [
      'spec.parentRef: Invalid value: {"Group":"","Resource":"a","Namespace":"","Name":"c"}: field is immutable',
    ],
  },
  {
    of: 'range',
    name: 'without a range',
    put: { 'spec.cidrs': [] },
    faults: ['spec.cidrs: Required value: at least one CIDR required'],
  },
  {
    of: 'range',
    name: 'of three',
    put: { 'spec.cidrs': ['10.7.0.0/24', 'fd00::/64', '10.8.0.0/24'] },
    faults: [
      'spec.cidrs: Invalid value: {"CIDRs":["10.7.0.0/24","fd00::/64","10.8.0.0/24"]}: may only hold up to 2 values',
    ],
  },
  {
    of: 'range',
    name: 'of two of one family',
    put: { 'spec.cidrs': ['10.7.0.0/24', '10.8.0.0/24'] },
    faults: [`spec.cidrs: Invalid value: ["10.7.0.0/24","10.8.0.0/24"]: ${both}`],
  },
  {
    of: 'range',
    name: 'that is none',
    put: { 'spec.cidrs': ['10.7.0.0'] },
    faults: [
      'spec.cidrs[0]: Invalid value: "10.7.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  },
  {
    of: 'range',
    name: 'that begins within itself, and one in a long form',
    put: { 'spec.cidrs': ['10.7.0.1/24', 'fd00:0::/64'] },
    faults: [
      'spec.cidrs[0]: Invalid value: "10.7.0.1/24": must not have bits set beyond the prefix length',
      'spec.cidrs[1]: Invalid value: "fd00:0::/64": must be in canonical form ("fd00::/64")',
    ],
  },
  {
    of: 'range',
    name: 'that is to be another',
    update: { 'spec.cidrs': ['10.8.0.0/24'] },
    faults: ['spec.cidrs[0]: Invalid value: "10.8.0.0/24": field is immutable'],
  },
  {
    of: 'range',
    name: 'that is to be two others',
    update: { 'spec.cidrs': ['10.8.0.0/24', 'fd00::/64'] },
    faults: ['spec.cidrs[0]: Invalid value: "10.8.0.0/24": field is immutable'],
  },
  {
    of: 'range',
    name: 'that is to lose a family',
    put: { 'spec.cidrs': ['10.7.0.0/24', 'fd00::/64'] },
    update: { 'spec.cidrs': ['10.7.0.0/24'] },
    faults: ['spec.cidrs: Invalid value: ["10.7.0.0/24"]: field is immutable'],
  },
]

describeFaults('of addresses of services and their ranges', rows)
