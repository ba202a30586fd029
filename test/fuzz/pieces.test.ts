/** What holds the loop is seen in the turn that it takes, and waiting for it costs nothing. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Pieces } from '../../bench/loop-pieces.ts'

/** Makes next to nothing: what is collected meanwhile does not count. */
const workFor = (ms: number): void => {
  const worked = (): number => process.threadCpuUsage().user + process.threadCpuUsage().system
  const end = worked() + ms * 1000
  let sum = 0
  while (worked() < end) for (let i = 0; i < 1_000_000; i++) sum = (sum + i) % 1_000_003
}

it('tells the longest piece, wherever it is', async () => {
  using pieces = new Pieces()
  const { workedMs, result } = await pieces.of(async () => {
    workFor(5)
    await pause(5)
    workFor(60)
    await pause(5)
    return 'done'
  })
  expect(result).toBe('done')
  expect(workedMs).toBeGreaterThanOrEqual(60)
  const last = await pieces.of(async () => {
    await pause(5)
    workFor(40)
  })
  expect(last.workedMs).toBeGreaterThanOrEqual(40)
})

it('does not keep the loop turning while nothing happens', async () => {
  using pieces = new Pieces()
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count).unref()
  }
  await pieces.of(async () => {
    setImmediate(count).unref()
    await pause(300)
    isOver = true
  })
  // A loop that is kept turning does so thousands of times.
  expect(turns).toBeLessThan(500)
})
