/**
 * Every flag of every command, from the definitions that `--help` prints too, given wrong and given right: on the
 * command line, and where the command reads them, in the environment and in a file of settings. In this process: the
 * commands are as `borough` runs them, and end before anything is opened.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createProgram, runProgram } from '../../src/cli/program.ts'
import { borough as spawned } from './borough-process.ts'
import { type FlagValues, flagValues, switches } from './flag-values.ts'

interface Flag {
  /** `storage copy` */
  readonly path: string
  readonly option: Option
  readonly hasSettings: boolean
}

const isRoot = process.getuid?.() === 0
/** What commands need besides: arguments, and flags that must be given. */
const needed: Readonly<Record<string, readonly string[]>> = {
  kubeconfig: ['--user', 'one'],
  'token create': ['--serviceaccount', 'a/b'],
  'storage copy': ['--from', 'etcd://me@127.0.0.1:1', '--to', 'sqlite:new'],
  'storage reencrypt': ['--encryption-provider-config', 'file'],
  backup: ['--to', 'new'],
  restore: ['--from', 'file'],
  why: ['team-a'],
  'why-denied': ['get', 'pods'],
  finalize: ['team-a', '--remove', 'a/b'],
  'template describe': ['one'],
  'template plan': ['--delete', 'one'],
  'template rollback': ['one'],
  'template wait': ['one'],
  completion: ['bash'],
}

const leaves = (command: Command, path: readonly string[]): readonly (readonly [Command, string])[] =>
  command.commands.length === 0
    ? [[command, path.join(' ')]]
    : command.commands.flatMap((each) => leaves(each, [...path, each.name()]))

const commands = leaves(
  createProgram(() => undefined),
  [],
).filter(([, path]) => path !== '__complete')
const flags: readonly Flag[] = commands.flatMap(([command, path]) =>
  command.options.map((option) => ({
    path,
    option,
    hasSettings: command.options.some((each) => each.name() === 'config'),
  })),
)
const shown = ({ path, option }: Flag): string => `${path} --${option.name()}`
const valuesOf = ({ path, option }: Flag): FlagValues | undefined =>
  flagValues[`${path} --${option.name()}`] ?? flagValues[option.name()]
const takesValue = ({ option }: Flag): boolean => option.required || option.optional

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'borough-flags-'))
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'file'), 'neither a key nor YAML: [')
  writeFileSync(join(folder, 'settings'), '{}')
  writeFileSync(join(folder, 'closed'), '')
  chmodSync(join(folder, 'closed'), 0)
})
/** Not where commands leave nothing. */
let settingsFolder: string
beforeAll(() => {
  settingsFolder = mkdtempSync(join(tmpdir(), 'borough-settings-'))
})
afterAll(() => {
  for (const each of [folder, settingsFolder]) rmSync(each, { recursive: true, force: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})
const present = ['closed', 'file', 'folder', 'settings']

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** @param parsedOnly the command itself does nothing */
async function borough(args: readonly string[], parsedOnly = false): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text)
      return true
    })
  }
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
  const program = createProgram(() => undefined)
  if (parsedOnly) for (const [command] of leaves(program, [])) command.action(() => undefined)
  const before = process.exitCode
  process.exitCode = 0
  await runProgram(program, args)
  const code = Number(process.exitCode)
  process.exitCode = before
  vi.restoreAllMocks()
  return { code, ...written }
}

/** Names of files stand for those in the folder. */
const placed = (value: string): string =>
  /^(?:file|folder|missing|closed|new|settings)(?:\/|$)/.test(value) ? join(folder, value) : value

function refuses({ code, stdout, stderr }: Ended, names: string, says: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^borough: [^\n]+\n$/)
  expect(stderr).toContain(names)
  expect(stderr).toMatch(says)
  // A stack, a class, or the code of the operating system.
  expect(stderr).not.toMatch(/ {4}at |Error:|\bE[A-Z]{4,}\b|undefined|\[object/)
  expect(readdirSync(folder).sort()).toEqual(present)
  expect(readdirSync(join(folder, 'folder'))).toEqual([])
}

/** Words for a command, less what the flag itself gives. */
function wordsOf({ path, option }: Flag, beside: readonly string[] = []): string[] {
  const flag = `--${option.name()}`
  const rest = [...(needed[path] ?? [])]
  const at = rest.indexOf(flag)
  if (at >= 0) rest.splice(at, 2)
  // That names its stores otherwise.
  const others = path === 'storage copy' && beside[0] === '--storage' ? beside.slice(2) : beside
  return [...path.split(' '), ...rest, ...others].map(placed)
}

