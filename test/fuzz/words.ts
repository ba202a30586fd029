/** Texts and values that servers get wrong. */
import { exactNumber } from '../../src/kube/json-value.ts'
import type { JsonValue } from '../../src/kube/types.ts'
import type { Random } from './random.ts'

const plain = ['x', 'y', 'default', 'kube-system', 'a-b', 'team-1', '0', 'true', 'null', 'a/b', 'example.com/key']
const awkward = [
  '',
  ' ',
  '.',
  '..',
  '../..',
  '/',
  '%2e%2e',
  '%2F',
  '%00',
  '%',
  '%zz',
  '*',
  '-',
  '--',
  'A',
  'x'.repeat(64),
  'x'.repeat(254),
  'ü→😀',
  '\u0000',
  '\u202e',
  '\ud800',
  '\u2028',
  '\r\n',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '$(NAMESPACE)',
  '$(CREATOR)',
  '$($(NAMESPACE))',
  '${x}',
  '{{x}}',
  '1e9',
  '0x10',
  '-1',
  '18446744073709551616',
  '1Ki',
  '1e400',
  '1h',
  '2026-02-30T25:61:61Z',
  '9999-12-31T23:59:59.999999999Z',
  '::1',
  '256.0.0.1',
  '10.96.0.0/33',
  '(((((((((((((((((a+)+)+)+',
  '[',
  'a,b=c,!d',
]

export const name = (random: Random): string => random.pick(random.chance(0.8) ? plain : awkward)
export const text = (random: Random): string =>
  random.weighted([
    [5, () => random.pick(plain)],
    [5, () => random.pick(awkward)],
    [1, () => 'x'.repeat(random.below(3000))],
    [2, () => random.pick(awkward) + random.pick(plain) + random.pick(awkward)],
  ])

const numbers: readonly JsonValue[] = [
  0,
  1,
  -1,
  1.5,
  -0,
  255,
  65535,
  65536,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  1e21,
  1e-7,
  1e308,
  exactNumber('9223372036854775807') as unknown as JsonValue,
  exactNumber('-9223372036854775809') as unknown as JsonValue,
]
export const number = (random: Random): JsonValue => random.pick(numbers)

/** Of any type, whatever is expected. */
export function value(random: Random, depth = 3): JsonValue {
  return random.weighted<JsonValue>([
    [4, () => text(random)],
    [3, () => number(random)],
    [1, () => random.chance(0.5)],
    [1, () => null],
    [depth > 0 ? 2 : 0, () => random.some(3, () => value(random, depth - 1))],
    [
      depth > 0 ? 2 : 0,
      () => Object.fromEntries(random.some(3, () => [text(random), value(random, depth - 1)] as const)),
    ],
  ])
}
