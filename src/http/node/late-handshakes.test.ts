import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import { LateHandshakes } from './late-handshakes.ts'

describe('the handshake of an address', () => {
  let clock: FakeClock
  let handshakes: LateHandshakes
  let begun: string[]
  const begin = (address: string): (() => void) => handshakes.begin(address, () => begun.push(address))
  const breakConnections = (address: string, times: number): void => {
    for (let i = 0; i < times; i++) handshakes.broke(address)
  }
  beforeEach(() => {
    clock = new FakeClock()
    handshakes = new LateHandshakes(clock)
    begun = []
  })

  test('begins at once, also when a few of its connections were broken', () => {
    breakConnections('a', 5)
    begin('a')
    expect(begun).toEqual(['a'])
  })

  test('begins a second late when its connections are broken again and again, and those of others do not', async () => {
    breakConnections('a', 6)
    begin('a')
    begin('b')
    expect(begun).toEqual(['b'])
    await clock.advance(1000)
    expect(begun).toEqual(['b', 'a'])
  })

  test('does not begin when the peer leaves before', async () => {
    breakConnections('a', 6)
    begin('a')()
    await clock.advance(1000)
    expect(begun).toEqual([])
  })

  test('begins at once when the flood is over', async () => {
    breakConnections('a', 1000)
    await clock.advance(10_000)
    begin('a')
    expect(begun).toEqual(['a'])
  })

  test('is remembered of a bounded number of addresses', () => {
    breakConnections('a', 6)
    for (let i = 0; i < 5000; i++) breakConnections(`other ${i}`, 1)
    begin('a')
    expect(begun).toEqual(['a'])
  })
})
