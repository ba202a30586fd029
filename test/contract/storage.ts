/**
 * What every storage engine promises, as one suite. A new engine adds one line:
 *
 *   describeStorageContract('memory', async ({ watchLimit }) => ({ storage: new MemoryStorage({ watchLimit }) }))
 *
 * `open` gives an engine with no keys. Revisions may begin anywhere and may have gaps (an engine may write markers of
 * its own), so nothing here counts commits. `reopen` closes the engine and opens it again on the same data; engines
 * that keep nothing leave it out.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  Change,
  ChangeBatch,
  Commit,
  Expect,
  Revision,
  Storage,
  Transaction,
  Write,
} from '../../src/storage/storage.ts'
import {
  endOfCommit,
  isStorageError,
  maxKeyBytes,
  maxOperations,
  maxTransactionBytes,
  maxValueBytes,
  positionsPerCommit,
  prefixSpan,
} from '../../src/storage/storage.ts'
import { applyChanges, bytes, delivered, put, readAll, remove, text, WatchReader } from './storage-reader.ts'

export interface OpenOptions {
  /** Changes that may wait in one watch before it is cut off. Absent = the engine's default. */
  readonly watchLimit?: number
}

export interface Opened {
  readonly storage: Storage
  readonly reopen?: () => Promise<Storage>
}

export interface ContractOptions {
  /** Runs of each property; engines that pay for every commit take fewer. Default 30. */
  readonly propertyRuns?: number
}

const everything = prefixSpan('/')

