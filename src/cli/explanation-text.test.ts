/** How an explanation reads. */
import { expect, test } from 'vitest'
import { explanationText } from './explanation-text.ts'

test('a note ends in a full stop, which is not copied with a command', () => {
  const explanation = { namespace: 'a', state: 'Active', held: false, obstacles: [], reports: [] } as const
  const notes = [
    'it is so',
    'lift it: kubectl annotate ns a b.c/d-',
    'confirm it: kubectl x y=2; if not, go: borough z',
  ]
  notes.push('confirm it: kubectl x; or leave it')
  expect(explanationText({ ...explanation, notes }, 0)).toBe(
    'Namespace a is Active.\nNothing holds it.\n\nNote: it is so.\nNote: lift it: kubectl annotate ns a b.c/d-\n' +
      'Note: confirm it: kubectl x y=2; if not, go: borough z\nNote: confirm it: kubectl x; or leave it.\n',
  )
})
