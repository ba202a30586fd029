/** What the author of a namespace is shown: an object that the template selects and that lacks nothing. */
import { expect, test } from 'vitest'
import { exampleNamespace, givingCommands } from './example-namespace.ts'
import type { NamespaceTemplate } from './types.ts'

const template = (spec: NonNullable<NamespaceTemplate['spec']>): NamespaceTemplate => ({
  metadata: { name: 't' },
  spec,
})
const required = { required: true }

test.each<{ name: string; spec: NonNullable<NamespaceTemplate['spec']>; metadata: object; giving?: string[] }>([
  { name: 'one that selects every name', spec: {}, metadata: { name: '<name>' } },
  {
    name: 'names with a wildcard, and labels of every form',
    spec: {
      namespaces: {
        nameSelector: { include: ['team-*', 'x'] },
        labelSelector: {
          matchLabels: { kind: 'team' },
          matchExpressions: [
            { key: 'env', operator: 'In', values: ['prod', 'dev'] },
            { key: 'cost', operator: 'Exists' },
            { key: 'old', operator: 'DoesNotExist' },
            { key: 'zone', operator: 'NotIn', values: ['a'] },
          ],
        },
      },
    },
    metadata: { name: '<team-*>', labels: { cost: '<any value>', env: 'dev', kind: 'team' } },
  },
  {
    name: 'what is required, and nothing that is not',
    spec: {
      namespaces: {
        nameSelector: { include: ['platform'] },
        labelSelector: { matchExpressions: [{ key: 'size', operator: 'Exists' }], matchLabels: { tier: 'gold' } },
      },
      parameters: [
        { name: 'size', fromLabel: 'size', enum: ['s', 'l'], ...required },
        { name: 'tier', fromLabel: 'tier', enum: ['iron', 'gold'], ...required },
        { name: 'rank', fromLabel: 'rank', enum: ['1', '2'], ...required },
        { name: 'note', fromAnnotation: 'note' },
        { name: 'cost', fromAnnotation: 'ex.com/cost', pattern: '[0-9]{4}', ...required },
      ],
    },
    metadata: {
      name: 'platform',
      labels: { rank: '1', size: 's', tier: 'gold' },
      annotations: { 'ex.com/cost': '<text that matches [0-9]{4}>' },
    },
    giving: [
      'kubectl label --overwrite namespace NAME rank=1',
      "kubectl annotate --overwrite namespace NAME 'ex.com/cost=<text that matches [0-9]{4}>'",
    ],
  },
])('$name', ({ spec, metadata, giving = [] }) => {
  expect(exampleNamespace(template(spec))).toEqual({ apiVersion: 'v1', kind: 'Namespace', metadata })
  expect(givingCommands(template(spec))).toEqual(giving)
})
