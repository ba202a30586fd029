/** What the machines that are run by hand say to a wrong command line. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ESTree, parseSync, Visitor } from 'rolldown/utils'
import { describe, expect, test } from 'vitest'
import { onlyOf, parseRunnerFlags } from './runner-flags.ts'

const options = {
  minutes: { type: 'string', default: '10' },
  seed: { type: 'string' },
  own: { type: 'boolean', default: false },
} as const
const parse = (...args: string[]) => parseRunnerFlags(args, options, ['minutes', 'seed'])

test('flags have their values, and those that are not given their defaults', () => {
  expect({ ...parse('--minutes', '0.5', '--own') }).toEqual({ minutes: '0.5', own: true })
  expect({ ...parse() }).toEqual({ minutes: '10', own: false })
})

test('a regular expression is one', () => {
  expect(onlyOf('batch/v1 |apps/').test('apps/v1 Deployment')).toBe(true)
})

test.each([
  { name: 'a number that is none', args: ['--minutes', 'ten'], says: '--minutes takes a number, not "ten"' },
  { name: 'an empty number', args: ['--seed='], says: '--seed takes a number, not ""' },
  { name: 'less than nothing', args: ['--minutes=-1'], says: '--minutes takes a number, not "-1"' },
  { name: 'a flag that is not known', args: ['--minuts', '1'], says: "Unknown option '--minuts'" },
  { name: 'a flag without its value', args: ['--seed'], says: "Option '--seed <value>' argument missing" },
  { name: 'a word', args: ['10'], says: "Unexpected argument '10'" },
])('$name is told in one line', ({ args, says }) => {
  expect(() => parse(...args)).toThrow(says)
  expect(() => parse(...args)).not.toThrow(/\n/)
})

describe('each machine', () => {
  const run = promisify(execFile)
  const machines = [
    'test/fuzz/run.ts',
    'test/fuzz/largest-run.ts',
    'test/generated/run.ts',
    'test/matrix/run.ts',
    'test/population/enforcement-model/run.ts',
    'test/simulation/run.ts',
  ]
  const tools = ['tools/entered.ts', 'tools/growth.ts', 'tools/mutate.ts', 'tools/plant.ts', 'tools/refusals.ts']
  const byHand = [
    ...machines,
    'test/crash/damaged-server.ts',
    'test/crash/killed-server.ts',
    'test/crash/random-damage.ts',
  ]
  const pathOf = (machine: string): string => fileURLToPath(new URL(`../../${machine}`, import.meta.url))

  test.each([...machines, ...tools])(
    '%s has a help with examples, and refuses what it does not know',
    async (machine) => {
      const help = await run(process.execPath, [pathOf(machine), '--help'])
      expect(help.stdout).toMatch(new RegExp(`^Usage: .*node ${machine}[ \\n]`))
      expect(help.stdout).toMatch(/\nExamples:\n {2}\S/)
      const wrong = run(process.execPath, [pathOf(machine), '--no-such-flag'])
      await expect(wrong).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: "Unknown option '--no-such-flag'; --help tells how to use it\n",
      })
    },
    60_000,
  )

  test.each(machines)(
    '%s does what its examples say, for no time at all',
    async (machine) => {
      const { stdout } = await run(process.execPath, [pathOf(machine), '--help'])
      const examples = stdout.split('\nExamples:\n')[1]?.matchAll(/^ {2}node \S+ (.*)$/gm) ?? []
      for (const [, line = ''] of examples) {
        // What takes a file that is not there, or another cluster, or a seed of its own.
        if (/--(replay|elsewhere|workers|seed 42)/.test(line)) continue
        const args = line.replaceAll(/(--(?:minutes|requests|histories|count)) \d+/g, '$1 0').replaceAll("'", '')
        const given = args.split(/ (?=--)/).flatMap((flag) => flag.split(/ (.*)/s, 2))
        await expect(run(process.execPath, [pathOf(machine), ...given, '--minutes', '0'])).resolves.toBeDefined()
      }
    },
    120_000,
  )

  // Parts of it work in vitest's own workers alone, which is found out at the first call.
  test('none imports vitest', () => {
    expect(importersOf('vitest', byHand.map(pathOf))).toEqual([])
  })
})

/** The files that import it, of those that these ones import in turn. */
function importersOf(name: string, start: readonly string[]): string[] {
  const seen = new Set(start)
  const found: string[] = []
  for (const file of seen) {
    for (const from of importsOf(file)) {
      if (from === name) found.push(file)
      if (from.startsWith('.')) seen.add(join(dirname(file), from))
    }
  }
  return found
}

function importsOf(file: string): string[] {
  const { program } = parseSync(file, readFileSync(file, 'utf8'))
  const found: string[] = []
  const add = (source: ESTree.Expression | null): void => {
    if (source?.type === 'Literal' && typeof source.value === 'string') found.push(source.value)
  }
  const visitor = new Visitor({
    ImportDeclaration: ({ importKind, source }) => (importKind === 'type' ? undefined : add(source)),
    ExportNamedDeclaration: ({ exportKind, source }) => (exportKind === 'type' ? undefined : add(source)),
    ExportAllDeclaration: ({ source }) => add(source),
    ImportExpression: ({ source }) => add(source),
  })
  visitor.visit(program)
  return found
}
