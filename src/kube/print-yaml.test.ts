import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { printYaml, yamlBytesInSteps } from './print-yaml.ts'
import { parseYaml } from './yaml-body.ts'

describe('a value as YAML', () => {
  const cases: { name: string; given: unknown; want: string }[] = [
    {
      name: 'is a block of members',
      given: { kind: 'Pod', metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'x' } } },
      want: 'kind: Pod\nmetadata:\n  name: a\n  labels:\n    app.kubernetes.io/name: x\n',
    },
    {
      name: 'has lists at the indentation of their names',
      given: { args: ['-v', 'two words', 3], ports: [{ port: 80, name: 'http' }, { port: 81 }] },
      want: 'args:\n- "-v"\n- two words\n- 3\nports:\n- port: 80\n  name: http\n- port: 81\n',
    },
    { name: 'has lists in lists', given: [[1, [2]], []], want: '- - 1\n  - - 2\n- []\n' },
    { name: 'keeps what is empty', given: { a: {}, b: [], c: '', d: null }, want: 'a: {}\nb: []\nc: ""\nd: null\n' },
    { name: 'leaves out what is undefined', given: { a: undefined, b: { c: undefined } }, want: 'b: {}\n' },
    {
      name: 'quotes texts that another reader would take for something else',
      given: { a: 'yes', b: 'NULL', c: '1e3', d: '2026-01-02', e: 'a: b', f: ' x', g: '12:30', h: '.5', i: 'y' },
      want: 'a: "yes"\nb: "NULL"\nc: "1e3"\nd: "2026-01-02"\ne: "a: b"\nf: " x"\ng: "12:30"\nh: ".5"\ni: "y"\n',
    },
    {
      name: 'leaves images and names plain',
      given: ['nginx:1.27', 'system:masters', '/etc/x'],
      want: '- nginx:1.27\n- system:masters\n- /etc/x\n',
    },
    { name: 'quotes keys alike', given: { 'f:a': 1, on: 2, '.': 3 }, want: 'f:a: 1\n"on": 2\n".": 3\n' },
    {
      name: 'shows texts of several lines as they are',
      given: { a: { b: 'x\n\n  y\n', c: 'x\ny', d: 'x\n\n' }, e: ['p\nq\n'] },
      want: 'a:\n  b: |\n    x\n    \n      y\n  c: |-\n    x\n    y\n  d: |+\n    x\n    \ne:\n- |\n  p\n  q\n',
    },
    {
      name: 'escapes line ends of other systems',
      given: { a: 'x\r\ny', b: 'x\u2028y\u0085' },
      want: 'a: "x\\r\\ny"\nb: "x\\u2028y\\u0085"\n',
    },
    { name: 'is one scalar', given: 'x', want: 'x\n' },
  ]
  test.each(cases)('$name', ({ given, want }) => expect(printYaml(given)).toBe(want))

  test('is printed in steps of 256 KiB where it is long', () => {
    let deep: unknown = 'x'
    for (let i = 0; i < 900; i++) deep = { a: deep }
    const value = Array.from({ length: 4 }, () => deep)
    const printing = yamlBytesInSteps(value)
    let steps = 0
    let step = printing.next()
    for (; step.done !== true; step = printing.next()) steps++
    expect(Buffer.concat(step.value).toString()).toBe(printYaml(value))
    for (const piece of step.value) expect(piece.length).toBeLessThan(512 * 1024)
    expect(steps).toBeGreaterThan(5)
  })

  test('keeps 64-bit integers exact', () => {
    expect(printYaml(parseYaml('a: 9007199254740993').value)).toBe('a: 9007199254740993\n')
  })

  /** With exact numbers as doubles. */
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.stringMatching(/^[a-z0-9 .:#'"\n\t-]{0,12}$/),
    fc.constantFrom(
      'yes',
      'No',
      '~',
      '0x1f',
      '1_000',
      '0o7',
      '.inf',
      '-',
      '---',
      '<<',
      '=',
      '!x',
      '&a',
      '*a',
      'a #b',
      '? a',
      '%x',
      '1.',
    ),
  )
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), texts, fc.array(tie('value')), fc.dictionary(texts, tie('value'))),
  }))

  test('reads as itself, in YAML 1.1 and 1.2', () => {
    fc.assert(
      fc.property(values, (value) => {
        const wanted = JSON.parse(JSON.stringify({ value }))
        const text = printYaml({ value })
        expect(plain(parseYaml(text).value)).toEqual(wanted)
        expect(parse(text)).toEqual(wanted)
      }),
      { numRuns: 500 },
    )
  })

  test('reads as itself at an indentation', () => {
    fc.assert(
      fc.property(values, (value) => {
        const wanted = JSON.parse(JSON.stringify([value]))
        expect(plain(parseYaml(`- ${printYaml(wanted[0], '  ')}`).value)).toEqual(wanted)
      }),
    )
  })
})

test('a text of very many lines far down is no block, which would be longer than a string can be', () => {
  let value: unknown = 'a\n'.repeat(700_000)
  for (let i = 0; i < 900; i++) value = { a: value }
  const printed = printYaml(value)
  expect(printed.length).toBeLessThan(8_000_000)
  expect(printed).toContain('a: "a\\na\\n')
  expect(parse(printYaml({ a: 'a\n'.repeat(50_000) }))).toEqual({ a: 'a\n'.repeat(50_000) })
})
