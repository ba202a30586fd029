import { expect, test } from 'vitest'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { mapCommand } from './map-command.ts'

const namespace = (name: string, isAwaited = false): Namespace =>
  ({ metadata: { name }, spec: isAwaited ? { initializers: { pending: [{ name: 'i' }] } } : {} }) as Namespace
const template = (name: string, namespaces?: object): NamespaceTemplate =>
  ({ metadata: { name }, spec: { namespaces } }) as NamespaceTemplate
const shown = { template: '', sought: '' }
const consenting = `awk -F'   +' 'NR == 1 || ($1 != "kube-system" && $2 != "true"`
/** Without columns. */
const short = (command: string): string => command.replaceAll(/ -o custom-columns='[^']*'/g, '')

test('each template asks by its labels, and a filter takes what it asks of names, creators and consent', () => {
  const templates = [
    template('plain'),
    template('team', {
      labelSelector: { matchLabels: { kind: 'team' }, matchExpressions: [{ key: 'old', operator: 'DoesNotExist' }] },
      nameSelector: { include: ['a.b*', 'c?'], exclude: ['kube-*'] },
      creatorSelector: { users: ['o"x\\y^$'], serviceAccounts: ['ci/*'] },
    }),
  ]
  expect(short(mapCommand({ ...shown, rows: [], templates }))).toBe(
    [
      'kubectl get namespaces',
      `kubectl get namespaces | ${consenting} && !seen[$1]++) {print $1}'`,
      `kubectl get namespaces -l 'kind=team,!old' | ${consenting}${
        String.raw` && $1 ~ "^(a[.]b.*|c.)$" && $1 !~ "^(kube-.*)$" && $3 != "<none>"` +
        // The word of a shell: what stands between quotes of either kind.
        String.raw` && $3 ~ "^(o'"\\"'"x'"\\\\\\\\"'y'"\\\\"'^[$]|system:serviceaccount:ci:.*)$"`
      } && !seen[$1]++) {print $1}'`,
    ].join('; '),
  )
})

test('what a list leaves out, and what was looked for, is named, unless it is too much for a line', () => {
  const rows = [
    { namespace: namespace('a'), templates: ['t'] },
    { namespace: namespace('b', true), templates: ['t'] },
  ]
  const templates = [template('t'), template('other')]
  const all = short(mapCommand({ ...shown, rows, templates }))
  expect(all).toContain(
    'kubectl get namespaces a b; { kubectl get namespaces; kubectl get namespaces b --no-headers; }',
  )
  expect(all).toMatch(/; kubectl get namespaces \| awk [^;]*$/)
  const found = short(mapCommand({ rows: rows.slice(0, 1), templates, template: 't', sought: 'a' }))
  expect(found).toMatch(
    /^kubectl get namespaces a; kubectl get namespaces \| awk -F' {3}\+' 'NR == 1 \|\| \(\$1 ~ "\^\(a\)\$" && /,
  )
  const many = Array.from({ length: 201 }, (_, i) => ({ namespace: namespace(`n${i}`), templates: ['t'] }))
  expect(short(mapCommand({ rows: many, templates, template: 't', sought: 'n' }))).not.toContain('n1')
})

test('a template that is stopped or goes reaches none', () => {
  const stopped = template('stopped')
  stopped.metadata.annotations = { 'policy/namespace-template-apply': 'disable' }
  const going = template('going')
  going.metadata.deletionTimestamp = '2026-11-22T10:00:00Z'
  expect(short(mapCommand({ ...shown, rows: [], templates: [stopped, going] }))).toBe('kubectl get namespaces')
})
