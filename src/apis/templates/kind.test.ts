/** What clients are told of the kind: `kubectl explain`, OpenAPI and the columns of `kubectl get`. */
import { expect, test } from 'vitest'
import { declarationFaults } from '../../../test/support/declaration-faults.ts'
import { templateKinds } from './kind.ts'
import { compileMatcher } from './match.ts'

test.each(templateKinds)('$kind of $group is declared whole', (declaration) => {
  expect(declarationFaults(declaration)).toEqual([])
})

test('it is one kind, in two groups, with a short name in one of them', () => {
  const told = { version: 'v1alpha1', resource: 'namespacetemplates', kind: 'NamespaceTemplate', namespaced: false }
  const stored = { storageName: 'namespacetemplates.policy.borough.dev', hasStatus: true }
  expect(templateKinds).toMatchObject([
    { group: 'policy.borough.dev', ...told, ...stored, shortNames: ['nstpl'] },
    { group: 'policy', ...told, ...stored },
  ])
  expect(templateKinds[1]).not.toHaveProperty('shortNames')
  expect(templateKinds[0]?.columns?.map(({ name, jsonPath, priority }) => [name, jsonPath, priority ?? 0])).toEqual([
    ['Matched', '.status.matched', 0],
    ['Synced', '.status.synced', 0],
    ['Failed', '.status.failed', 0],
    ['Skipped', '.status.skipped', 0],
    ['Age', '.metadata.creationTimestamp', 0],
    ['Extended', '.status.extended', 1],
    ['Waiting', '.status.waiting', 1],
    ['Rollout', '.status.conditions[?(@.type=="Progressing")].reason', 1],
  ])
})

test('what a template may say of drift, deletion and failure is told', () => {
  const { spec } = templateKinds[0]?.properties ?? {}
  const choices = (name: string) => spec?.properties?.get(name)?.enum
  expect(choices('driftPolicy')).toEqual(['Correct', 'Report'])
  expect(choices('deletionPolicy')).toEqual(['Delete', 'Orphan'])
  expect(choices('failurePolicy')).toEqual(['Hold', 'Ignore'])
  const drift = spec?.properties?.get('objects')?.items?.properties?.get('drift')
  expect(drift?.enum).toEqual(['Correct', 'Strict', 'Report'])
})

test('a template that says nothing of namespaces selects all', () => {
  expect(compileMatcher({ metadata: { name: 't' } }).selects({ metadata: { name: 'n' } })).toBe(true)
})
