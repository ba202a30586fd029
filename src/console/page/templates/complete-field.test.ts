import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { completeField, pathAbove } from './complete-field.ts'

/** What is offered at the bar in the text. */
const offered = (text: string): string[] => {
  const pos = text.indexOf('|')
  const state = EditorState.create({ doc: text.replace('|', '') })
  return (completeField(new CompletionContext(state, pos, true))?.options ?? []).map(({ label }) => label)
}

test.each([
  { text: '|', want: ['apiVersion', 'kind', 'metadata', 'spec'] },
  { text: 'metadata:\n  n|', want: ['name', 'labels', 'annotations'] },
  { text: 'spec:\n  namespaces:\n    |', want: ['labelSelector', 'nameSelector', 'creatorSelector'] },
  {
    text: 'spec:\n  namespaces:\n    nameSelector:\n      include:\n        - a\n      e|',
    want: ['include', 'exclude'],
  },
  { text: 'spec:\n  driftPolicy: |', want: ['Correct', 'Report'] },
  { text: 'spec:\n  adopt: t|', want: ['true', 'false'] },
  { text: 'spec:\n  templates:\n    - data:\n        |', want: [] },
  { text: 'other:\n  |', want: [] },
])('$text', ({ text, want }) => {
  expect(offered(text)).toEqual(want)
})

test('the keys above a line are those that are indented less', () => {
  expect(pathAbove(['spec:', '  a:', '    b: 1', '  c:'], 4)).toEqual(['spec', 'c'])
})
