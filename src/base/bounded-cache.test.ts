import { expect, test } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

test('what was used longest ago is forgotten first', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
  cache.set('a', 4)
  expect(cache.size).toBe(2)
  cache.delete('a')
  expect(cache.get('a')).toBeUndefined()
})
