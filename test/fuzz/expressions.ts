/** CEL: sentences of its grammar, and now and then none. */
import type { Random } from './random.ts'

const roots = [
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'authorizer',
  'variables',
  'self',
  'oldSelf',
]
const fields = ['metadata', 'name', 'labels', 'spec', 'size', 'ports', 'data', 'x', 'userInfo', 'groups', 'operation']
const literals = [
  'true',
  'null',
  '0',
  '-1',
  '9223372036854775807',
  '-9223372036854775808',
  '1u',
  '1.5',
  '1e308',
  '0x7f',
  "''",
  "'a'",
  "'ü→😀'",
  "b'\\xff'",
  "r'\\d+'",
  '"""a"""',
  "'\\U0010ffff'",
  '[]',
  '{}',
  "{'a': 1}",
  'int',
  'type(1)',
]
const functions = [
  'size',
  'string',
  'int',
  'double',
  'duration',
  'timestamp',
  'quantity',
  'url',
  'ip',
  'cidr',
  'semver',
  'has',
  'type',
  'dyn',
  'bool',
  'bytes',
  'optional.of',
  'isQuantity',
  'format.named',
]
const methods = [
  'size',
  'matches',
  'contains',
  'startsWith',
  'split',
  'join',
  'replace',
  'substring',
  'lowerAscii',
  'find',
  'findAll',
  'isSorted',
  'sum',
  'min',
  'indexOf',
  'flatten',
  'reverse',
  'format',
  'charAt',
  'getSeconds',
  'orValue',
  'hasValue',
  'check',
  'group',
  'resource',
  'allowed',
  'sortBy',
]
const macros = ['all', 'exists', 'exists_one', 'map', 'filter', 'transformList', 'transformMap', 'sortBy']
const operators = ['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', '&&', '||', 'in', '?:']
const tokens = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '.',
  ',',
  ':',
  '?',
  '!',
  '-',
  '&&',
  "'",
  '"',
  'in',
  'a',
  '1',
  '\\',
  '//',
  '\n',
]

export function expression(random: Random, depth = 4): string {
  if (random.chance(0.03)) return random.some(30, () => random.pick(tokens)).join('')
  if (depth <= 0) return leaf(random)
  const part = (): string => expression(random, depth - 1)
  return random.weighted([
    [3, () => leaf(random)],
    [3, () => `${part()}.${random.pick(fields)}`],
    [1, () => `${part()}.?${random.pick(fields)}`],
    [1, () => `${part()}[${part()}]`],
    [3, () => binary(random, part)],
    [2, () => `${random.pick(functions)}(${random.some(2, part).join(', ')})`],
    [3, () => `${part()}.${random.pick(methods)}(${random.some(2, part).join(', ')})`],
    [2, () => `${part()}.${random.pick(macros)}(i, ${part()})`],
    [1, () => `cel.bind(v, ${part()}, ${part()})`],
    [1, () => `(${part()} ? ${part()} : ${part()})`],
    [1, () => `!${part()}`],
    [1, () => `[${random.some(3, part).join(', ')}]`],
    [1, () => `{${random.some(3, () => `${part()}: ${part()}`).join(', ')}}`],
    [1, () => `Object{spec: Object.spec{${random.pick(fields)}: ${part()}}}`],
    [1, () => `'${'x'.repeat(random.below(2000))}'`],
  ])
}

function binary(random: Random, part: () => string): string {
  const operator = random.pick(operators)
  return operator === '?:' ? `${part()} ? ${part()} : ${part()}` : `(${part()} ${operator} ${part()})`
}

const leaf = (random: Random): string =>
  random.chance(0.5) ? `${random.pick(roots)}.${random.pick(fields)}` : random.pick([...literals, ...roots, 'i', 'v'])

/** Long chains and deep nests, which cost more than they look. */
export function steep(random: Random): string {
  const times = 10 ** (1 + random.below(4))
  return random.pick([
    `${'('.repeat(times)}1${')'.repeat(times)}`,
    `${'!'.repeat(times)}true`,
    `1${'+1'.repeat(times)}`,
    `[1,2,3]${'.map(i, [i, i])'.repeat(Math.min(times, 30))}`,
    `object${'.a'.repeat(times)}`,
    `'${'a'.repeat(times)}'.matches('${'(a+)+'.repeat(Math.min(times, 30))}$')`,
    `${'['.repeat(times)}${']'.repeat(times)}`,
    `true${' ? true : false'.repeat(times)}`,
  ])
}
