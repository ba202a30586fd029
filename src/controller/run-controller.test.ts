import { describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import type { Log } from '../base/log.ts'
import { sliceMs, Turns } from '../base/turns.ts'
import { type ControllerSpec, type ObjectKey, Terminal } from './controller.ts'
import { runController } from './run-controller.ts'

const key = (name: string): ObjectKey => ({ namespace: 'ns', name })

type Reconcile = (key: ObjectKey, signal: AbortSignal) => Promise<{ requeueAfterMs: number } | undefined>

/** `soon`: when another turn of the loop begins; `began`: whose work begins in it. */
function world(
  reconcile: Reconcile,
  {
    soon = queueMicrotask,
    began = () => {},
    givesWay = false,
  }: { soon?: (run: () => void) => void; began?: (owner?: object) => void; givesWay?: boolean } = {},
) {
  const clock = new FakeClock()
  const logged: string[] = []
  const told: { readonly level: string; readonly key?: string; readonly untold?: number }[] = []
  const record =
    (level: string) =>
    (fields: object, message: string): void => {
      logged.push(`${level} ${message}`)
      told.push({ level, ...fields })
    }
  const log: Log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') }
  let enqueue: (k: ObjectKey) => void = () => {}
  const stop = new AbortController()
  const spec: ControllerSpec = {
    name: 'test',
    workers: 2,
    givesWay,
    sources: [
      {
        run(add, signal) {
          enqueue = add
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        },
      },
    ],
    reconciler: { reconcile },
  }
  const turns = new Turns({ now: () => clock.monotonic(), soon, began })
  const running = runController(spec, { clock, log, turns }, stop.signal)
  return {
    clock,
    logged,
    told,
    enqueue: (k: ObjectKey) => enqueue(k),
    async end() {
      stop.abort()
      await running
    },
  }
}

describe('a controller', () => {
  test('works on what its sources name', async () => {
    const seen: string[] = []
    const w = world(async ({ namespace, name }) => {
      seen.push(`${namespace}/${name}`)
      return undefined
    })
    w.enqueue(key('a'))
    await w.clock.advance(0)
    expect(seen).toEqual(['ns/a'])
    await w.end()
  })

  test('begins no two keys in one turn of the loop, and says who is at work', async () => {
    const seen: string[] = []
    const turns: (() => void)[] = []
    const told: (object | undefined)[] = []
    const w = world(
      async ({ name }) => {
        seen.push(name)
        return undefined
      },
      { soon: (run) => turns.push(run), began: (owner) => told.push(owner), givesWay: true },
    )
    const turn = async (): Promise<void> => {
      for (const run of turns.splice(0)) run()
      await w.clock.advance(0)
    }
    w.enqueue(key('a'))
    w.enqueue(key('b'))
    await w.clock.advance(0)
    expect(seen).toEqual(['a'])
    await turn()
    expect(seen).toEqual(['a', 'b'])
    expect(told).toEqual([{ controller: 'test' }, { controller: 'test' }])
    // What is left of a slice is for the next key.
    w.enqueue(key('c'))
    await w.clock.advance(0)
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(told).toHaveLength(3)
    // Nothing is left of it; then nothing has begun in the turn.
    await w.clock.advance(sliceMs)
    w.enqueue(key('d'))
    await w.clock.advance(0)
    expect(seen).not.toContain('d')
    await turn()
    await turn()
    w.enqueue(key('e'))
    await w.clock.advance(sliceMs)
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e'])
    await w.end()
  })

  test('comes back after the time asked for', async () => {
    let runs = 0
    const w = world(async () => (++runs < 3 ? { requeueAfterMs: 1000 } : undefined))
    w.enqueue(key('a'))
    await w.clock.advance(999)
    expect(runs).toBe(1)
    await w.clock.advance(1)
    expect(runs).toBe(2)
    await w.clock.advance(60_000)
    expect(runs).toBe(3)
    await w.end()
  })

  test('tries failures again, later each time, and says so when it gets serious', async () => {
    let runs = 0
    const w = world(() => {
      runs++
      return Promise.reject(new Error('no'))
    })
    w.enqueue(key('a'))
    for (let i = 0; i < 20; i++) await w.clock.advance(5)
    const early = runs
    expect(early).toBeGreaterThan(2)
    for (let i = 0; i < 40; i++) await w.clock.advance(60_000)
    expect(runs).toBeGreaterThan(early)
    expect(w.logged.some((l) => l.startsWith('warn'))).toBe(true)
    await w.end()
  })

  test('never tries a terminal failure again', async () => {
    let runs = 0
    const w = world(() => {
      runs++
      return Promise.reject(new Terminal('broken for good'))
    })
    w.enqueue(key('a'))
    for (let i = 0; i < 10; i++) await w.clock.advance(60_000)
    expect(runs).toBe(1)
    expect(w.logged).toEqual(['error gave up until something changes'])
    await w.end()
  })

  test.each([
    ['are tried again', () => new Error('no')],
    ['are not', () => new Terminal('broken')],
  ])('attack: of many keys that fail, and %s, few are told in a minute, each once', async (_, made) => {
    const w = world(() => Promise.reject(made()))
    const keys = Array.from({ length: 500 }, (__, i) => key(`k${i}`))
    const fail = async (): Promise<void> => {
      for (let i = 0; i < 8; i++) {
        for (const one of keys) w.enqueue(one)
        await w.clock.advance(1000)
      }
    }
    await fail()
    const lines = w.told.filter(({ level }) => level !== 'debug')
    expect(lines).toHaveLength(20)
    expect(new Set(lines.map((line) => line.key)).size).toBe(20)
    await w.clock.advance(60_000)
    await fail()
    const [next] = w.told.filter(({ level }) => level !== 'debug').slice(20)
    expect(next?.untold).toBeGreaterThan(480)
    await w.end()
  })

  test('does not work on one key twice at once', async () => {
    let inside = 0
    let most = 0
    const finish: (() => void)[] = []
    const w = world(() => {
      most = Math.max(most, ++inside)
      return new Promise((resolve) =>
        finish.push(() => {
          inside--
          resolve(undefined)
        }),
      )
    })
    w.enqueue(key('a'))
    await w.clock.advance(0)
    w.enqueue(key('a'))
    await w.clock.advance(0)
    expect(most).toBe(1)
    finish.shift()?.()
    for (let i = 0; i < 10; i++) await w.clock.advance(0)
    expect(finish).toHaveLength(1)
    finish.shift()?.()
    await w.end()
    expect(most).toBe(1)
  })
})
