import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../../test/support/refusal.ts'
import { withFamilies } from './families.ts'
import type { Family, ServiceSpec } from './types.ts'

interface Case {
  readonly name: string
  readonly given: ServiceSpec
  readonly before?: ServiceSpec
  readonly cluster?: readonly Family[]
  readonly want: Pick<ServiceSpec, 'ipFamilies' | 'ipFamilyPolicy' | 'clusterIPs'> | string
}

const both: readonly Family[] = ['IPv4', 'IPv6']
const one: readonly Family[] = ['IPv4']
const headless = { clusterIP: 'None', clusterIPs: ['None'] }
const selector = { app: 'a' }
const dual = {
  type: 'ClusterIP',
  ipFamilyPolicy: 'RequireDualStack',
  ipFamilies: both,
  clusterIPs: ['10.96.0.9', 'fd00::9'],
  clusterIP: '10.96.0.9',
}

const cases: readonly Case[] = [
  {
    name: 'a service that says nothing has the family that the cluster prefers',
    given: {},
    cluster: ['IPv6', 'IPv4'],
    want: { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
  },
  {
    name: 'an address says which family is meant',
    given: { clusterIPs: ['fd00::5'] },
    cluster: both,
    want: { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack', clusterIPs: ['fd00::5'] },
  },
  {
    name: 'an address of a family that the cluster lacks is refused',
    given: { clusterIPs: ['fd00::5'] },
    want: 'spec.clusterIPs[0]: Invalid value: ["fd00::5"]: IPv6 is not configured on this cluster',
  },
  {
    name: 'who prefers both gets what there is',
    given: { ipFamilyPolicy: 'PreferDualStack' },
    want: { ipFamilies: one, ipFamilyPolicy: 'PreferDualStack' },
  },
  {
    name: 'who prefers both gets both, the named one first',
    given: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6'] },
    cluster: both,
    want: { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'PreferDualStack' },
  },
  {
    name: 'who needs both is refused where there is one',
    given: { ipFamilyPolicy: 'RequireDualStack' },
    want:
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack ' +
      'services',
  },
  {
    name: 'a family that the cluster lacks is refused',
    given: { ipFamilies: ['IPv6'] },
    want: 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  },
  {
    name: 'two families do not go with a single stack',
    given: { ipFamilyPolicy: 'SingleStack', ipFamilies: both },
    cluster: both,
    want:
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when ` +
      'multiple IP families are specified',
  },
  {
    name: 'two addresses do not go with a single stack',
    given: { clusterIPs: ['10.96.0.9', 'fd00::9'] },
    cluster: both,
    want:
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when ` +
      'multiple cluster IPs are specified',
  },
  {
    name: 'a headless service that selects nothing can have endpoints of both families everywhere',
    given: headless,
    want: { ipFamilies: both, ipFamilyPolicy: 'RequireDualStack', ...clusterIpsOf(headless) },
  },
  {
    name: 'a headless service with a selector is like any other',
    given: { ...headless, selector },
    want: { ipFamilies: one, ipFamilyPolicy: 'SingleStack', ...clusterIpsOf(headless) },
  },
  {
    name: 'a name elsewhere has no family',
    given: { type: 'ExternalName' },
    want: {},
  },
  {
    name: 'an update that leaves the policy out keeps it',
    given: { ...dual, ipFamilyPolicy: undefined } as unknown as ServiceSpec,
    before: dual,
    cluster: both,
    want: { ipFamilies: both, ipFamilyPolicy: 'RequireDualStack', clusterIPs: dual.clusterIPs },
  },
  {
    name: 'who wants one of two keeps the first',
    given: { ...dual, ipFamilyPolicy: 'SingleStack' },
    before: dual,
    cluster: both,
    want: { ipFamilies: one, ipFamilyPolicy: 'SingleStack', clusterIPs: ['10.96.0.9'] },
  },
  {
    name: 'the second address does not go without a word',
    given: { ...dual, clusterIPs: ['10.96.0.9'] },
    before: dual,
    cluster: both,
    want:
      `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary ` +
      'cluster IP',
  },
  {
    name: 'the second family does not go without a word',
    given: { ...dual, ipFamilies: one },
    before: dual,
    cluster: both,
    want:
      `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary ` +
      'IP family',
  },
  {
    name: 'a cluster that gets a second family changes no service that merely prefers both',
    given: { ...dual, ipFamilyPolicy: 'PreferDualStack', ipFamilies: one, clusterIPs: ['10.96.0.9'] },
    before: { ...dual, ipFamilyPolicy: 'PreferDualStack', ipFamilies: one, clusterIPs: ['10.96.0.9'] },
    cluster: both,
    want: { ipFamilies: one, ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['10.96.0.9'] },
  },
]

function clusterIpsOf({ clusterIPs }: { clusterIPs: readonly string[] }): { clusterIPs: readonly string[] } {
  return { clusterIPs }
}

describe('the families of a service', () => {
  it.each(cases)('$name', ({ given, before, cluster = one, want }) => {
    const { spec, errors } = withFamilies(given, before, cluster)
    if (typeof want === 'string') {
      expect(faultsOf(errors)).toEqual([want])
      return
    }
    expect(errors).toEqual([])
    const { ipFamilies, ipFamilyPolicy, clusterIPs } = spec
    expect({ ipFamilies, ipFamilyPolicy, clusterIPs }).toEqual({
      ipFamilies: undefined,
      ipFamilyPolicy: undefined,
      clusterIPs: undefined,
      ...want,
    })
  })
})
