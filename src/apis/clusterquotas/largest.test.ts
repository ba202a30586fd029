/** Which of many are listed, as they change, and when all must be ranked again. */
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { runAtOnce } from '../../base/resumable.ts'
import { amounts } from '../pods/resources.ts'
import { Largest } from './largest.ts'
import { mostListed, type Printed } from './types.ts'

interface One {
  readonly used: Printed
}

const hard = amounts({ pods: '10', 'requests.cpu': '4' })
const part = ({ used }: One): number =>
  Math.max(Number(used['pods'] ?? 0) / 10, Number.parseInt(String(used['requests.cpu'] ?? 0), 10) / 4000)

class World {
  readonly all = new Map<string, One>()
  readonly largest = new Largest<One>(this.all, (key) => key)

  set(name: string, used: Printed | undefined): void {
    const before = this.all.get(name)
    if (used === undefined) this.all.delete(name)
    else this.all.set(name, { used })
    this.largest.changed(name, before)
  }

  /** As a sort of all has it. */
  get expected(): string[] {
    return [...this.all]
      .sort(([a, x], [b, y]) => part(y) - part(x) || (a < b ? -1 : 1))
      .map(([name]) => name)
      .slice(0, mostListed)
  }

  get listed(): string[] | undefined {
    return this.largest.listed(hard)?.map(({ name }) => name)
  }
}

const used = fc.record({ pods: fc.nat(12).map(String), 'requests.cpu': fc.nat(4000).map((n) => `${n}m`) })
const change = fc.record({ name: fc.nat(900).map((n) => `n${n}`), used: fc.option(used, { nil: undefined }) })

test('those are listed that use most of a limit, then by name, however they have come, changed and gone', () => {
  const steps = fc.array(fc.array(change, { maxLength: 200 }), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 900 }), steps, (first, rounds) => {
      const world = new World()
      for (const one of first) world.set(one.name, one.used)
      const ranking = world.largest.rank(hard)
      for (const changes of rounds) {
        // Changes meet a ranking that is under way, and one that is done.
        ranking.next()
        for (const one of changes) world.set(one.name, one.used)
        if (world.listed !== undefined) expect(world.listed).toEqual(world.expected)
      }
      runAtOnce(ranking)
      if (world.listed === undefined) runAtOnce(world.largest.rank(hard))
      expect(world.listed).toEqual(world.expected)
    }),
    { numRuns: 200 },
  )
})

describe('when all must be ranked', () => {
  const many = (): World => {
    const world = new World()
    for (let i = 0; i < 2000; i++) world.set(`n${String(i).padStart(4, '0')}`, { pods: '1' })
    return world
  }

  it('is before the first list, and where the limits are other ones', () => {
    const world = many()
    expect(world.listed).toBeUndefined()
    runAtOnce(world.largest.rank(hard))
    expect(world.listed).toEqual(world.expected)
    expect(world.largest.listed(amounts({ pods: '10' }))).toBeUndefined()
  })

  it('is not after changes of any that stay behind, nor where as many come down as are kept to spare', () => {
    const world = many()
    runAtOnce(world.largest.rank(hard))
    for (let i = 0; i < 300; i++) world.set(`n${String(i).padStart(4, '0')}`, { pods: '0' })
    for (let i = 1000; i < 2000; i++) world.set(`n${i}`, i % 2 === 0 ? { pods: '0' } : undefined)
    expect(world.listed).toEqual(world.expected)
    world.set('n0300', undefined)
    expect(world.listed).toBeUndefined()
    runAtOnce(world.largest.rank(hard))
    expect(world.listed).toEqual(world.expected)
  })

  it('is not after changes of what has come down before', () => {
    const world = many()
    runAtOnce(world.largest.rank(hard))
    for (const pods of ['0', '0', undefined]) world.set('n0005', pods === undefined ? undefined : { pods })
    expect(world.listed).toEqual(world.expected)
  })

  it('takes turns: a ranking of thousands yields before its end', () => {
    const ranking = many().largest.rank(hard)
    let turns = 0
    while (ranking.next().done !== true) turns++
    expect(turns).toBe(31)
  })

  it('lists nothing of none, and none without a name', () => {
    const all = new Map<string, One>()
    const largest = new Largest<One>(all, () => '')
    expect(largest.listed(hard)).toEqual([])
    all.set('a', { used: { pods: '1' } })
    runAtOnce(largest.rank(hard))
    expect(largest.listed(hard)).toEqual([])
  })
})
