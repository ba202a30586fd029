import { describe, expect, it } from 'vitest'
import { formatAddress, isCanonicalCidr, isCanonicalIp, parseAddress } from './ip-address.ts'

describe('addresses', () => {
  const forms: [name: string, given: string, want: string | undefined][] = [
    ['of IPv4 have one form', '10.96.0.1', '10.96.0.1'],
    ['of IPv6 are shortened', 'FD00:0:0:0:0:0:0:1', 'fd00::1'],
    ['of IPv6 may end in zeros', 'fd00:1::', 'fd00:1::'],
    ['of IPv6 without zeros stay long', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['with a zone are none', 'fe80::1%eth0', undefined],
    ['with a leading zero are none', '10.96.0.01', undefined],
    ['are no names', 'None', undefined],
  ]
  it.each(forms)('%s', (_, given, want) => {
    const address = parseAddress(given)
    expect(address && formatAddress(address)).toBe(want)
  })
})

describe('in a new field', () => {
  const noIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
  const noCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
  const ips: [name: string, given: string, want: string | undefined][] = [
    ['an address in its one form is right', '10.9.8.7', undefined],
    ['so is a short one of IPv6', '2001:db8::ffff', undefined],
    ['a word is none', 'a', noIp],
    ['one with a zone is none', 'fe80::1%eth0', noIp],
    ['one of too large numbers is none', '10.0.0.256', noIp],
    ['a number in front of which is a 0 is refused', '010.0.0.1', 'must not have leading 0s'],
    ['an IPv4 address in IPv6 is refused', '::ffff:1.2.3.4', 'must not be an IPv4-mapped IPv6 address'],
    ['a long form is refused', '2001:DB8:0::1', 'must be in canonical form ("2001:db8::1")'],
  ]
  it.each(ips)('%s', (_, given, want) => expect(isCanonicalIp(given)).toEqual(want === undefined ? [] : [want]))

  const cidrs: [name: string, given: string, want: string | undefined][] = [
    ['a range in its one form is right', '10.9.8.0/24', undefined],
    ['so is one of IPv6', '2001:db8::/64', undefined],
    ['so is everything', '0.0.0.0/0', undefined],
    ['an address is no range', '10.9.8.0', noCidr],
    ['a range larger than the family is none', '10.9.8.0/33', noCidr],
    ['a range with two sizes is none', '10.9.8.0/24/24', noCidr],
    ['a size with a 0 in front is refused', '10.9.8.0/024', 'must not have leading 0s in IP or prefix length'],
    ['an address with a 0 in front is refused', '010.9.8.0/24', 'must not have leading 0s in IP or prefix length'],
    ['a range of IPv4 in IPv6 is refused', '::ffff:10.0.0.0/104', 'must not have an IPv4-mapped IPv6 address'],
    ['a range that begins within itself is refused', '10.9.8.1/24', 'must not have bits set beyond the prefix length'],
    ['a long form of a range is refused', '2001:db8:0::/64', 'must be in canonical form ("2001:db8::/64")'],
  ]
  it.each(cidrs)('%s', (_, given, want) => expect(isCanonicalCidr(given)).toEqual(want === undefined ? [] : [want]))
})
