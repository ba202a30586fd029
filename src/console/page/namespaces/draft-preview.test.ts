import { expect, test } from 'vitest'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { previewOf } from './draft-preview.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'about' }, data: { for: '$(OWNER)' } }
const template: NamespaceTemplate = {
  metadata: { name: 'team' },
  spec: { namespaces: { nameSelector: { include: ['team-*'] } }, templates: [configMap] },
}

test('a preview has what the server answered, and what readable templates would make of it', () => {
  const annotations = {
    'authorization.k8s.io/creator': 'alice',
    'borough.dev/expires-at': '2030-01-01T00:00:00Z',
    'borough.dev/expiry-template': 'team',
    'policy.borough.dev/set-by-templates': '{"labels":{"cost":"team"}}',
  }
  const answer = { metadata: { name: 'team-a', labels: { cost: '12' }, annotations } }
  const warnings = ['would create ConfigMap/about', 'would create Secret/hidden', 'mind the gap']
  expect(previewOf(answer, warnings, [template])).toEqual({
    owner: 'alice',
    expires: { at: '2030-01-01T00:00:00Z', template: 'team' },
    metadata: [{ title: 'label cost', value: '12', template: 'team' }],
    templates: [
      {
        name: 'team',
        objects: [
          {
            title: 'ConfigMap/about',
            object: {
              ...configMap,
              metadata: { name: 'about', labels: { 'policy/namespace-template-name': 'team' } },
              data: { for: 'alice' },
            },
          },
        ],
      },
      { name: '', objects: [{ title: 'Secret/hidden' }] },
    ],
    skipped: [],
    awaited: [],
    warnings: ['mind the gap'],
  })
})

test('what is left out is said with its reason', () => {
  const { skipped, templates } = previewOf({ metadata: { name: 'team-a' } }, [], [template])
  expect(skipped).toEqual([
    { title: 'ConfigMap/about', message: 'it names $(OWNER), and none is recorded of this namespace' },
  ])
  expect(templates).toEqual([{ name: 'team', objects: [] }])
})

test('an object that is copied from elsewhere is named', () => {
  const cloneFrom = { apiVersion: 'v1', kind: 'Secret', namespace: 'shared', name: 'pull' }
  const objects = [{ cloneFrom, protect: true, drift: 'Strict' as const, yieldTo: ['rotator'] }]
  const cloning = { ...template, spec: { ...template.spec, templates: [], objects } }
  const { templates, skipped } = previewOf({ metadata: { name: 'team-a' } }, [], [cloning])
  expect(skipped).toEqual([])
  const said = [
    'a copy of Secret pull in namespace shared',
    'protected: others may not write it',
    'drift: Strict',
    'fields that rotator set are left to them',
  ]
  expect(templates).toEqual([{ name: 'team', objects: [{ title: 'Secret/pull', said }] }])
})

test('whom it waits for is in the answer; how long, in the configurations that the user may read', () => {
  const pending = ['namespace-template', 'slow.example.com', 'never.example.com'].map((name) => ({ name }))
  const answer = { metadata: { name: 'team-a' }, spec: { initializers: { pending } } }
  const initializers = [{ name: 'slow.example.com', timeoutSeconds: 30, failurePolicy: 'Ignore' as const }]
  expect(previewOf(answer, [], []).awaited).toEqual([{ name: 'slow.example.com' }, { name: 'never.example.com' }])
  expect(previewOf(answer, [], [], [{ metadata: { name: 'c' }, initializers }]).awaited).toEqual([
    { name: 'slow.example.com', turn: { timeoutMs: 30_000, goesOn: true } },
    { name: 'never.example.com', turn: { goesOn: false } },
  ])
})
