/** How a template reads to the author of a namespace, and what of it goes to a shell. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { TemplateDescription } from '../apis/templates/describe.ts'
import { parseYaml } from '../kube/yaml-body.ts'
import { descriptionText } from './description-text.ts'

const example = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '<team-*>' } } as const
const plain: TemplateDescription = {
  ...{ template: 't', isDisabled: false, selects: [], needs: [], parameters: [], sets: {}, objects: [] },
  ...{ rights: [], people: {}, quotas: [], example, giving: [] },
}

test('the example goes into a shell as it stands: nothing is expanded, and every text stays one', () => {
  const labels = { enabled: 'yes', size: '010', on: '1_000' }
  const long = `<text that matches ${'[a-z ]* '.repeat(20)}>`
  const annotations = { a: `$HOME $(id) \`id\` * "x" 'y' \\`, b: 'EOF', c: '<text that\nEOF\nmatches>', d: long }
  const hostile = { ...example, metadata: { ...example.metadata, labels, annotations } }
  const text = descriptionText({ ...plain, example: hostile })
  const command = text.slice(text.indexOf('kubectl create'))
  const read = execFileSync('bash', ['-c', `kubectl() { echo "$@" >&2; cat; }\n${command}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  expect(parseYaml(read.toString()).value).toEqual(hostile)
})

test('lines are broken at 100 columns, but for commands', () => {
  const hard = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`count/widgets${i}.example.com`, `${i}`]))
  const giving = [`kubectl annotate --overwrite namespace NAME 'example.com/a=${'<text> '.repeat(20)}'`]
  const text = descriptionText({
    ...plain,
    quotas: [{ quota: 'ResourceQuota/q', hard }],
    needs: ['x'.repeat(200)],
    giving,
  })
  const section = (title: string): string[] => text.slice(text.indexOf(title)).split('\n\n')[0]?.split('\n') ?? []
  expect(section('It is limited by')).toEqual([
    'It is limited by:',
    '  ResourceQuota/q: count/widgets0.example.com 0, count/widgets1.example.com 1,',
    ...[2, 5, 8].map((i) => `      ${[i, i + 1, i + 2].map((n) => `count/widgets${n}.example.com ${n},`).join(' ')}`),
    '      count/widgets11.example.com 11',
  ])
  expect(section('To create one')).toEqual(['To create one takes:', `  ${'x'.repeat(200)}`])
  expect(section('One that exists')).toContain(`  ${giving[0]}`)
})

test('rights, whom they go to, and what limits it', () => {
  const text = descriptionText({
    ...plain,
    rights: [
      { to: ['User $(OWNER)', 'Group a'], role: 'ClusterRole/admin', by: 'RoleBinding/b' },
      { to: [], role: 'Role/r', by: 'RoleBinding/c', when: 'true' },
    ],
    people: { '$(OWNER)': 'who it is' },
    quotas: [
      { quota: 'ResourceQuota/q', hard: { pods: '1', 'requests.cpu': 2 }, scopes: ['BestEffort', 'Terminating'] },
      {
        quota: 'ResourceQuota/r',
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] },
      },
      { quota: 'ClusterResourceQuota/all', hard: { pods: '9' } },
      { quota: 'ClusterResourceQuota/q', hard: { pods: '9' }, per: 'owner', counts: 'labels a' },
      {
        quota: 'LimitRange/l',
        limits: [{ type: 'Container', default: { cpu: '1' }, max: { cpu: '2', memory: '1Gi' } }, { type: 'Pod' }],
        when: 'x',
      },
    ],
    withoutClusterQuotas: true,
  })
  expect(text.slice(text.indexOf('Rights'), text.indexOf('An example'))).toBe(`Rights go to:
  User $(OWNER), Group a: ClusterRole/admin, by RoleBinding/b
  nobody: Role/r, by RoleBinding/c; if true
  $(OWNER): who it is

It is limited by:
  ResourceQuota/q: pods 1, requests.cpu 2; of what is BestEffort and Terminating
  ResourceQuota/r; of PriorityClass In
  ClusterResourceQuota/all: pods 9; together with all other namespaces that it counts
  ClusterResourceQuota/q: pods 9; for each owner, over all of theirs; if the namespace has labels a
  LimitRange/l: Container default cpu 1, max cpu 2, max memory 1Gi; Pod; if x
  ClusterResourceQuotas: not here, or not readable

`)
})

test('while its newest generation is stopped it says which is in force beside that', () => {
  expect(descriptionText({ ...plain, heldGeneration: 3 })).toMatch(
    /^template t\nThis is its newest generation; namespaces that it does not select are given generation 3\.\n/,
  )
  expect(descriptionText(plain)).not.toContain('generation')
})

test('while it is being deleted it says so, and what namespaces are given until it is gone', () => {
  expect(descriptionText({ ...plain, isBeingDeleted: true, heldGeneration: 3 })).toMatch(
    /^template t\nIt is being deleted; until it is gone namespaces are given generation 3\.\n/,
  )
  expect(descriptionText({ ...plain, isBeingDeleted: true })).toMatch(
    /^template t\nIt is being deleted; until it is gone new namespaces are given nothing of it\.\n/,
  )
})
