/** What a template asks of the version that acts on it, and what of its spec that version does not know. */
import { describe, expect, test } from 'vitest'
import { featureLevelOf, findLevelBeyond, findUnknownIn } from './feature-level.ts'
import type { NamespaceTemplate } from './types.ts'

const key = 'policy.borough.dev/feature-level'
const levelled = (said?: string): NamespaceTemplate => ({
  metadata: { name: 't', ...(said === undefined ? {} : { annotations: { [key]: said } }) },
})

describe('a level', () => {
  test.each<{ said: string | undefined; level: number }>([
    { said: undefined, level: 1 },
    { said: '', level: 1 },
    { said: '1', level: 1 },
    { said: '12', level: 12 },
    { said: '999999999', level: 999_999_999 },
    { said: '9999999999', level: Number.POSITIVE_INFINITY },
    { said: '0', level: Number.POSITIVE_INFINITY },
    { said: '1x', level: Number.POSITIVE_INFINITY },
    { said: 'x1', level: Number.POSITIVE_INFINITY },
  ])('of $said is $level', ({ said, level }) => expect(featureLevelOf(levelled(said))).toBe(level))

  test('beyond this version is told as it was written', () => {
    const told = (said: string) => `needs feature level ${said} (annotation ${key}), and this is 1`
    expect(findLevelBeyond(levelled('2'))).toBe(told('2'))
    expect(findLevelBeyond(levelled('new'))).toBe(told('new'))
    expect(findLevelBeyond(levelled('1'))).toBeUndefined()
    expect(findLevelBeyond(levelled())).toBeUndefined()
  })
})

describe('of a spec is unknown', () => {
  const field = (at: string) => `has ${at}, a field that this version does not know`
  const value = (at: string, said: string) => `has ${at}: ${said}, a value that this version does not know`
  test.each<{ name: string; spec: object; unknown?: string }>([
    { name: 'nothing of an empty one', spec: {} },
    { name: 'a field', spec: { novelty: 1 }, unknown: field('spec.novelty') },
    { name: 'a field within', spec: { rollout: { speed: 1 } }, unknown: field('spec.rollout.speed') },
    {
      name: 'a field of an item',
      spec: { parameters: [{ name: 'a' }, { name: 'b', from: 'c' }] },
      unknown: field('spec.parameters[1].from'),
    },
    { name: 'a value', spec: { driftPolicy: 'Fix' }, unknown: value('spec.driftPolicy', '"Fix"') },
    {
      name: 'a value of an item',
      spec: { objects: [{ drift: 'Strict' }, { drift: 'Fix' }] },
      unknown: value('spec.objects[1].drift', '"Fix"'),
    },
    { name: 'no value that is empty', spec: { driftPolicy: '', deletionPolicy: null } },
    { name: 'nothing within an object of the template', spec: { templates: [{ kind: 'New', spec: { a: 1 } }] } },
    { name: 'nothing of labels', spec: { namespaceMetadata: { labels: { any: 'thing' } } } },
    {
      name: 'a selector that can not be read',
      spec: { namespaces: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } } },
      unknown:
        'can not be read: spec.namespaces.labelSelector.matchExpressions[0].operator: Invalid value: "Is": ' +
        'not a valid selector operator',
    },
    {
      name: 'a pattern that is no expression',
      spec: { parameters: [{ name: 'a' }, { name: 'b', pattern: 'b' }, { name: 'c', pattern: '(' }] },
      unknown:
        'can not be read: spec.parameters[2].pattern: Invalid value: "(": is no expression of RE2: ' +
        'error parsing regexp: missing closing ): `(`',
    },
    { name: 'nothing of what is known', spec: { adopt: true, rollout: { maxPrune: '10%' }, driftPolicy: 'Report' } },
  ])('$name', ({ spec, unknown }) => expect(findUnknownIn(spec)).toBe(unknown))
})
