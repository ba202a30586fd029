import { describe, expect, it } from 'vitest'
import { formatAddress } from '../../kube/ip-address.ts'
import { candidates, parseCidr } from './address-range.ts'

describe('a range', () => {
  const texts = (cidr: string, random = 0): string[] => {
    const range = parseCidr(cidr)
    if (range === undefined) return []
    const { family } = range
    return [...candidates(range, () => random, 1000)].map((value) => formatAddress({ family, value }))
  }

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

  it('is tried from anywhere on, each address once, the lower part last', () => {
    const all = texts('10.0.0.0/24', 0.5)
    expect(new Set(all).size).toBe(254)
    expect(all.length).toBe(254)
    expect(all.slice(0, 2)).toEqual(['10.0.0.136', '10.0.0.137'])
    expect(all.slice(-16).sort()).toEqual(Array.from({ length: 16 }, (_, i) => `10.0.0.${i + 1}`).sort())
  })

  it('that is small keeps nothing back', () => {
    expect(texts('10.0.0.0/29')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
  })

  it('that is huge is not walked to its end', () => {
    expect(texts('fd00::/64', 0.9999)).toHaveLength(1000)
  })
})
