import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Namespace } from '../namespaces/types.ts'
import { TurnObserver, type TurnOutcome } from './turn-observer.ts'

let clock: FakeClock
let ended: string[]
let observer: TurnObserver

beforeEach(() => {
  clock = new FakeClock()
  ended = []
  observer = new TurnObserver({ clock, onEnd: (...end) => ended.push(end.join(' ')) })
})

function namespace(pending: readonly string[], more: Partial<Namespace['metadata']> = {}, result?: object): Namespace {
  const initializers = { pending: pending.map((name) => ({ name })), ...(result ? { result } : {}) }
  const spec = pending.length > 0 || result ? { initializers } : {}
  return { metadata: { name: 'n', uid: 'u', ...more }, spec } as Namespace
}
const see = (next: Namespace | undefined): void => observer.changed('n', next)
const failure = { status: 'Failure', reason: 'Timeout' }

describe('the observer of turns', () => {
  test.each<{ name: string; announced?: TurnOutcome; last: Namespace | undefined; want: string }>([
    { name: 'done, when the next one is awaited', last: namespace(['b']), want: 'a done 2000' },
    { name: 'done, when nobody is awaited any more', last: namespace([]), want: 'a done 2000' },
    { name: 'failed, when it reports a failure', last: namespace(['a', 'b'], {}, failure), want: 'a failed 2000' },
    {
      name: 'deleted, when the namespace is going',
      last: namespace(['a', 'b'], { deletionTimestamp: 'x' }),
      want: 'a deleted 2000',
    },
    { name: 'deleted, when the namespace is gone', last: undefined, want: 'a deleted 2000' },
    { name: 'deleted, when another has taken the name', last: namespace([], { uid: 'other' }), want: 'a deleted 2000' },
    { name: 'skipped, as announced', announced: 'skipped', last: namespace(['b']), want: 'a skipped 2000' },
    { name: 'released, as announced', announced: 'released', last: namespace(['b']), want: 'a released 2000' },
    {
      name: 'timeout, as announced',
      announced: 'timeout',
      last: namespace(['a', 'b'], {}, failure),
      want: 'a timeout 2000',
    },
    {
      name: 'failed, when the initializer was faster than the skip',
      announced: 'skipped',
      last: namespace(['a', 'b'], {}, failure),
      want: 'a failed 2000',
    },
  ])('a turn ended $name', async ({ announced, last, want }) => {
    see(namespace(['a', 'b']))
    await clock.advance(2000)
    if (announced) observer.announce('u', announced)
    see(last)
    expect(ended).toEqual([want])
    see(last)
    expect(ended).toEqual([want])
  })

  test('what was announced and did not happen is forgotten', () => {
    see(namespace(['a']))
    observer.announce('u', 'skipped')
    observer.announce('u', undefined)
    see(namespace([]))
    expect(ended).toEqual(['a done 0'])
  })

  test('a label or a report of progress ends no turn', async () => {
    see(namespace(['a']))
    await clock.advance(1000)
    see(namespace(['a'], { labels: { x: 'y' } }))
    expect(ended).toEqual([])
    expect([...observer.waiting()]).toEqual([['a', 1]])
    see(namespace([]))
    expect(ended).toEqual(['a done 1000'])
    expect([...observer.waiting()]).toEqual([['a', 0]])
  })

  test('a turn that was under way before the start is as old as its condition says', () => {
    const status = {
      conditions: [{ type: 'Initializing', status: 'True' as const, lastTransitionTime: '2025-12-31T23:59:00Z' }],
    }
    see({ ...namespace(['a']), status })
    see(namespace([]))
    expect(ended).toEqual(['a done 60000'])
  })

  test('names that anybody could make up are counted together from the 200th on', () => {
    for (let i = 0; i < 300; i++) observer.changed(`n${i}`, namespace([`i${i}.ex.io`], { name: `n${i}`, uid: `u${i}` }))
    const waiting = observer.waiting()
    expect(waiting.size).toBe(201)
    expect(waiting.get('other')).toBe(100)
    expect(waiting.get('i7.ex.io')).toBe(1)
  })
})
