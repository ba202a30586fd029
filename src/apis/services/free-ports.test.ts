import { describe, expect, it } from 'vitest'
import { portClaim } from './claims.ts'
import { FreePorts } from './free-ports.ts'

const probes = 32

/** What is offered after the random ones; `taken` can change between two answers. */
function offers(
  [first, last]: [number, number],
  taken: readonly string[],
  random = 0,
): { next(): number[]; change(name: string, to: boolean): void } {
  let change: (name: string, isTaken: boolean) => void = () => {}
  const ports = new FreePorts(
    { first, last },
    () => random,
    (changed) => {
      change = changed
      for (const name of taken) changed(name, true)
    },
  )
  return { next: () => [...ports.candidates()].slice(probes), change: (name, to) => change(name, to) }
}

const numbered = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const claims = (from: number, to: number): string[] => numbered(from, to).map(portClaim)

describe('of a range of ports', () => {
  it('each is offered once, from anywhere on, the lower part last', () => {
    const want = [...numbered(30_066, 30_115), ...numbered(30_016, 30_065), ...numbered(30_000, 30_015)]
    expect(offers([30_000, 30_115], [], 0.5).next()).toEqual(want)
  })

  it('that is small nothing is kept for later', () => {
    expect(offers([30_000, 30_015], []).next()).toEqual(numbered(30_000, 30_015))
  })

  it('the random ones are of the upper part', () => {
    const at = (random: number): number[] => [
      ...new Set(
        [
          ...new FreePorts(
            { first: 30_000, last: 32_767 },
            () => random,
            () => {},
          ).candidates(),
        ].slice(0, probes),
      ),
    ]
    expect([at(0), at(0.999_999)]).toEqual([[30_086], [32_767]])
  })

  it('nothing is offered that is taken; what else is kept beside the claims is none', () => {
    const taken = [
      ...claims(30_000, 30_049),
      ...claims(30_051, 30_099),
      'default',
      'nodeport-',
      'nodeport-80',
      'nodeport-x',
    ]
    expect(offers([30_000, 30_099], taken, 0.9).next()).toEqual([30_050])
  })

  it('that is full nothing is offered, until one is given back', () => {
    const range = offers([30_000, 30_099], claims(30_000, 30_099))
    expect(range.next()).toEqual([])
    range.change('nodeport-30003', false)
    expect(range.next()).toEqual([30_003])
    range.change('nodeport-30003', true)
    expect(range.next()).toEqual([])
  })
})
