import { describe, expect, test } from 'vitest'
import { Channel, StreamOverflow } from './stream.ts'

async function drain<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

describe('a stream', () => {
  test('delivers what was pushed before and after the consumer came, in order, and then ends', async () => {
    const channel = new Channel<number>({ limit: 10 })
    channel.push(1)
    channel.push(2)
    const drained = drain(channel)
    await Promise.resolve()
    channel.push(3)
    channel.close()
    expect(await drained).toEqual([1, 2, 3])
  })

  test('throws its error only after what came before it', async () => {
    const channel = new Channel<number>({ limit: 10 })
    channel.push(1)
    channel.close(new Error('broken'))
    const seen: number[] = []
    await expect(
      (async () => {
        for await (const item of channel) seen.push(item)
      })(),
    ).rejects.toThrow('broken')
    expect(seen).toEqual([1])
  })

  test('cuts off a consumer that falls behind, and says so', async () => {
    const channel = new Channel<number>({ limit: 2 })
    expect(channel.push(1)).toBe(true)
    expect(channel.push(2)).toBe(true)
    expect(channel.push(3)).toBe(false)
    expect(channel.closed).toBe(true)
    await expect(drain(channel)).rejects.toBeInstanceOf(StreamOverflow)
  })

  test('cleans up once when the consumer leaves early', async () => {
    let closed = 0
    const channel = new Channel<number>({ limit: 10, onClose: () => closed++ })
    channel.push(1)
    channel.push(2)
    for await (const _ of channel) break
    await channel[Symbol.asyncDispose]()
    expect(closed).toBe(1)
    expect(channel.push(3)).toBe(false)
    expect(channel.pending).toBe(0)
  })

  test('wakes a waiting consumer when it is disposed of', async () => {
    const channel = new Channel<number>({ limit: 10 })
    const drained = drain(channel)
    await channel[Symbol.asyncDispose]()
    expect(await drained).toEqual([])
  })

  test('has one consumer', () => {
    const channel = new Channel<number>({ limit: 10 })
    channel[Symbol.asyncIterator]()
    expect(() => channel[Symbol.asyncIterator]()).toThrow('once')
  })

  test('keeps its order over many items taken in between', async () => {
    const channel = new Channel<number>({ limit: 100_000 })
    const iterator = channel[Symbol.asyncIterator]()
    let next = 0
    for (let i = 0; i < 20_000; i++) {
      channel.push(i)
      if (i % 3 === 0) expect((await iterator.next()).value).toBe(next++)
    }
    channel.close()
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) break
      expect(value).toBe(next++)
    }
    expect(next).toBe(20_000)
  })
})
