import { expect, test } from 'vitest'
import { type OwnRule, ownRules, pathsText, shortfall } from './own-rules.ts'

const texts = (rows: readonly OwnRule[]): string[] =>
  rows.map(({ resources, groups, verbs, names }) => `${resources} | ${groups} | ${verbs} | ${names}`)

test('what is treated alike is one row, and verbs of several rules are brought together', () => {
  const rows = ownRules([
    { verbs: ['watch', 'list'], apiGroups: [''], resources: ['pods', 'configmaps'] },
    { verbs: ['get'], apiGroups: [''], resources: ['configmaps', 'pods'] },
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews'] },
    { verbs: ['use', 'get'], apiGroups: ['apps', ''], resources: ['things'], resourceNames: ['any', 'b'] },
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  ])
  expect(texts(rows)).toEqual([
    'everything | any group | anything | any',
    'configmaps, pods | core | get, list, watch | any',
    'things | core, apps | get, use | "any", b',
    'selfsubjectaccessreviews | authorization.k8s.io | create | any',
  ])
})

test('rules of other names, or other groups, are rows of their own', () => {
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] }
  const rows = ownRules([rule, { ...rule, resourceNames: ['db'] }, { ...rule, apiGroups: ['example.com'] }])
  expect(new Set(rows.map(({ key }) => key)).size).toBe(3)
  expect(texts(rows)).toEqual([
    'secrets | core | get | any',
    'secrets | example.com | get | any',
    'secrets | core | get | db',
  ])
})

test('an answer that is not all is told, incomplete or not evaluated', () => {
  expect(shortfall({})).toBeUndefined()
  expect(shortfall({ incomplete: false })).toBeUndefined()
  expect(shortfall({ incomplete: true })).toMatch(/^The server says that this is incomplete/)
  expect(shortfall({ evaluationError: 'no such role' })).toMatch(/^The server could not evaluate all rules/)
})

test('paths are the first of them, and the rest counted', () => {
  const nonResourceURLs = ['/version', '/healthz', '/version', '/livez']
  expect(pathsText([{ verbs: ['get'], nonResourceURLs }])).toBe('/healthz, /livez, /version')
  expect(pathsText([{ verbs: ['get'], nonResourceURLs }], 1)).toBe('/healthz and 2 more')
  expect(pathsText([])).toBe('')
})
