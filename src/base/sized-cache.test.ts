import { expect, test } from 'vitest'
import { SizedCache } from './sized-cache.ts'

test('what was used longest ago goes first, as much as is needed', () => {
  const cache = new SizedCache<string>(10)
  cache.set('a', 'A', 4)
  cache.set('b', 'B', 4)
  expect(cache.get('a')).toBe('A')
  cache.set('c', 'C', 6)
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual(['A', undefined, 'C', 10])
})

test('replacing counts once, and what is too large is not kept', () => {
  const cache = new SizedCache<string>(10)
  cache.set('a', 'A', 4)
  cache.set('a', 'AA', 6)
  expect(cache.size).toBe(6)
  cache.set('a', 'huge', 11)
  expect([cache.get('a'), cache.size]).toEqual([undefined, 0])
})