test('every flag has a line that says what is wrong for it, and every line a flag', () => {
  const without = flags.filter((flag) => (takesValue(flag) ? !valuesOf(flag) : !switches.has(flag.option.name())))
  expect(without.map(shown)).toEqual([])
  const known = new Set(['version', 'color', ...flags.flatMap((flag) => [shown(flag), flag.option.name()])])
  expect([...Object.keys(flagValues), ...switches].filter((name) => !known.has(name))).toEqual([])
  expect(flags.length).toBeGreaterThan(150)
})

describe.each([...new Set(flags.map(({ path }) => path))])('borough %s', (path) => {
  const own = flags.filter((flag) => flag.path === path)
  const ofValue = own.filter(takesValue)

  test.each(own.map((flag) => ({ name: flag.option.name(), flag })))(
    '--$name without what it needs',
    async ({ flag }) => {
      const { option } = flag
      const flagWords = takesValue(flag) ? [option.long ?? ''] : [`${option.long}=yes`]
      const says = takesValue(flag) ? /argument missing/ : /unknown option|does not take/
      refuses(await borough([...wordsOf(flag), ...flagWords]), option.long ?? '', says)
    },
  )

  test.each(
    ofValue.flatMap((flag) => {
      const { wrong = [], beside = [] } = valuesOf(flag) ?? {}
      return wrong.map(([value, says]) => ({ name: flag.option.name(), value, says, flag, beside }))
    }),
  )('--$name "$value" is refused', async ({ name, value, says, flag, beside }) => {
    if (value === 'closed' && isRoot) return
    refuses(await borough([...wordsOf(flag, beside), `--${name}=${placed(value)}`]), `--${name}`, says)
  })

  test.each(
    ofValue.flatMap((flag) =>
      (valuesOf(flag)?.right ?? []).map((value) => ({ name: flag.option.name(), value, flag })),
    ),
  )('--$name "$value" is taken', async ({ name, value, flag }) => {
    expect(await borough([...wordsOf(flag), `--${name}=${placed(value)}`], true)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
  })
})

describe.each([...new Set(flags.filter(({ hasSettings }) => hasSettings).map(({ path }) => path))])(
  'borough %s, not on the command line',
  (path) => {
    const cases = flags
      .filter((flag) => flag.path === path && flag.option.name() !== 'config')
      .flatMap((flag) => {
        const name = flag.option.name()
        if (!takesValue(flag)) return [{ name, value: 'perhaps', says: /It must be true or false/, flag, beside: [] }]
        const { wrong: [first] = [], beside = [] } = valuesOf(flag) ?? {}
        return first === undefined ? [] : [{ name, value: first[0], says: first[1], flag, beside }]
      })

    test.each(cases)('$name "$value" in the environment is refused', async ({ name, value, says, flag, beside }) => {
      const variable = `BOROUGH_${name.toUpperCase().replaceAll('-', '_')}`
      vi.stubEnv(variable, placed(value))
      refuses(await borough(wordsOf(flag, beside)), `${variable}: `, says)
    })

    test.each(cases)('$name "$value" in a file is refused', async ({ name, value, says, flag, beside }) => {
      const file = join(settingsFolder, 'wrong.yaml')
      writeFileSync(file, `${name}: ${JSON.stringify(placed(value))}\n`)
      refuses(await borough([...wordsOf(flag, beside), '--config', file]), `${file}: ${name}: `, says)
    })
  },
)

test.each([
  { what: 'an empty folder', from: 'folder', says: /folder has no full backup/ },
  { what: 'no backup', from: 'file', says: /file/ },
])('borough restore of $what makes no data directory', async ({ from, says }) => {
  refuses(await borough(['restore', '--from', join(folder, from), '--data-dir', join(folder, 'new')]), from, says)
})

test.each(['repair', 'verify'])('borough storage %s makes no data directory', async (command) => {
  refuses(await borough(['storage', command, '--data-dir', join(folder, 'new')]), 'new', /no store/)
})

test.each([
  { args: ['up', '--token-file', 'missing'], says: '--token-file: there is no file missing' },
  { args: ['restore', '--from', 'missing'], says: '--from: there is no file or folder missing' },
  { args: ['why', 'team-a', '--kubeconfig', 'missing'], says: '--kubeconfig: there is no file missing' },
])(
  '$args as a process of its own',
  async ({ args, says }) => {
    const { code, stdout, stderr } = await spawned([...args])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.replace(` (borough ${args[0]} --help shows what there is)`, '')).toBe(`borough: ${says}\n`)
  },
  60_000,
)
