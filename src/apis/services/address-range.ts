/**
 * The ranges that Services are given their addresses from. The lower part of a range is left to clients that ask for an
 * address by name, so that they rarely find it taken.
 * @see pkg/registry/core/service/ipallocator of Kubernetes 1.36 (which addresses of a range are given, and the bands)
 */
import {
  type Address,
  addressBits,
  formatAddress,
  type IpFamily,
  networkOf,
  parseAddress,
} from '../../kube/ip-address.ts'

export interface AddressRange {
  /** As `10.96.0.0/12`. */
  readonly cidr: string
  readonly family: IpFamily
  /** Both are given to Services; the network's own address is not, nor is the broadcast address of IPv4. */
  readonly first: bigint
  readonly last: bigint
  /** Of those, how many at the beginning are only given when nothing else is left. */
  readonly reserved: bigint
}

/** undefined for what is no CIDR, or too small to give anything. */
export function parseCidr(cidr: string): AddressRange | undefined {
  const [text = '', size = '', ...rest] = cidr.split('/')
  const address = parseAddress(text)
  if (address === undefined || rest.length > 0 || !/^\d{1,3}$/.test(size)) return undefined
  const { family } = address
  const free = addressBits[family] - Number(size)
  if (free < 0) return undefined
  const base = networkOf(address, Number(size)).value
  const first = base + 1n
  const last = base + (1n << BigInt(free)) - (family === 'IPv4' ? 2n : 1n)
  if (last < first) return undefined
  return {
    cidr: `${formatAddress({ family, value: base })}/${Number(size)}`,
    family,
    first,
    last,
    reserved: reservedOf(last - first + 1n),
  }
}

const smallest = 16n
const largest = 256n

/** A sixteenth, at least 16 and at most 256; nothing of a range that is no larger than that. */
function reservedOf(size: bigint): bigint {
  if (size <= smallest) return 0n
  const part = size / 16n
  return part < smallest ? smallest : part > largest ? largest : part
}

export const isWithin = (range: AddressRange, { family, value }: Address): boolean =>
  family === range.family && value >= range.first && value <= range.last
