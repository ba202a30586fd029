import { expect, test } from 'vitest'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { plannedEnds } from './planned-ends.ts'

const template = (expiry?: object) => ({
  metadata: { name: 't' },
  spec: {
    namespaces: { nameSelector: { include: ['team-*', 'default'] } },
    ...(expiry === undefined ? {} : { expiry }),
  },
})
const namespace = (name: string, annotations = {}): Namespace =>
  ({ metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', annotations } }) as Namespace
const ending = (name: string, at: string) => namespace(name, { 'borough.dev/expires-at': at })
const all = [
  namespace('team-endless'),
  ending('team-soon', '2026-01-01T10:00:00Z'),
  ending('team-late', '2026-01-05T00:00:00Z'),
  ending('other', '2026-01-05T00:00:00Z'),
  namespace('default'),
  namespace('team-out', { 'policy/namespace-template-opt-out': 'true' }),
]

test('an edit that says nothing else of ends is not told of', () => {
  expect(plannedEnds(template({ max: '24h' }), template({ max: '24h' }), all)).toBeUndefined()
  expect(plannedEnds(undefined, template(), all)).toBeUndefined()
})

test('a shorter life leaves the ends that were given, and names those that could not be chosen now', () => {
  expect(plannedEnds(template({ max: '720h' }), template({ default: '12h', max: '24h' }), all)).toEqual({
    newOnes: { after: '12h', before: '720h' },
    max: '24h',
    beyond: ['team-late'],
    endless: ['team-endless'],
    kept: 1,
  })
})

test('an expiry that is taken out leaves every end', () => {
  expect(plannedEnds(template({ max: '24h' }), template(), all)).toEqual({
    newOnes: { after: undefined, before: '24h' },
    max: undefined,
    beyond: [],
    endless: [],
    kept: 2,
  })
})
