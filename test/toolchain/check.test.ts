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

interface Failure {
  readonly file: string
  readonly name: string
  readonly text: string
  readonly isTest?: boolean
}
const {
  doubtful,
  passAlone,
  looks,
}: {
  doubtful(summary: { failed: number; failures: Failure[]; running: string[] }): Failure[] | undefined
  passAlone(
    failures: readonly Failure[],
    run: (file: string, pattern: string) => Promise<{ passed: number; failed: number }>,
  ): Promise<boolean>
  looks: number
} = await import(new URL('../../tools/unsteady.mjs', import.meta.url).href)

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

const slow: Failure = { file: 'test/crash/full-disk.test.ts', name: 'a > b', text: 'expected 2 to be 3', isTest: true }
test.each<{ name: string; failures: Failure[]; failed?: number; running?: string[]; want: boolean }>([
  { name: 'one that fails by an assertion', failures: [slow], want: true },
  { name: 'three', failures: [slow, slow, slow], want: true },
  { name: 'none, for a run that ended without a word', failures: [], want: false },
  { name: 'four', failures: [slow, slow, slow, slow], want: false },
  { name: 'one of a run that was stopped', failures: [slow], running: ['test/a.test.ts'], want: false },
  { name: 'one that was counted twice', failures: [slow], failed: 2, want: false },
  { name: 'a file that does not load', failures: [{ ...slow, isTest: false }], want: false },
  { name: 'a property', failures: [{ ...slow, file: 'src/base/a.property.test.ts' }], want: false },
  { name: 'what names its seed', failures: [{ ...slow, text: 'Property failed after 3 tests' }], want: false },
  { name: 'a seed of the simulation', failures: [{ ...slow, file: 'test/simulation/a.test.ts' }], want: false },
  { name: 'a history of replicas', failures: [{ ...slow, file: 'test/replicas/a.etcd.test.ts' }], want: false },
  { name: 'a server that is killed', failures: [{ ...slow, file: 'test/crash/killed-server.test.ts' }], want: false },
  { name: 'counts after kills', failures: [{ ...slow, file: 'test/crash/cluster-quota.test.ts' }], want: false },
  { name: 'one beside a property', failures: [slow, { ...slow, file: 'src/a.property.test.ts' }], want: false },
])('of a failed run $name: run again before it is believed: $want', ({ failures, failed, running = [], want }) => {
  const summary = { failed: failed ?? failures.length, failures, running }
  expect(doubtful(summary)).toEqual(want ? failures : undefined)
})

test('what is run again has to pass each time, by its full name and nothing else', async () => {
  const runs: string[] = []
  const answers = (failsAt: number, passed = 1) => {
    runs.length = 0
    return async (file: string, pattern: string) => {
      runs.push(`${file} ${pattern}`)
      return runs.length === failsAt ? { passed: 0, failed: 1 } : { passed, failed: 0 }
    }
  }
  const failure = { ...slow, name: 'a disk (full) > is $5.' }
  expect(await passAlone([failure], answers(0))).toBe(true)
  expect(runs).toEqual(Array<string>(looks).fill(`${slow.file} ^a disk \\(full\\) > is \\$5\\.$`))
  expect(await passAlone([slow, failure], answers(looks + 2))).toBe(false)
  expect(runs).toHaveLength(looks + 2)
  // No test of that name ran.
  expect(await passAlone([failure], answers(0, 0))).toBe(false)
})
