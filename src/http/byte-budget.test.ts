import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import { ByteBudget, type Excess } from './byte-budget.ts'

const mib = 1024 * 1024

function budgetOf(totalBytes: number, flowBytes: number, isHeapFull = false) {
  const refused: [Excess, string][] = []
  const onRefused = (excess: Excess, flow: string): void => void refused.push([excess, flow])
  return { refused, budget: new ByteBudget({ totalBytes, flowBytes, isHeapFull: () => isHeapFull, onRefused }) }
}

describe('what a flow takes', () => {
  test('is bounded by its share, of which it is told, and others are not', async () => {
    const { budget, refused } = budgetOf(10 * mib, 4 * mib)
    const ann = budget.open('user ann')
    ann.charge(3 * mib)
    expect(await refusal((async () => budget.open('user ann').charge(2 * mib))())).toEqual(
      failure({
        message: 'Your requests and answers under way take too much memory, please try again later.',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    )
    budget.open('user bob').charge(2 * mib)
    expect(refused).toEqual([['flow_memory', 'user ann']])
    ann.give(mib)
    budget.open('user ann').charge(2 * mib)
    expect([budget.takenBytes, budget.takenBytesOf('user ann')]).toEqual([6 * mib, 4 * mib])
  })

  test('may go beyond its share by one request, while the others are little', () => {
    const { budget } = budgetOf(10 * mib, 4 * mib)
    budget.open('user ann').charge(mib)
    const [large, next] = [budget.open('user ann'), budget.open('user ann')]
    expect([large.tryCharge(7 * mib), large.tryCharge(mib), next.tryCharge(1)]).toEqual([true, true, false])
  })

  test('and all others is bounded by the whole', async () => {
    const { budget, refused } = budgetOf(10 * mib, 4 * mib)
    for (const flow of ['a', 'b', 'c']) budget.open(flow).charge(3 * mib)
    expect(await refusal((async () => budget.open('d').charge(2 * mib))())).toEqual(
      failure({
        message: 'The server is busy: what is under way takes too much memory, please try again later.',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    )
    expect(refused).toEqual([['memory', 'd']])
  })

  test('can never be more than the whole: trying again would not help', async () => {
    const { budget } = budgetOf(mib, mib)
    expect(await refusal((async () => budget.open('a').charge(2 * mib))())).toEqual(
      failure({
        message:
          'The answer would take 2097152 bytes of memory, more than the 1048576 that all requests may take together: ' +
          'ask for less at a time, with limit and continue.',
        reason: 'RequestEntityTooLarge',
        code: 413,
      }),
    )
  })

  test('nor can one request, whatever it is charged for', async () => {
    const { budget } = budgetOf(mib, mib)
    const account = budget.open('a')
    account.charge(mib / 2)
    expect(await refusal((async () => account.charge(mib))())).toEqual(
      failure({
        message:
          'The request takes more memory than the 1048576 bytes that all requests may take together: send or ask for ' +
          'less at a time. YAML takes more than JSON.',
        reason: 'RequestEntityTooLarge',
        code: 413,
      }),
    )
  })

  test('is nothing more while the heap is nearly full', () => {
    const { budget, refused } = budgetOf(10 * mib, 4 * mib, true)
    expect(budget.open('a').tryCharge(1)).toBe(false)
    expect(refused).toEqual([['heap', 'a']])
  })

  test('counts a buffer once, however many are sent it', () => {
    const { budget } = budgetOf(10 * mib, 4 * mib)
    const { buffer } = new Uint8Array(3 * mib)
    const accounts = ['ann', 'ann', 'bob'].map((flow) => budget.open(flow))
    for (const account of accounts) account.settle(10, [buffer])
    expect([budget.takenBytes, budget.takenBytesOf('ann')]).toEqual([3 * mib + 30, 3 * mib + 20])
    accounts[0]?.close()
    expect([budget.takenBytes, budget.takenBytesOf('ann')]).toEqual([3 * mib + 20, 3 * mib + 10])
    accounts[1]?.moveTo('bob')
    expect([budget.takenBytesOf('ann'), budget.takenBytesOf('bob')]).toEqual([0, 3 * mib + 20])
    for (const account of accounts) account.close()
    expect(budget.takenBytes).toBe(0)
  })
})

describe('when all is taken', () => {
  /** Flows that hold so many MiB in each of their requests; what is ended, in order. */
  function world(held: Readonly<Record<string, readonly number[]>>, busy: readonly string[] = []) {
    const { budget, refused } = budgetOf(12 * mib, 12 * mib)
    const ended: string[] = []
    for (const [flow, requests] of Object.entries(held)) {
      for (const size of requests) {
        const name = `${flow} ${size}`
        budget.open(flow, { isIdle: !busy.includes(name), shed: () => void ended.push(name) }).charge(size * mib)
      }
    }
    return { budget, refused, ended }
  }

  test('the largest flow gives way to one that has less, its largest request first; others are not touched', () => {
    const { budget, refused, ended } = world({ ann: [2], eve: [1, 3, 2], bob: [2, 2] })
    budget.open('dan').charge(2 * mib)
    expect([ended, refused]).toEqual([['eve 3'], []])
    expect(['ann', 'eve', 'bob', 'dan'].map((flow) => budget.takenBytesOf(flow) / mib)).toEqual([2, 3, 4, 2])
    // By now bob has most.
    budget.open('dan').charge(mib)
    budget.open('dan').charge(mib / 2)
    expect(ended).toEqual(['eve 3', 'bob 2'])
  })

  test('requests that are worked on are spared as long as others wait for their client', () => {
    const { budget, ended } = world({ eve: [7, 2, 3] }, ['eve 7'])
    budget.open('dan').charge(4 * mib)
    expect(ended).toEqual(['eve 3', 'eve 2'])
  })

  test('a flow that would have more than any other is refused itself', async () => {
    const { budget, refused, ended } = world({ ann: [4], eve: [8] })
    expect(budget.open('ann').tryCharge(5 * mib)).toBe(false)
    expect([ended, refused]).toEqual([[], [['memory', 'ann']]])
  })

  test('what is done for a client that has left is not counted', () => {
    const { budget } = world({})
    const account = budget.open('ann')
    account.close()
    account.charge(mib)
    account.settle(10, [new ArrayBuffer(mib)])
    expect(budget.takenBytes).toBe(0)
  })

  test('and the heap is nearly full, the largest flow keeps a quarter of a share', () => {
    const { budget, ended } = world({ ann: [2], eve: [1, 3, 2, 2] })
    budget.shedLargest()
    expect(ended).toEqual(['eve 3', 'eve 2'])
  })
})

test('whatever accounts do, nothing is taken when all are closed, and what is charged stays below the whole', () => {
  const buffers = Array.from({ length: 3 }, (_, i) => new ArrayBuffer(100 * (i + 1)))
  const flows = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    fc.record({ does: fc.constant('charge' as const), account: fc.nat(4), bytes: fc.nat(2000) }),
    fc.record({ does: fc.constant('give' as const), account: fc.nat(4), bytes: fc.nat(2000) }),
    fc.record({ does: fc.constant('settle' as const), account: fc.nat(4), held: fc.subarray(buffers) }),
    fc.record({ does: fc.constant('move' as const), account: fc.nat(4), flow: flows }),
  )
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const { budget } = budgetOf(5000, 2000)
      const accounts = Array.from({ length: 5 }, () => budget.open('a'))
      for (const taken of steps) {
        const account = accounts[taken.account]
        if (taken.does === 'charge') {
          const before = budget.takenBytes
          if (account?.tryCharge(taken.bytes)) expect(budget.takenBytes).toBe(before + taken.bytes)
        } else if (taken.does === 'give') account?.give(taken.bytes)
        else if (taken.does === 'settle') account?.settle(0, taken.held)
        else account?.moveTo(taken.flow)
        expect(budget.takenBytes).toBeLessThanOrEqual(5000 + 600)
      }
      for (const account of accounts) account.close()
      expect([budget.takenBytes, ...['a', 'b', 'c'].map((flow) => budget.takenBytesOf(flow))]).toEqual([0, 0, 0, 0])
    }),
  )
})
