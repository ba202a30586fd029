import { describe, expect, it } from 'vitest'
import { Traffic } from './traffic.ts'

const never = new AbortController().signal

/** Whether it has settled by now, all that was ready to run having run. */
async function settled(promise: Promise<void>): Promise<boolean> {
  let is = false
  void promise.then(() => {
    is = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return is
}

describe('traffic', () => {
  it('is over, and answered, where there is none', async () => {
    const traffic = new Traffic()
    expect([await settled(traffic.answered(never)), await settled(traffic.over(never))]).toEqual([true, true])
  })

  it('is answered when watches are all that is left, and over when they have ended', async () => {
    const traffic = new Traffic()
    traffic.begin()
    traffic.begin()
    const answered = traffic.answered(never)
    const over = traffic.over(never)
    const ended = traffic.goOn()
    expect([await settled(answered), await settled(over)]).toEqual([false, false])
    traffic.end()
    expect([await settled(answered), await settled(over)]).toEqual([true, false])
    ended()
    traffic.end()
    expect(await settled(over)).toBe(true)
  })

  it('is waited for until the deadline at most', async () => {
    const traffic = new Traffic()
    traffic.begin()
    const deadline = new AbortController()
    const waits = [traffic.answered(deadline.signal), traffic.over(deadline.signal)]
    deadline.abort()
    expect(await Promise.all(waits.map(settled))).toEqual([true, true])
    expect(await settled(traffic.over(deadline.signal))).toBe(true)
  })
})
