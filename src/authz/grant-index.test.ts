import { describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import type { LiveViewChange, NameView } from '../kube/name-view.ts'
import type { UserInfo } from '../kube/user.ts'
import { type Grant, GrantIndex, groupSubject, userSubject } from './grant-index.ts'

const alice: UserInfo = { username: 'alice', groups: ['devs'] }
const bob: UserInfo = { username: 'bob', groups: ['devs'] }
const toAlice = (...names: string[]): Grant[] => names.map((name) => ({ subject: userSubject('alice'), name }))
const toDevs = (...names: string[]): Grant[] => names.map((name) => ({ subject: groupSubject('devs'), name }))

function world({ recording = true } = {}): { clock: FakeClock; index: GrantIndex } {
  const clock = new FakeClock()
  const index = new GrantIndex(clock, { changes: 4, ageMs: 60_000 })
  if (recording) index.record()
  return { clock, index }
}

function followed(view: NameView): { told: string[]; changes: LiveViewChange[]; stop: () => void } {
  const told: string[] = []
  const changes: LiveViewChange[] = []
  const stop = view.follow({
    changed: (change) => {
      changes.push(change)
      told.push(`${change.gained ? '+' : '-'}${change.name || '*'}`)
    },
    settled: (revision) => told.push(`|${revision}`),
  })
  return { told, changes, stop }
}

const pastOf = (view: NameView, revision: number): string[] | undefined =>
  view.past(revision)?.changes.map((change) => `${change.gained ? '+' : '-'}${change.name}@${change.revision}`)

describe('what a follower of a view is told', () => {
  test('a name that several bindings give is gained with the first and lost with the last', () => {
    const { index } = world()
    const { told } = followed(index.viewOf(alice))
    index.apply(toAlice('a'), [], 1)
    index.apply(toAlice('a'), [], 2)
    index.apply([], toAlice('a'), 3)
    expect(index.viewOf(alice).names()).toEqual(['a'])
    index.apply([], toAlice('a'), 4)
    expect(told).toEqual(['+a', '|1', '-a', '|4'])
    expect(index.viewOf(alice).names()).toEqual([])
  })

  test('the loss of what was never given is nothing, and takes nothing from a later gain', () => {
    const { index } = world()
    const { told } = followed(index.viewOf(alice))
    index.apply([], toAlice('a'), 1)
    index.apply(toAlice('b'), toAlice('a'), 2)
    index.apply([], toAlice('a'), 3)
    index.apply(toAlice('a'), [], 4)
    expect(told).toEqual(['+b', '|2', '+a', '|4'])
  })

  test('a name that goes from one subject of the user to another stays in view', () => {
    const { index } = world()
    index.apply(toAlice('a'), [], 1)
    const { told } = followed(index.viewOf(alice))
    index.apply(toDevs('a'), toAlice('a'), 2)
    expect(told).toEqual([])
    expect(index.viewOf(alice).sees('a')).toBe(true)
  })

  test('who may get every name is told of none, and of the end of that', () => {
    const { index } = world()
    index.apply(toDevs(''), [], 1)
    const { told } = followed(index.viewOf(alice))
    index.apply(toAlice('a'), [], 2)
    index.apply(toAlice(''), [], 3)
    index.apply([], toAlice('', 'a'), 4)
    expect(told).toEqual([])
    index.apply([], toDevs(''), 5)
    expect(told).toEqual(['-*', '|5'])
  })

  test('every name at once concerns those that were not in view before; one name concerns itself', () => {
    const { index } = world()
    index.apply(toAlice('a'), [], 1)
    const { changes } = followed(index.viewOf(alice))
    index.apply(toDevs('', 'b'), [], 2)
    expect(changes.map(({ name }) => name)).toEqual([''])
    expect(changes[0]?.concerns('a')).toBe(false)
    expect(changes[0]?.concerns('c')).toBe(true)
    index.apply([], toDevs(''), 3)
    index.apply(toAlice('d'), [], 4)
    expect(['d', 'a'].map((name) => changes.at(-1)?.concerns(name))).toEqual([true, false])
  })

  test('what was found before changes are recorded is no change', () => {
    const { index } = world({ recording: false })
    const view = index.viewOf(alice)
    const { told } = followed(view)
    index.apply(toAlice('a'), [], 1)
    expect(told).toEqual([])
    expect(pastOf(view, 0)).toEqual([])
    index.record()
    index.apply(toAlice('b'), [], 2)
    expect(told).toEqual(['+b', '|2'])
    expect(pastOf(view, 0)).toEqual(['+b@2'])
  })
})

describe('who is told', () => {
  test('every view of a subject, until its last listener has gone', () => {
    const { index } = world()
    const shared = index.viewOf(alice)
    const [first, second, other] = [followed(shared), followed(shared), followed(index.viewOf(bob))]
    index.apply(toDevs('a'), [], 1)
    first.stop()
    index.apply(toDevs('b'), [], 2)
    second.stop()
    index.apply(toDevs('c'), [], 3)
    expect(first.told).toEqual(['+a', '|1'])
    expect(second.told).toEqual(['+a', '|1', '+b', '|2'])
    expect(other.told).toEqual(['+a', '|1', '+b', '|2', '+c', '|3'])
    other.stop()
    index.apply(toDevs('d'), [], 4)
    expect(other.told).toHaveLength(6)
  })

  test('a view that is followed again is told again', () => {
    const { index } = world()
    const view = index.viewOf(alice)
    followed(view).stop()
    index.apply(toAlice('a'), [], 1)
    const { told } = followed(view)
    index.apply(toAlice('b'), [], 2)
    expect(told).toEqual(['+b', '|2'])
  })
})

describe('what a view was', () => {
  test('a name that two subjects give came with the first and went with the last', () => {
    const { index } = world()
    index.apply(toAlice('a'), [], 1)
    index.apply(toDevs('a'), [], 2)
    index.apply([], toAlice('a'), 3)
    index.apply([], toDevs('a'), 4)
    const view = index.viewOf(alice)
    expect(pastOf(view, 0)).toEqual(['+a@1', '-a@4'])
    expect([0, 1, 2, 3, 4].map((revision) => view.past(revision)?.sees('a'))).toEqual([false, true, true, true, false])
  })

  test('for who may get every name nothing came or went', () => {
    const { index } = world()
    index.apply(toDevs(''), [], 1)
    index.apply(toAlice('a'), [], 2)
    const past = index.viewOf(alice).past(1)
    expect([past?.changes, past?.sees('a'), past?.sees('b')]).toEqual([[], true, true])
  })

  test('what has not changed since was as it is', () => {
    const { index } = world()
    index.apply(toAlice('a'), [], 1)
    index.apply(toAlice('b'), [], 2)
    const past = index.viewOf(alice).past(1)
    expect(['a', 'b', 'c'].map((name) => past?.sees(name))).toEqual([true, false, false])
  })

  test('what others gained and lost has come and gone for them alone', () => {
    const { index } = world()
    index.apply(toAlice('a', ''), [], 1)
    index.apply([], toAlice('a', ''), 2)
    expect(pastOf(index.viewOf(bob), 0)).toEqual([])
  })

  test('whether every name came or went is not told of the past', () => {
    const { index } = world()
    index.apply(toAlice('a'), [], 1)
    index.apply(toDevs(''), [], 2)
    expect(index.viewOf(alice).past(1)).toBeUndefined()
    expect(pastOf(index.viewOf(alice), 2)).toEqual([])
  })
})

describe('how much of the past is kept', () => {
  test('a quarter more changes than the limit, then as many as the limit', () => {
    const { index } = world()
    const view = index.viewOf(alice)
    for (let revision = 1; revision <= 5; revision++) index.apply(toAlice(`n${revision}`), [], revision)
    expect(pastOf(view, 0)).toEqual(['+n1@1', '+n2@2', '+n3@3', '+n4@4', '+n5@5'])
    index.apply(toAlice('n6'), [], 6)
    expect(pastOf(view, 1)).toBeUndefined()
    expect(pastOf(view, 2)).toEqual(['+n3@3', '+n4@4', '+n5@5', '+n6@6'])
  })

  test('changes of an age, or a quarter older than that', async () => {
    const { clock, index } = world()
    const view = index.viewOf(alice)
    index.apply(toAlice('a'), [], 1)
    await clock.advance(15_000)
    index.apply(toAlice('b'), [], 2)
    await clock.advance(60_000)
    index.apply(toAlice('c'), [], 3)
    expect(pastOf(view, 0)).toEqual(['+a@1', '+b@2', '+c@3'])
    await clock.advance(1)
    index.apply(toAlice('d'), [], 4)
    expect(pastOf(view, 1)).toBeUndefined()
    expect(pastOf(view, 2)).toEqual(['+c@3', '+d@4'])
  })

  test('a change that is as old as the limit is kept', async () => {
    const { clock, index } = world()
    const view = index.viewOf(alice)
    index.apply(toAlice('a'), [], 1)
    await clock.advance(15_001)
    index.apply(toAlice('b'), [], 2)
    await clock.advance(60_000)
    index.apply(toAlice('c'), [], 3)
    expect(pastOf(view, 0)).toBeUndefined()
    expect(pastOf(view, 1)).toEqual(['+b@2', '+c@3'])
  })
})