export function describeStorageContract(
  name: string,
  open: (options: OpenOptions) => Promise<Opened>,
  options: ContractOptions = {},
): void {
  describe(`storage contract: ${name}`, () => {
    let opened: Opened
    let storage: Storage
    beforeEach(async () => {
      opened = await open({})
      storage = opened.storage
    })
    afterEach(async () => {
      await storage[Symbol.asyncDispose]()
    })

    /** Commits and demands success. A put that expects absence replaces whatever is there. */
    async function commit(...wanted: Transaction['writes']): Promise<Revision> {
      const writes = await Promise.all(
        wanted.map(async (write): Promise<Write> => {
          if (write.expect !== 'absent') return write
          const expect: Expect = (await storage.get(write.key)).entry?.revision ?? 'absent'
          return { ...write, expect }
        }),
      )
      const result = await storage.commit({ guards: [], writes }).done
      if (!result.ok) throw new Error(`refused: ${[...result.current.keys()].join(', ')}`)
      return result.revision
    }

    async function seed(entries: Readonly<Record<string, string>>): Promise<(key: string) => Revision> {
      const revisions = new Map<string, Revision>()
      for (const [key, value] of Object.entries(entries)) revisions.set(key, await commit(put(key, value)))
      return (key) => {
        const revision = revisions.get(key)
        if (revision === undefined) throw new Error(`${key} was not seeded`)
        return revision
      }
    }

    it('a revision that it knows by itself is the current one, at every commit', async () => {
      for (const value of ['1', '2']) {
        await commit(put('/a', value, 'absent'))
        const own = storage.ownRevision
        if (own !== undefined) expect(own).toBe(await storage.currentRevision())
      }
    })

    describe('expectations', () => {
      type RevisionOf = (key: string) => Revision
      const cases: {
        name: string
        given: Record<string, string>
        when: (revision: RevisionOf) => Transaction
        /** The keys whose expectation failed, empty = committed. */
        refused: string[]
        /** All keys and values afterwards. */
        want: Record<string, string>
      }[] = [
        {
          name: 'a write that expects absence creates a key that is not there',
          given: {},
          when: () => ({ guards: [], writes: [put('/a', '1', 'absent')] }),
          refused: [],
          want: { '/a': '1' },
        },
        {
          name: 'a write that expects absence is refused where the key exists',
          given: { '/a': '1' },
          when: () => ({ guards: [], writes: [put('/a', '2', 'absent')] }),
          refused: ['/a'],
          want: { '/a': '1' },
        },
        {
          name: 'a write that expects the present revision replaces the value',
          given: { '/a': '1' },
          when: (revision) => ({ guards: [], writes: [put('/a', '2', revision('/a'))] }),
          refused: [],
          want: { '/a': '2' },
        },
        {
          name: 'a write that expects an earlier revision is refused',
          given: { '/a': '1' },
          when: (revision) => ({ guards: [], writes: [put('/a', '2', revision('/a') - 1)] }),
          refused: ['/a'],
          want: { '/a': '1' },
        },
        {
          name: 'a write that expects another position of the same commit is refused',
          given: { '/a': '1' },
          when: (revision) => ({ guards: [], writes: [put('/a', '2', revision('/a') + 1)] }),
          refused: ['/a'],
          want: { '/a': '1' },
        },
        {
          name: 'a write that expects a revision is refused where the key is absent',
          given: { '/b': '1' },
          when: (revision) => ({ guards: [], writes: [put('/a', '2', revision('/b'))] }),
          refused: ['/a'],
          want: { '/b': '1' },
        },
        {
          name: 'a delete that expects the present revision removes the key',
          given: { '/a': '1', '/b': '1' },
          when: (revision) => ({ guards: [], writes: [remove('/a', revision('/a'))] }),
          refused: [],
          want: { '/b': '1' },
        },
        {
          name: 'a delete that expects an earlier revision is refused',
          given: { '/a': '1' },
          when: (revision) => ({ guards: [], writes: [remove('/a', revision('/a') - 1)] }),
          refused: ['/a'],
          want: { '/a': '1' },
        },
        {
          name: 'a delete of a key that is not there is refused',
          given: { '/b': '1' },
          when: (revision) => ({ guards: [], writes: [remove('/a', revision('/b'))] }),
          refused: ['/a'],
          want: { '/b': '1' },
        },
        {
          name: 'a guard that holds lets the write through and leaves its key alone',
          given: { '/ns': 'Active' },
          when: (revision) => ({
            guards: [{ key: '/ns', expect: revision('/ns') }],
            writes: [put('/a', '1', 'absent')],
          }),
          refused: [],
          want: { '/a': '1', '/ns': 'Active' },
        },
        {
          name: 'a guard whose key has changed stops every write',
          given: { '/ns': 'Active' },
          when: (revision) => ({
            guards: [{ key: '/ns', expect: revision('/ns') - 1 }],
            writes: [put('/a', '1', 'absent'), put('/b', '1', 'absent')],
          }),
          refused: ['/ns'],
          want: { '/ns': 'Active' },
        },
        {
          name: 'a guard for absence stops the write where the key exists',
          given: { '/quota': '5' },
          when: () => ({ guards: [{ key: '/quota', expect: 'absent' }], writes: [put('/a', '1', 'absent')] }),
          refused: ['/quota'],
          want: { '/quota': '5' },
        },
        {
          name: 'a guard for absence lets the write through where the key is not there',
          given: {},
          when: () => ({ guards: [{ key: '/quota', expect: 'absent' }], writes: [put('/a', '1', 'absent')] }),
          refused: [],
          want: { '/a': '1' },
        },
        {
          name: 'a transaction names every key whose expectation failed, and none that held',
          given: { '/a': '1', '/b': '1', '/c': '1' },
          when: (revision) => ({
            guards: [
              { key: '/a', expect: 'absent' },
              { key: '/b', expect: revision('/b') },
            ],
            writes: [put('/c', '2', 'absent'), put('/d', '2', 'absent')],
          }),
          refused: ['/a', '/c'],
          want: { '/a': '1', '/b': '1', '/c': '1' },
        },
        {
          name: 'one failed expectation among several writes writes nothing at all',
          given: { '/a': '1', '/c': '1' },
          when: (revision) => ({
            guards: [],
            writes: [put('/b', '2', 'absent'), remove('/a', revision('/a')), put('/c', '2', 'absent')],
          }),
          refused: ['/c'],
          want: { '/a': '1', '/c': '1' },
        },
        {
          name: 'creates, updates and deletes go together in one transaction',
          given: { '/a': '1', '/b': '1' },
          when: (revision) => ({
            guards: [],
            writes: [put('/c', '2', 'absent'), put('/a', '2', revision('/a')), remove('/b', revision('/b'))],
          }),
          refused: [],
          want: { '/a': '2', '/c': '2' },
        },
        {
          name: 'an empty value is a value, not a delete',
          given: {},
          when: () => ({ guards: [], writes: [put('/a', '', 'absent')] }),
          refused: [],
          want: { '/a': '' },
        },
      ]
      it.each(cases)('$name', async ({ given, when, refused, want }) => {
        const revision = await seed(given)
        const before = await readAll(storage, everything)
        const result = await storage.commit(when(revision)).done
        const after = await readAll(storage, everything)

        expect(Object.fromEntries(after.map((entry) => [entry.key, text(entry.value)]))).toEqual(want)
        expect(result.ok).toBe(refused.length === 0)
        if (result.ok) return
        expect([...result.current.keys()].sort()).toEqual(refused)
        for (const key of refused) {
          // What the refusal says is there is what a read finds there: the caller decides again from it.
          expect(result.current.get(key)).toEqual(before.find((entry) => entry.key === key))
        }
      })
    })

    describe('following a transaction that is not yet durable', () => {
      it('a follower may replace what its predecessor wrote', async () => {
        const first = storage.commit({ guards: [], writes: [put('/a', '1', 'absent')] })
        const second = storage.commit({ guards: [], writes: [put('/a', '2', { asLeftBy: first.ticket })] })
        expect((await first.done).ok).toBe(true)
        expect((await second.done).ok).toBe(true)
        expect(text((await storage.get('/a')).entry?.value)).toBe('2')
      })

      it('a chain of a hundred followers commits in the order of the calls', async () => {
        const pending = [storage.commit({ guards: [], writes: [put('/n', '0', 'absent')] })]
        for (let i = 1; i < 100; i++) {
          const last = pending[i - 1]
          if (!last) throw new Error('no predecessor')
          pending.push(
            storage.commit({
              guards: [],
              writes: [put(`/item/${i}`, `${i}`, 'absent'), put('/n', `${i}`, { asLeftBy: last.ticket })],
            }),
          )
        }
        const results = await Promise.all(pending.map((p) => p.done))
        const revisions = results.map((r) => (r.ok ? r.revision : Number.NaN))
        expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
        expect(text((await storage.get('/n')).entry?.value)).toBe('99')
      })

      it('a follower of a refused transaction is refused, and so is the follower of that', async () => {
        await seed({ '/a': '1' })
        const first = storage.commit({ guards: [], writes: [put('/a', '2', 'absent'), put('/q', '1', 'absent')] })
        const second = storage.commit({ guards: [], writes: [put('/q', '2', { asLeftBy: first.ticket })] })
        const third = storage.commit({ guards: [], writes: [put('/q', '3', { asLeftBy: second.ticket })] })
        expect((await first.done).ok).toBe(false)
        for (const result of [await second.done, await third.done]) {
          expect(result).toEqual({ ok: false, current: new Map([['/q', undefined]]) })
        }
        expect((await storage.get('/q')).entry).toBeUndefined()
      })

      it('a follower is refused once somebody else has written the key in between', async () => {
        const first = storage.commit({ guards: [], writes: [put('/a', '1', 'absent')] })
        const between = storage.commit({ guards: [], writes: [put('/a', '2', { asLeftBy: first.ticket })] })
        const late = storage.commit({ guards: [], writes: [put('/a', '3', { asLeftBy: first.ticket })] })
        expect((await between.done).ok).toBe(true)
        const result = await late.done
        expect(result.ok).toBe(false)
        expect(text((await storage.get('/a')).entry?.value)).toBe('2')
      })

      it('a follower finds absent what its predecessor deleted', async () => {
        const revision = await seed({ '/a': '1' })
        const first = storage.commit({ guards: [], writes: [remove('/a', revision('/a'))] })
        const second = storage.commit({ guards: [], writes: [put('/a', '2', { asLeftBy: first.ticket })] })
        expect([(await first.done).ok, (await second.done).ok]).toEqual([true, true])
        expect(text((await storage.get('/a')).entry?.value)).toBe('2')
      })

      it('a delete of what its predecessor deleted is refused', async () => {
        const revision = await seed({ '/a': '1' })
        const first = storage.commit({ guards: [], writes: [remove('/a', revision('/a'))] })
        const second = storage.commit({ guards: [], writes: [remove('/a', { asLeftBy: first.ticket })] })
        expect((await first.done).ok).toBe(true)
        expect(await second.done).toEqual({ ok: false, current: new Map([['/a', undefined]]) })
      })

      it('a follower may rely on what its predecessor only guarded', async () => {
        const revision = await seed({ '/ns': 'Active' })
        const first = storage.commit({
          guards: [
            { key: '/ns', expect: revision('/ns') },
            { key: '/quota', expect: 'absent' },
          ],
          writes: [put('/a', '1', 'absent')],
        })
        const follow = (key: string): Transaction => ({
          guards: [
            { key: '/ns', expect: { asLeftBy: first.ticket } },
            { key: '/quota', expect: { asLeftBy: first.ticket } },
          ],
          writes: [put(key, '1', 'absent')],
        })
        const second = storage.commit(follow('/b'))
        expect([(await first.done).ok, (await second.done).ok]).toEqual([true, true])
        await commit(put('/quota', '5'))
        const third = await storage.commit(follow('/c')).done
        expect(third.ok ? [] : [...third.current.keys()]).toEqual(['/quota'])
      })

      it('a follower may come long after its predecessor is durable', async () => {
        const first = storage.commit({ guards: [], writes: [put('/a', '1', 'absent'), put('/b', '1', 'absent')] })
        await first.done
        await commit(put('/c', '1'))
        const second = await storage.commit({ guards: [], writes: [put('/b', '2', { asLeftBy: first.ticket })] }).done
        expect(second.ok).toBe(true)
      })

      it('a ticket says nothing about a key that its transaction did not name', async () => {
        const first = storage.commit({ guards: [], writes: [put('/a', '1', 'absent')] })
        const follower: Transaction = { guards: [], writes: [put('/b', '2', { asLeftBy: first.ticket })] }
        expect(() => storage.commit(follower)).toThrow(expect.objectContaining({ code: 'invalid' }))
        await first.done
      })

      it('a ticket that this storage did not issue is invalid', () => {
        const follower: Transaction = { guards: [], writes: [put('/b', '2', { asLeftBy: { id: 1 } })] }
        expect(() => storage.commit(follower)).toThrow(expect.objectContaining({ code: 'invalid' }))
      })
    })

    describe('shape and limits', () => {
      const many = (n: number): Transaction['writes'] =>
        Array.from({ length: n }, (_, i) => put(`/k${i}`, '', 'absent'))
      const large = (size: number, key = '/large') => ({ key, value: new Uint8Array(size), expect: 'absent' as const })
      const half = maxTransactionBytes / 2
      const refused: { name: string; when: Transaction; code: string; says: RegExp }[] = [
        {
          name: 'a transaction without writes is invalid',
          when: { guards: [{ key: '/a', expect: 'absent' }], writes: [] },
          code: 'invalid',
          says: /at least one write/,
        },
        {
          name: 'a transaction that writes a key twice is invalid',
          when: { guards: [], writes: [put('/a', '1'), put('/a', '2')] },
          code: 'invalid',
          says: /\/a twice/,
        },
        {
          name: 'an empty key is invalid',
          when: { guards: [], writes: [put('', '1')] },
          code: 'invalid',
          says: /empty/,
        },
        {
          name: 'a key that is not well-formed Unicode is invalid',
          when: { guards: [], writes: [put('/\ud800', '1')] },
          code: 'invalid',
          says: /well-formed/,
        },
        {
          name: 'deleting a key that is expected to be absent is invalid',
          when: { guards: [], writes: [remove('/a', 'absent')] },
          code: 'invalid',
          says: /contradict/,
        },
        {
          name: 'more than a hundred writes are too large',
          when: { guards: [], writes: many(maxOperations + 1) },
          code: 'tooLarge',
          says: /at most 100 operations.*101/,
        },
        {
          name: 'guards count as operations',
          when: { guards: [{ key: '/g', expect: 'absent' }], writes: many(maxOperations) },
          code: 'tooLarge',
          says: /at most 100 operations.*101/,
        },
        {
          name: 'a value beyond the limit is too large',
          when: { guards: [], writes: [large(maxValueBytes + 1)] },
          code: 'tooLarge',
          says: new RegExp(`${maxValueBytes} bytes, not ${maxValueBytes + 1}`),
        },
        {
          name: 'several values together beyond one MiB are too large',
          when: { guards: [], writes: [large(half, '/a'), large(half + 1, '/b')] },
          code: 'tooLarge',
          says: new RegExp(`${maxTransactionBytes} bytes`),
        },
        {
          name: 'a key beyond the limit is too large, counted in bytes',
          when: { guards: [], writes: [put(`/${'é'.repeat(maxKeyBytes / 2)}`, '1')] },
          code: 'tooLarge',
          says: new RegExp(`a key has at most ${maxKeyBytes} bytes`),
        },
      ]
      it.each(refused)('$name', async ({ when, code, says }) => {
        const before = await storage.range(everything)
        expect(() => storage.commit(when)).toThrow(
          expect.objectContaining({ code, message: expect.stringMatching(says) }),
        )
        expect((await storage.range(everything)).entries).toEqual(before.entries)
      })

      const taken: { name: string; when: Transaction }[] = [
        { name: 'a hundred writes are taken', when: { guards: [], writes: many(maxOperations) } },
        { name: 'a value of exactly the limit is taken alone', when: { guards: [], writes: [large(maxValueBytes)] } },
        {
          name: 'several values of exactly one MiB together are taken',
          when: { guards: [], writes: [large(half, '/a'), large(half, '/b')] },
        },
        {
          name: 'a key of exactly the limit is taken',
          when: { guards: [], writes: [put(`/${'k'.repeat(maxKeyBytes - 1)}`, '1')] },
        },
      ]
      it.each(taken)('$name', async ({ when }) => {
        expect((await storage.commit(when).done).ok).toBe(true)
        const entries = await readAll(storage, everything)
        const sizes = Object.fromEntries(entries.map((e) => [e.key, e.value.byteLength]))
        expect(sizes).toEqual(Object.fromEntries(when.writes.map((w) => [w.key, w.value?.byteLength])))
      })

      it('values come back byte for byte', async () => {
        const value = Uint8Array.from({ length: 256 }, (_, i) => i)
        await commit({ key: '/bytes', value, expect: 'absent' })
        expect([...((await storage.get('/bytes')).entry?.value ?? [])]).toEqual([...value])
      })

      it('a value that is a window on a larger buffer is stored without its surroundings', async () => {
        const slab = bytes('left|middle|right')
        await commit({ key: '/window', value: slab.subarray(5, 11), expect: 'absent' })
        expect(text((await storage.get('/window')).entry?.value)).toBe('middle')
      })
    })

    describe('revisions', () => {
      it('each write of a transaction has its own revision, in the order written', async () => {
        const revision = await commit(put('/b', '1'), put('/a', '1'), put('/c', '1'))
        const entries = await readAll(storage, everything)
        expect(entries.map((e) => [e.key, e.revision - revision])).toEqual([
          ['/a', 1],
          ['/b', 0],
          ['/c', 2],
        ])
        expect(revision % positionsPerCommit).toBe(0)
      })

      it('revisions grow from commit to commit', async () => {
        const first = await commit(put('/a', '1'), put('/b', '1'))
        const second = await commit(put('/c', '1'))
        expect(second).toBeGreaterThan(endOfCommit(first))
      })

      it('transactions submitted together take effect in the order of the calls', async () => {
        const pending = Array.from({ length: 50 }, (_, i) =>
          storage.commit({ guards: [], writes: [put(`/k${i}`, '1', 'absent')] }),
        )
        const revisions = (await Promise.all(pending.map((p) => p.done))).map((r) => (r.ok ? r.revision : Number.NaN))
        expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
        // Not the commits: an engine may let transactions that do not touch each other share one.
        expect(new Set(revisions).size).toBe(50)
      })

      it('the revision of an empty store is not 0', async () => {
        expect(await storage.currentRevision()).toBeGreaterThan(0)
        expect((await storage.range(everything)).revision).toBeGreaterThan(0)
      })

      it('currentRevision is never behind a commit that was acknowledged before the call', async () => {
        for (let i = 0; i < 20; i++) {
          const revision = await commit(put(`/k${i}`, '1'))
          expect(await storage.currentRevision()).toBeGreaterThanOrEqual(endOfCommit(revision))
        }
      })

      it('every store revision is the end of a commit: what may be read at and watched after', async () => {
        const revision = await commit(put('/a', '1'), put('/b', '1'))
        const answers = [
          await storage.currentRevision(),
          (await storage.get('/a')).revision,
          (await storage.range(everything)).revision,
          (await storage.get('/a', { at: revision })).revision,
          await storage.compactedRevision(),
        ]
        expect(answers.map(endOfCommit)).toEqual(answers)
      })

      it('a refused transaction leaves no trace', async () => {
        const before = await commit(put('/a', '1'))
        const result = await storage.commit({ guards: [], writes: [put('/a', '2', 'absent')] }).done
        expect(result.ok).toBe(false)
        const read = await storage.get('/a')
        expect(read.entry?.revision).toBe(before)
        const reader = new WatchReader(storage, everything, endOfCommit(before))
        expect(await reader.until(await storage.currentRevision())).toEqual([])
        await reader.stop()
      })
    })

    describe('reads', () => {
      it('get finds what was committed, and undefined where nothing is', async () => {
        const revision = await commit(put('/a', '1'))
        const found = await storage.get('/a')
        expect(found.entry).toEqual({ key: '/a', value: found.entry?.value, revision })
        expect(found.revision).toBeGreaterThanOrEqual(endOfCommit(revision))
        expect((await storage.get('/b')).entry).toBeUndefined()
      })

      it('range is half-open, and ascends by key', async () => {
        await seed({ '/b/2': '', '/a/1': '', '/b/1': '', '/b': '', '/b/10': '', '/c': '', '/b0': '' })
        const keys = async (start: string, end: string) =>
          (await storage.range({ start, end })).entries.map((e) => e.key)
        expect(await keys('/b/', '/b0')).toEqual(['/b/1', '/b/10', '/b/2'])
        expect(await keys('/b', '/c')).toEqual(['/b', '/b/1', '/b/10', '/b/2', '/b0'])
        expect(await keys('/b/1', '/b/1')).toEqual([])
        expect(await keys('/c', '/a')).toEqual([])
        expect(await keys('/x', '/z')).toEqual([])
      })

      it('keys are ordered by their bytes, also beyond ASCII', async () => {
        const keys = ['/z', '/é', '/\uffee', '/😀', '/a\u0001', '/a', '/aa']
        for (const key of keys) await commit(put(key, key))
        const want = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        const all = await storage.range({ start: '/', end: '0' })
        expect(all.entries.map((e) => e.key)).toEqual(want)
        const between = await storage.range({ start: '/\uffee', end: '/😀\0' })
        expect(between.entries.map((e) => e.key)).toEqual(['/\uffee', '/😀'])
      })

      it('range with a limit gives the first keys and says whether more follow', async () => {
        await seed({ '/a': '', '/b': '', '/c': '' })
        const read = async (limit: number) => {
          const { entries, more } = await storage.range(everything, { limit })
          return { keys: entries.map((e) => e.key).join(''), more }
        }
        expect(await read(1)).toEqual({ keys: '/a', more: true })
        expect(await read(2)).toEqual({ keys: '/a/b', more: true })
        expect(await read(3)).toEqual({ keys: '/a/b/c', more: false })
        expect(await read(4)).toEqual({ keys: '/a/b/c', more: false })
      })

      it.each([0, -1, 1.5, Number.NaN])('a limit of %d is invalid', async (limit) => {
        await expect(storage.range(everything, { limit })).rejects.toMatchObject({ code: 'invalid' })
      })

      it('pages at one revision add up to the whole, whatever is written in between', async () => {
        await seed(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`/k${i}`, `${i}`])))
        const whole = await storage.range(everything)
        const keys: string[] = []
        let start = everything.start
        for (let page = 0; ; page++) {
          const at = whole.revision
          const { entries, more, revision } = await storage.range({ start, end: everything.end }, { at, limit: 3 })
          expect(revision).toBe(at)
          keys.push(...entries.map((e) => e.key))
          await commit(put(`/k${page}`, 'changed'), put(`/k${page}x`, 'new'))
          if (!more) break
          start = `${entries.at(-1)?.key}\0`
        }
        expect(keys).toEqual(whole.entries.map((e) => e.key))
      })

      it('a read at a revision shows the store as it was then', async () => {
        const created = await commit(put('/a', '1'))
        const other = await commit(put('/b', '1'))
        const updated = await commit(put('/a', '2', created))
        const removed = await commit(remove('/a', updated))
        const again = await commit(put('/a', '3'))
        const show = async (at: Revision) =>
          (await storage.range(everything, { at })).entries.map((e) => `${e.key}=${text(e.value)}@${e.revision}`)
        expect(await show(created)).toEqual([`/a=1@${created}`])
        expect(await show(other)).toEqual([`/a=1@${created}`, `/b=1@${other}`])
        expect(await show(updated)).toEqual([`/a=2@${updated}`, `/b=1@${other}`])
        expect(await show(removed)).toEqual([`/b=1@${other}`])
        expect(await show(again)).toEqual([`/a=3@${again}`, `/b=1@${other}`])
        expect(text((await storage.get('/a', { at: updated })).entry?.value)).toBe('2')
        expect((await storage.get('/a', { at: removed })).entry).toBeUndefined()
        const limited = await storage.range(everything, { at: removed, limit: 1 })
        expect([limited.entries.length, limited.more]).toEqual([1, false])
      })

      it('a read at a revision inside a commit shows the whole commit', async () => {
        const revision = await commit(put('/a', '1'), put('/b', '1'), put('/c', '1'))
        await commit(put('/d', '1'))
        const read = await storage.range(everything, { at: revision + 1 })
        expect(read.entries.map((e) => e.key)).toEqual(['/a', '/b', '/c'])
        expect(read.revision).toBe(endOfCommit(revision))
      })

      it('a read at a revision that is still to come is refused', async () => {
        const revision = await commit(put('/a', '1'))
        const at = revision + 1000 * positionsPerCommit
        await expect(storage.get('/a', { at })).rejects.toMatchObject({ code: 'future' })
        await expect(storage.range(everything, { at })).rejects.toMatchObject({ code: 'future' })
      })

      it('a read whose signal is aborted rejects with the reason', async () => {
        const signal = AbortSignal.abort(new Error('gone'))
        await expect(storage.get('/a', { signal })).rejects.toThrow('gone')
        await expect(storage.range(everything, { signal })).rejects.toThrow('gone')
      })
    })

    describe('watches', () => {
      let readers: WatchReader[] = []
      const watch = (after: Revision, span = everything, from: Storage = storage): WatchReader => {
        const reader = new WatchReader(from, span, after)
        readers.push(reader)
        return reader
      }
      afterEach(async () => {
        await Promise.all(readers.map((reader) => reader.stop()))
        readers = []
      })

      it('a watch delivers creates, updates and deletes with what was there before', async () => {
        const start = await storage.currentRevision()
        const reader = watch(start)
        const created = await commit(put('/a', '1'))
        const updated = await commit(put('/a', '2', created))
        const removed = await commit(remove('/a', updated))
        const again = await commit(put('/a', '3', 'absent'))
        const changes = await reader.until(endOfCommit(again))
        expect(changes.map(show)).toEqual([
          `/a@${created}: nothing -> 1`,
          `/a@${updated}: 1@${created} -> 2`,
          `/a@${removed}: 2@${updated} -> nothing`,
          `/a@${again}: nothing -> 3`,
        ])
      })

      it('a watch sees only the keys of its span', async () => {
        const start = await storage.currentRevision()
        const reader = watch(start, prefixSpan('/pods/'))
        await commit(put('/nodes/n', '1'))
        await commit(put('/pods/a', '1'), put('/secrets/s', '1'), put('/pods/b', '1'))
        await commit(put('/podsx/c', '1'))
        const last = await commit(put('/pods', '1'))
        expect((await reader.until(endOfCommit(last))).map((c) => c.key)).toEqual(['/pods/a', '/pods/b'])
      })

      it('a watch never splits a commit, live or from the past', async () => {
        const start = await storage.currentRevision()
        const live = watch(start)
        await live.until(start)
        const sizes = new Map<number, number>()
        let last = 0
        for (let i = 0; i < 30; i++) {
          const writes = Array.from({ length: (i % 7) + 1 }, (_, j) => put(`/${i}/${j}`, '1'))
          last = await commit(...writes)
          sizes.set(endOfCommit(last), writes.length)
        }
        const late = watch(start)
        for (const reader of [live, late]) {
          await reader.until(endOfCommit(last))
          for (const batch of reader.batches) {
            const counts = new Map<number, number>()
            for (const change of delivered(batch)) {
              const end = endOfCommit(change.revision)
              counts.set(end, (counts.get(end) ?? 0) + 1)
            }
            for (const [end, count] of counts) expect(count).toBe(sizes.get(end))
          }
        }
      })

      it('progress comes strictly after the changes it covers', async () => {
        const start = await storage.currentRevision()
        const reader = watch(start)
        const revisions: Revision[] = []
        for (let i = 0; i < 30; i++) revisions.push(await commit(put(`/k${i % 3}`, `${i}`)))
        await reader.until(endOfCommit(revisions.at(-1) ?? 0))
        let seen = 0
        for (const batch of reader.batches) {
          if (batch.type === 'changes') seen += batch.changes.length
          else expect(seen).toBe(revisions.filter((r) => r <= batch.revision).length)
        }
        expect(seen).toBe(30)
      })

      it('a watch with nothing to deliver reports progress as soon as it is caught up', async () => {
        await commit(put('/other', '1'))
        const start = await storage.currentRevision()
        const reader = watch(start, prefixSpan('/none/'))
        expect(await reader.until(start)).toEqual([])
        expect(reader.batches[0]?.type).toBe('progress')
      })

      it('an idle watch is told of the revision that currentRevision has answered', async () => {
        const reader = watch(await storage.currentRevision(), prefixSpan('/none/'))
        for (let i = 0; i < 3; i++) {
          await commit(put('/other', `${i}`))
          const revision = await storage.currentRevision()
          expect(await reader.until(revision)).toEqual([])
        }
      })

      it('progress never goes back', async () => {
        const start = await storage.currentRevision()
        const reader = watch(start, prefixSpan('/a'))
        let last = 0
        for (let i = 0; i < 20; i++) last = await commit(put(i % 2 ? '/a' : '/b', `${i}`))
        await reader.until(endOfCommit(last))
        const marks = reader.batches.flatMap((b) => (b.type === 'progress' ? [b.revision] : []))
        expect(marks).toEqual(marks.toSorted((a, b) => a - b))
      })

      it('a watch resumed at any kept revision neither repeats nor skips', async () => {
        const start = await storage.currentRevision()
        const first = await commit(put('/a', '1'), put('/b', '1'), put('/c', '1'))
        const second = await commit(put('/a', '2'), remove('/b', first + 1))
        const third = await commit(put('/d', '1'))
        const all = [first, first + 1, first + 2, second, second + 1, third]
        for (const after of [start, ...all, endOfCommit(first), endOfCommit(second), endOfCommit(third)]) {
          const reader = watch(after)
          const changes = await reader.until(endOfCommit(third))
          expect(changes.map((c) => c.revision)).toEqual(all.filter((revision) => revision > after))
        }
      })

      it('a watch begun while commits pour in misses none of them', async () => {
        const start = await storage.currentRevision()
        const pending = Array.from({ length: 40 }, (_, i) =>
          storage.commit({ guards: [], writes: [put(`/k${i}`, '1', 'absent')] }),
        )
        const reader = watch(start)
        const revisions = (await Promise.all(pending.map((p) => p.done))).map((r) => (r.ok ? r.revision : Number.NaN))
        const changes = await reader.until(endOfCommit(revisions.at(-1) ?? 0))
        expect(changes.map((c) => c.revision)).toEqual(revisions)
      })

      it('a watch after a revision that is still to come waits for what follows it', async () => {
        const reached = endOfCommit(await commit(put('/a', '0')))
        const after = reached + 3 * positionsPerCommit
        const reader = watch(after)
        // Reading already: what comes before `after` must not slip through a watch that is up to date either.
        const reading = reader.until(after + 1)
        const revisions: Revision[] = []
        while ((revisions.at(-1) ?? 0) <= after) revisions.push(await commit(put('/a', 'x')))
        const last = revisions.at(-1) ?? 0
        await reading
        expect((await reader.until(endOfCommit(last))).map((c) => c.revision)).toEqual([last])
      })

      it('several watches on overlapping spans each get their own', async () => {
        const start = await storage.currentRevision()
        const spans = [everything, prefixSpan('/a/'), prefixSpan('/a/b/'), prefixSpan('/c/'), prefixSpan('/a/')]
        const all = spans.map((span) => watch(start, span))
        await commit(put('/a/1', ''), put('/a/b/1', ''))
        const last = await commit(put('/c/1', ''))
        const got = await Promise.all(
          all.map(async (reader) => (await reader.until(endOfCommit(last))).map((c) => c.key).join(' ')),
        )
        expect(got).toEqual(['/a/1 /a/b/1 /c/1', '/a/1 /a/b/1', '/a/b/1', '/c/1', '/a/1 /a/b/1'])
      })

      it('a watch ends cleanly when its signal aborts', async () => {
        const reader = watch(await storage.currentRevision())
        await reader.until(await storage.currentRevision())
        reader.abort()
        expect(await reader.end()).toBeUndefined()
      })

      it('a watch whose signal is aborted from the start delivers nothing', async () => {
        const start = await storage.currentRevision()
        await commit(put('/a', '1'))
        const batches: ChangeBatch[] = []
        for await (const batch of storage.watch(everything, start, AbortSignal.abort())) batches.push(batch)
        expect(batches).toEqual([])
      })

      it('leaving the loop ends one watch and no other', async () => {
        const start = await storage.currentRevision()
        const other = watch(start)
        for await (const batch of storage.watch(everything, start, new AbortController().signal)) {
          if (batch.type === 'progress') break
        }
        const last = await commit(put('/a', '1'))
        expect((await other.until(endOfCommit(last))).map((c) => c.key)).toEqual(['/a'])
      })

      it('a consumer that does not keep up is cut off, after an unbroken prefix', async () => {
        await storage[Symbol.asyncDispose]()
        const limited = await open({ watchLimit: 16 })
        storage = limited.storage
        const start = await storage.currentRevision()
        const slow = storage.watch(everything, start, new AbortController().signal)[Symbol.asyncIterator]()
        let batch = await slow.next()
        while (!batch.done && batch.value.type !== 'progress') batch = await slow.next()
        const keen = watch(start, everything, storage)
        const revisions: Revision[] = []
        for (let i = 0; i < 200; i++) {
          revisions.push(await commit(put(`/k${i}`, '1')))
          // The keen one reads along, so that the changes have certainly arrived.
          await keen.until(endOfCommit(revisions.at(-1) ?? 0))
        }
        const got: Revision[] = []
        const error = await (async () => {
          for (;;) {
            const next = await slow.next()
            if (next.done) return undefined
            for (const change of delivered(next.value)) got.push(change.revision)
            if (got.length >= revisions.length) return undefined
          }
        })().catch((e: unknown) => e)
        expect(isStorageError(error, 'overflow')).toBe(true)
        expect(got).toEqual(revisions.slice(0, got.length))
        // It may resume from what it last saw.
        const resumed = watch(got.at(-1) ?? start, everything, storage)
        const rest = await resumed.until(endOfCommit(revisions.at(-1) ?? 0))
        expect([...got, ...rest.map((c) => c.revision)]).toEqual(revisions)
      })
    })

    describe('compaction', () => {
      /** Three states of /a, /gone deleted before the compaction, /b untouched since before it. */
      async function history(): Promise<{ early: Revision; cut: Revision; late: Revision }> {
        await commit(put('/b', '1'))
        const gone = await commit(put('/gone', '1'))
        const early = await commit(put('/a', '1'))
        await commit(remove('/gone', gone))
        const cut = await commit(put('/a', '2'))
        const late = await commit(put('/a', '3'))
        return { early: endOfCommit(early), cut: endOfCommit(cut), late: endOfCommit(late) }
      }

      it('reads at what is compacted are refused, later ones are not', async () => {
        const { early, cut, late } = await history()
        await storage.compact(cut)
        await expect(storage.get('/a', { at: early })).rejects.toMatchObject({ code: 'compacted' })
        await expect(storage.range(everything, { at: early })).rejects.toMatchObject({ code: 'compacted' })
        const show = async (at?: Revision) =>
          (await storage.range(everything, at === undefined ? {} : { at })).entries.map((e) => e.key + text(e.value))
        expect(await show(cut)).toEqual(['/a2', '/b1'])
        expect(await show(late)).toEqual(['/a3', '/b1'])
        expect(await show()).toEqual(['/a3', '/b1'])
      })

      it('watches after what is compacted are refused, later ones still know what was there before', async () => {
        const { early, cut, late } = await history()
        await storage.compact(cut)
        const refused = new WatchReader(storage, everything, early)
        expect(await refused.end()).toMatchObject({ code: 'compacted' })
        const reader = new WatchReader(storage, everything, cut)
        const changes = await reader.until(late)
        expect(changes.map((c) => [text(c.previous?.value), text(c.value)])).toEqual([['2', '3']])
        await reader.stop()
      })

      it('a watch that is caught up does not notice a compaction', async () => {
        const start = await storage.currentRevision()
        const reader = new WatchReader(storage, everything, start)
        const { late } = await history()
        await reader.until(late)
        await storage.compact(late)
        const last = await commit(put('/a', '4'))
        const changes = await reader.until(endOfCommit(last))
        expect(changes.at(-1)).toMatchObject({ key: '/a', revision: last })
        await reader.stop()
      })

      it('compactedRevision is what can still be read at and watched after', async () => {
        const { cut, late } = await history()
        expect(await storage.compactedRevision()).toBeLessThan(cut)
        await storage.compact(cut)
        const oldest = await storage.compactedRevision()
        expect(oldest).toBe(cut)
        expect((await storage.range(everything, { at: oldest })).revision).toBe(oldest)
        const reader = new WatchReader(storage, everything, oldest)
        expect(await reader.until(late)).toHaveLength(1)
        await reader.stop()
      })

      it('compacting inside a commit compacts the whole commit', async () => {
        const revision = await commit(put('/a', '1'), put('/b', '1'))
        await commit(put('/c', '1'))
        await storage.compact(revision)
        expect(await storage.compactedRevision()).toBe(endOfCommit(revision))
      })

      it('compacting twice, or to an older revision, does nothing', async () => {
        const { early, cut } = await history()
        await storage.compact(cut)
        await storage.compact(cut)
        await storage.compact(early)
        expect(await storage.compactedRevision()).toBe(cut)
      })

      it('compacting to a revision that is still to come is refused', async () => {
        const { late } = await history()
        const future = late + 1000 * positionsPerCommit
        await expect(storage.compact(future)).rejects.toMatchObject({ code: 'future' })
      })

      it('compacting everything keeps the present, and revisions go on growing', async () => {
        const { late } = await history()
        const gone = await commit(put('/last', '1'))
        const removed = await commit(remove('/last', gone))
        await storage.compact(await storage.currentRevision())
        expect((await readAll(storage, everything)).map((e) => e.key + text(e.value))).toEqual(['/a3', '/b1'])
        expect(await commit(put('/c', '1'))).toBeGreaterThan(Math.max(late, endOfCommit(removed)))
      })
    })

    describe('the end', () => {
      it('after closing, reads and commits are refused as closed, and closing again does no harm', async () => {
        await commit(put('/a', '1'))
        await storage[Symbol.asyncDispose]()
        await storage[Symbol.asyncDispose]()
        await expect(storage.get('/a')).rejects.toMatchObject({ code: 'closed' })
        await expect(storage.range(everything)).rejects.toMatchObject({ code: 'closed' })
        await expect(storage.currentRevision()).rejects.toMatchObject({ code: 'closed' })
        await expect(storage.compact(1)).rejects.toMatchObject({ code: 'closed' })
        const late = storage.commit({ guards: [], writes: [put('/b', '1', 'absent')] })
        await expect(late.done).rejects.toMatchObject({ code: 'closed' })
      })

      it('closing ends open watches with an error that says so', async () => {
        const idle = new WatchReader(storage, everything, await storage.currentRevision())
        await idle.until(await storage.currentRevision())
        await storage[Symbol.asyncDispose]()
        expect(await idle.end()).toMatchObject({ code: 'closed' })
        const late = new WatchReader(storage, everything, 1)
        expect(await late.end()).toMatchObject({ code: 'closed' })
      })

      it('a commit handed in before closing is decided, not forgotten', async () => {
        const pending = Array.from({ length: 20 }, (_, i) =>
          storage.commit({ guards: [], writes: [put(`/k${i}`, '1', 'absent')] }),
        )
        const outcomes = Promise.allSettled(pending.map((p) => p.done))
        await storage[Symbol.asyncDispose]()
        for (const outcome of await outcomes) {
          if (outcome.status === 'fulfilled') expect(outcome.value.ok).toBe(true)
          else expect(isStorageError(outcome.reason, 'closed')).toBe(true)
        }
      })
    })

    describe('reopening', () => {
      async function reopen(skip: (note: string) => void): Promise<void> {
        if (!opened.reopen) return skip('this engine keeps nothing')
        storage = await opened.reopen()
      }

      it('what was acknowledged is there again, with the same revisions', async ({ skip }) => {
        const revision = await commit(put('/a', '1'), put('/b', '2'))
        const gone = await commit(put('/gone', '1'))
        await commit(remove('/gone', gone), put('/empty', ''))
        const before = await storage.range(everything)
        await reopen(skip)
        const after = await storage.range(everything)
        expect(after.entries).toEqual(before.entries)
        expect(after.entries.find((e) => e.key === '/b')?.revision).toBe(revision + 1)
        expect(after.revision).toBeGreaterThanOrEqual(before.revision)
      })

      it('revisions go on growing', async ({ skip }) => {
        const gone = await commit(put('/gone', '1'))
        const removed = await commit(remove('/gone', gone))
        await storage.compact(await storage.currentRevision())
        await reopen(skip)
        expect(await commit(put('/a', '1', 'absent'))).toBeGreaterThan(endOfCommit(removed))
      })

      it('a watch resumes where it was', async ({ skip }) => {
        const first = await commit(put('/a', '1'), put('/b', '1'))
        const second = await commit(put('/a', '2'))
        const third = await commit(remove('/b', first + 1))
        await reopen(skip)
        const fourth = await commit(put('/a', '4', second))
        for (const after of [first, endOfCommit(first), second, third]) {
          const reader = new WatchReader(storage, everything, after)
          const changes = await reader.until(endOfCommit(fourth))
          const want = [
            `/b@${first + 1}: nothing -> 1`,
            `/a@${second}: 1@${first} -> 2`,
            `/b@${third}: 1@${first + 1} -> nothing`,
            `/a@${fourth}: 2@${second} -> 4`,
          ]
          expect(changes.map(show)).toEqual(want.slice(-changes.length))
          expect(changes).toHaveLength([first + 1, second, third, fourth].filter((r) => r > after).length)
          await reader.stop()
        }
      })

      it('old revisions can still be read', async ({ skip }) => {
        const first = await commit(put('/a', '1'), put('/b', '1'))
        const second = await commit(put('/a', '2'))
        await commit(remove('/b', first + 1))
        await reopen(skip)
        const read = async (at: Revision) =>
          (await storage.range(everything, { at })).entries.map((e) => `${e.key}${text(e.value)}@${e.revision}`)
        expect(await read(first)).toEqual([`/a1@${first}`, `/b1@${first + 1}`])
        expect(await read(second)).toEqual([`/a2@${second}`, `/b1@${first + 1}`])
        expect((await storage.get('/b')).entry).toBeUndefined()
      })

      it('what was compacted stays compacted', async ({ skip }) => {
        const first = await commit(put('/a', '1'))
        const second = await commit(put('/a', '2'))
        await storage.compact(second)
        await reopen(skip)
        expect(await storage.compactedRevision()).toBe(endOfCommit(second))
        await expect(storage.get('/a', { at: first })).rejects.toMatchObject({ code: 'compacted' })
        expect(text((await storage.get('/a', { at: second })).entry?.value)).toBe('2')
      })
    })

    describe('properties', () => {
      const runs = options.propertyRuns ?? 30
      const keys = ['/a', '/a/b', '/b', '/c/1', '/c/2'] as const
      type Step = readonly { readonly key: (typeof keys)[number]; readonly value: string | undefined }[]
      const step: fc.Arbitrary<Step> = fc.uniqueArray(
        fc.record({
          key: fc.constantFrom(...keys),
          value: fc.oneof({ weight: 3, arbitrary: fc.string({ maxLength: 3 }) }, fc.constant(undefined)),
        }),
        { minLength: 1, maxLength: 4, selector: (write) => write.key },
      )

      /**
       * Each step becomes one transaction that fits what is there; returns the end of every commit, the start first.
       */
      async function run(steps: readonly Step[]): Promise<Revision[]> {
        const ends = [await storage.currentRevision()]
        for (const writes of steps) {
          const present = new Map((await readAll(storage, everything)).map((e) => [e.key, e.revision]))
          const fitting = writes
            .filter(({ key, value }) => value !== undefined || present.has(key))
            .map(({ key, value }) => {
              const expected: Expect = present.get(key) ?? 'absent'
              return value === undefined ? remove(key, expected) : put(key, value, expected)
            })
          if (fitting.length === 0) continue
          const result: Commit = await storage.commit({ guards: [], writes: fitting }).done
          if (!result.ok) throw new Error('a fitting transaction was refused')
          ends.push(endOfCommit(result.revision))
        }
        return ends
      }

      it('what a range shows at r, plus what a watch after r delivers, is what a range shows at r′', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(), fc.nat(), async (steps, i, j) => {
            const ends = await run(steps)
            const [from = 0, to = 0] = [ends[i % ends.length] ?? 0, ends[j % ends.length] ?? 0].toSorted(
              (a, b) => a - b,
            )
            const before = await storage.range(everything, { at: from })
            const after = await storage.range(everything, { at: to })
            const reader = new WatchReader(storage, everything, from)
            const changes = (await reader.until(to)).filter((change) => change.revision <= to)
            await reader.stop()
            expect(applyChanges(before.entries, changes)).toEqual(after.entries)
          }),
          { numRuns: runs },
        )
      })

      it('a watch cut and resumed at any change delivers the same as one that was never cut', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), async (steps, cut) => {
            const ends = await run(steps)
            const start = ends[0] ?? 0
            const end = ends.at(-1) ?? 0
            const whole = new WatchReader(storage, everything, start)
            const all = await whole.until(end)
            await whole.stop()
            const at = all[cut % Math.max(all.length, 1)]?.revision ?? start
            const resumed = new WatchReader(storage, everything, at)
            const rest = await resumed.until(end)
            await resumed.stop()
            expect([...all.filter((change) => change.revision <= at), ...rest]).toEqual(all)
          }),
          { numRuns: runs },
        )
      })
    })
  })
}

function show(change: Change): string {
  const before = change.previous ? `${text(change.previous.value)}@${change.previous.revision}` : 'nothing'
  return `${change.key}@${change.revision}: ${before} -> ${change.value ? text(change.value) : 'nothing'}`
}
