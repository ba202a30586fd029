/** What the machines that are run by hand say to a wrong command line. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parseRunnerFlags } from './runner-flags.ts'

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
  const pathOf = (machine: string): string => fileURLToPath(new URL(`../../${machine}`, import.meta.url))

  test.each(machines)(
    '%s has a help with examples, and refuses what it does not know',
    async (machine) => {
      const help = await run(process.execPath, [pathOf(machine), '--help'])
      expect(help.stdout).toContain(`Usage: node ${machine} `)
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
})
