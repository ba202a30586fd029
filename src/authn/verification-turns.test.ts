import { expect, test } from 'vitest'
import { VerificationTurns } from './verification-turns.ts'

/** Verifications that end when they are told to. */
function started() {
  const turns = new VerificationTurns()
  const begun: string[] = []
  const ends = new Map<string, (fault?: Error) => void>()
  const run = (flow: string, name: string): Promise<void> =>
    turns.run(flow, () => {
      begun.push(name)
      return new Promise((resolve, reject) => ends.set(name, (fault) => (fault ? reject(fault) : resolve())))
    })
  return { begun, run, end: (name: string, fault?: Error) => ends.get(name)?.(fault) }
}

test('attack: an address has one signature verified at a time, all have two, each in its turn', async () => {
  const { begun, run, end } = started()
  const flood = Array.from({ length: 4 }, (_, i) => run('a', `a${i}`))
  const other = Array.from({ length: 2 }, (_, i) => run('b', `b${i}`))
  const third = run('c', 'c0')
  expect(begun).toEqual(['a0', 'b0'])
  end('a0')
  await flood[0]
  expect(begun).toEqual(['a0', 'b0', 'a1'])
  end('b0')
  await other[0]
  expect(begun).toEqual(['a0', 'b0', 'a1', 'b1'])
  end('a1')
  await flood[1]
  expect(begun.at(-1)).toBe('c0')
  end('c0')
  await third
  for (const name of ['b1', 'a2', 'a3']) {
    end(name)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([...flood, ...other])
  expect(begun.slice(-2)).toEqual(['a2', 'a3'])
})

test('one that fails makes room, too', async () => {
  const { begun, run, end } = started()
  const first = run('a', 'a0')
  const second = run('a', 'a1')
  end('a0', new Error('forged'))
  await expect(first).rejects.toThrow('forged')
  end('a1')
  await second
  expect(begun).toEqual(['a0', 'a1'])
})
