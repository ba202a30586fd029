import { expect, test } from 'vitest'
import { Beginnings } from './beginnings.ts'

/** Takes a place, and notes when it is there. */
function taken(beginnings: Beginnings, flow: string, name: string, log: string[]) {
  const place = beginnings.place(flow)
  const awaited = place.take()
  if (awaited === undefined) log.push(name)
  else void awaited.then(() => log.push(name))
  return place
}

test('watches of a flow begin a few at a time, in order, and other flows do not wait for them', async () => {
  const log: string[] = []
  const beginnings = new Beginnings(2)
  const places = ['a1', 'a2', 'a3', 'a4'].map((name) => taken(beginnings, 'a', name, log))
  taken(beginnings, 'b', 'b1', log)
  await Promise.resolve()
  expect(log).toEqual(['a1', 'a2', 'b1'])
  places[1]?.end()
  await Promise.resolve()
  expect(log).toEqual(['a1', 'a2', 'b1', 'a3'])
  places[0]?.end()
  places[0]?.end()
  await Promise.resolve()
  expect(log).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('a watch that ends while it waits takes no place', async () => {
  const log: string[] = []
  const beginnings = new Beginnings(1)
  const [first, second] = ['first', 'second'].map((name) => taken(beginnings, 'a', name, log))
  taken(beginnings, 'a', 'third', log)
  second?.end()
  await Promise.resolve()
  expect(log).toEqual(['first', 'second'])
  first?.end()
  await Promise.resolve()
  expect(log).toEqual(['first', 'second', 'third'])
})

test('a place that is given up and asked for again is another one', async () => {
  const log: string[] = []
  const beginnings = new Beginnings(1)
  const first = taken(beginnings, 'a', 'first', log)
  first.end()
  taken(beginnings, 'a', 'second', log)
  expect(log).toEqual(['first', 'second'])
})
