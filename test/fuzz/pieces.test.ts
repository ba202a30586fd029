/** What holds the loop is seen in the turn that it takes, and waiting for it costs nothing. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Pieces } from '../../bench/loop-pieces.ts'

it('tells the longest piece, wherever it is', async () => {
  let threadMs = 0
  using pieces = new Pieces(() => threadMs)
  // Minutes of work, told and not done: what a collection takes off them on a busy machine is nothing beside.
  const { workedMs, result } = await pieces.of(async () => {
    threadMs += 50_000
    await pause(5)
    threadMs += 600_000
    await pause(5)
    return 'done'
  })
  expect(result).toBe('done')
  expect(workedMs).toBeLessThanOrEqual(600_000)
  expect(workedMs).toBeGreaterThan(500_000)
  const last = await pieces.of(async () => {
    await pause(5)
    threadMs += 400_000
  })
  expect(last.workedMs).toBeLessThanOrEqual(400_000)
  expect(last.workedMs).toBeGreaterThan(300_000)
})

it('counts what the thread works', async () => {
  using pieces = new Pieces()
  let mostMs = 0
  // Again when a collection came in between, and took longer than the work.
  for (let i = 0; i < 10 && mostMs === 0; i++) {
    const { workedMs } = await pieces.of(async () => {
      const until = process.threadCpuUsage().user + 20_000
      while (process.threadCpuUsage().user < until);
    })
    mostMs = workedMs
  }
  expect(mostMs).toBeGreaterThan(0)
})

it('does not keep the loop turning while nothing happens', async () => {
  const keeping = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Immediate').length
  using pieces = new Pieces()
  await pieces.of(async () => {
    await pause(5)
    expect(keeping()).toBe(0)
    const one = setImmediate(() => {})
    expect(keeping()).toBe(1)
    clearImmediate(one)
  })
})
