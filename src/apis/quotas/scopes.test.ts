import { describe, expect, test } from 'vitest'
import type { GroupResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import { inScopes, scopesOf } from './scopes.ts'
import type { ResourceQuota, ScopeRequirement } from './types.ts'

const pods: GroupResource = { group: '', resource: 'pods' }
const claims: GroupResource = { group: '', resource: 'persistentvolumeclaims' }
const podOf = (spec: object, status?: object): KubeObject => ({
  metadata: { name: 'p' },
  spec,
  ...(status && { status }),
})
const exists = (scopeName: string): ScopeRequirement => ({ scopeName, operator: 'Exists' })

interface Row {
  readonly name: string
  readonly scope: ScopeRequirement
  readonly inside: readonly KubeObject[]
  readonly outside: readonly KubeObject[]
}

const deadline = (seconds: number): KubeObject => podOf({ activeDeadlineSeconds: seconds })
const ofClass = (priorityClassName: string): KubeObject => podOf({ priorityClassName })
const withoutClass = [podOf({}), ofClass('')]
const priority = (operator: string, ...values: string[]): ScopeRequirement => ({
  scopeName: 'PriorityClass',
  operator,
  ...(values.length > 0 ? { values } : {}),
})

const podRows: readonly Row[] = [
  {
    name: 'Terminating',
    scope: exists('Terminating'),
    inside: [deadline(0), deadline(5)],
    outside: [podOf({}), deadline(-1)],
  },
  {
    name: 'NotTerminating',
    scope: exists('NotTerminating'),
    inside: [podOf({}), deadline(-1), { metadata: {} }],
    outside: [deadline(0), deadline(5)],
  },
  {
    name: 'BestEffort',
    scope: exists('BestEffort'),
    inside: [podOf({}, { qosClass: 'BestEffort' })],
    outside: [podOf({}), podOf({}, { qosClass: 'Burstable' })],
  },
  {
    name: 'NotBestEffort',
    scope: exists('NotBestEffort'),
    inside: [podOf({}), podOf({}, { qosClass: 'Burstable' })],
    outside: [podOf({}, { qosClass: 'BestEffort' })],
  },
  { name: 'PriorityClass Exists', scope: priority('Exists'), inside: [ofClass('a')], outside: withoutClass },
  {
    name: 'PriorityClass DoesNotExist',
    scope: priority('DoesNotExist'),
    inside: withoutClass,
    outside: [ofClass('a')],
  },
  {
    name: 'PriorityClass In',
    scope: priority('In', 'a', 'b'),
    inside: [ofClass('a'), ofClass('b')],
    outside: [ofClass('c'), ...withoutClass],
  },
  {
    name: 'PriorityClass NotIn',
    scope: priority('NotIn', 'a', 'b'),
    inside: [ofClass('c'), ...withoutClass],
    outside: [ofClass('a'), ofClass('b')],
  },
  { name: 'PriorityClass In nothing', scope: priority('In'), inside: [], outside: [ofClass('a'), ...withoutClass] },
  { name: 'an unknown operator', scope: priority('Like', 'a'), inside: [], outside: [ofClass('a'), ...withoutClass] },
  { name: 'an unknown scope', scope: exists('Sunny'), inside: [], outside: [podOf({}), ofClass('a')] },
]

const affine = (affinity: object): KubeObject => podOf({ affinity })
const required = (term: object): object => ({ requiredDuringSchedulingIgnoredDuringExecution: [term] })
const preferred = (term: object): object => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }, { weight: 1, podAffinityTerm: term }],
})
const topologyKey = 'kubernetes.io/hostname'

const affinityRow: Row = {
  name: 'CrossNamespacePodAffinity',
  scope: exists('CrossNamespacePodAffinity'),
  inside: [
    affine({ podAffinity: required({ topologyKey, namespaces: ['a'] }) }),
    affine({ podAffinity: required({ topologyKey, namespaceSelector: {} }) }),
    affine({ podAffinity: preferred({ topologyKey, namespaces: ['a'] }) }),
    affine({ podAntiAffinity: required({ topologyKey, namespaces: ['a'] }) }),
    affine({ podAntiAffinity: preferred({ topologyKey, namespaceSelector: {} }) }),
    affine({ podAffinity: required({ topologyKey }), podAntiAffinity: required({ topologyKey, namespaces: ['a'] }) }),
  ],
  outside: [
    podOf({}),
    { metadata: {} },
    affine({}),
    affine({ podAffinity: required({ topologyKey }) }),
    affine({ podAffinity: required({ topologyKey, namespaces: [] }) }),
    affine({ podAntiAffinity: preferred({ topologyKey }) }),
    affine({ nodeAffinity: {} }),
  ],
}

