import { expect, it } from 'vitest'
import { restBetween } from './rest-between.ts'

it('rests four times as long as each step took', async () => {
  const waited: number[] = []
  let now = 100
  const rest = restBetween(
    async (ms) => {
      waited.push(ms)
      now += ms
    },
    () => now,
  )
  for (const tookMs of [3, 0, 10]) {
    now += tookMs
    await rest()
  }
  expect(waited).toEqual([12, 0, 40])
})
