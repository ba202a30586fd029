/** What `npm test` runs. */
import { expect, test } from 'vitest'

interface Stage {
  readonly name: string
}
const { stagesOf }: { stagesOf(args: readonly string[]): readonly Stage[] } = await import(
  new URL('../../tools/check.mjs', import.meta.url).href
)

const names = (args: readonly string[]): string[] => stagesOf(args).map(({ name }) => name)

test('without arguments it is the whole check', () => {
  expect(names([])).toEqual(['layers', 'catalogue', 'format', 'lint', 'types', 'build', 'tests', 'refusals'])
})

test('with a folder it is the tests of that folder: lint and types of the whole tree are left alone', () => {
  expect(names(['src/registry'])).toEqual(['catalogue', 'tests'])
})
