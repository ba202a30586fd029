/** Of keys that look like ours and that nothing reads who writes them is told. */
import { describe, expect, test } from 'vitest'
import { keyWarnings } from './unread-keys.ts'

const of = (annotations?: Record<string, string>, labels?: Record<string, string>) => ({
  metadata: { name: 't', ...(annotations && { annotations }), ...(labels && { labels }) },
})

describe('of keys like ours that nothing reads', () => {
  const said = ['borough.dev/ttl', 'policy/namespace-template-opt-out']
  const told = (annotations: Record<string, string>, before?: ReturnType<typeof of>, labels = {}): string[] =>
    keyWarnings({ said, kept: ['borough.dev/kept'] }, of(annotations, labels), before)
  const are = 'does nothing: those that do are borough.dev/ttl, policy/namespace-template-opt-out'

  test.each(['borough.dev/tll', 'policy.borough.dev/ttl', 'policy/namespace-template-optout'])('%s', (key) => {
    expect(told({ [key]: 'x' })).toEqual([`annotation ${key} ${are}`])
    expect(told({ [key]: 'y' }, of({ [key]: 'x' }))).toEqual([])
  })

  test.each(['borough.dev/ttl', 'borough.dev/kept', 'notborough.dev/a', 'policy/other', 'ttl'])('not of %s', (key) => {
    expect(told({ [key]: 'x' })).toEqual([])
  })

  test('a label in place of an annotation', () => {
    const labels = { 'borough.dev/ttl': '24h', 'borough.dev/kept': 'x' }
    expect(told({}, undefined, labels)).toEqual(['label borough.dev/ttl does nothing: it is an annotation that does'])
    expect(told({}, of({}, labels), labels)).toEqual([])
  })

  test('of five at most', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`borough.dev/a${i}`, '']))
    expect(told(many)).toHaveLength(5)
    expect(keyWarnings({ said, kept: [] }, of(), of())).toEqual([])
  })
})
