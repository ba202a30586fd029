import { describe, expect, it } from 'vitest'
import { threadMs } from '../../test/support/thread-time.ts'
import type { JsonValue } from '../kube/types.ts'
import { Budget, BudgetError } from './budget.ts'
import { declaredDyn, declareSchema } from './declared-type.ts'
import { compile } from './environment.ts'
import { fromJson } from './json-values.ts'
import { ArrayList, CelError, CelList, CelMap, type CelValue, Optional } from './values.ts'

/** Lists, maps and optionals as plain values. */
function plain(value: CelValue): unknown {
  if (value instanceof CelList) return [...value].map(plain)
  if (value instanceof CelMap)
    return Object.fromEntries([...value.keys()].map((k) => [String(k), plain(value.find(k) ?? null)]))
  if (value instanceof Optional) return value.value === undefined ? 'none' : { some: plain(value.value) }
  return value
}

function run(source: string, self: JsonValue = {}, budget = new Budget()): unknown {
  const { program, problem } = compile(source, { self: declaredDyn })
  if (!program) throw new Error(problem)
  budget.beginCall()
  return plain(program.evaluate({ self: fromJson(self) }, budget))
}

const self = {
  replicas: 3,
  names: ['a', 'b'],
  labels: { app: 'x', tier: 'y' },
  ratio: 0.5,
  text: 'héllo 𝒳',
  nothing: null,
}

