import { describe, expect, it } from 'vitest'
import { type Change, positionsPerCommit } from '../storage.ts'
import { History } from './history.ts'

/** `count` commits of one write each, in turn on `keys` keys. */
function filled(count: number, keys: number): History {
  const history = new History(positionsPerCommit - 1)
  for (let i = 1; i <= count; i++) {
    const change: Change = {
      key: `/${i % keys}`,
      revision: i * positionsPerCommit,
      value: new Uint8Array(10),
      previous: undefined,
    }
    history.append(change)
  }
  return history
}

describe('History', () => {
  it('dropping frees what is dropped, by revision and by key', () => {
    const history = filled(5000, 100)
    const half = 2500 * positionsPerCommit
    while (!history.drop(half, 700)) expect(history.base).toBeLessThan(half)
    expect(history.base).toBe(half)
    expect(history.after(half, 10_000)).toHaveLength(2500)
    const kept = history.byKey.collect('/', '0', 1000).values
    expect(kept.map((v) => v.changes.length - v.from)).toEqual(kept.map(() => 25))
    // What is dropped but not yet cut off is never more than what is kept.
    for (const versions of kept) expect(versions.from).toBeLessThanOrEqual(Math.max(32, versions.changes.length / 2))
    history.drop(5000 * positionsPerCommit, 10_000)
    expect([history.byKey.size, history.sizeBytes]).toEqual([0, 0])
  })

  it('tells where to cut so that no more than so many bytes remain', () => {
    const history = filled(5000, 100)
    const limit = history.sizeBytes / 2
    const cut = history.revisionBeyond(limit)
    expect(cut).toBeDefined()
    history.drop(cut ?? 0, 10_000)
    expect(history.sizeBytes).toBeLessThanOrEqual(limit)
    expect(history.sizeBytes).toBeGreaterThan(limit / 2)
    expect(history.revisionBeyond(limit)).toBeUndefined()
  })
})
