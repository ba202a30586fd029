import { expect, test } from 'vitest'
import { objectsInARow } from './json-in-a-row.ts'

const split = (text: string): unknown => objectsInARow({ text, linesBefore: 2 })

test('each object is one, with the line at which it begins', () => {
  expect(split('{"a":{"b":1}}{"c":"}{\\"\\\\"}\n\n {\n"d": [{}]\n}\n{}')).toEqual([
    { text: '{"a":{"b":1}}', linesBefore: 2 },
    { text: '{"c":"}{\\"\\\\"}', linesBefore: 2 },
    { text: '{\n"d": [{}]\n}', linesBefore: 4 },
    { text: '{}', linesBefore: 7 },
  ])
})

test.each([
  { what: 'one object', text: '{"a":1}\n' },
  { what: 'nothing', text: '' },
  { what: 'YAML', text: 'a: {}\nb: {}\n' },
  { what: 'YAML in braces', text: '{a: 1}\n{b: 2}' },
  { what: 'a comma between', text: '{},{}' },
  { what: 'a text between', text: '{}"a"{}' },
  { what: 'one that does not end', text: '{}{"a":1}{' },
  { what: 'one that ends twice', text: '{}}{}' },
  { what: 'a text that does not end', text: '{}{"a}' },
  { what: 'what is behind', text: '{}{} x' },
])('$what is left as it is', ({ text }) => {
  expect(split(text)).toEqual([{ text, linesBefore: 2 }])
})
