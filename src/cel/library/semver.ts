/** Versions: `semver('1.2.3-rc.1')`. @see k8s.io/apiserver/pkg/cel/library/semverlib.go (version 1) v0.36 */
import type { Budget } from '../budget.ts'
import { fn, type Library, method } from '../functions.ts'
import { CelError, OpaqueValue } from '../values.ts'

class Semver extends OpaqueValue {
  override readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly pre: readonly string[]
  constructor(numbers: readonly [bigint, bigint, bigint], pre: readonly string[]) {
    super()
    this.numbers = numbers
    this.pre = pre
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Semver && order(this, other) === 0
  }
}

const type = 'kubernetes.Semver'
const maxText = 1024
const number = '(0|[1-9]\\d*)'
const word = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const strict = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${word}(?:\\.${word})*))?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`,
)

function find(text: string, budget: Budget): Semver | undefined {
  if (text.length > maxText) return undefined
  budget.work(text.length)
  const m = strict.exec(text)
  if (!m) return undefined
  const numbers = [m[1], m[2], m[3]].map((n) => BigInt(n ?? '0')) as [bigint, bigint, bigint]
  if (numbers.some((n) => n >= 2n ** 64n)) return undefined
  return new Semver(numbers, m[4]?.split('.') ?? [])
}

/** Without `v`, with three numbers, none with leading zeros. */
function normalize(text: string): string {
  const bare = text.replace(/^v/, '')
  const [given] = /^[\d.]+/.exec(bare) ?? []
  if (given === undefined || bare.length > maxText) return bare
  const numbers = given.split('.').map((n) => n.replace(/^0+(?=\d)/, ''))
  while (numbers.length < 3) numbers.push('0')
  return numbers.join('.') + bare.slice(given.length)
}

function parse(text: string, budget: Budget): Semver {
  const found = find(text, budget)
  if (!found) throw new CelError(`invalid semver: ${JSON.stringify(text.slice(0, 64))}`)
  return found
}

function order(a: Semver, b: Semver): number {
  for (let i = 0; i < 3; i++) {
    const [x = 0n, y = 0n] = [a.numbers[i], b.numbers[i]]
    if (x !== y) return x < y ? -1 : 1
  }
  if (a.pre.length === 0 || b.pre.length === 0) return Number(b.pre.length > 0) - Number(a.pre.length > 0)
  for (let i = 0; i < Math.max(a.pre.length, b.pre.length); i++) {
    const [x, y] = [a.pre[i], b.pre[i]]
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1
    if (x === y) continue
    const [nx, ny] = [/^\d+$/.test(x), /^\d+$/.test(y)]
    if (nx && ny) return BigInt(x) < BigInt(y) ? -1 : 1
    if (nx !== ny) return nx ? -1 : 1
    return x < y ? -1 : 1
  }
  return 0
}

const numberAt =
  (index: 0 | 1 | 2) =>
  ({ numbers }: Semver): bigint =>
    BigInt.asIntN(64, numbers[index])

export const semverLibrary: Library = [
  fn('string_to_semver', 'semver', ['string', type], parse),
  fn('string_bool_to_semver', 'semver', ['string, bool', type], (t: string, loose: boolean, b: Budget) =>
    parse(loose ? normalize(t) : t, b),
  ),
  fn('is_semver_string', 'isSemver', ['string', 'bool'], (t: string, b: Budget) => find(t, b) !== undefined),
  fn('is_semver_string_bool', 'isSemver', ['string, bool', 'bool'], (t: string, loose: boolean, b: Budget) => {
    return find(loose ? normalize(t) : t, b) !== undefined
  }),
  method(
    'semver_is_greater_than',
    'isGreaterThan',
    [`${type}, ${type}`, 'bool'],
    (a: Semver, b: Semver) => order(a, b) > 0,
  ),
  method('semver_is_less_than', 'isLessThan', [`${type}, ${type}`, 'bool'], (a: Semver, b: Semver) => order(a, b) < 0),
  method('semver_compare_to', 'compareTo', [`${type}, ${type}`, 'int'], (a: Semver, b: Semver) => BigInt(order(a, b))),
  method('semver_major', 'major', [type, 'int'], numberAt(0)),
  method('semver_minor', 'minor', [type, 'int'], numberAt(1)),
  method('semver_patch', 'patch', [type, 'int'], numberAt(2)),
]
