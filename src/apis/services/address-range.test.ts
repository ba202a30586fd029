import { describe, expect, it } from 'vitest'
import { formatAddress } from '../../kube/ip-address.ts'
import { parseCidr } from './address-range.ts'

describe('a range', () => {
  const ranges: [name: string, cidr: string, want: { cidr: string; first: string; last: string } | undefined][] = [
    [
      'of IPv4 gives neither its first address nor its last',
      '10.0.0.77/24',
      { cidr: '10.0.0.0/24', first: '10.0.0.1', last: '10.0.0.254' },
    ],
    ['of IPv6 gives its last', 'fd00::/112', { cidr: 'fd00::/112', first: 'fd00::1', last: 'fd00::ffff' }],
    ['of one address gives none', '10.0.0.1/32', undefined],
    ['must have a size', '10.0.0.0', undefined],
    ['must not be larger than the family', '10.0.0.0/33', undefined],
  ]
  it.each(ranges)('%s', (_, cidr, want) => {
    const range = parseCidr(cidr)
    const text = (value: bigint): string => formatAddress({ family: range?.family ?? 'IPv4', value })
    expect(range && { cidr: range.cidr, first: text(range.first), last: text(range.last) }).toEqual(want)
  })
})
