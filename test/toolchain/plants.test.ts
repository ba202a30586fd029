/** Planted faults go stale when the code that they change moves: this notices before the long command does. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { authorizationPlants } from '../../tools/plants/authorization.ts'

const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))

test.each(authorizationPlants)('what is to be replaced is there once: $why', ({ suite, also = [], ...first }) => {
  expect(existsSync(pathOf(suite))).toBe(true)
  for (const { file, find, replace } of [first, ...also]) {
    const times = readFileSync(pathOf(file), 'utf8').split(find).length - 1
    expect([file, find, times]).toEqual([file, find, 1])
    expect(replace).not.toBe(find)
  }
})
