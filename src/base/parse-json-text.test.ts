import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasEscapedKey, parseJsonText } from './parse-json-text.ts'

const slash = '\\'
/** What is parsed before makes V8 expect a key that equals the text of one with escapes. */
const misled = (before: string, key: string): void => {
  const raw = JSON.stringify(key).slice(1)
  JSON.parse(JSON.stringify({ [before]: 1, [raw.slice(0, key.length)]: 2 }))
}

describe('a key with escapes is read as what it is, whatever was read before', () => {
  const keys = [
    '"',
    slash,
    '\n',
    'k:{"name":"app"}',
    'v:"a"',
    `${slash}${slash}`,
    'ends with "',
    '\u2028"',
    '__proto__"',
  ]
  it.each(keys)('%j', (key) => {
    const before = `before ${JSON.stringify(key)}`.replaceAll(/[\\"]/g, ' ')
    misled(before, key)
    const text = JSON.stringify({ [before]: { [before]: 1, [key]: [2] }, [key]: { deep: [{ [key]: 3 }] }, last: true })
    const found = parseJsonText(text) as Record<string, unknown>
    expect(JSON.stringify(found)).toBe(text)
    expect(Object.keys(found)).toEqual([before, key, 'last'])
  })

  it('also in the native parser of today: when this fails, V8 is mended, and all of this can go', () => {
    const [first, second] = [JSON.stringify({ a: 1, [slash]: 2 }), JSON.stringify({ a: 1, '"': 2 })].map((t) =>
      JSON.stringify(t),
    )
    const run = `JSON.parse(${first}); console.log(Object.keys(JSON.parse(${second}))[1])`
    expect(execFileSync(process.execPath, ['-e', run]).toString().trim()).toBe(slash)
  })
})

describe('what it makes of a text', () => {
  const anyKey = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.constantFrom('"', slash, 'a', 'b', '__proto__', '0', '\t"', ':{"'),
  )
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 0, -1.5e3, '', 'plain', 'with "quotes" and \\', '},{', ',"x":'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(anyKey, tie('value')), { maxLength: 5 }).map((pairs) => {
        const made = Object.create(null) as Record<string, unknown>
        for (const [key, member] of pairs) made[key] = member
        return made
      }),
    ),
  }))

  it('is what was printed, with blanks or without', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 1, '\t', ' \n'), (given, space) => {
        const text = JSON.stringify(given, undefined, space)
        expect(JSON.stringify(parseJsonText(text))).toBe(JSON.stringify(given))
      }),
    )
  })

  it('is refused where the native parser refuses it, in its words', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom('', '"', ',', '}', slash, ':'), (given, place, instead) => {
        const text = JSON.stringify(given)
        const at = place % (text.length + 1)
        const broken = text.slice(0, at) + instead + text.slice(at + 1)
        const native = attempt(() => JSON.parse(broken))
        const ours = attempt(() => parseJsonText(broken))
        expect(typeof ours === 'string' || typeof native === 'string' ? ours : '').toBe(
          typeof ours === 'string' || typeof native === 'string' ? native : '',
        )
      }),
    )
  })

  it('is the last of two members of one name, at the place of the first', () => {
    expect(JSON.stringify(parseJsonText('{"a\\"":1,"b":2,"a\\"":3,"b":4}'))).toBe('{"a\\"":3,"b":4}')
  })

  it('is its own member where it is called __proto__', () => {
    const found = parseJsonText('{"\\u005f_proto__":{"x":1},"a":1}') as object
    expect(Object.keys(found)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype)
  })

  it('is found in a text of many levels, and in one of many escapes, in time', () => {
    const deep = `${'{"a\\"":['.repeat(1000)}1${']}'.repeat(1000)}`
    expect(JSON.stringify(parseJsonText(deep))).toBe(deep)
    const deeper = `${'{"\\\\":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    expect(Object.keys(parseJsonText(deeper) as object)).toEqual([slash])
    const wide = `{${Array.from({ length: 20_000 }, (_, i) => `"${i}\\"":"${'\\\\'.repeat(20)}"`).join()}}`
    expect(JSON.stringify(parseJsonText(wide))).toBe(wide)
    const slashes = `{"a":"${'\\\\'.repeat(500_000)}","b":"\\""}`
    expect(hasEscapedKey(slashes)).toBe(false)
  })
})

function attempt(parse: () => unknown): unknown {
  try {
    return { value: parse() }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
