import { expect, test } from 'vitest'
import { hasSeveralDocuments } from './configuration-text.ts'

const rows: readonly { readonly name: string; readonly text: string; readonly want: boolean }[] = [
  { name: 'one document', text: 'a: 1', want: false },
  { name: 'a mark before it', text: '# c\n---\na: 1\n', want: false },
  { name: 'marks and a comment behind it', text: 'a: 1\n---\n# c\n---\n', want: false },
  { name: 'its end', text: 'a: 1\n...\n', want: false },
  { name: 'a mark within a text', text: 'a: |\n  x\n  ---\n  y\n', want: false },
  { name: 'JSON', text: '{"a":1}', want: false },
  { name: 'a second document', text: 'a: 1\n---\nb: 2\n', want: true },
  { name: 'a second document behind an end', text: 'a: 1\n...\nb: 2\n', want: true },
  { name: 'JSON twice', text: '{"a":1}\n---\n{"b":2}\n', want: true },
]
test.each(rows)('$name', ({ text, want }) => {
  expect(hasSeveralDocuments(text)).toBe(want)
})
