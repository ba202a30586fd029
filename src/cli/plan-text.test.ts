/** What of a plan is easily missed, as a terminal shows it. */
import { expect, test } from 'vitest'
import { planText } from './plan-text.ts'

test('says what other templates would give no more, and where', () => {
  const plan = { template: 'base', isNew: true, matched: 3, namespaces: [] }
  const displaces = [{ object: 'ConfigMap/about', template: 'team', namespaces: 2 }]
  expect(planText({ ...plan, displaces })).toBe(
    'template base (new) selects 3 namespaces\n' +
      'in 2 namespaces ConfigMap/about would come from it and no more from template team: the first by name gives ' +
      'it\n' +
      '\nNothing would change.\n',
  )
})

test('says what the server warns of, in one line each', () => {
  const plan = { template: 'base', isNew: true, matched: 0, namespaces: [], warnings: ['a\nb', 'c'] }
  expect(planText(plan)).toBe(
    'template base (new) selects 0 namespaces\nWarning: a\\u000ab\nWarning: c\n\nNothing would change.\n',
  )
})
