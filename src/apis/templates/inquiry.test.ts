import { describe, expect, test } from 'vitest'
import { forbidden, StatusError } from '../../kube/status-error.ts'
import { Inquiry, Unanswered } from './inquiry.ts'

describe('a decision whose answers are elsewhere', () => {
  test('is made on the answers, not on the guesses, each question asked once', async () => {
    const asked: string[] = []
    const inquiry = new Inquiry()
    const is = (what: string, answer: boolean): boolean =>
      inquiry.ask(
        what,
        async () => {
          asked.push(what)
          return answer
        },
        false,
      )
    const decided = await inquiry.settle(async () => {
      if (!is('first', true)) return 'no'
      // Asked only once the first answer is known.
      return is('second', true) && is('first', true) ? 'yes' : 'nearly'
    })
    expect(decided).toBe('yes')
    expect(asked).toEqual(['first', 'second'])
  })

  test('refuses on the answers: what was thrown on guesses is forgotten', async () => {
    const inquiry = new Inquiry()
    const decision = async (): Promise<string> => {
      if (!inquiry.ask('may', async () => true, false)) throw new StatusError('no', { reason: 'Forbidden' })
      return 'done'
    }
    expect(await inquiry.settle(decision)).toBe('done')
    await expect(
      new Inquiry().settle(async () => {
        throw new StatusError('no', { reason: 'Forbidden' })
      }),
    ).rejects.toThrow('no')
  })

  test('an answer that is `undefined` is an answer', async () => {
    const inquiry = new Inquiry()
    let fetched = 0
    const found = await inquiry.settle(async () =>
      inquiry.ask<string | undefined>(
        'role',
        async () => {
          fetched += 1
          return undefined
        },
        'guess',
      ),
    )
    expect([found, fetched]).toEqual([undefined, 1])
  })

  test('fails, and does not refuse, when an answer can not be had, whatever the reason', async () => {
    const inquiry = new Inquiry()
    const ours = forbidden({ group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }, '', 'not you')
    const failing = inquiry.settle(async () => inquiry.ask('may', () => Promise.reject(ours), false))
    await expect(failing).rejects.toBeInstanceOf(Unanswered)
    await expect(failing).rejects.toMatchObject({ cause: ours })
  })

  test('that never stops asking is given up', async () => {
    const inquiry = new Inquiry()
    let n = 0
    await expect(inquiry.settle(async () => inquiry.ask(`${n++}`, async () => true, false))).rejects.toThrow(
      'still had questions',
    )
  })

  test('asks many things at once, but not all of them', async () => {
    const inquiry = new Inquiry()
    let underWay = 0
    let most = 0
    const count = await inquiry.settle(async () => {
      let yes = 0
      for (let i = 0; i < 100; i++) {
        const ask = async (): Promise<boolean> => {
          most = Math.max(most, ++underWay)
          await Promise.resolve()
          underWay -= 1
          return true
        }
        if (inquiry.ask(`${i}`, ask, false)) yes += 1
      }
      return yes
    })
    expect([count, most]).toEqual([100, 16])
  })
})
