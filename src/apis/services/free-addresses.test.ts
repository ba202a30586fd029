import { describe, expect, it } from 'vitest'
import { formatAddress } from '../../kube/ip-address.ts'
import { parseCidr } from './address-range.ts'
import { FreeAddresses } from './free-addresses.ts'

function firstOf(values: Iterable<bigint>, most: number): bigint[] {
  const first: bigint[] = []
  for (const value of values) if (first.push(value) === most) break
  return first
}

/**
 * At most 300 of what is offered in a range where `taken` are taken, after the random ones; `taken` can change between
 * two answers.
 */
function offers(
  cidr: string,
  taken: readonly string[],
  random = 0,
): { next(): string[]; change(ip: string, to: boolean): void } {
  const range = parseCidr(cidr)
  if (range === undefined) throw new Error(cidr)
  let change: (ip: string, isTaken: boolean) => void = () => {}
  const free = new FreeAddresses(
    () => random,
    (changed) => {
      change = changed
      for (const ip of taken) changed(ip, true)
    },
  )
  const next = (): string[] =>
    firstOf(free.of(range), 332)
      .slice(32)
      .map((value) => formatAddress({ family: range.family, value }))
  return { next, change: (ip, to) => change(ip, to) }
}

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `10.0.0.${from + i}`)

describe('of a range', () => {
  it('each address is offered once, from anywhere on, the lower part last', () => {
    const all = offers('10.0.0.0/24', [], 0.5).next()
    expect(all).toEqual([...numbered(136, 254), ...numbered(17, 135), ...numbered(1, 16)])
  })

  it('that is small nothing is kept for later', () => {
    expect(offers('10.0.0.0/29', []).next()).toEqual(numbered(1, 6))
  })

  it('nothing is offered that is taken, or that others have', () => {
    const taken = [...numbered(1, 99), ...numbered(101, 254), '10.1.0.100', 'fd00::64', 'no address']
    expect(offers('10.0.0.0/24', taken, 0.9).next()).toEqual(['10.0.0.100'])
  })

  it('that is full nothing is offered, until one is given back', () => {
    const range = offers('10.0.0.0/24', numbered(1, 254))
    expect(range.next()).toEqual([])
    range.change('10.0.0.254', false)
    expect(range.next()).toEqual(['10.0.0.254'])
    range.change('10.0.0.254', true)
    expect(range.next()).toEqual([])
  })

  it('that is huge the beginning is known', () => {
    expect(offers('fd00::/64', ['fd00::102']).next().slice(0, 2)).toEqual(['fd00::101', 'fd00::103'])
    expect(offers('fd00::/64', [], 0.999_999).next()[0]).toBe('fd00::f:ffff')
  })

  it('the first ones offered are random, and none of the lower part', () => {
    const range = parseCidr('10.0.0.0/24')
    if (range === undefined) throw new Error('no range')
    let at = 0
    const free = new FreeAddresses(
      () => (at++ % 10) / 10,
      () => {},
    )
    const first = firstOf(free.of(range), 11).map((value) => formatAddress({ family: 'IPv4', value }))
    expect(first.slice(0, 3)).toEqual(['10.0.0.17', '10.0.0.40', '10.0.0.64'])
    expect(first[10]).toBe('10.0.0.17')
  })
})
