import { expect, test } from 'vitest'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { rowOf, searchTest } from './namespace-row.ts'

const namespace = (
  name: string,
  more: Partial<Namespace> & { readonly annotations?: Record<string, string> } = {},
): Namespace => {
  const { annotations, ...rest } = more
  return { metadata: { name, labels: { env: 'prod' }, ...(annotations ? { annotations } : {}) }, ...rest }
}

test.each([
  { given: {}, phase: 'Active', population: { kind: 'populated' } },
  {
    given: { spec: { initializers: { pending: [{ name: 'namespace-template' }, { name: 'a' }] } } },
    phase: 'Initializing',
    population: { kind: 'waiting' },
  },
  {
    given: { spec: { initializers: { pending: [{ name: 'a' }] } } },
    phase: 'Initializing',
    population: { kind: 'awaiting', others: ['a'] },
  },
  { given: { status: { phase: 'Terminating' as const } }, phase: 'Terminating', population: { kind: 'populated' } },
  {
    given: { annotations: { 'policy/namespace-template-opt-out': 'true' } },
    phase: 'Active',
    population: { kind: 'optedOut' },
  },
  {
    given: { status: { conditions: [{ type: 'Populated', status: 'False' as const, message: 'no quota' }] } },
    phase: 'Active',
    population: { kind: 'failed', why: 'no quota' },
  },
])('$given is $phase and $population.kind', ({ given, phase, population }) => {
  expect(rowOf(namespace('a', given))).toMatchObject({ phase, population })
})

test('the owner is the one that is named, else the creator', () => {
  const creator = { 'authorization.k8s.io/creator': 'gitops' }
  expect(rowOf(namespace('a', { annotations: creator })).owner).toBe('gitops')
  expect(rowOf(namespace('a', { annotations: { ...creator, 'borough.dev/owner': 'alice' } })).owner).toBe('alice')
})

test.each([
  { text: '', finds: true },
  { text: 'team', finds: true },
  { text: 'TEAM prod', finds: true },
  { text: 'alice', finds: true },
  { text: 'env=prod', finds: true },
  { text: 'team dev', finds: false },
  { text: 'owner:alice', finds: true },
  { text: 'owner:team', finds: false },
  { text: 'label:env=prod', finds: true },
  { text: 'label:alice', finds: false },
  { text: 'phase:active', finds: true },
  { text: 'phase:term', finds: false },
])('$text finds it: $finds', ({ text, finds }) => {
  const row = rowOf(namespace('team-a', { annotations: { 'borough.dev/owner': 'alice' } }))
  expect(searchTest(text)(row)).toBe(finds)
})
