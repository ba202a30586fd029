/**
 * IP addresses as numbers and in their one form, and what is wrong with those that new fields take.
 * @see IsValidIP, IsValidCIDR in k8s.io/apimachinery/pkg/util/validation/ip.go v0.36
 */
import { isIP } from 'node:net'

export type IpFamily = 'IPv4' | 'IPv6'

export interface Address {
  readonly family: IpFamily
  readonly value: bigint
}

export const addressBits: Readonly<Record<IpFamily, number>> = { IPv4: 32, IPv6: 128 }

/** undefined for what is no address, or one with a zone. */
export function parseAddress(text: string): Address | undefined {
  const version = text.includes('%') ? 0 : isIP(text)
  if (version === 4) {
    return { family: 'IPv4', value: text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) }
  }
  if (version !== 6) return undefined
  const [head = '', tail] = canonicalIpv6(text).split('::')
  const groups = (part: string | undefined): string[] => (part ? part.split(':') : [])
  const before = groups(head)
  const after = groups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const all = [...before, ...zeros, ...after]
  return { family: 'IPv6', value: all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n) }
}

/** In the one form that names are made of. */
export function formatAddress({ family, value }: Address): string {
  const parts = (count: number, width: bigint, radix: number): string[] =>
    Array.from({ length: count }, (_, i) =>
      ((value >> (width * BigInt(count - 1 - i))) & ((1n << width) - 1n)).toString(radix),
    )
  return family === 'IPv4' ? parts(4, 8n, 10).join('.') : canonicalIpv6(parts(8, 16n, 16).join(':'))
}

const canonicalIpv6 = (text: string): string => new URL(`http://[${text}]/`).hostname.slice(1, -1)

/** With the bits beyond the first `size` off. */
export const networkOf = ({ family, value }: Address, size: number): Address => {
  const free = BigInt(addressBits[family] - size)
  return { family, value: (value >> free) << free }
}

export const isMappedIpv4 = ({ family, value }: Address): boolean => family === 'IPv6' && value >> 32n === 0xffffn

const noLeadingZeros = (text: string): string => text.replace(/(?<![0-9a-f])0+(?=\d)/g, '')

/** Complaints, as of names; none of IPv6 that could be written shorter. */
export function isStrictIp(text: string): readonly string[] {
  const address = parseAddress(text)
  if (address === undefined) {
    const isOctal = isIP(noLeadingZeros(text)) === 4
    return [isOctal ? 'must not have leading 0s' : 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
  }
  return isMappedIpv4(address) ? ['must not be an IPv4-mapped IPv6 address'] : []
}

/** Complaints, as of names. */
export function isCanonicalIp(text: string): readonly string[] {
  const address = parseAddress(text)
  const faults = isStrictIp(text)
  if (address === undefined || faults.length > 0) return faults
  const wanted = formatAddress(address)
  return text === wanted ? [] : [`must be in canonical form (${JSON.stringify(wanted)})`]
}

interface Block {
  /** As written: bits beyond `size` may be on. */
  readonly address: Address
  readonly size: number
}

/** Also of octal-looking numbers, as Go once read them. undefined for what is no block. */
export function parseBlock(text: string): Block | undefined {
  const [ip = '', size = '', ...rest] = text.split('/')
  const address = parseAddress(ip) ?? parseAddress(noLeadingZeros(ip))
  if (address === undefined || rest.length > 0 || !/^\d+$/.test(size) || Number(size) > addressBits[address.family]) {
    return undefined
  }
  return { address, size: Number(size) }
}

/** As Go compares them: what is mapped into IPv6 is IPv4, but for the size of `inner`. */
export function isStrictSubset(inner: Block, outer: Block): boolean {
  const [within, around] = [unmapped(inner.address), unmapped(outer.address)]
  const size = isMappedIpv4(outer.address) ? Math.max(0, outer.size - 96) : outer.size
  if (within.family !== around.family || inner.size <= outer.size) return false
  return networkOf(within, size).value === networkOf(around, size).value
}

const unmapped = (address: Address): Address =>
  isMappedIpv4(address) ? { family: 'IPv4', value: address.value & 0xffff_ffffn } : address

/** Complaints, as of names; none of IPv6 that could be written shorter. */
export function isStrictCidr(text: string): readonly string[] {
  const block = parseBlock(text)
  if (block === undefined) return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
  const { address, size } = block
  const [ip = '', bits] = text.split('/')
  if (parseAddress(ip) === undefined || bits !== String(size))
    return ['must not have leading 0s in IP or prefix length']
  if (isMappedIpv4(address)) return ['must not have an IPv4-mapped IPv6 address']
  return networkOf(address, size).value === address.value ? [] : ['must not have bits set beyond the prefix length']
}

/** Complaints, as of names. */
export function isCanonicalCidr(text: string): readonly string[] {
  const block = parseBlock(text)
  const faults = isStrictCidr(text)
  if (block === undefined || faults.length > 0) return faults
  const wanted = `${formatAddress(block.address)}/${block.size}`
  return text === wanted ? [] : [`must be in canonical form (${JSON.stringify(wanted)})`]
}
