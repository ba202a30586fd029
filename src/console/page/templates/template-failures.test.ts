import { expect, test } from 'vitest'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { failuresOf, failureTest } from './template-failures.ts'

const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { name } })
const template: NamespaceTemplate = {
  metadata: { name: 'team' },
  spec: {
    namespaces: { nameSelector: { include: ['team-*'] } },
    namespaceMetadata: { labels: { 'example.com/cost': 'x' } },
    templates: [object('ConfigMap', 'a'), object('RoleBinding', 'system:b')],
  },
  status: {
    failed: 3,
    failures: [{ namespace: 'team-a', object: 'ConfigMap/a', reason: 'Drift', message: 'differs' }],
  },
}
const namespace = (name: string, message: string, status: 'True' | 'False' = 'False'): Namespace => ({
  metadata: { name },
  status: { conditions: [{ type: 'Populated', status, reason: 'Drift', message, lastTransitionTime: '' }] },
})

test('of namespaces that the status does not name their condition tells', () => {
  const rows = failuresOf(template, [
    namespace('team-a', 'ConfigMap/a: differs; RoleBinding/system:b: taken; over'),
    namespace('team-b', 'label example.com/cost: not set; ConfigMap/a: field: is immutable'),
    namespace('team-c', 'fine', 'True'),
    namespace('other', 'ConfigMap/a: of another template'),
    namespace('team-d', 'Secret/x: of another template'),
  ])
  expect(rows).toEqual([
    { namespace: 'team-a', object: 'ConfigMap/a', reason: 'Drift', message: 'differs' },
    { namespace: 'team-a', object: 'RoleBinding/system:b', reason: '', message: 'taken; over' },
    { namespace: 'team-b', object: 'ConfigMap/a', reason: '', message: 'field: is immutable' },
    { namespace: 'team-b', object: 'label example.com/cost', reason: 'Drift', message: 'not set' },
  ])
})

test('where a condition tells of five others, more may be untold: the namespace is not left out', () => {
  const five = ['v', 'w', 'x', 'y', 'z'].map((name) => `Secret/${name}: no`).join('; ')
  expect(failuresOf(template, [namespace('team-b', five)])).toMatchObject([
    { namespace: 'team-a' },
    { namespace: 'team-b', object: '', message: five },
  ])
})

test('a search finds rows that hold all its words', () => {
  const [row] = failuresOf(template, [])
  const isFound = (text: string) => row !== undefined && failureTest(text)(row)
  expect(['', 'TEAM-A', 'drift configmap', 'team-b'].map(isFound)).toEqual([true, true, true, false])
})

test('events tell of what is no failure, and not of what fails by now or is of another template', () => {
  const event = (namespace: string, reason: string, message: string) => ({
    metadata: { namespace, name: 'e' },
    reason,
    message,
  })
  const corrected = 'changes by "kubectl-edit" were put back: data.a'
  const rows = failuresOf(
    template,
    [],
    [
      event('team-a', 'PopulationCorrected', `ConfigMap/a of template team: ${corrected}`),
      event('team-b', 'PopulationCorrected', `ConfigMap/a of template team: ${corrected}`),
      event('team-c', 'PopulationCorrected', `ConfigMap/a of template teams: ${corrected}`),
      event('team-d', 'PopulationCorrected', 'of no form'),
      event('team-e', 'Killing', `ConfigMap/a of template team: ${corrected}`),
      { metadata: {} },
    ],
  )
  expect(rows).toEqual([
    { namespace: 'team-a', object: 'ConfigMap/a', reason: 'Drift', message: 'differs' },
    { namespace: 'team-b', object: 'ConfigMap/a', reason: 'Corrected', message: corrected },
  ])
})
