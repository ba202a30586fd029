import { describe, expect, test } from 'vitest'
import { forbidden, StatusError } from '../../kube/status-error.ts'
import { LookupFailed, RemoteLookups } from './remote-lookups.ts'

describe('a decision whose answers are elsewhere', () => {
  test('is made on the answers, not on the guesses, each question asked once', async () => {
    const asked: string[] = []
    const lookups = new RemoteLookups()
    const is = (what: string, answer: boolean): boolean =>
      lookups.ask(
        what,
        async () => {
          asked.push(what)
          return answer
        },
        false,
      )
    const decided = await lookups.settle(async () => {
      if (!is('first', true)) return 'no'
      // Asked only once the first answer is known.
      return is('second', true) && is('first', true) ? 'yes' : 'nearly'
    })
    expect(decided).toBe('yes')
    expect(asked).toEqual(['first', 'second'])
  })

  test('refuses on the answers: what was thrown on guesses is forgotten', async () => {
    const lookups = new RemoteLookups()
    const decision = async (): Promise<string> => {
      if (!lookups.ask('may', async () => true, false)) throw new StatusError('no', { reason: 'Forbidden' })
      return 'done'
    }
    expect(await lookups.settle(decision)).toBe('done')
    await expect(
      new RemoteLookups().settle(async () => {
        throw new StatusError('no', { reason: 'Forbidden' })
      }),
    ).rejects.toThrow('no')
  })

  test('an answer that is `undefined` is an answer', async () => {
    const lookups = new RemoteLookups()
    let fetched = 0
    const found = await lookups.settle(async () =>
      lookups.ask<string | undefined>(
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
    const lookups = new RemoteLookups()
    const ours = forbidden({ group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }, '', 'not you')
    const failing = lookups.settle(async () => lookups.ask('may', () => Promise.reject(ours), false))
    await expect(failing).rejects.toBeInstanceOf(LookupFailed)
    await expect(failing).rejects.toMatchObject({ cause: ours })
  })

  test('that never stops asking is given up', async () => {
    const lookups = new RemoteLookups()
    let n = 0
    await expect(lookups.settle(async () => lookups.ask(`${n++}`, async () => true, false))).rejects.toThrow(
      'still had questions',
    )
  })

  test('asks many things at once, but not all of them', async () => {
    const lookups = new RemoteLookups()
    let underWay = 0
    let most = 0
    const count = await lookups.settle(async () => {
      let yes = 0
      for (let i = 0; i < 100; i++) {
        const ask = async (): Promise<boolean> => {
          most = Math.max(most, ++underWay)
          await Promise.resolve()
          underWay -= 1
          return true
        }
        if (lookups.ask(`${i}`, ask, false)) yes += 1
      }
      return yes
    })
    expect([count, most]).toEqual([100, 16])
  })
})
