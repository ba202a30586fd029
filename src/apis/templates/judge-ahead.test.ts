/** What is costly is judged in pieces, and of the background one namespace after the other. */
import { describe, expect, test } from 'vitest'
import type { Resumable } from '../../base/resumable.ts'
import { type Slice, Turns } from '../../base/turns.ts'
import { Conditions } from './conditions.ts'
import { evaluateAhead, JudgingPasses, judgeAheadIn } from './judge-ahead.ts'
import { JudgedConditions } from './judged-conditions.ts'
import { evaluateParameters } from './parameters.ts'
import type { NamespaceTemplate } from './types.ts'

const items = `[${Array.from({ length: 10 }, (_, i) => i)}]`
/** Some 30,000 units. */
const when = `${items}.all(x, ${items}.all(y, ${items}.all(z, x + y + z >= 0)))`
const template = (name: string, more = when): NamespaceTemplate => ({
  metadata: { name },
  spec: { objects: [{ when: more, template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } }] },
})
const namespaceOf = (name: string) => ({ metadata: { name, annotations: {} } })

/** `tookMs`: what each look at the time says that the piece before it took. */
function world(tookMs = 5) {
  let now = 0
  const memory = new JudgedConditions()
  const passes = new JudgingPasses({ turns: new Turns({ soon: queueMicrotask }), now: () => now })
  const templates = [template('t')]
  const judge = (name: string, { isAwaited = false, of = templates } = {}): Promise<number> => {
    const conditions = new Conditions(namespaceOf(name), memory)
    const take: Conditions['judge'] = conditions.judge.bind(conditions)
    conditions.judge = (...asked) => {
      now += tookMs
      return take(...asked)
    }
    return passes.judge(conditions, of, { isAwaited, owner: {}, check: () => {} })
  }
  return { passes, judge, pass: (ms: number) => (now += ms), memory }
}

describe('passes over namespaces in use', () => {
  test('that judge what is costly have a fifth of the time together', async () => {
    const { judge, pass } = world()
    expect(await judge('a')).toBe(0)
    const waitMs = await judge('b')
    expect(waitMs).toBeGreaterThanOrEqual(20)
    expect(waitMs).toBeLessThan(30)
    pass(waitMs)
    expect(await judge('b')).toBe(0)
  })

  test('come in the order in which they asked, each at a time of its own, and to ask again gains nothing', async () => {
    const { judge, pass } = world()
    expect(await judge('a')).toBe(0)
    const waits = [await judge('b'), await judge('c'), await judge('d')]
    expect([...waits].sort((x, y) => x - y)).toEqual(waits)
    expect(new Set(waits).size).toBe(3)
    const again = await judge('b')
    expect(again).toBeGreaterThan(0)
    expect(again).toBeLessThanOrEqual(waits[0] as number)
    pass(again)
    // Behind those that wait.
    expect(await judge('e')).toBeGreaterThan(0)
    expect(await judge('b')).toBe(0)
  })

  test('wait for nobody where all is remembered, or where a client waits', async () => {
    const { judge } = world()
    expect(await judge('a')).toBe(0)
    expect(await judge('b')).toBeGreaterThan(0)
    expect(await judge('a')).toBe(0)
    expect(await judge('new', { isAwaited: true })).toBe(0)
    expect(await judge('c', { of: [template('cheap', 'true')] })).toBe(0)
  })

  test('wait longer where they take longer, and one that is gone keeps nobody waiting', async () => {
    const { judge, pass, passes } = world(50)
    expect(await judge('a')).toBe(0)
    const waitMs = await judge('b')
    expect(waitMs).toBeGreaterThanOrEqual(200)
    passes.forget('b')
    pass(waitMs)
    expect(await judge('c')).toBe(0)
  })
})

describe('in a request', () => {
  const counting = () => {
    let pauses = 0
    let begun = 0
    const slice = { pause: () => (pauses++, Promise.resolve()) } as unknown as Slice
    const caller = { signal: new AbortController().signal, beginLong: () => (begun++, slice) }
    const ahead = (work: Resumable<void>) => judgeAheadIn({ caller }, work, new Turns())
    return { ahead, told: () => ({ begun, pauses }) }
  }

  test('costly conditions are judged in a slice that the client pays for, and cheap ones at once', async () => {
    const { ahead, told } = counting()
    const memory = new JudgedConditions()
    const cheap = new Conditions(namespaceOf('a'), memory).ahead([template('cheap', 'true')])
    expect(ahead(cheap)).toBeUndefined()
    expect(told()).toEqual({ begun: 0, pauses: 0 })
    await ahead(new Conditions(namespaceOf('a'), memory).ahead([template('t'), template('u', `${when} && true`)]))
    expect(told()).toEqual({ begun: 1, pauses: 1 })
  })

  test('patterns that take long are compared with a pause between two templates, once', async () => {
    const { ahead, told } = counting()
    const pattern = '(a|b)*a(a|b){150}c'
    const templates = ['p', 'q', 'r'].map(
      (name): NamespaceTemplate => ({
        metadata: { name },
        spec: { parameters: [{ name, fromAnnotation: 'a', pattern: pattern + name }] },
      }),
    )
    const namespace = { metadata: { name: 'n', annotations: { a: 'a'.repeat(300) } } }
    await ahead(evaluateAhead(templates, namespace))
    expect(told()).toEqual({ begun: 1, pauses: 2 })
    for (const one of templates) expect(evaluateParameters(one, namespace).faults).toHaveLength(1)
    expect([...evaluateAhead(templates, namespace)]).toEqual([])
  })
})
