import { expect, test } from 'vitest'
import type { Progress } from '../base/progress.ts'
import { ProgressLine } from './progress-line.ts'

interface Step {
  readonly atMs: number
  readonly progress: Progress
}

const copying = (done: number, total?: number): Progress => ({
  doing: 'copying',
  done,
  unit: 'entries',
  ...(total === undefined ? {} : { total }),
})

/** What is written, one text per write. */
function shown(steps: readonly Step[], terminal?: { readonly columns: number }): string[] {
  const texts: string[] = []
  let now = 0
  const output = { write: (text: string) => texts.push(text), ...(terminal ? { isTTY: true, ...terminal } : {}) }
  {
    using line = new ProgressLine(output, () => now)
    for (const { atMs, progress } of steps) {
      now = atMs
      line.report(progress)
    }
  }
  return texts
}

test('work that ends within a second shows nothing', () => {
  const steps = [0, 500, 999].map((atMs) => ({ atMs, progress: copying(1, 2) }))
  expect(shown(steps)).toEqual([])
  expect(shown(steps, { columns: 80 })).toEqual([])
})

test('a terminal shows one line, which changes ten times a second at most and goes in the end', () => {
  const steps = [0, 1000, 1050, 1100].map((atMs) => ({ atMs, progress: copying(atMs, 4000) }))
  expect(shown(steps, { columns: 80 })).toEqual([
    '\r\x1b[Kcopying: 1,000 of 4,000 entries (25 %), 3s left',
    '\r\x1b[Kcopying: 1,100 of 4,000 entries (27 %), 3s left',
    '\r\x1b[K',
  ])
})

test('the line is cut where the terminal ends', () => {
  expect(shown([{ atMs: 1000, progress: copying(5) }], { columns: 12 })).toEqual(['\r\x1b[Kcopying: 5 ', '\r\x1b[K'])
})

test('the line is whole on a terminal that does not know its width', () => {
  const steps = [{ atMs: 1000, progress: copying(5) }]
  expect(shown(steps, { columns: 0 })).toEqual(['\r\x1b[Kcopying: 5 entries', '\r\x1b[K'])
})

test('elsewhere a line comes each ten seconds', () => {
  const steps = [1000, 5000, 10_999, 11_000].map((atMs) => ({ atMs, progress: copying(atMs) }))
  expect(shown(steps)).toEqual(['copying: 1,000 entries\n', 'copying: 11,000 entries\n'])
})

test('a total that was too low grows with what is done, and what is left is told of the step alone', () => {
  const verifying = { doing: 'verifying', done: 50, total: 100, unit: 'entries', note: '3.1 MiB' }
  expect(
    shown([
      { atMs: 2000, progress: copying(12, 10) },
      { atMs: 60_000, progress: { ...verifying, done: 0 } },
      { atMs: 80_000, progress: verifying },
    ]),
  ).toEqual([
    'copying: 12 of 12 entries (100 %)\n',
    'verifying: 0 of 100 entries (0 %), 3.1 MiB\n',
    'verifying: 50 of 100 entries (50 %), 3.1 MiB, 20s left\n',
  ])
})
