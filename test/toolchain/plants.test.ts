/** Planted faults go stale when the code that they change moves: this notices before the long command does. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { allPlants } from '../../tools/plants/all.ts'

const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))

test.each(allPlants)('what is to be replaced is there once: $why', ({ suites, also = [], ...first }) => {
  expect(suites.filter((suite) => !existsSync(pathOf(suite)))).toEqual([])
  for (const { file, find, replace } of [first, ...also]) {
    const times = readFileSync(pathOf(file), 'utf8').split(find).length - 1
    expect([file, find, times]).toEqual([file, find, 1])
    expect(replace).not.toBe(find)
  }
})
