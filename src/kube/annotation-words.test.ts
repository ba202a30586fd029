/** Of annotations that do nothing who writes them is told. */
import { expect, test } from 'vitest'
import { wordWarnings } from './annotation-words.ts'

const apply = 'policy/namespace-template-apply'
const require = 'policy/namespace-template-require-permission'
const words = [
  [apply, 'disable'],
  [require, 'true'],
] as const
const of = (annotations?: Record<string, string>) => ({
  metadata: { name: 't', ...(annotations === undefined ? {} : { annotations }) },
})

test.each<{ name: string; next: Record<string, string>; old?: Record<string, string>; told: string[] }>([
  {
    name: 'another word for each',
    next: { [apply]: 'disabled', [require]: 'True' },
    told: [
      `annotation ${apply} is "disabled", which does nothing: only "disable" does`,
      `annotation ${require} is "True", which does nothing: only "true" does`,
    ],
  },
  { name: 'the words that they know', next: { [apply]: 'disable', [require]: 'true' }, told: [] },
  { name: 'a plain no', next: { [apply]: '', [require]: 'false' }, told: [] },
  { name: 'others', next: { [`${apply}x`]: 'yes' }, told: [] },
  { name: 'what was there before', next: { [apply]: 'off' }, old: { [apply]: 'off' }, told: [] },
  {
    name: 'what takes the place of the word',
    next: { [apply]: 'off' },
    old: { [apply]: 'disable' },
    told: [`annotation ${apply} is "off", which does nothing: only "disable" does`],
  },
])('of $name', ({ next, old, told }) => {
  expect(wordWarnings(words, of(next), old === undefined ? undefined : of(old))).toEqual(told)
})

test('of none', () => expect(wordWarnings(words, of(), of())).toEqual([]))
