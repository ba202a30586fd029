import { describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import type { Commit, Expect, PendingCommit, Transaction, Write } from '../storage/storage.ts'
import { prefixSpan } from '../storage/storage.ts'
import { FoldedCommits } from './folded-commits.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const text = (value: Uint8Array | undefined): string => Buffer.from(value ?? []).toString()

class Fixture implements AsyncDisposable {
  readonly clock = new FakeClock()
  readonly storage = new MemoryStorage({ clock: this.clock })
  readonly sent: Transaction[] = []
  readonly folded = new FoldedCommits({
    storage: {
      commit: (transaction) => {
        this.sent.push(transaction)
        return this.storage.commit(transaction)
      },
    },
    clock: this.clock,
    random: () => 0.5,
  })

  /** A create of `name` that leaves `used` in the account. */
  create(name: string, used: string, account: Expect): PendingCommit {
    const write = (key: string, value: string, expected: Expect): Write => ({
      key,
      value: bytes(value),
      expect: expected,
    })
    const guards = [{ key: '/ns', expect: 'absent' as const }]
    return this.folded.commit(
      { guards, writes: [write(`/o/${name}`, name, 'absent'), write('/used', used, account)] },
      true,
    )
  }

  async settle(pending: readonly PendingCommit[]): Promise<Commit[]> {
    const all = Promise.all(pending.map(({ done }) => done))
    for (let i = 0; i < 20; i++) await this.clock.advance(10)
    return all
  }

  async contents(): Promise<Record<string, string>> {
    const { entries } = await this.storage.range(prefixSpan('/'))
    return Object.fromEntries(entries.map(({ key, value }) => [key, text(value)]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.storage[Symbol.asyncDispose]()
  }
}

describe('transactions that stand on each other', () => {
  test('are sent as one: all objects, and the last account', async () => {
    await using f = new Fixture()
    const a = f.create('a', '1', 'absent')
    const b = f.create('b', '2', { asLeftBy: a.ticket })
    const c = f.create('c', '3', { asLeftBy: b.ticket })
    const commits = await f.settle([a, b, c])
    expect(f.sent).toHaveLength(1)
    expect(await f.contents()).toEqual({ '/o/a': 'a', '/o/b': 'b', '/o/c': 'c', '/used': '3' })
    const { entries } = await f.storage.range(prefixSpan('/o/'))
    expect(commits.map((commit) => commit.ok && commit.revision)).toEqual(entries.map((e) => e.revision))
  })

  test('wait for those that are under way, and for a moment', async () => {
    await using f = new Fixture()
    const a = f.create('a', '1', 'absent')
    await f.clock.advance(0)
    expect(f.sent).toHaveLength(1)
    const b = f.create('b', '2', { asLeftBy: a.ticket })
    const c = f.create('c', '3', { asLeftBy: b.ticket })
    await a.done
    expect(f.sent).toHaveLength(1)
    await f.settle([b, c])
    expect(f.sent).toHaveLength(2)
    expect(await f.contents()).toMatchObject({ '/o/c': 'c', '/used': '3' })
  })

  test('are refused together when one expectation fails, each told of its own keys', async () => {
    await using f = new Fixture()
    await f.storage.commit({ guards: [], writes: [{ key: '/o/b', value: bytes('old'), expect: 'absent' }] }).done
    const a = f.create('a', '1', 'absent')
    const b = f.create('b', '2', { asLeftBy: a.ticket })
    const [first, second] = await f.settle([a, b])
    expect(first).toEqual({ ok: false, current: new Map() })
    expect(second && !second.ok && [...second.current.keys()]).toEqual(['/o/b'])
    expect(await f.contents()).toEqual({ '/o/b': 'old' })
  })

  test('of which two would write one object are sent one after the other: the first wins', async () => {
    await using f = new Fixture()
    const a = f.create('a', '1', 'absent')
    const again = f.create('a', '2', { asLeftBy: a.ticket })
    const [first, second] = await f.settle([a, again])
    expect([first?.ok, second?.ok]).toEqual([true, false])
    expect(await f.contents()).toEqual({ '/o/a': 'a', '/used': '1' })
  })

  test('of which one stands on two that are not sent yet are all made', async () => {
    await using f = new Fixture()
    const put = (expects: Record<string, Expect>): PendingCommit =>
      f.folded.commit(
        {
          guards: [],
          writes: Object.entries(expects).map(([key, expect]) => ({ key, value: bytes('1'), expect })),
        },
        true,
      )
    const a = put({ '/used-a': 'absent' })
    const b = put({ '/used-b': 'absent' })
    const both = put({ '/used-a': { asLeftBy: a.ticket }, '/used-b': { asLeftBy: b.ticket } })
    const again = put({ '/used-b': { asLeftBy: both.ticket } })
    const commits = await f.settle([a, b, both, again])
    expect(commits.map((commit) => commit.ok)).toEqual([true, true, true, true])
    expect(await f.contents()).toEqual({ '/used-a': '1', '/used-b': '1' })
  })

  test('whose number is too large for one transaction are sent as several', async () => {
    await using f = new Fixture()
    const all: PendingCommit[] = []
    for (let i = 0; i < 250; i++) {
      const last = all.at(-1)
      all.push(f.create(`n-${i}`, String(i + 1), last ? { asLeftBy: last.ticket } : 'absent'))
    }
    expect((await f.settle(all)).every((commit) => commit.ok)).toBe(true)
    expect(f.sent.length).toBe(3)
    expect(await f.contents()).toMatchObject({ '/o/n-249': 'n-249', '/used': '250' })
  })

  test('that expect what a later one of the same transaction has changed are refused', async () => {
    await using f = new Fixture()
    const a = f.create('a', '1', 'absent')
    const b = f.create('b', '2', { asLeftBy: a.ticket })
    // Decided on `a`, without having seen `b`.
    const late = f.create('c', '2', { asLeftBy: a.ticket })
    const [first, second, third] = await f.settle([a, b, late])
    expect([first?.ok, second?.ok, third?.ok]).toEqual([true, true, false])
    expect(await f.contents()).toEqual({ '/o/a': 'a', '/o/b': 'b', '/used': '2' })
  })

  test('fail with what they stand on', async () => {
    await using f = new Fixture()
    await f.storage.commit({ guards: [], writes: [{ key: '/ns', value: bytes('x'), expect: 'absent' }] }).done
    const a = f.create('a', '1', 'absent')
    await f.clock.advance(0)
    const b = f.create('b', '2', { asLeftBy: a.ticket })
    const commits = await f.settle([a, b])
    expect(commits.map((commit) => commit.ok)).toEqual([false, false])
    expect(await f.contents()).toEqual({ '/ns': 'x' })
  })
})

test('a transaction that stands on nothing, and on which nothing stands, is sent at once', async () => {
  await using f = new Fixture()
  const { done } = f.folded.commit({ guards: [], writes: [{ key: '/a', value: bytes('1'), expect: 'absent' }] }, false)
  expect(f.sent).toHaveLength(1)
  expect((await done).ok).toBe(true)
})
