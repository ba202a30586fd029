/** What the record of a namespace says after a pass, and what must be recorded ahead of one. */
import { describe, expect, test } from 'vitest'
import { type AppliedObject, changedRecord, identityOfApplied, isFound, selectUnclaimed } from './applied-records.ts'

const recorded = (name: string, more: Partial<AppliedObject> = {}): AppliedObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: 'u', template: 't', generation: 1, digest: 'd', content: 'c' },
  ...more,
})
const [a, b] = [recorded('a'), recorded('b')]
const change = (applied: AppliedObject[], released: string[] = []) => ({ applied, released })

describe('a record', () => {
  test.each<{ name: string; next: AppliedObject[]; released?: string[]; withContent?: boolean; is?: AppliedObject[] }>([
    { name: 'is the same where nothing is applied', next: [] },
    { name: 'is the same where the same is', next: [{ ...a }] },
    { name: 'is the same of a newer generation that says the same', next: [{ ...a, generation: 2 }] },
    { name: 'has what is new', next: [recorded('c')], is: [a, b, recorded('c')] },
    { name: 'has another uid', next: [{ ...a, uid: 'v' }], is: [{ ...a, uid: 'v' }, b] },
    { name: 'has another template', next: [{ ...a, template: 'w' }], is: [{ ...a, template: 'w' }, b] },
    { name: 'has what was applied otherwise', next: [{ ...a, digest: 'e' }], is: [{ ...a, digest: 'e' }, b] },
    { name: 'loses what is released', next: [], released: [identityOfApplied(a)], is: [b] },
    { name: 'loses all that is released', next: [], released: [a, b].map(identityOfApplied), is: [] },
    { name: 'is the same where what is released was not there', next: [], released: ['/ConfigMap/x'] },
    { name: 'is the same with another content', next: [{ ...a, content: 'x' }] },
    {
      name: 'but not where that is worth a write',
      next: [{ ...a, content: 'x' }],
      withContent: true,
      is: [{ ...a, content: 'x' }, b],
    },
    { name: 'is the same with the same content', next: [{ ...a }], withContent: true },
    {
      name: 'tells that an object is not as it should be',
      next: [{ ...a, content: '' }],
      is: [{ ...a, content: '' }, b],
    },
  ])('$name', ({ next, released, withContent, is }) => {
    expect(changedRecord([a, b], change(next, released), withContent)).toEqual(is)
  })

  test('tells that an object is as it should be again', () => {
    expect(changedRecord([{ ...a, content: '' }], change([a]))).toEqual([a])
  })
})

test('recorded ahead is what is not recorded yet, in whatever version', () => {
  const c = recorded('c')
  expect(selectUnclaimed([a, c, { ...b, apiVersion: 'v2' }, recorded('b', { kind: 'Secret' })], [a, b])).toEqual([
    c,
    recorded('b', { kind: 'Secret' }),
  ])
})

test('an object is the recorded one by its uid', () => {
  const found = (uid: string, of?: string): boolean =>
    isFound(recorded('a', { uid }), { metadata: { name: 'a', ...(of && { uid: of }) } })
  expect([found('u', 'u'), found('u', 'v'), found('u'), found('')]).toEqual([true, false, false, false])
  expect(isFound(recorded('a', { uid: '' }), { metadata: { name: 'a', uid: '' } })).toBe(false)
})
