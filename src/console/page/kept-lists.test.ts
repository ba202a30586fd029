import { expect, test } from 'vitest'
import { KeptLists } from './kept-lists.ts'

const resource = { group: '', version: 'v1', resource: 'namespaces' }
const named = (name: string) => ({ metadata: { name } })
const one = (name: string) => ({ resource, fieldSelector: `metadata.name=${name}` })

test('a list is found by what was asked, and one object in the list of all', () => {
  const lists = new KeptLists()
  lists.keep({ resource }, [named('a'), named('b')])
  expect(lists.find({ resource })).toHaveLength(2)
  expect(lists.find(one('b'))).toEqual([named('b')])
  expect(lists.find({ resource, namespace: 'a' })).toBeUndefined()
  expect(lists.find({ resource, labelSelector: 'a=b' })).toBeUndefined()
})

test('of an object that was not in the list of all nothing is said', () => {
  const lists = new KeptLists()
  lists.keep({ resource }, [named('a')])
  expect(lists.find(one('c'))).toBeUndefined()
})

test('the oldest lists go where there are too many objects', () => {
  const lists = new KeptLists()
  const many = Array.from({ length: 30_000 }, (_, i) => named(`n-${i}`))
  lists.keep({ resource, namespace: 'a' }, many)
  lists.keep({ resource, namespace: 'b' }, many)
  expect(lists.find({ resource, namespace: 'a' })).toBeUndefined()
  expect(lists.find({ resource, namespace: 'b' })).toHaveLength(30_000)
})
