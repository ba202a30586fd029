import { expect, test } from 'vitest'
import { connectionsWithin, defaultMaxMemoryBytes } from './limits.ts'

test('an address and a user may have half of the connections that were asked for, unless more was asked for', () => {
  const { all } = connectionsWithin(defaultMaxMemoryBytes)
  expect(connectionsWithin(defaultMaxMemoryBytes)).toEqual({ all: 2621, perAddress: 1311, perUser: 1311 })
  expect(connectionsWithin(defaultMaxMemoryBytes, { all: 40 })).toEqual({ all: 40, perAddress: 20, perUser: 20 })
  expect(connectionsWithin(defaultMaxMemoryBytes, { all: 40, perUser: 35 })).toMatchObject({
    perAddress: 20,
    perUser: 35,
  })
  expect(connectionsWithin(defaultMaxMemoryBytes, { perAddress: 7 })).toEqual({ all, perAddress: 7, perUser: 1311 })
})
