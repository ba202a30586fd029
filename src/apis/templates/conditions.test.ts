/** What a condition may cost the thread that serves clients. */
import { expect, test } from 'vitest'
import { Conditions } from './conditions.ts'
import type { TemplateObject } from './template-objects.ts'

const judge = (when: string, text: string): unknown => {
  const conditions = new Conditions({ metadata: { name: 'a', annotations: { text } } })
  return conditions.judge({ metadata: { name: 't' } }, {} as TemplateObject, when)
}

test('to find all matches in a long annotation costs little and is much work, which ends', () => {
  const when = "namespaceObject.metadata.annotations['text'].findAll('a').size() > 0"
  expect(judge(when, 'a'.repeat(60_000))).toBe(
    `condition ${JSON.stringify(when)} can not be judged: operation interrupted: the time limit was exceeded`,
  )
  expect(judge(when, 'a'.repeat(250))).toBe(true)
})
