import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Link, LinkedList } from './linked-list.ts'

class Member extends Link {}

test('holds what a Set would hold, in the same order, and nothing that was taken out points into it', () => {
  const members = Array.from({ length: 6 }, () => new Member())
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('add', 'remove', 'clear'), fc.nat(5))), (steps) => {
      const list = new LinkedList<Member>()
      const set = new Set<Member>()
      for (const [does, i] of steps) {
        const member = members[i] as Member
        if (does === 'add') {
          list.add(member)
          set.add(member)
        } else if (does === 'remove') {
          list.remove(member)
          set.delete(member)
        } else if (i === 0) {
          list.clear()
          set.clear()
        }
        expect([...list]).toEqual([...set])
        expect(list.isEmpty).toBe(set.size === 0)
        for (const out of members) if (!set.has(out)) expect([out.previous, out.next]).toEqual([undefined, undefined])
      }
      list.clear()
    }),
  )
})

test('goes on when the one at hand is removed', () => {
  const members = Array.from({ length: 4 }, () => new Member())
  const list = new LinkedList<Member>()
  for (const member of members) list.add(member)
  const seen: Member[] = []
  for (const member of list) {
    seen.push(member)
    list.remove(member)
  }
  expect([seen, list.isEmpty]).toEqual([members, true])
})
