import { describe, expect, test } from 'vitest'
import { andFinally, andThen } from './eventual.ts'

describe('what is there', () => {
  test('is handed on at once', () => {
    expect(andThen(1, (n) => n + 1)).toBe(2)
  })

  test('ends before it is answered', () => {
    const order: string[] = []
    const answer = andFinally(
      () => order.push('work'),
      () => order.push('end'),
    )
    expect([answer, order]).toEqual([1, ['work', 'end']])
  })

  test('ends also where the work throws', () => {
    let ended = false
    const work = (): never => {
      throw new Error('no')
    }
    expect(() => andFinally(work, () => (ended = true))).toThrow('no')
    expect(ended).toBe(true)
  })

  test.each(['at once', 'later'])(
    'is answered %s by something else, once the work that failed has ended',
    async (when) => {
      const order: unknown[] = []
      const work = (): Promise<string> => {
        if (when === 'later') return Promise.reject(new Error('no'))
        throw new Error('no')
      }
      const failed = (error: unknown): string => {
        order.push(error)
        return 'instead'
      }
      expect(await andFinally(work, () => order.push('end'), failed)).toBe('instead')
      expect(order).toEqual(['end', new Error('no')])
    },
  )
})

describe('what comes later', () => {
  test('is handed on when it comes', async () => {
    expect(await andThen(Promise.resolve(1), (n) => n + 1)).toBe(2)
  })

  test.each([
    { name: 'comes', work: () => Promise.resolve('ok') },
    { name: 'fails', work: () => Promise.reject(new Error('no')) },
  ])('ends when it $name, and not before', async ({ work }) => {
    let ended = false
    const answer = andFinally(work, () => (ended = true))
    expect(ended).toBe(false)
    const [settled, expected] = await Promise.allSettled([answer, work()])
    expect(ended).toBe(true)
    expect(settled).toEqual(expected)
  })
})
