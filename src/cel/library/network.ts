/**
 * Internet addresses and ranges of them. IPv4 inside IPv6 and zones are refused, as upstream refuses them.
 * @see k8s.io/apiserver/pkg/cel/library/ip.go, cidr.go v0.36
 */
import {
  addressBits,
  formatAddress,
  type Address as IpAddress,
  isMappedIpv4,
  networkOf,
  parseAddress,
} from '../../kube/ip-address.ts'
import { fn, type Library, method } from '../functions.ts'
import { CelError, OpaqueValue } from '../values.ts'

const maxText = 64

class Address extends OpaqueValue {
  override readonly typeName = 'net.IP'
  readonly ip: IpAddress
  constructor(ip: IpAddress) {
    super()
    this.ip = ip
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Address && other.ip.value === this.ip.value && other.ip.family === this.ip.family
  }
  override get size(): number {
    return addressBits[this.ip.family] / 8
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
  get network(): IpAddress {
    return networkOf(this.address.ip, this.length)
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Range && other.length === this.length && other.address.equals(this.address)
  }
  override get size(): number {
    return Math.ceil(this.length / 8)
  }
}

const quote = (text: string): string => JSON.stringify(text.slice(0, maxText))

/** @throws CelError */
function addressOf(text: string): Address {
  const zoned = /^([^%]+)%.+$/.exec(text)?.[1]
  const ip = text.length > maxText ? undefined : parseAddress(zoned ?? text)
  if (ip === undefined || (zoned !== undefined && ip.family === 'IPv4')) {
    throw new CelError(
      `IP Address ${quote(text)} parse error during conversion from string: ParseAddr(${quote(text)}): ` +
        'unable to parse IP',
    )
  }
  if (zoned !== undefined) throw new CelError(`IP address ${quote(text)} with zone value is not allowed`)
  if (isMappedIpv4(ip)) throw new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`)
  return new Address(ip)
}

/** @throws CelError */
function parseRange(text: string): Range {
  const wrong = (why: string): CelError =>
    new CelError(`network address parse error during conversion from string: netip.ParsePrefix(${quote(text)}): ${why}`)
  const slash = text.lastIndexOf('/')
  if (slash < 0 || text.length > maxText) throw wrong("no '/'")
  const bits = text.slice(slash + 1)
  const base = text.slice(0, slash)
  if (base.includes('%')) throw wrong('IPv6 zones cannot be present in a prefix')
  if (parseAddress(base) === undefined) throw wrong(`ParseAddr(${quote(base)}): unable to parse IP`)
  const address = addressOf(base)
  if (!/^(0|[1-9]\d{0,2})$/.test(bits)) throw wrong(`bad bits after slash: ${quote(bits)}`)
  if (Number(bits) > addressBits[address.ip.family]) throw wrong('prefix length out of range')
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

function contains({ address: { ip }, length, network }: Range, address: Address): boolean {
  return ip.family === address.ip.family && networkOf(address.ip, length).value === network.value
}

const containsRange = (outer: Range, inner: Range): boolean =>
  inner.length >= outer.length && contains(outer, new Address(inner.network))

/** Is the address within the range of its family? */
const within = (v4Range: string | undefined, v6Range: string | undefined) => {
  let ranges: readonly (Range | undefined)[] | undefined
  return (a: Address): boolean => {
    ranges ??= [v4Range, v6Range].map((r) => (r === undefined ? undefined : parseRange(r)))
    const range = ranges[a.ip.family === 'IPv4' ? 0 : 1]
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

const print = ({ ip }: Address): string => formatAddress(ip)

export const networkLibrary: Library = [
  fn('string_to_ip', 'ip', ['string', 'net.IP'], (text: string) => addressOf(text)),
  fn('is_ip', 'isIP', ['string', 'bool'], (text: string) => succeeds(() => addressOf(text))),
  fn('ip_is_canonical', 'ip.isCanonical', ['string', 'bool'], (text: string) => print(addressOf(text)) === text),
  fn('ip_to_string', 'string', ['net.IP', 'string'], print),
  method('ip_family', 'family', ['net.IP', 'int'], (a: Address) => (a.ip.family === 'IPv4' ? 4n : 6n)),
  method('ip_is_unspecified', 'isUnspecified', ['net.IP', 'bool'], isUnspecified),
  method('ip_is_loopback', 'isLoopback', ['net.IP', 'bool'], isLoopback),
  method('ip_is_link_local_multicast', 'isLinkLocalMulticast', ['net.IP', 'bool'], isLinkLocalMulticast),
  method('ip_is_link_local_unicast', 'isLinkLocalUnicast', ['net.IP', 'bool'], isLinkLocalUnicast),
  method('ip_is_global_unicast', 'isGlobalUnicast', ['net.IP', 'bool'], isGlobalUnicast),
  fn('string_to_cidr', 'cidr', ['string', 'net.CIDR'], (text: string) => parseRange(text)),
  fn('is_cidr', 'isCIDR', ['string', 'bool'], (text: string) => succeeds(() => parseRange(text))),
  fn('cidr_to_string', 'string', ['net.CIDR', 'string'], (r: Range) => `${print(r.address)}/${r.length}`),
  method('cidr_contains_ip_string', 'containsIP', ['net.CIDR, string', 'bool'], (r: Range, text: string) => {
    return contains(r, addressOf(text))
  }),
  method('cidr_contains_ip_ip', 'containsIP', ['net.CIDR, net.IP', 'bool'], contains),
  method('cidr_contains_cidr_string', 'containsCIDR', ['net.CIDR, string', 'bool'], (r: Range, text: string) => {
    return containsRange(r, parseRange(text))
  }),
  method('cidr_contains_cidr', 'containsCIDR', ['net.CIDR, net.CIDR', 'bool'], containsRange),
  method('cidr_ip', 'ip', ['net.CIDR', 'net.IP'], (r: Range) => r.address),
  method('cidr_prefix_length', 'prefixLength', ['net.CIDR', 'int'], (r: Range) => BigInt(r.length)),
  method('cidr_masked', 'masked', ['net.CIDR', 'net.CIDR'], (r: Range) => {
    return new Range(new Address(r.network), r.length)
  }),
]
