import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { ChangeWindow, type ObjectChange, TypeHistory, type WindowLimits } from './change-window.ts'
import { ObjectVersion } from './stored-object.ts'

const change = (revision: number, sizeBytes = 10): ObjectChange => ({
  revision,
  next: ObjectVersion.of('a/x', revision, new Uint8Array(sizeBytes)),
  old: undefined,
})
const unlimited: WindowLimits = { changes: 1e9, sizeBytes: 1e9, ageMs: 1e9 }
const revisions = (history: TypeHistory): number[] => history.after(history.since).map((c) => c.revision)

const limits: { name: string; limits: WindowLimits; want: number[] }[] = [
  { name: 'number of changes', limits: { ...unlimited, changes: 2 }, want: [3, 4] },
  { name: 'bytes', limits: { ...unlimited, sizeBytes: 30 }, want: [2, 3, 4] },
  { name: 'age', limits: { ...unlimited, ageMs: 1500 }, want: [3, 4] },
]
for (const { name, limits: given, want } of limits) {
  test(`the window is bounded by ${name}, and says since when it is complete`, async () => {
    const clock = new FakeClock()
    const window = new ChangeWindow(given, clock)
    const history = new TypeHistory(0)
    for (const revision of [1, 2, 3, 4]) {
      window.record(history, change(revision))
      await clock.advance(1000)
    }
    expect(revisions(history)).toEqual(want)
    expect(history.since).toBe((want[0] ?? 0) - 1)
  })
}

test('a busy type turns over its own changes only when they are the oldest of all', () => {
  const window = new ChangeWindow({ ...unlimited, changes: 4 }, new FakeClock())
  const [quiet, busy] = [new TypeHistory(0), new TypeHistory(0)]
  window.record(busy, change(1))
  window.record(quiet, change(2))
  for (const revision of [3, 4, 5]) window.record(busy, change(revision))
  expect(busy.since).toBe(1)
  expect(quiet.since).toBe(0)
  expect(revisions(quiet)).toEqual([2])
  window.record(busy, change(6))
  expect(quiet.since).toBe(2)
  expect(revisions(quiet)).toEqual([])
  expect(revisions(busy)).toEqual([3, 4, 5, 6])
})

test('after a long run only what is in the window is held', () => {
  const window = new ChangeWindow({ ...unlimited, changes: 100 }, new FakeClock())
  const history = new TypeHistory(0)
  for (let revision = 1; revision <= 10_000; revision++) window.record(history, change(revision))
  expect(revisions(history)).toEqual(Array.from({ length: 100 }, (_, i) => 9901 + i))
  expect(history.after(9950)).toHaveLength(50)
})
