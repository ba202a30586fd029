/** What `npm test` runs, and what the build says where it can't. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const tools = fileURLToPath(new URL('../../tools', import.meta.url))

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

test.each(['build.mjs', 'prepare.mjs'])(
  'in a clone without its dependencies tools/%s says what to do, in a line',
  (tool) => {
    const clone = mkdtempSync(join(tmpdir(), 'borough-clone-'))
    try {
      mkdirSync(join(clone, 'tools'))
      for (const name of ['build.mjs', 'prepare.mjs']) cpSync(join(tools, name), join(clone, 'tools', name))
      const { BOROUGH_BOOTSTRAP: _, ...env } = process.env
      const { status, stderr } = spawnSync(process.execPath, [join(clone, 'tools', tool)], { env, encoding: 'utf8' })
      const why = "the dependencies are not installed: 'npm install' first, which builds dist/ too\n"
      expect({ status, stderr }).toEqual({ status: 1, stderr: why })
    } finally {
      rmSync(clone, { recursive: true, force: true })
    }
  },
)

test('the build refuses a Node that is too old for its tools, and says which one is taken', async () => {
  const { whatIsMissing }: { whatIsMissing(node: string, hasCompiler: boolean): string | undefined } = await import(
    new URL('../../tools/build.mjs', import.meta.url).href
  )
  expect(whatIsMissing('26.10.0', true)).toBe(undefined)
  expect(whatIsMissing('20.20.2', true)).toContain('this is Node 20.20.2: call it through npm')
})
