import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { Incidents } from './incidents.ts'

function watched(): { clock: FakeClock; incidents: Incidents; lines: [flow: unknown, times: unknown, said: string][] } {
  const clock = new FakeClock()
  const lines: [unknown, unknown, string][] = []
  const warn = (fields: Readonly<Record<string, unknown>>, message: string): void =>
    void lines.push([fields['flow'], fields['times'], message])
  return { clock, lines, incidents: new Incidents(clock, { ...silentLog, warn }) }
}

const slow = 'bodies of requests came in too slowly: requests refused'

test('a flow is told of once a minute, with the number of times; each is counted', async () => {
  const { clock, incidents, lines } = watched()
  for (let i = 0; i < 1000; i++) incidents.happened('body_deadline', 'user eve')
  incidents.happened('body_deadline', 'user ann')
  expect(lines).toEqual([
    ['user eve', 1, slow],
    ['user ann', 1, slow],
  ])
  await clock.advance(59_999)
  expect([incidents.look(), lines.length]).toEqual([true, 2])
  await clock.advance(1)
  expect([incidents.look(), lines.slice(2)]).toEqual([true, [['user eve', 999, slow]]])
  expect([...incidents.counts]).toEqual([['body_deadline', 1001]])
  await clock.advance(60_000)
  expect([incidents.look(), lines.length]).toEqual([false, 3])
})

test('flows beyond a hundred are told of as one', () => {
  const { incidents, lines } = watched()
  for (let i = 0; i < 1000; i++) incidents.happened('body_deadline', `address 10.0.${i >> 8}.${i & 255}`)
  expect(lines).toHaveLength(101)
  expect(lines.at(-1)).toEqual(['others', 1, slow])
})

test('connections that are closed since nothing is done on them are counted, not told', () => {
  const { incidents, lines } = watched()
  incidents.happened('idle_deadline', 'user ann')
  expect([lines, incidents.counts.get('idle_deadline')]).toEqual([[], 1])
})
