/**
 * Internet addresses and ranges of them. IPv4 inside IPv6 and zones are refused, as upstream refuses them.
 * @see k8s.io/apiserver/pkg/cel/library/ip.go, cidr.go v0.36
 */
import { isIPv4, isIPv6 } from 'node:net'
import { fn, type Library, method } from '../functions.ts'
import { CelError, OpaqueValue } from '../values.ts'

const maxText = 64

class Address extends OpaqueValue {
  override readonly typeName = 'net.IP'
  readonly bits: bigint
  readonly width: 32 | 128
  constructor(bits: bigint, width: 32 | 128) {
    super()
    this.bits = bits
    this.width = width
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Address && other.bits === this.bits && other.width === this.width
  }
  override get size(): number {
    return this.width / 8
  }
}

class Range extends OpaqueValue {
  override readonly typeName = 'net.CIDR'
  readonly address: Address
  readonly length: number
  constructor(address: Address, length: number) {
    super()
    this.address = address
    this.length = length
  }
  /** The address without what lies beyond the prefix. */
  get network(): bigint {
    const shift = BigInt(this.address.width - this.length)
    return (this.address.bits >> shift) << shift
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Range && other.length === this.length && other.address.equals(this.address)
  }
  override get size(): number {
    return Math.ceil(this.length / 8)
  }
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, maxText))

