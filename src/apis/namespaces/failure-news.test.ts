/** What of a failure is told again, and when. */
import { expect, it } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import { FailureNews } from './failure-news.ts'

const failed = (reason = 'Refused', status: 'True' | 'False' = 'True') => ({ type: 'Failing', status, reason })

it('tells a failure, and in other words only after a while', async () => {
  const clock = new FakeClock()
  const news = new FailureNews(clock)
  expect(news.isNews('a', [], [failed()])).toBe(true)
  expect(news.isNews('a', [failed()], [failed()])).toBe(false)
  await clock.advance(9999)
  expect(news.isNews('a', [failed()], [failed()])).toBe(false)
  await clock.advance(1)
  expect(news.isNews('a', [failed()], [failed()])).toBe(true)
  expect(news.isNews('a', [failed()], [failed()])).toBe(false)
})

it('tells another failure at once, and that of another namespace', () => {
  const news = new FailureNews(new FakeClock())
  expect(news.isNews('a', [], [failed()])).toBe(true)
  expect(news.isNews('a', [failed()], [failed('Missing')])).toBe(true)
  expect(news.isNews('a', [failed()], [failed('Refused', 'False')])).toBe(true)
  expect(news.isNews('b', [failed()], [failed()])).toBe(true)
})

it('tells what its status says since before this process once, and again what has been forgotten', () => {
  const news = new FailureNews(new FakeClock())
  expect(news.isNews('a', [failed()], [failed()])).toBe(true)
  news.forget('a')
  expect(news.isNews('a', [failed()], [failed()])).toBe(true)
})
