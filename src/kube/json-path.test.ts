import { describe, expect, test } from 'vitest'
import { threadMs } from '../../test/support/thread-time.ts'
import { findByJsonPath, JsonPathError, memberNames, parseJsonPath } from './json-path.ts'
import type { JsonValue } from './types.ts'

const object: JsonValue = {
  metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'x', plain: 'y' } },
  spec: { replicas: 3, ports: [{ name: 'http', port: 80 }, { name: 'https', port: 443 }, { port: 8080 }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False', n: 5 },
    ],
  },
}

describe('a JSONPath', () => {
  const cases: { name: string; given: string; want: JsonValue[] }[] = [
    { name: 'finds a member', given: '.spec.replicas', want: [3] },
    { name: 'may stand in braces and begin with a dollar sign', given: '{$.spec.replicas}', want: [3] },
    { name: 'finds nothing where nothing is', given: '.spec.nope.deeper', want: [] },
    { name: 'finds nothing inherited', given: '.constructor', want: [] },
    { name: 'takes a quoted name', given: ".metadata.labels['app.kubernetes.io/name']", want: ['x'] },
    { name: 'takes a name with escaped dots', given: '.metadata.labels.app\\.kubernetes\\.io/name', want: ['x'] },
    { name: 'takes several names', given: ".metadata.labels['plain','app.kubernetes.io/name']", want: ['y', 'x'] },
    { name: 'takes an index', given: '.spec.ports[1].port', want: [443] },
    { name: 'counts negative indices from the end', given: '.spec.ports[-1].port', want: [8080] },
    { name: 'takes a slice', given: '.spec.ports[0:2].port', want: [80, 443] },
    { name: 'takes a slice in steps', given: '.spec.ports[::2].port', want: [80, 8080] },
    { name: 'takes everything', given: '.spec.ports[*].name', want: ['http', 'https'] },
    { name: 'compares texts in a filter', given: '.status.conditions[?(@.type=="Ready")].status', want: ['True'] },
    {
      name: 'allows blanks and single quotes in a filter',
      given: ".status.conditions[?( @.type == 'Synced' )].status",
      want: ['False'],
    },
    { name: 'compares numbers in a filter', given: '.spec.ports[?(@.port>=443)].port', want: [443, 8080] },
    { name: 'asks for existence in a filter', given: '.spec.ports[?(@.name)].port', want: [80, 443] },
    { name: 'negates in a filter', given: '.status.conditions[?(@.type!="Ready")].n', want: [5] },
    { name: 'descends', given: '..port', want: [80, 443, 8080] },
  ]
  test.each(cases)('$name: $given', ({ given, want }) =>
    expect(findByJsonPath(parseJsonPath(given), object)).toEqual(want),
  )

  const faults = [
    'spec',
    '.spec[',
    '.spec[x]',
    '.a[?(@.b==)]',
    '.a[?(system("x"))]',
    '.a b',
    '.a[1:2:0]',
    `.${'a'.repeat(1001)}`,
  ]
  test.each(faults)('is refused: %s', (given) => expect(() => parseJsonPath(given)).toThrow(JsonPathError))

  test('of plain members gives their names', () => {
    expect(memberNames(parseJsonPath('.spec.a\\.b'))).toEqual(['spec', 'a.b'])
    expect(memberNames(parseJsonPath('.spec[0]'))).toBeUndefined()
  })

  test('that visits too much finds nothing, soon', () => {
    let deep: JsonValue = { x: 1 }
    for (let i = 0; i < 14; i++) deep = [deep, deep]
    const before = threadMs()
    expect(findByJsonPath(parseJsonPath('..x'), deep)).toEqual([])
    expect(findByJsonPath(parseJsonPath('..*..*..*'), deep)).toEqual([])
    expect(threadMs() - before).toBeLessThan(1000)
  })
})
