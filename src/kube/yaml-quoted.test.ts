import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { Turns } from '../base/turns.ts'
import { parseYaml, parseYamlInSlices } from './yaml-body.ts'
import { type Composed, composing } from './yaml-document.ts'

/** How often the time is looked at while a text is read: each look may be the end of a slice. */
async function looksAt(text: string): Promise<number> {
  let looks = 0
  const slice = new Turns({ now: () => ++looks * 1e-6 }).slice()
  await parseYamlInSlices(text, slice)
  return looks
}

const mib = 1024 * 1024

describe('attack: a YAML body of one long quoted text', () => {
  test.each([
    { name: 'of escapes', given: `a: "${'\\x61'.repeat(mib / 4)}"` },
    { name: 'of letters, with one escape', given: `a: "${'a'.repeat(mib)}\\n"` },
    { name: 'of quotes', given: `a: '${"''".repeat(mib / 2)}'` },
    { name: 'of words and lines', given: `a: "${'word word\n '.repeat(mib / 11)}"` },
    { name: 'under a tag', given: `a: !!str "${'\\x61'.repeat(mib / 4)}"` },
  ])('$name is read in many pieces', async ({ given }) => {
    expect(await looksAt(given)).toBeGreaterThan(200)
  })

  test('without anything that stands for something else is a piece of the text', () => {
    expect(parseYaml(`a: "${'b'.repeat(mib)}"`).value).toEqual({ a: 'b'.repeat(mib) })
  })
})

const pieces = ['a', 'word', ' ', '  ', '\t', '\n', '\n\n', '\r\n', '\r', 'é', '\u{1F600}', '#', ': ', '- ']
const escaped = ['\\n', '\\\\', '\\"', '\\x41', '\\u0041', '\\U00000041', '\\\n', '\\ ', '\\/', '\\\t']
const textOf = (quote: string, parts: readonly string[]): string => `${quote}${parts.join('')}${quote}`
const quotedText = fc.oneof(
  fc.array(fc.constantFrom(...pieces, ...escaped), { maxLength: 40 }).map((parts) => textOf('"', parts)),
  fc.array(fc.constantFrom(...pieces, "''", '\\', '"'), { maxLength: 40 }).map((parts) => textOf("'", parts)),
)

describe('quoted texts', () => {
  test.each([
    { name: 'short', times: 1 },
    { name: 'longer than a piece', times: 500 },
  ])('are what the library reads: $name', ({ times }) => {
    fc.assert(
      fc.property(quotedText, (text) => {
        const quote = text.slice(0, 1)
        const given = textOf(quote, [text.slice(1, -1).repeat(times)])
        const options = { version: '1.1', prettyErrors: false, logLevel: 'silent' } as const
        expect(parseYaml(given).value).toBe(parseDocument(given, options).toJS())
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    { given: `a: 1\nb: "${'x'.repeat(9000)}\\q"`, want: 'yaml: line 2: Invalid escape sequence \\q' },
    { given: `a: 1\nb: "${'x'.repeat(9000)}`, want: 'yaml: line 2: Missing closing "quote' },
    { given: `a: '${'x'.repeat(9000)}`, want: "yaml: line 1: Missing closing 'quote" },
    { given: `? "${'x\n'.repeat(20)}" : 1\n"${'x\n'.repeat(20)}": 1`, want: 'yaml: line' },
    { given: `a: !!int "${'1'.repeat(20)}"`, want: 'yaml: line 1: a long quoted text has a tag' },
  ])('that are wrong are refused with their line: $want', ({ given, want }) => {
    expect(() => parseYaml(given)).toThrow(want)
  })

  test('may be keys, and stand in a second document', () => {
    const key = 'k'.repeat(50)
    expect(parseYaml(`"${key}": {'${key}': "${key}"}`).value).toEqual({ [key]: { [key]: key } })
    expect(parseYaml(`a: 1\n---\nb: "${key}\\q"`).value).toEqual({ a: 1 })
  })
})

function composed(text: string): Composed {
  const steps = composing(text)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

test.each([
  { name: 'directives that it does not know', given: `${'%NONE x\n'.repeat(500)}---\na: 1`, errors: 0 },
  { name: 'errors in its tokens', given: '}\n'.repeat(500), errors: 1 },
  { name: 'errors in its nodes', given: `a: [${'%x, @y, '.repeat(500)}]`, errors: 1 },
])('a document keeps its first error and no warnings: $name', ({ given, errors }) => {
  const { document } = composed(given)
  expect([document?.errors.length, document?.warnings.length]).toEqual([errors, 0])
})
