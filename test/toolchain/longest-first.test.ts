/** The files that begin first in a whole run are there. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { TestSpecification, Vitest } from 'vitest/node'
import { LongestFirst, longest } from '../support/longest-first.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

test('what is said to take longest exists, and is named once', () => {
  expect(longest.filter((file) => !existsSync(`${root}${file}`))).toEqual([])
  expect(new Set(longest).size).toBe(longest.length)
})

test('it comes before the rest, which stays as vitest has it', async () => {
  const specification = (file: string): TestSpecification =>
    ({
      moduleId: `${root}${file}`,
      project: { name: '', config: { isolate: false, sequence: { groupOrder: 0 } } },
    }) as never
  const cache = { getTestSpecificationResult: () => ({ failed: false, duration: 1 }) }
  const [first = '', second = ''] = longest
  const given = ['src/b.test.ts', second, 'src/a.test.ts', first].map(specification)
  const sorted = await new LongestFirst({ cache } as unknown as Vitest).sort(given)
  expect(sorted.map(({ moduleId }) => moduleId.slice(root.length))).toEqual([
    ...[first, second, 'src/b.test.ts', 'src/a.test.ts'],
  ])
})
