/** What a tenant may name an object must not run where a colleague pastes the command that shows it. */
import { execFileSync, spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { objectArguments, shellWord, visibleText } from './shell-text.ts'

const wordsOf = (command: string): readonly string[] =>
  execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
    .split('\0')
    .slice(0, -1)

test.each([
  { name: 'plain', text: 'team-a', word: 'team-a' },
  { name: 'an empty text', text: '', word: "''" },
  { name: 'a command', text: '$(id)', word: "'$(id)'" },
  { name: 'a quote that ends the word', text: "a'; id; '", word: `'a'"'"'; id; '"'"''` },
  { name: 'a line break', text: "a\n'\\", word: "$'a\\U0000000a\\U00000027\\U0000005c'" },
  { name: 'the end of a paste', text: '\u001b[201~id', word: "$'\\U0000001b[201~id'" },
  { name: 'a text that turns direction', text: 'a\u202eb', word: "$'a\\U0000202eb'" },
])('$name is one word', ({ text, word }) => {
  expect(shellWord(text)).toBe(word)
  expect(wordsOf(word)).toEqual([text])
})

test('a shell reads any text back as one word', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((given) => !given.includes('\0') && given.isWellFormed())
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 50 }), (texts) => {
      expect(wordsOf(texts.map(shellWord).join(' '))).toEqual(texts)
    }),
    { numRuns: 30 },
  )
})

/** Those of these that are there. */
const shells = ['bash', 'zsh', 'fish', 'dash'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0)
const said = (shell: string, command: string): string => spawnSync(shell, ['-c', command], { encoding: 'utf8' }).stdout

describe.each(shells)('%s', (shell) => {
  const ends = ["'", "\\'", "\\\\'", '"', '\\"', '\u001b\\', "\u001b'", "\u001b\\'", '`', '$(', '(', '\n', '=', '%']

  test('runs nothing that stands in a word', () => {
    expect(said(shell, 'echo ran')).toBe('ran\n')
    const words = ends.flatMap((end) => [`x${end}; echo ran; #`, `x${end}\necho ran\n#`, `${end}echo ran`])
    // A line of its own would be the echo's.
    const run = words.filter((text) => said(shell, `true ${shellWord(text)}`) !== '')
    expect(run).toEqual([])
  })

  test('reads a text that shows as it is back as one word', () => {
    const texts = ["a'b", "a\\'; id; #", 'a\\', "'", "\\\\''", '=ls', '%self', 'a"$(id)`id`!{a,b}*~ #', '{"a":"\\n"}']
    expect(said(shell, `printf '<%s>' ${texts.map(shellWord).join(' ')}`)).toBe(texts.map((t) => `<${t}>`).join(''))
  })
})

test.each([
  { name: 'held', words: 'configmaps held' },
  { name: '$(id)', words: "configmaps '$(id)'" },
  { name: '--all', words: 'configmaps/--all' },
])('the object $name is found by $words', ({ name, words }) => {
  expect(objectArguments('configmaps', name)).toBe(words)
})

test.each([
  {
    name: 'a text that shows as it is',
    text: "team-a: \\u001b ü 😀 $(id) 'x'",
    shown: "team-a: \\u001b ü 😀 $(id) 'x'",
  },
  { name: 'a colour', text: '\u001b[31mred', shown: '\\u001b[31mred' },
  { name: 'another line', text: 'a\r\nNothing holds it.', shown: 'a\\u000d\\u000aNothing holds it.' },
  { name: 'the C1 form of ESC', text: '\u009b2J', shown: '\\u009b2J' },
  { name: 'what turns direction', text: 'a\u202eb\u2028c', shown: 'a\\u202eb\\u2028c' },
  { name: 'a tag beyond the first plane', text: '\u{e0041}', shown: '\\udb40\\udc41' },
])('$name stands in one line of a terminal', ({ text, shown }) => {
  expect(visibleText(text)).toBe(shown)
})
