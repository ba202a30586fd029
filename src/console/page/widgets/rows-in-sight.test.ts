import { expect, test } from 'vitest'
import { rowsAt } from './rows-in-sight.ts'

const [height, rowHeight] = [760, 42]

test('wherever one is, what is in sight is in the document, and not many more', () => {
  for (let top = 0; top < 5000 * rowHeight; top += 37) {
    const { first, end } = rowsAt(top, height, rowHeight)
    expect(first * rowHeight).toBeLessThanOrEqual(top)
    expect(end * rowHeight).toBeGreaterThanOrEqual(top + height)
    expect(end - first).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 20)
  }
})

test('a scroll by a few pixels changes nothing in the document', () => {
  const windows = new Set<number>()
  for (let top = 0; top < 100 * rowHeight; top++) windows.add(rowsAt(top, height, rowHeight).first)
  expect([...windows]).toEqual([
    0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88,
  ])
})
