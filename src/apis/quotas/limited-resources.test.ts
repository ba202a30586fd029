/** What may be used only where a quota of the namespace covers it. */
import { expect, test } from 'vitest'
import type { ContentChange } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import { usagesOf } from './accountant.ts'
import { type LimitedResource, requireCover } from './limited-resources.ts'
import type { ResourceQuota } from './types.ts'

const type = { group: '', resource: 'pods' } as ContentChange['type']
const pod = (cpu: string, priorityClassName?: string): KubeObject => ({
  metadata: { name: 'p' },
  spec: {
    containers: [{ name: 'c', resources: { requests: { cpu } } }],
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  },
})
const quota = (hard: Record<string, string>, more: object = {}): ResourceQuota => ({
  ...{ metadata: { name: 'q' }, spec: { hard, ...more } },
})
const high = { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'top'] }
const ofHigh = quota({ pods: '1' }, { scopeSelector: { matchExpressions: [high] } })
const pods = (more: Partial<LimitedResource> = {}): LimitedResource => ({
  ...{ group: '', resource: 'pods', matchContains: [], matchScopes: [] },
  ...more,
})

const cpuWanted = 'pods "p" is forbidden: insufficient quota to consume: cpu,requests.cpu'
const highWanted = 'insufficient quota to match these scopes: [{PriorityClass In [high top]}]'

test.each<{
  name: string
  limited: LimitedResource[]
  before?: KubeObject
  after?: KubeObject
  quotas?: ResourceQuota[]
  refused?: string
}>([
  { name: 'used without a quota', limited: [pods({ matchContains: ['cpu'] })], after: pod('1'), refused: cpuWanted },
  {
    name: 'covered by one quota each',
    limited: [pods({ matchContains: ['cpu'] })],
    after: pod('1'),
    quotas: [quota({ cpu: '1' }), quota({ 'requests.cpu': '1' })],
  },
  {
    name: 'covered in part',
    limited: [pods({ matchContains: ['cpu'] })],
    after: pod('1'),
    quotas: [quota({ cpu: '1' })],
    refused: 'pods "p" is forbidden: insufficient quota to consume: requests.cpu',
  },
  {
    name: 'covered by a quota that is about other pods',
    limited: [pods({ matchContains: ['cpu'] })],
    after: pod('1'),
    quotas: [quota({ cpu: '1', 'requests.cpu': '1' }, { scopes: ['Terminating'] })],
    refused: cpuWanted,
  },
  { name: 'not used', limited: [pods({ matchContains: ['memory'] })], after: pod('1') },
  { name: 'used as nothing', limited: [pods({ matchContains: ['cpu'] })], after: pod('0') },
  {
    name: 'limited for another kind',
    limited: [pods({ resource: 'services', matchContains: ['cpu'] })],
    after: pod('1'),
  },
  { name: 'limited for another group', limited: [pods({ group: 'ex.io', matchContains: ['cpu'] })], after: pod('1') },
  { name: 'given back', limited: [pods({ matchContains: ['cpu'] })], before: pod('1') },
  { name: 'used less', limited: [pods({ matchContains: ['cpu'] })], before: pod('2'), after: pod('1') },
  { name: 'used as before', limited: [pods({ matchContains: ['cpu'] })], before: pod('1'), after: pod('1') },
  {
    name: 'used more',
    limited: [pods({ matchContains: ['cpu'] })],
    ...{ before: pod('1'), after: pod('2'), refused: cpuWanted },
  },
  {
    name: 'in a scope without a quota',
    limited: [pods({ matchScopes: [high] })],
    after: pod('1', 'high'),
    refused: highWanted,
  },
  { name: 'out of that scope', limited: [pods({ matchScopes: [high] })], after: pod('1', 'low') },
  {
    name: 'in a scope with a quota',
    limited: [pods({ matchScopes: [high] })],
    after: pod('1', 'high'),
    quotas: [ofHigh],
  },
  {
    name: 'moved into the scope of a quota: all of it is new there',
    limited: [pods({ matchContains: ['cpu'] })],
    ...{ before: pod('1', 'low'), after: pod('1', 'high'), quotas: [ofHigh], refused: cpuWanted },
  },
  {
    name: 'left in the scope of a quota',
    limited: [pods({ matchContains: ['cpu'] })],
    ...{ before: pod('1', 'high'), after: pod('1', 'top'), quotas: [ofHigh] },
  },
  {
    name: 'in two scopes without a quota',
    limited: [pods({ matchScopes: [high, { scopeName: 'NotTerminating', operator: 'Exists' }] })],
    after: pod('1', 'top'),
    refused: 'insufficient quota to match these scopes: [{PriorityClass In [high top]} {NotTerminating Exists []}]',
  },
])('$name: $refused', ({ limited, before, after, quotas = [], refused }) => {
  const change: ContentChange = { type, namespace: 'a', name: 'p', before, after }
  const checked = (): void => requireCover(limited, change, usagesOf(change), quotas)
  if (refused === undefined) expect(checked).not.toThrow()
  else expect(checked).toThrow(expect.objectContaining({ message: refused }))
})