describe('expressions', () => {
  const values: readonly (readonly [source: string, want: unknown])[] = [
    ['1 + 2 * 3 - 4 / 2', 5n],
    ['-7 % 3', -1n],
    ['!!true && !false', true],
    ['1.5 + 1.5 == 3.0', true],
    ['1u + 2u == 3u', true],
    ['"a" + "b" == "ab"', true],
    ['[1] + [2, 3]', [1n, 2n, 3n]],
    ['{"a": 1}["a"]', 1n],
    ['2 in [1, 2]', true],
    ['"app" in self.labels', true],
    ['self.replicas < 3.5 && self.ratio < 1', true],
    ['dyn(1) == 1.0', true],
    ['type(self.replicas) == int && type(self.ratio) == double', true],
    ['has(self.replicas) && !has(self.missing)', true],
    ['1 / 0 == 1 || true', true],
    ['false && 1 / 0 == 1', false],
    ['self.nothing == null', true],
    ['r"\\d" == "\\\\d"', true],
    ["r'\\' + 'x' == '\\\\x'", true],
    ['"\\u00e9\\x41" == "éA"', true],
    ['"""a\nb""".size()', 3n],
    ['self.text.size()', 7n],
    ['true ? 1 : 2', 1n],
    ['[1, 2, 3].all(x, x > 0)', true],
    ['[1, 0].all(x, 1 / x > 1)', false],
    ['[0, 1].exists(x, 1 / x == 1)', true],
    ['[1, 2, 2].exists_one(x, x == 2)', false],
    ['[1, 2].map(x, x * 2)', [2n, 4n]],
    ['[1, 2, 3].map(x, x > 1, x * 2)', [4n, 6n]],
    ['self.names.filter(n, n != "a")', ['b']],
    ['self.labels.exists(k, k == "tier")', true],
    ['self.labels.all(k, v, k != v)', true],
    ['[5, 6].transformList(i, v, i + v)', [5n, 7n]],
    ['{"a": 1, "b": 2}.transformMap(k, v, v > 1, v * 10)', { b: 20n }],
    ['{"a": "x"}.transformMapEntry(k, v, {v: k})', { x: 'a' }],
    ['[1, 2].all(x, [3, 4].all(y, x < y))', true],
    ['self.?missing.orValue("d")', 'd'],
    ['self.?labels.?app', { some: 'x' }],
    ['self.names[?5].hasValue()', false],
    ['optional.of(2).optMap(v, v + 1)', { some: 3n }],
    ['optional.none().optMap(v, v)', 'none'],
    ['[?optional.none(), 1]', [1n]],
    ['{?"a": optional.of(1)}', { a: 1n }],
    ['optional.of(optional.of(1)).optFlatMap(v, v)', { some: 1n }],
    ['int("12") + int(3.9) + int(4u)', 19n],
    ['string(1.5e6)', '1.5e+06'],
    ['string(duration("90m"))', '5400s'],
    ['timestamp("2024-02-29T12:00:00.5+02:00") == timestamp("2024-02-29T10:00:00.5Z")', true],
    ['timestamp("2024-02-29T12:00:00Z").getDayOfYear()', 59n],
    ['timestamp("2024-07-01T12:00:00Z").getHours("America/New_York")', 8n],
    ['timestamp("2024-07-01T12:00:00Z").getHours("-03:00")', 9n],
    ['duration("1h30m").getMinutes()', 90n],
    ['"abc".matches("^a.c$")', true],
    ['"a1b22".findAll("[0-9]+")', ['1', '22']],
    ['"a1b22".findAll("[0-9]+", 1)', ['1']],
    ['"a1".find("[0-9]")', '1'],
    ['"tacocat".indexOf("c") + "tacocat".lastIndexOf("c")', 6n],
    ['"𝒳a".indexOf("a")', 1n],
    ['"hello".substring(1, 3)', 'el'],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['["a", "b"].join("-")', 'a-b'],
    ['"aaa".replace("a", "b", 2)', 'bba'],
    ['"ab".replace("", "-")', '-a-b-'],
    ['" x ".trim() + "X".lowerAscii()', 'xx'],
    ['"%s %d %.2f %x".format(["a", dyn(3), dyn(1.005), dyn(255)].map(x, dyn(x)))', 'a 3 1.00 ff'],
    ['strings.quote("a\\"b")', '"a\\"b"'],
    ['[3, 1, 2].isSorted()', false],
    ['[3, 1, 2].sum() + [3, 1].min() + [3, 1].max()', 10n],
    ['["a", "b", "a"].lastIndexOf("a")', 2n],
    ['[3, 1, 2].sort()', [1n, 2n, 3n]],
    ['[3, 1, 2].sortBy(x, -x)', [3n, 2n, 1n]],
    ['[1, 2, 1].distinct()', [1n, 2n]],
    ['[[1], [2, 3]].flatten()', [1n, 2n, 3n]],
    ['lists.range(3)', [0n, 1n, 2n]],
    ['[1, 2, 3].slice(1, 3)', [2n, 3n]],
    ['sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])', true],
    ['url("https://user@example.com:8080/a%20b?x=1&x=2").getHost()', 'example.com:8080'],
    ['url("https://example.com:8080/").getPort()', '8080'],
    ['url("/a?x=1&x=2").getQuery()', { x: ['1', '2'] }],
    ['isURL("://x")', false],
    ['quantity("1.5Gi").add(quantity("0.5Gi")) == quantity("2Gi")', true],
    ['quantity("50k").asInteger()', 50_000n],
    ['isQuantity("1x")', false],
    ['ip("2001:DB8::1").family()', 6n],
    ['string(ip("2001:DB8:0:0:0:0:0:1"))', '2001:db8::1'],
    ['ip.isCanonical("2001:db8:0::1")', false],
    ['isIP("::ffff:1.2.3.4")', false],
    ['cidr("192.168.0.0/24").containsIP("192.168.0.9")', true],
    ['cidr("192.168.0.0/16").containsCIDR("192.168.10.0/24")', true],
    ['string(cidr("192.168.1.5/16").masked())', '192.168.0.0/16'],
    ['semver("1.2.3-rc.1").isLessThan(semver("1.2.3"))', true],
    ['semver("v01.2", true).major()', 1n],
    ['format.named("dns1123Label").value().validate("ok").hasValue()', false],
    ['format.dns1123Label().validate("Not Ok").hasValue()', true],
  ]
  it.each(values)('%s', (source, want) => expect(run(source, self)).toEqual(want))

  const failures: readonly (readonly [source: string, message: string])[] = [
    ['1 / (self.replicas - 3) == 0', 'division by zero'],
    ['9223372036854775807 + self.replicas > 0', 'return error for overflow'],
    ['self.missing == 1', 'no such key: missing'],
    ['self.names[7] == ""', 'index out of bounds: 7'],
    ['self.replicas + self.text == ""', 'no such overload'],
    ['self.replicas', ''],
    ['[1].map(x, x + self.missing) == []', 'no such key: missing'],
    ['{"a": 1}.transformMapEntry(k, v, {"b": v, "b": v}) == {}', 'insert failed: key b already exists'],
    ['optional.none().value() == 1', 'optional.none() dereference'],
    [
      'quantity("x") == quantity("1")',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ]
  it.each(failures.filter(([, message]) => message !== ''))('%s fails with: %s', (source, message) => {
    expect(() => run(source, self)).toThrow(new CelError(message))
  })
})

describe('faults, as upstream prints them', () => {
  const schema = declareSchema(
    {
      type: 'object',
      properties: new Map([
        ['replicas', { type: 'integer' }],
        ['my-name', { type: 'string' }],
        ['namespace', { type: 'string' }],
      ]),
    },
    { isRoot: false, name: 'selfType' },
  )
  const problem = (source: string): string | undefined => compile(source, { self: schema ?? declaredDyn }).problem

  const faults: readonly (readonly [source: string, want: string])[] = [
    ['self.zzz == 1', "ERROR: <input>:1:5: undefined field 'zzz'\n | self.zzz == 1\n | ....^"],
    ['foo', "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"],
    [
      'self.replicas == "a"',
      `ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(int, string)'\n | ` +
        `self.replicas == "a"\n | ..............^`,
    ],
    [
      'self.replicas.startsWith("a")',
      `ERROR: <input>:1:25: found no matching overload for 'startsWith' applied to 'int.(string)'\n | ` +
        `self.replicas.startsWith("a")\n | ........................^`,
    ],
    ["[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"],
    ['true &&\n foo', "ERROR: <input>:2:2: undeclared reference to 'foo' (in container '')\n |  foo\n | .^"],
    ["'a'.matches('(')", "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('(')\n | ............^"],
    [
      'self.replicas.all(x, true)',
      "ERROR: <input>:1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, " +
        'or dynamic)\n | self.replicas.all(x, true)\n | ....^',
    ],
    ['for', 'ERROR: <input>:1:1: Syntax error: reserved identifier: for\n | for\n | ^'],
  ]
  it.each(faults)('%s', (source, want) => expect(problem(source)).toBe(want))

  it('spells names that are no identifiers as upstream escapes them', () => {
    expect(problem('self.my__dash__name == "" && self.__namespace__ == "" && self.replicas == 1')).toBeUndefined()
  })

  it('refuses what is too long or too deep', () => {
    expect(problem('1 + '.repeat(300) + '1')).toContain('expression recursion limit exceeded: 250')
    expect(problem('('.repeat(300) + '1' + ')'.repeat(300))).toContain('expression recursion limit exceeded: 250')
    expect(problem(`"${'a'.repeat(100_001)}"`)).toContain('exceeds limit')
    expect(problem(`${'true && '.repeat(5_000)}true`)).toBeUndefined()
  })
})

describe('nothing is said without end, nor compiled', () => {
  const large: readonly (readonly [name: string, source: string])[] = [
    ['lists of nothing', `[${'[],'.repeat(24_000)}[]]`],
    ['names that are not there', `${'x && '.repeat(19_000)}x`],
    ['maps', `{${Array.from({ length: 8_000 }, (_, i) => `'${i}':[]`).join(',')}}`],
    ['selections', `self${'.a'.repeat(240)}`],
    ['macros in macros', `${'[1].all(a, '.repeat(60)}true${')'.repeat(60)}`],
  ]
  it.each(large)('%s', (_, source) => {
    const started = threadMs()
    const { problem = '' } = compile(source, { self: declaredDyn })
    expect(problem.length).toBeLessThan(200_000)
    expect(threadMs() - started).toBeLessThan(2000)
  })
})

describe('no expression can go on for ever', () => {
  const list = `[${Array(200).fill('1').join(',')}]`
  const costly: readonly (readonly [name: string, source: string])[] = [
    ['nested macros', `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d > 0))))`],
    ['a list that grows', `lists.range(1000000).map(x, lists.range(1000)).size() > 0`],
    ['text that grows', `self.text.split("").map(x, self.text + self.text + self.text).join("").size() > 0`],
    ['a text looked at again and again', `${list}.all(a, ${list}.all(b, self.text.size() > 0 && self.text != "x"))`],
    ['patterns', `${list}.all(a, ${list}.all(b, self.text.matches("(a|aa)*(a|aa)*c") == false))`],
    ['replacements', `self.text.replace("a", self.text).size() > 0`],
    ['joined lists', `lists.range(100000).distinct().reverse().sortBy(x, -x).map(x, [x, x]).flatten().size() > 0`],
  ]
  it.each(costly)('%s: it ends with a budget error', (_, source) => {
    // A clock that runs five times as fast: so much less to wait for.
    const budget = new Budget(undefined, () => threadMs() * 5)
    const started = threadMs()
    expect(() => run(source, { text: 'a'.repeat(100_000) }, budget)).toThrow(BudgetError)
    expect(threadMs() - started).toBeLessThan(2000)
  })

  it('a clock ends what costs too little', () => {
    let now = 0
    const budget = new Budget(undefined, () => (now += 400))
    expect(() => run(`${list}.all(a, ${list}.all(b, true))`, {}, budget)).toThrow('the time limit was exceeded')
  })

  it('no operator swallows the end of the budget', () => {
    expect(() => run(`${list}.all(a, ${list}.all(b, ${list}.all(c, true))) || true`)).toThrow(BudgetError)
    expect(() => run(`[1].exists(x, ${list}.all(a, ${list}.all(b, ${list}.all(c, true))))`)).toThrow(BudgetError)
  })
})

describe('costs are those of upstream', () => {
  const costs: readonly (readonly [source: string, cost: number])[] = [
    ['self.a.b == 1', 4],
    ['true || false', 0],
    ['[1, 2, 3].all(x, true)', 20],
    ['"x".matches("abcd")', 1],
    ['["a"].map(x, x)', 34],
    ['has(self.a)', 1],
    ['[1, 2, 3, 4, 5].map(x, x).size() > 0', 88],
    ['[1, 2, 3, 4, 5].map(x, x)', 86],
    ['[1, 2, 3, 4, 5].map(x, x).filter(x, x % 2 == 0)', 138],
    ['[1, 2, 3, 4, 5].map(x, x).exists(x, x == 5) == true', 118],
    ['[1, 2, 3, 4, 5].map(x, x).map(x, x)', 162],
    ['[1, 2, 3, 4, 5].map(x, [x, x]).filter(z, z.size() == 2)', 232],
    ['[1, 2, 3, 4, 5].map(x, [x, x]).all(y, y.all(y, y == 1))', 171],
  ]
  it.each(costs)('%s costs %d', (source, cost) => {
    const budget = new Budget()
    run(source, { a: { b: 1 } }, budget)
    expect(budget.spent).toBe(cost)
  })
})

it('joins sets and keyed lists as upstream does', () => {
  const set = declareSchema(
    { type: 'array', listType: 'set', items: { type: 'integer' } },
    { isRoot: false, name: 'x' },
  )
  const { program } = compile('self + [2, 3] == [3, 2, 1]', { self: set ?? declaredDyn })
  const budget = new Budget()
  budget.beginCall()
  expect(program?.evaluate({ self: fromJson([1, 2], set) }, budget)).toBe(false)
  const same = compile('self == [2, 1]', { self: set ?? declaredDyn }).program
  expect(same?.evaluate({ self: fromJson([1, 2], set) }, budget)).toBe(true)
  expect(new ArrayList([1n]).size).toBe(1)
})