/** @throws CelError */
function parseAddress(text: string): Address {
  if (text.length <= maxText) {
    if (isIPv4(text)) return new Address(v4(text), 32)
    if (isIPv6(text)) {
      if (text.includes('%')) throw new CelError(`IP address ${quoted(text)} with zone value is not allowed`)
      const bits = v6(text)
      if (bits >> 32n === 0xffffn) throw new CelError(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`)
      return new Address(bits, 128)
    }
  }
  throw new CelError(
    `IP Address ${quoted(text)} parse error during conversion from string: ParseAddr(${quoted(text)}): unable to parse IP`,
  )
}

const v4 = (text: string): bigint => text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)

function v6(text: string): bigint {
  const dotted = /(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const tail = dotted ? v4(dotted[1] ?? '') : 0n
  const hex = dotted
    ? `${text.slice(0, dotted.index)}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`
    : text
  const [head = '', rest] = hex.split('::')
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const left = groups(head)
  const right = rest === undefined ? [] : groups(rest)
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}

function printAddress({ bits, width }: Address): string {
  if (width === 32) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  // The longest run of zeros, of at least two, is left out; the first of equally long ones.
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let n = 0
    while (i + n < 8 && groups[i + n] === '0') n++
    if (n > length) [start, length] = [i, n]
  }
  if (start < 0) return groups.join(':')
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`
}

/** @throws CelError */
function parseRange(text: string): Range {
  const wrong = (why: string): CelError =>
    new CelError(
      `network address parse error during conversion from string: netip.ParsePrefix(${quoted(text)}): ${why}`,
    )
  const slash = text.lastIndexOf('/')
  if (slash < 0 || text.length > maxText) throw wrong("no '/'")
  const bits = text.slice(slash + 1)
  const base = text.slice(0, slash)
  if (base.includes('%')) throw wrong('IPv6 zones cannot be present in a prefix')
  if (!isIPv4(base) && !isIPv6(base)) throw wrong(`ParseAddr(${quoted(base)}): unable to parse IP`)
  const address = parseAddress(base)
  if (!/^(0|[1-9]\d{0,2})$/.test(bits)) throw wrong(`bad bits after slash: ${quoted(bits)}`)
  if (Number(bits) > address.width) throw wrong('prefix length out of range')
  return new Range(address, Number(bits))
}

function succeeds(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch (e) {
    if (e instanceof CelError) return false
    throw e
  }
}

function contains(range: Range, address: Address): boolean {
  if (range.address.width !== address.width) return false
  return new Range(address, range.length).network === range.network
}

const containsRange = (outer: Range, inner: Range): boolean =>
  inner.length >= outer.length && contains(outer, new Address(inner.network, inner.address.width))

/** Is the address within the range of its family? */
const within = (v4Range: string | undefined, v6Range: string | undefined) => {
  let ranges: readonly (Range | undefined)[] | undefined
  return (a: Address): boolean => {
    ranges ??= [v4Range, v6Range].map((r) => (r === undefined ? undefined : parseRange(r)))
    const range = ranges[a.width === 32 ? 0 : 1]
    return range !== undefined && contains(range, a)
  }
}

const isUnspecified = within('0.0.0.0/32', '::/128')
const isLoopback = within('127.0.0.0/8', '::1/128')
const isLinkLocalMulticast = within('224.0.0.0/24', 'ff02::/16')
const isLinkLocalUnicast = within('169.254.0.0/16', 'fe80::/10')
const isMulticast = within('224.0.0.0/4', 'ff00::/8')
const isBroadcast = within('255.255.255.255/32', undefined)

const isGlobalUnicast = (a: Address): boolean =>
  !isUnspecified(a) && !isLoopback(a) && !isMulticast(a) && !isLinkLocalUnicast(a) && !isBroadcast(a)

export const networkLibrary: Library = [
  fn('string_to_ip', 'ip', ['string', 'net.IP'], (text: string) => parseAddress(text)),
  fn('is_ip', 'isIP', ['string', 'bool'], (text: string) => succeeds(() => parseAddress(text))),
  fn(
    'ip_is_canonical',
    'ip.isCanonical',
    ['string', 'bool'],
    (text: string) => printAddress(parseAddress(text)) === text,
  ),
  fn('ip_to_string', 'string', ['net.IP', 'string'], printAddress),
  method('ip_family', 'family', ['net.IP', 'int'], (a: Address) => (a.width === 32 ? 4n : 6n)),
  method('ip_is_unspecified', 'isUnspecified', ['net.IP', 'bool'], isUnspecified),
  method('ip_is_loopback', 'isLoopback', ['net.IP', 'bool'], isLoopback),
  method('ip_is_link_local_multicast', 'isLinkLocalMulticast', ['net.IP', 'bool'], isLinkLocalMulticast),
  method('ip_is_link_local_unicast', 'isLinkLocalUnicast', ['net.IP', 'bool'], isLinkLocalUnicast),
  method('ip_is_global_unicast', 'isGlobalUnicast', ['net.IP', 'bool'], isGlobalUnicast),
  fn('string_to_cidr', 'cidr', ['string', 'net.CIDR'], (text: string) => parseRange(text)),
  fn('is_cidr', 'isCIDR', ['string', 'bool'], (text: string) => succeeds(() => parseRange(text))),
  fn('cidr_to_string', 'string', ['net.CIDR', 'string'], (r: Range) => `${printAddress(r.address)}/${r.length}`),
  method('cidr_contains_ip_string', 'containsIP', ['net.CIDR, string', 'bool'], (r: Range, text: string) => {
    return contains(r, parseAddress(text))
  }),
  method('cidr_contains_ip_ip', 'containsIP', ['net.CIDR, net.IP', 'bool'], contains),
  method('cidr_contains_cidr_string', 'containsCIDR', ['net.CIDR, string', 'bool'], (r: Range, text: string) => {
    return containsRange(r, parseRange(text))
  }),
  method('cidr_contains_cidr', 'containsCIDR', ['net.CIDR, net.CIDR', 'bool'], containsRange),
  method('cidr_ip', 'ip', ['net.CIDR', 'net.IP'], (r: Range) => r.address),
  method('cidr_prefix_length', 'prefixLength', ['net.CIDR', 'int'], (r: Range) => BigInt(r.length)),
  method('cidr_masked', 'masked', ['net.CIDR', 'net.CIDR'], (r: Range) => {
    return new Range(new Address(r.network, r.address.width), r.length)
  }),
]
