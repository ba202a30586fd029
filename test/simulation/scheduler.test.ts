import { expect, it } from 'vitest'
import { Scheduler } from './scheduler.ts'

const options = { what: 'the work', withinMs: 1000 }

it('takes steps by time, and in the order in which they were planned where the time is the same', async () => {
  const scheduler = new Scheduler()
  const seen: string[] = []
  const step = (ms: number, name: string): Promise<void> =>
    new Promise(
      (resolve) =>
        void scheduler.after(ms, () => {
          seen.push(`${name} at ${scheduler.now}`)
          resolve()
        }),
    )
  await scheduler.until(Promise.all([step(5, 'b'), step(1, 'a'), step(5, 'c'), step(0.5, 'first')]), options)
  expect(seen).toEqual(['first at 0.5', 'a at 1', 'b at 5', 'c at 5'])
})

it('lets everything that promises set going come to rest before the next step', async () => {
  const scheduler = new Scheduler()
  const seen: string[] = []
  scheduler.after(1, () => {
    void (async () => {
      for (let i = 0; i < 50; i++) await Promise.resolve()
      seen.push('the promises of the first step')
    })()
  })
  await scheduler.until(new Promise<void>((resolve) => void scheduler.after(1, () => resolve())), options)
  expect(seen).toEqual(['the promises of the first step'])
})

it('waits for what it is told to hold for', async () => {
  const scheduler = new Scheduler()
  const seen: string[] = []
  scheduler.after(1, () => {
    const slow = new Promise<void>((resolve) => setTimeout(resolve, 5)).then(() => void seen.push('held'))
    scheduler.hold(slow)
  })
  await scheduler.until(
    new Promise<void>((resolve) => void scheduler.after(1, () => resolve())).then(() => void seen.push('next')),
    options,
  )
  expect(seen).toEqual(['held', 'next'])
})

it('does not take steps that were cancelled, and says what never ends', async () => {
  const scheduler = new Scheduler()
  scheduler.after(1, () => expect.unreachable()).cancel()
  const never = scheduler.until(new Promise(() => undefined), options)
  await expect(never).rejects.toThrow('nothing more happens, and the work has not ended')
  scheduler.after(2000, () => expect.unreachable())
  await expect(scheduler.until(new Promise(() => undefined), options)).rejects.toThrow(
    'the work has not ended within 1000 ms',
  )
})

it('gives the same hash for the same lines, and for no others', () => {
  const hashOf = (...lines: readonly string[]): string => {
    const scheduler = new Scheduler()
    for (const line of lines) scheduler.tell(line)
    return scheduler.traceHash()
  }
  expect(hashOf('a', 'b')).toBe(hashOf('a', 'b'))
  expect(hashOf('a', 'b')).not.toBe(hashOf('b', 'a'))
})
