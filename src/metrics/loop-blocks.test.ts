import { describe, expect, test } from 'vitest'
import { Diagnostics } from '../base/diagnostics.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { Log } from '../base/log.ts'
import { sliceBegan } from '../base/turns.ts'
import { type Culprit, type LoopBlock, LoopBlocks, labelsOf } from './loop-blocks.ts'

const request = (verb: string, username = 'alice'): Culprit =>
  ({
    resolution: { verb, type: { group: '', resource: 'secrets' } },
    user: { username, groups: [] },
  }) as unknown as Culprit

/** A loop that is held by hand: timers are late by what holds it. */
function held() {
  const clock = new FakeClock()
  let workedMs = 0
  interface Collection {
    readonly atMs: number
    readonly ms: number
  }
  let untold: Collection[] = []
  const told: Collection[] = []
  const found: LoopBlock[] = []
  const lines: Readonly<Record<string, unknown>>[] = []
  const messages: string[] = []
  const warn = (fields: object, message: string): void => {
    lines.push({ ...fields })
    messages.push(message)
  }
  const log = { debug() {}, info() {}, error() {}, warn } as Log
  let timers: (() => void)[] = []
  const ended: (() => void)[] = []
  const late = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (_ms: number, run: () => void) => {
      timers.push(run)
      return { cancel() {} }
    },
  }
  const blocks = new LoopBlocks({
    clock: late,
    log,
    onBlock: (block) => found.push(block),
    soon: (run) => ended.push(run),
    workedMs: () => workedMs,
    collectedMs: (fromMs, toMs) =>
      told.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((sum, { ms }) => sum + ms, 0),
  })
  const endTurn = (): void => {
    for (const run of ended.splice(0)) run()
  }
  return {
    blocks,
    found,
    lines,
    messages,
    work: async (ms: number, collected = 0) => {
      workedMs += ms
      untold.push({ atMs: clock.monotonic(), ms: collected })
      await clock.advance(ms)
    },
    wait: (ms: number) => clock.advance(ms),
    /** The timers come at last, then what Node tells of collections, then what waits for the end of the turn. */
    turn: () => {
      const due = timers
      timers = []
      for (const run of due) run()
      told.push(...untold)
      untold = []
      endTurn()
    },
    ticking: () => timers.length > 0,
    endTurn,
  }
}

describe('a loop that is held', () => {
  test('names the request whose piece of work was longest', async () => {
    const { blocks, found, work, turn } = held()
    blocks.begin(request('get'))
    await work(3)
    blocks.begin(request('list'))
    await work(80)
    blocks.begin(request('watch'))
    await work(2)
    turn()
    expect(found).toEqual([{ culprit: request('list'), heldMs: 80 }])
  })

  test('counts neither collections nor time in which the thread had no core', async () => {
    const { blocks, found, work, wait, turn } = held()
    blocks.begin(request('get'))
    await work(90, 40)
    turn()
    blocks.begin(request('get'))
    await wait(100)
    await work(20)
    turn()
    expect(found.map(({ heldMs }) => heldMs)).toEqual([50, 20])
  })

  test('is held as long as its longest piece was, whatever other pieces of the turn were collected in', async () => {
    const { blocks, found, work, turn } = held()
    blocks.begin(request('get'))
    await work(30, 30)
    blocks.begin(request('list'))
    await work(40, 5)
    turn()
    expect(found).toEqual([{ culprit: request('list'), heldMs: 35 }])
  })

  test('is not counted for a short while, nor as one piece where work took turns', async () => {
    const { blocks, found, work, turn } = held()
    for (let i = 0; i < 10; i++) {
      blocks.begin(request('list'))
      await work(9)
    }
    turn()
    expect(found).toEqual([])
  })

  test('warns of a flow once a minute', async () => {
    const { blocks, lines, work, wait, turn } = held()
    const hold = async (culprit: Culprit): Promise<void> => {
      blocks.begin(culprit)
      await work(60)
      turn()
    }
    await hold(request('list'))
    await hold(request('list'))
    await hold(request('list', 'bob'))
    await wait(60_000)
    turn()
    await hold(request('list'))
    const line = { heldMs: 60, user: 'alice', verb: 'list', resource: 'secrets' }
    expect(lines).toEqual([line, { ...line, user: 'bob' }, line])
  })

  test('names the controller whose work it was, and warns of it', async () => {
    const { blocks, found, lines, messages, work, turn, endTurn } = held()
    const diagnostics = new Diagnostics()
    blocks.follow(diagnostics).begin(request('get'))
    await work(3)
    diagnostics.publish(sliceBegan, { controller: 'endpoints' })
    await work(70)
    endTurn()
    turn()
    expect(found).toEqual([{ culprit: { controller: 'endpoints' }, heldMs: 70 }])
    expect(found.map(({ culprit }) => labelsOf(culprit))).toEqual([{ verb: '', resource: '', controller: 'endpoints' }])
    expect(lines).toEqual([{ heldMs: 70, controller: 'endpoints' }])
    expect(messages).toEqual(['a controller held the event loop for long; others waited'])
  })

  test('blames no request for what follows in a later turn, and warns of nothing that is not a request', async () => {
    const { blocks, found, lines, work, turn, endTurn } = held()
    blocks.begin(request('get'))
    await work(3)
    endTurn()
    await work(70)
    turn()
    expect(found).toEqual([{ culprit: undefined, heldMs: 70 }])
    expect(lines).toEqual([])
  })

  test('is looked for only while work begins', () => {
    const { blocks, turn, ticking } = held()
    expect(ticking()).toBe(false)
    blocks.begin(undefined)
    expect(ticking()).toBe(true)
    blocks.begin(undefined)
    turn()
    expect(ticking()).toBe(true)
    turn()
    expect(ticking()).toBe(false)
  })
})