const attributes = (operator: string, ...values: string[]): ScopeRequirement => ({
  ...priority(operator, ...values),
  scopeName: 'VolumeAttributesClass',
})
const claimOf = (wanted: string, current?: string, target?: string): KubeObject => ({
  metadata: { name: 'c' },
  spec: { volumeAttributesClassName: wanted },
  status: {
    ...(current === undefined ? {} : { currentVolumeAttributesClassName: current }),
    ...(target === undefined ? {} : { modifyVolumeStatus: { targetVolumeAttributesClassName: target } }),
  },
})
const bare: KubeObject = { metadata: { name: 'c' } }

const claimRows: readonly Row[] = [
  {
    name: 'VolumeAttributesClass In, by any class that the claim has or comes to',
    scope: attributes('In', 'gold'),
    inside: [claimOf('gold'), claimOf('', 'gold'), claimOf('silver', 'silver', 'gold')],
    outside: [claimOf('silver', 'silver', 'silver'), claimOf(''), bare],
  },
  {
    name: 'VolumeAttributesClass DoesNotExist',
    scope: attributes('DoesNotExist'),
    inside: [claimOf(''), bare],
    outside: [claimOf('gold'), claimOf('', 'gold')],
  },
  {
    name: 'VolumeAttributesClass NotIn',
    scope: attributes('NotIn', 'gold'),
    inside: [claimOf(''), bare, claimOf('silver'), claimOf('gold', 'silver')],
    outside: [claimOf('gold'), claimOf('gold', 'gold')],
  },
  { name: 'a scope of pods', scope: exists('NotTerminating'), inside: [], outside: [bare, claimOf('gold')] },
]

describe('which objects are in the scope of a quota', () => {
  const rows = [
    ...[...podRows, affinityRow].map((row) => ({ ...row, type: pods })),
    ...claimRows.map((row) => ({ ...row, type: claims })),
  ]
  test.each(rows)('$type.resource: $name', ({ type, scope, inside, outside }) => {
    for (const object of inside) expect(inScopes([scope], type, object), JSON.stringify(object)).toBe(true)
    for (const object of outside) expect(inScopes([scope], type, object), JSON.stringify(object)).toBe(false)
  })

  test('one that is in all of several, and every one where there are none', () => {
    const both = [exists('Terminating'), priority('In', 'a')]
    expect(inScopes(both, pods, podOf({ activeDeadlineSeconds: 5, priorityClassName: 'a' }))).toBe(true)
    expect(inScopes(both, pods, podOf({ activeDeadlineSeconds: 5 }))).toBe(false)
    expect(inScopes(both, pods, ofClass('a'))).toBe(false)
    expect(inScopes([], { group: 'apps', resource: 'deployments' }, bare)).toBe(true)
  })

  test('no object of another type, whatever it is called', () => {
    for (const type of [
      { group: 'apps', resource: 'pods' },
      { group: 'apps', resource: 'persistentvolumeclaims' },
      { group: '', resource: 'services' },
    ]) {
      expect(inScopes([exists('NotTerminating')], type, podOf({}))).toBe(false)
      expect(inScopes([attributes('Exists')], type, claimOf('gold'))).toBe(false)
    }
  })

  test('scopes are those that are named and those that are selected', () => {
    const quota = (spec?: object): ResourceQuota =>
      ({ metadata: { name: 'q' }, ...(spec && { spec }) }) as ResourceQuota
    expect(scopesOf(quota())).toEqual([])
    expect(scopesOf(quota({ scopes: ['BestEffort'] }))).toEqual([exists('BestEffort')])
    const matchExpressions = [priority('In', 'a')]
    expect(scopesOf(quota({ scopes: ['Terminating'], scopeSelector: { matchExpressions } }))).toEqual([
      exists('Terminating'),
      ...matchExpressions,
    ])
  })
})
