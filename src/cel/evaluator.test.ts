import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { sliceMs } from '../base/turns.ts'
import { AllowanceExceeded } from './budget.ts'
import { type Costly, Evaluator } from './evaluator.ts'
import type { AskPermission } from './library/authorizer.ts'

let evaluator: Evaluator
afterEach(() => evaluator[Symbol.dispose]())

const user = { username: 'ann', groups: [] }

/** Too costly for this thread, whatever it is. */
function costly(expression: string, flow = 'ann', ask?: AskPermission): Costly<'conditions'> {
  return {
    name: 'conditions',
    source: { conditions: [{ name: 'c', expression }], hasParams: false },
    input: () => ({ object: { metadata: { name: 'one' } }, oldObject: undefined, request: {}, user }),
    flow,
    ...(ask ? { ask } : {}),
    here: () => {
      throw new AllowanceExceeded()
    },
  }
}

test('what is cheap is answered at once, by no other thread', () => {
  evaluator = new Evaluator({ clock: systemClock })
  const cheap = { ...costly('true'), here: () => ({ matches: false }) }
  expect([evaluator.run(cheap), [...evaluator.offloaded]]).toEqual([{ matches: false }, []])
})

test('many that are cheap are answered in turns, whoever asks', async () => {
  let nowMs = 0
  evaluator = new Evaluator({ clock: { ...systemClock, monotonic: () => nowMs } })
  const cheap = (flow: string): Costly<'conditions'> => ({
    ...costly('true', flow),
    here: () => {
      nowMs += sliceMs / 2
      return { matches: false }
    },
  })
  const answers = ['ann', 'bob', 'eve', 'ann'].map((flow) => evaluator.run(cheap(flow)))
  expect(answers.map((answer) => answer instanceof Promise)).toEqual([false, true, true, true])
  expect(await Promise.all(answers.map(async (answer) => answer))).toEqual(answers.map(() => ({ matches: false })))
  expect(evaluator.run(cheap('ann'))).toEqual({ matches: false })
})

test('another thread answers from the same input, again and again, for other sources too', async () => {
  evaluator = new Evaluator({ clock: systemClock, threads: 1 })
  const same = costly("object.metadata.name == 'one'")
  expect(await evaluator.run(same)).toEqual({ matches: true })
  expect(await evaluator.run(same)).toEqual({ matches: true })
  expect(await evaluator.run(costly("object.metadata.name == 'two'"))).toEqual({ matches: false })
  expect([...evaluator.offloaded]).toEqual([['conditions', 3]])
})

test('it remembers a hundred sources, and goes on after that', async () => {
  evaluator = new Evaluator({ clock: systemClock, threads: 1 })
  const sources = Array.from({ length: 103 }, (_, i) => costly(`${i} > 0`))
  const run = (): Promise<unknown> => Promise.all(sources.map(async (source) => evaluator.run(source)))
  const expected = sources.map((_, i) => ({ matches: i > 0 }))
  expect([await run(), await run()]).toEqual([expected, expected])
})

test('it puts questions about permissions to this one', async () => {
  evaluator = new Evaluator({ clock: systemClock })
  const asked: unknown[] = []
  const ask: AskPermission = (...question) => {
    asked.push(question)
    return { allowed: true, reason: 'because' }
  }
  const expression =
    "authorizer.path('/x').check('get').reason() == 'because' && authorizer.path('/y').check('put').allowed()"
  expect(await evaluator.run(costly(expression, 'ann', ask))).toEqual({ matches: true })
  expect(asked).toEqual([
    [user, 'get', { path: '/x' }],
    [user, 'put', { path: '/y' }],
  ])
})

test('what fails there is a failure here, and the next is answered', async () => {
  evaluator = new Evaluator({ clock: systemClock, threads: 1 })
  const broken = { ...costly('true'), source: { conditions: 5, hasParams: false } as never }
  await expect(evaluator.run(broken)).rejects.toThrow(/^an evaluation failed: TypeError: conditions\.map is not/)
  expect(await evaluator.run(costly('true'))).toEqual({ matches: true })
})

test('flows take turns, however many evaluations one of them has', async () => {
  evaluator = new Evaluator({ clock: systemClock, threads: 1 })
  const order: string[] = []
  const run = async (flow: string): Promise<void> => {
    await evaluator.run(costly('true', flow))
    order.push(flow)
  }
  await Promise.all([...Array.from({ length: 5 }, () => run('eve')), run('ann'), run('bob')])
  // The first had begun, and the second was in line, before others came.
  expect(order.indexOf('ann')).toBeLessThan(4)
  expect(order.indexOf('bob')).toBeLessThan(5)
})

test('a server that stops gives up what waits', async () => {
  evaluator = new Evaluator({ clock: systemClock, threads: 1 })
  const running = [costly('true'), costly('true')].map((work) => evaluator.run(work) as Promise<unknown>)
  const ended = Promise.allSettled(running)
  evaluator[Symbol.dispose]()
  const reason = new Error('the server stops: the evaluation is given up')
  expect(await ended).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ])
})
